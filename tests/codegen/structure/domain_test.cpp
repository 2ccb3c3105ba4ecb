// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Domains: runs and positions of every reduction of small arrays, in every layout. The oracle is memory itself: an
// element's offset from its coordinates, and what an array of these dimensions has next to each other. Part of the
// suite `codegen lower`.
#include "codegen/structure/domain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "codegen/structure/structure.h"
#include "ir/graph/graph_parse.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

/// Calls visit(shape, reduced) for all shapes of three dimensions of 1 to 3, all layouts, all choices of dimensions.
template <class Visit>
void each_reduction(Visit&& visit) {
  for (int sizes = 0; sizes < 27; ++sizes) {
    std::vector<std::int8_t> order{0, 1, 2};
    do {
      Shape shape = make_shape(DType::f32, {1 + sizes % 3, 1 + sizes / 3 % 3, 1 + sizes / 9});
      std::copy(order.begin(), order.end(), shape.minor_to_major.begin());
      for (int choice = 0; choice < 8; ++choice) {
        Dims reduced;
        for (int dim = 0; dim < 3; ++dim)
          if (choice >> dim & 1) reduced.push_back(dim);
        visit(shape, reduced);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

/// Offset in memory of the element with these coordinates.
std::int64_t offset_of(const Shape& shape, const std::vector<std::int64_t>& at) {
  std::int64_t offset = 0, stride = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    offset += at[static_cast<std::size_t>(dim)] * stride;
    stride *= shape.dims[dim];
  }
  return offset;
}

}  // namespace

TEST_CASE("two positions name each element once, and say where it lies, in every layout") {
  IndexBuilder build;
  int judged = 0;
  each_reduction([&](const Shape& shape, const Dims& reduced) {
    build.reset();
    const Domain domain = domain_of(shape, reduced);
    REQUIRE(domain.kept() * domain.reduced() == elements(shape));
    const ExprId kept = build.var(build.add_var({"kept", VarKind::loop, domain.kept(), 1})),
                 along = build.var(build.add_var({"along", VarKind::loop, domain.reduced(), 1}));
    const Coordinates at = coordinates_at(build, shape, reduced, kept, along);
    const ExprId position = position_in(build, domain, kept, along);
    const Coordinates stays = kept_coordinates(at, reduced);
    REQUIRE(stays.rank == shape.rank() - reduced.size());
    std::set<std::int64_t> seen;
    std::set<std::vector<std::int64_t>> results;
    for (std::int64_t i = 0; i < domain.kept(); ++i)
      for (std::int64_t k = 0; k < domain.reduced(); ++k) {
        const std::array<std::int64_t, 2> values{i, k};
        std::vector<std::int64_t> element, result;
        for (int dim = 0; dim < shape.rank(); ++dim) element.push_back(evaluate(build.pool(), at[dim], values));
        for (int dim = 0; dim < stays.rank; ++dim) result.push_back(evaluate(build.pool(), stays[dim], values));
        for (int dim = 0; dim < shape.rank(); ++dim) REQUIRE(element[static_cast<std::size_t>(dim)] < shape.dims[dim]);
        REQUIRE(evaluate(build.pool(), position, values) == offset_of(shape, element));
        seen.insert(offset_of(shape, element));
        results.insert(result);
        ++judged;
      }
    CHECK(std::ssize(seen) == elements(shape));
    CHECK(std::ssize(results) == domain.kept());
  });
  CHECK(judged == 6 * 8 * 6 * 6 * 6);
}

TEST_CASE("runs are neighbours in memory of one kind, as walking through memory finds them") {
  each_reduction([&](const Shape& shape, const Dims& reduced) {
    const Domain domain = domain_of(shape, reduced);
    // Which result each place of memory belongs to; the fastest run ends where that changes, or begins to.
    std::vector<std::int64_t> result_at(static_cast<std::size_t>(elements(shape)));
    for (std::int64_t a = 0; a < shape.dims[0]; ++a)
      for (std::int64_t b = 0; b < shape.dims[1]; ++b)
        for (std::int64_t c = 0; c < shape.dims[2]; ++c) {
          const std::vector<std::int64_t> at{a, b, c};
          std::int64_t result = 0;
          for (int dim = 0; dim < 3; ++dim)
            if (!reduced.contains(dim)) result = result * 3 + at[static_cast<std::size_t>(dim)];
          result_at[static_cast<std::size_t>(offset_of(shape, at))] = result;
        }
    const auto end = std::adjacent_find(result_at.begin(), result_at.end(), std::not_equal_to<>());
    const std::int64_t together = end == result_at.end() ? std::ssize(result_at) : end - result_at.begin() + 1;
    CHECK((domain.runs.empty() || !domain.reduces_fastest || domain.fastest() == together));
    CHECK(domain.is_contiguous() == (together == domain.reduced()));
    for (int i = 0; i < domain.runs.size(); ++i) CHECK(domain.runs[i] > 1);
    // One result alone is full; else neighbours of one result are a row's, of several a column's.
    const bool one = domain.reduced() == elements(shape);
    const ReduceKind beside = result_at[0] == result_at[std::min<std::size_t>(1, result_at.size() - 1)]
                                  ? ReduceKind::row
                                  : ReduceKind::column;
    CHECK(reduce_kind(domain) == (one ? ReduceKind::full : beside));
    CHECK(domain.turned().kept() == domain.reduced());
    CHECK(domain.turned().turned() == domain);
  });
}

TEST_CASE("a domain is written slowest first, what is reduced in brackets") {
  CHECK(text(domain_of(make_shape(DType::f32, {32, 64, 28, 28}), {0, 2, 3})) == "[32] x 64 x [784]");
  CHECK(text(domain_of(make_shape(DType::f32, {8, 1024, 32, 8}), {1, 3})) == "8 x [1024] x 32 x [8]");
  CHECK(text(domain_of(make_shape(DType::f32, {1, 1}), {0})) == "1");
}
