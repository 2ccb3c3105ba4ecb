// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of what is looked up by computed indices. The oracle is the evaluator itself: whatever index within its bounds
// a kernel comes to, what it then picks must pass, and where every such index picks the same there must be a bound.
// Gathers of rows and of windows, slices, and updates of slices. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "reference/compare.h"
#include "reference/error_bound.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

Tensor logarithms(const std::vector<double>& values) {
  Tensor tensor = zeros(make_shape(DType::f32, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) store(tensor, static_cast<std::int64_t>(i), values[i]);
  return tensor;
}

/// Three ways to look up by the integers below e^x: rows of a table, a slice, a slice that is written.
struct LookupForm {
  const char* name;
  const char* text;  ///< of %i, s32[n], and of %t, f32[9,4]
  std::int64_t indices;
};

const LookupForm lookups[] = {
    {"gather",
     "  %o = gather %t, %i, text=\"offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,4}\" : f32[12,4]\n",
     12},
    {"gather of windows",
     "  %w = reshape %i : s32[6,2]\n"
     "  %o = gather %t, %w, text=\"offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, "
     "index_vector_dim=1, slice_sizes={3,2}\" : f32[6,3,2]\n",
     12},
    {"slice",
     "  %a = slice %i, ranges={0:1:1} : s32[1]\n  %b = slice %i, ranges={1:2:1} : s32[1]\n"
     "  %c = reshape %a : s32[]\n  %d = reshape %b : s32[]\n"
     "  %o = dynamic_slice %t, %c, %d : f32[4,2]\n",
     2},
    {"update",
     "  %a = slice %i, ranges={0:1:1} : s32[1]\n  %b = slice %i, ranges={1:2:1} : s32[1]\n"
     "  %c = reshape %a : s32[]\n  %d = reshape %b : s32[]\n"
     "  %u = slice %t, ranges={0:4:1,0:2:1} : f32[4,2]\n"
     "  %o = dynamic_update_slice %t, %u, %c, %d : f32[9,4]\n",
     2},
};

/// `indices`: how %i comes to be.
Graph lookup_graph(const LookupForm& lookup, const std::string& indices) {
  return parse_graph(
      fmt::format("graph g {{\n  %t = parameter 0 : f32[9,4]\n{}{}  output %o, %i\n}}\n", indices, lookup.text));
}

}  // namespace

TEST_CASE("what any index within its bounds picks passes, and what all of them pick has a bound") {
  std::mt19937_64 random(20261127);
  std::int64_t judged = 0, all = 0;
  for (const LookupForm& lookup : lookups)
    for (int round = 0; round < 60; ++round) {
      CAPTURE(lookup.name);
      CAPTURE(round);
      // Logarithms of integers, where e^x may round either way, and of numbers between them; some beyond the table.
      std::vector<double> x;
      for (std::int64_t i = 0; i < lookup.indices; ++i)
        x.push_back(std::log(static_cast<double>(1 + random() % 12) + (random() % 3 == 0 ? 0.0 : 0.5)));
      const std::string n = std::to_string(lookup.indices);
      const Graph computed = lookup_graph(lookup, "  %x = parameter 1 : f32[" + n + "]\n  %e = exp %x : f32[" + n +
                                                      "]\n  %i = convert %e : s32[" + n + "]\n");
      const Graph given = lookup_graph(lookup, "  %i = parameter 1 : s32[" + n + "]\n");
      const Tensor table = random_tensor(make_shape(DType::f32, {9, 4}), random());
      const std::vector<Tensor> inputs{table, logarithms(x)};
      const std::vector<BoundedTensor> bounded = evaluate_with_error_bounds(computed, inputs);
      const BoundedTensor &result = bounded[0], &index = bounded[1];
      const auto error = [](const BoundedTensor& of, std::int64_t i) {
        return of.error.empty() ? 0.0 : of.error[static_cast<std::size_t>(i)];
      };
      std::vector<bool> same(static_cast<std::size_t>(elements(result.value.shape)), true);
      for (int draw = 0; draw < 16; ++draw) {
        Tensor chosen = zeros(make_shape(DType::s32, {lookup.indices}));
        for (std::int64_t i = 0; i < lookup.indices; ++i) {
          const auto off = static_cast<std::int64_t>(error(index, i));
          REQUIRE(off <= 1);
          store_integer(chosen, i, as_integer(index.value, i) + static_cast<std::int64_t>(random() % 3) * off - off);
        }
        const Tensor picked = evaluate(given, std::vector<Tensor>{table, chosen}).front();
        CHECK(compare(result, picked.bytes).wrong == 0);
        for (std::int64_t i = 0; i < elements(result.value.shape); ++i)
          if (as_double(picked, i) != as_double(result.value, i)) same[static_cast<std::size_t>(i)] = false;
      }
      for (std::int64_t i = 0; i < elements(result.value.shape); ++i) {
        ++all;
        judged += std::isfinite(error(result, i)) ? 1 : 0;
        // Sixteen draws may miss one of three numbers; none is missed the other way round.
        if (!same[static_cast<std::size_t>(i)]) CHECK(!std::isfinite(error(result, i)));
        if (std::isfinite(error(result, i))) CHECK(error(result, i) == 0);
      }
    }
  MESSAGE(judged << " of " << all << " elements judged");
  CHECK(2 * judged > all);
  CHECK(judged < all);
}

TEST_CASE("a clear index has the bound of its row, one too close to call has none, one beyond the end the last row's") {
  const Graph graph = parse_graph(R"(graph g {
  %t = parameter 0 : f32[9,4]
  %x = parameter 1 : f32[12]
  %e = exp %x : f32[12]
  %i = convert %e : s32[12]
  %s = tanh %t : f32[9,4]
  %o = gather %s, %i, text="offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}" : f32[12,4]
  output %o, %s
})");
  std::vector<double> x(12, std::log(2.5));
  x[3] = std::log(4.0);    // 3 or 4
  x[5] = std::log(100.0);  // 99 or 100, of rows up to 8
  x[7] = 1e9;              // infinite
  const std::vector<Tensor> inputs{random_tensor(make_shape(DType::f32, {9, 4}), 7), logarithms(x)};
  const std::vector<BoundedTensor> bounded = evaluate_with_error_bounds(graph, inputs);
  for (std::size_t row = 0; row < 12; ++row)
    for (std::size_t column = 0; column < 4; ++column) {
      CAPTURE(row);
      const double error = bounded[0].error[4 * row + column];
      if (row == 3)
        CHECK(std::isinf(error));
      else if (row != 7)
        CHECK(error == bounded[1].error[4 * (row == 5 ? 8 : 2) + column]);
    }
}
