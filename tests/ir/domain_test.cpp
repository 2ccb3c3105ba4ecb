// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Domains of broadcasts: over which rows a number is repeated, by examples and by walking through the memory of random
// small results element by element: each must hold the number that the domain says. In: shapes with layouts, written
// here or drawn with a fixed seed. Part of the suite `ir`.
#include "ir/graph/domain.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace tailor;
using namespace tailor::ir;

namespace {

/// The element's place in the memory of a shape.
std::int64_t place_of(const Shape& shape, const std::vector<std::int64_t>& coordinates) {
  std::int64_t place = 0, stride = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    place += coordinates[static_cast<std::size_t>(dim)] * stride;
    stride *= shape.dims[dim];
  }
  return place;
}

/// The reverse.
std::vector<std::int64_t> coordinates_of(const Shape& shape, std::int64_t place) {
  std::vector<std::int64_t> coordinates(static_cast<std::size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    coordinates[static_cast<std::size_t>(dim)] = place % shape.dims[dim];
    place /= shape.dims[dim];
  }
  return coordinates;
}

/// Which of what stays the element of a domain's memory belongs to.
std::int64_t kept_of(const Domain& domain, std::int64_t place) {
  std::int64_t kept = 0, stride = 1;
  for (int i = 0; i < domain.runs.size(); ++i) {
    if (!domain.is_reduced(i)) kept += place % domain.runs[i] * stride, stride *= domain.runs[i];
    place /= domain.runs[i];
  }
  return kept;
}

struct Drawn {
  Node broadcast;
  Shape source;
};

class Draw {
 public:
  Drawn broadcast() {
    const int rank = pick(0, 4);
    Dims dims, from, axes_of_source;
    for (int i = 0; i < rank; ++i) dims.push_back(pick(1, 3));
    for (const int dim : permutation(rank))
      if (pick(0, 1) == 1) from.push_back(dims[dim]), axes_of_source.push_back(dim);
    Drawn drawn{Node{Op::broadcast, shape(dims), {0}, AxisList{axes_of_source}, "b"}, shape(from)};
    return drawn;
  }

 private:
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  std::vector<int> permutation(int count) {
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine_);
    return order;
  }
  Shape shape(const Dims& dims) {
    Shape made = make_shape(DType::f32, dims);
    int at = 0;
    for (const int dim : permutation(dims.size())) made.minor_to_major[at++] = static_cast<std::int8_t>(dim);
    return made;
  }

  std::mt19937 engine_{20261124};
};

/// For each element of the result's memory the place in the source's of the number that it holds.
std::vector<std::int64_t> numbers_of(const Drawn& drawn) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t place = 0; place < elements(drawn.broadcast.shape); ++place) {
    const std::vector<std::int64_t> all = coordinates_of(drawn.broadcast.shape, place);
    std::vector<std::int64_t> own;
    for (const std::int64_t axis : axes(drawn.broadcast)) own.push_back(all[static_cast<std::size_t>(axis)]);
    numbers.push_back(place_of(drawn.source, own));
  }
  return numbers;
}

/// Whether the numbers are first met in ascending order.
bool in_order(const std::vector<std::int64_t>& numbers) {
  std::int64_t next = 0;
  for (const std::int64_t number : numbers) {
    if (number > next) return false;
    next += number == next ? 1 : 0;
  }
  return true;
}

}  // namespace

TEST_CASE("a broadcast spreads numbers over a domain where it keeps their order in memory") {
  const auto spread = [](std::string_view source, std::string_view axes, std::string_view result) {
    const Graph g = parse_graph(fmt::format(
        "graph g {{ %x = parameter 0 : f32{} %b = broadcast %x, axes={} : f32{} output %b }}", source, axes, result));
    verify(g);
    const std::optional<Domain> domain = spread_domain(g.nodes[1], g.nodes[0].shape);
    return domain ? text(*domain) : "none";
  };
  CHECK(spread("[4]", "{0}", "[4,6]") == "4 x [6]");
  CHECK(spread("[4,6]", "{0,1}", "[4,6,5]") == "24 x [5]");
  CHECK(spread("[]", "{}", "[4,6]") == "[24]");
  CHECK(spread("[4,6]", "{0,1}", "[4,6]") == "24");
  CHECK(spread("[4]", "{1}", "[1,4,6]") == "4 x [6]");      // what is skipped has one element
  CHECK(spread("[4,1]", "{0,2}", "[4,6,1]") == "4 x [6]");  // what is not skipped has one
  CHECK(spread("[1,4]", "{2,0}", "[4,6,1]") == "4 x [6]");
  CHECK(spread("[6]", "{1}", "[4,6]") == "[4] x 6");
  CHECK(spread("[4,6]", "{0,2}", "[4,5,6]") == "4 x [5] x 6");
  CHECK(spread("[64]", "{1}", "[32,64,28,28]") == "[32] x 64 x [784]");
  CHECK(spread("[4,6]", "{1,0}", "[6,4]") == "none");
  CHECK(spread("[6]", "{2}", "[1,4,6]") == "[4] x 6");
  // Layouts: the order of memory decides, not that of dimensions.
  CHECK(spread("[4,6]", "{1,0}", "[6,4]{0,1}") == "24");
  CHECK(spread("[4,6]", "{0,1}", "[4,6,5]{0,1,2}") == "none");
  CHECK(spread("[4,6]{0,1}", "{0,1}", "[4,6,5]{0,1,2}") == "[5] x 24");
  CHECK(spread("[4]", "{0}", "[4,6]{0,1}") == "[6] x 4");
}

TEST_CASE("each element that a broadcast makes holds the number of what stays there, for all small layouts") {
  Draw draw;
  int ordered = 0, turned = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Drawn drawn = draw.broadcast();
    CAPTURE(trial);
    const std::vector<std::int64_t> numbers = numbers_of(drawn);
    const std::optional<Domain> domain = spread_domain(drawn.broadcast, drawn.source);
    CHECK(domain.has_value() == in_order(numbers));
    turned += domain ? 0 : 1;
    if (!domain) continue;
    ++ordered;
    CHECK(domain->kept() == elements(drawn.source));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      CHECK(kept_of(*domain, static_cast<std::int64_t>(i)) == numbers[i]);
  }
  CHECK(ordered > 1000);
  CHECK(turned > 100);
}
