// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Dominants of one order in memory against the order itself: where each element lies, worked out from strides. In: all
// small shapes, layouts and operations that rename, permute or cut dimensions, each as a group of its own. Out:
// assertions; the test says how many orders it has seen of either kind. Part of the suite `explore`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "codegen/lower/prepare.h"
#include "explore/plans/orders.h"
#include "explore/plans/space.h"
#include "ir/fusion.h"
#include "ir/graph/graph_parse.h"
#include "support/search_setting.h"

namespace tailor::explore {

namespace {

using Dims = std::vector<int>;

/// Of every number of dimensions up to three, of sizes 1 to 3.
std::vector<Dims> small_shapes() {
  std::vector<Dims> shapes;
  for (int a = 1; a <= 3; ++a) {
    shapes.push_back({a});
    for (int b = 1; b <= 3; ++b) {
      shapes.push_back({a, b});
      for (int c = 1; c <= 3; ++c) shapes.push_back({a, b, c});
    }
  }
  return shapes;
}

/// All orders of 0 to `rank` - 1.
std::vector<Dims> orders_of(std::size_t rank) {
  Dims order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::vector<Dims> all;
  do {
    all.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

/// Where in memory the element at each place of a walk in row-major order lies. `layout`: dimensions, fastest first.
std::vector<int> places(const Dims& dims, const Dims& layout) {
  std::vector<int> strides(dims.size(), 1), at{0};
  int stride = 1;
  for (const int dim : layout) {
    strides[static_cast<std::size_t>(dim)] = stride;
    stride *= dims[static_cast<std::size_t>(dim)];
  }
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    std::vector<int> next;
    for (const int one : at)
      for (int i = 0; i < dims[dim]; ++i) next.push_back(one + i * strides[dim]);
    at = std::move(next);
  }
  return at;
}

std::string shape(const Dims& dims, const Dims& layout) {
  return fmt::format("f32[{}]{{{}}}", fmt::join(dims, ","), fmt::join(layout, ","));
}

/// Whether an array and what `operation` makes of it, of another shape or layout, have one order, by what is asked
/// here.
bool have_one_order(const std::string& source, const std::string& operation, const std::string& result) {
  ir::Group group;
  group.graph =
      ir::parse_graph(fmt::format("graph g {{ %x = parameter 0 : {} %y = {} : {} %z = negate %y : {} output %z }}",
                                  source, operation, result, result));
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  REQUIRE(prepared.skeleton == ir::Skeleton::map);
  const std::vector<ir::NodeId> orders = different_orders(prepared);
  CHECK(orders.front() == 2);
  CHECK(first_of_order(prepared, 2) == 2);
  REQUIRE(prepared.dominants == std::vector<ir::NodeId>{2, 0});
  return first_of_order(prepared, 0) == 2;
}

}  // namespace

TEST_CASE("dominants have one order exactly where no element moves in memory") {
  int same = 0, different = 0;
  const auto check = [&](bool keeps, const std::string& source, const std::string& operation,
                         const std::string& result) {
    if (source == result) return;  // one name for both
    CAPTURE(source);
    CAPTURE(operation);
    CAPTURE(result);
    CHECK(have_one_order(source, operation, result) == keeps);
    ++(keeps ? same : different);
  };
  for (const Dims& dims : small_shapes())
    for (const Dims& from : orders_of(dims.size()))
      for (const Dims& to : orders_of(dims.size())) {
        check(places(dims, from) == places(dims, to), shape(dims, from), "copy %x", shape(dims, to));
        for (const Dims& axes : orders_of(dims.size())) {
          // Result dimension i is dimension axes[i] of the source: its elements by strides of the source.
          Dims turned, own(dims.size());
          for (const int axis : axes) turned.push_back(dims[static_cast<std::size_t>(axis)]);
          for (std::size_t i = 0; i < axes.size(); ++i) own[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
          Dims layout;
          for (const int dim : from) layout.push_back(own[static_cast<std::size_t>(dim)]);
          check(places(turned, layout) == places(turned, to), shape(dims, from),
                fmt::format("transpose %x, axes={{{}}}", fmt::join(axes, ",")), shape(turned, to));
        }
      }
  CHECK(same > 500);
  CHECK(different > 500);
}

TEST_CASE("a reshape has the order of what it is made of where both are row-major, and never where it has another") {
  int same = 0, missed = 0;
  for (const Dims& dims : small_shapes())
    for (const Dims& other : small_shapes()) {
      if (std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>()) !=
          std::accumulate(other.begin(), other.end(), 1, std::multiplies<>()))
        continue;
      for (const Dims& from : orders_of(dims.size()))
        for (const Dims& to : orders_of(other.size())) {
          if (dims == other && from == to) continue;
          const bool keeps = places(dims, from) == places(other, to);
          const bool found = have_one_order(shape(dims, from), "reshape %x", shape(other, to));
          CAPTURE(shape(dims, from));
          CAPTURE(shape(other, to));
          CHECK((keeps || !found));
          same += found ? 1 : 0;
          missed += keeps && !found ? 1 : 0;
        }
    }
  CHECK(same > 500);
  MESSAGE(missed << " reshapes keep an order that is not row-major");
}

TEST_CASE("plans ask about each order once, and any dominant may be named") {
  ir::Group group;
  group.graph = ir::parse_graph(
      "graph g { %x = parameter 0 : f32[64,128] %y = reshape %x : f32[8192] %z = negate %y : f32[8192] output %z }");
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  REQUIRE(prepared.dominants == std::vector<ir::NodeId>{2, 0});
  Axes axes = default_axes(prepared, search_gpu().limits);
  CHECK(axes[ir::PlanField::dominant] == std::vector<int>{2});
  restrict_axis(axes, {"dominant", {"%0"}});
  CHECK(axes_of_structure(prepared, prepared, axes, search_gpu().limits)[ir::PlanField::dominant] ==
        std::vector<int>{0});
}

}  // namespace tailor::explore
