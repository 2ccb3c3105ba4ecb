// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A shrunk group computes what the whole one computes for the inputs it has: where only first dimensions shrink, its
// inputs and results are the first bytes of the whole's, bounds too. The oracle is the reference evaluator on both
// graphs; inputs are the group family and groups written here. Part of the suite `codegen lower`.
#include "codegen/lower/shrink.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "reference/error_bound.h"
#include "reference/inputs.h"
#include "support/group_family.h"

using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::codegen;

namespace {

bool all_first(const OuterExtent& extent) {
  return std::all_of(extent.dims.begin(), extent.dims.end(), [](const auto& place) { return place.dim == 0; });
}

/// The first elements of `whole` that `shape` has.
Tensor prefix(const Tensor& whole, const Shape& shape) {
  Tensor part = zeros(shape);
  std::copy_n(whole.bytes.begin(), part.bytes.size(), part.bytes.begin());
  return part;
}

void compare_prefixes(const Graph& whole, const Graph& small) {
  const std::vector<Tensor> inputs = sensible_inputs(whole, 3);
  std::vector<Tensor> few;
  const std::vector<NodeId> places = parameters(small);
  for (std::size_t i = 0; i < inputs.size(); ++i) few.push_back(prefix(inputs[i], small[places[i]].shape));
  const std::vector<BoundedTensor> all = evaluate_with_error_bounds(whole, inputs),
                                   some = evaluate_with_error_bounds(small, few);
  REQUIRE(all.size() == some.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(some[i].value.bytes == prefix(all[i].value, some[i].value.shape).bytes);
    CHECK(some[i].error.empty() == all[i].error.empty());
    CHECK(std::equal(some[i].error.begin(), some[i].error.end(), all[i].error.begin()));
  }
}

}  // namespace

TEST_CASE("a shrunk group's results are the first of the whole group's") {
  int compared = 0, fixed = 0;
  for (const FamilyMember& member : group_family()) {
    CAPTURE(member.name);
    const Group group = make_group(member, 12, 24);
    const std::optional<OuterExtent> extent = outer_extent(group.graph);
    if (!extent) {
      ++fixed;
      continue;
    }
    for (const std::int64_t kept : {std::int64_t{1}, extent->steps - 1, extent->steps}) {
      const Group small = shrunk(group.graph, *extent, kept);
      CHECK_NOTHROW(verify(small.graph));
      CHECK((small.id == group.id) == (kept == extent->steps));
      if (!all_first(*extent)) continue;
      compare_prefixes(group.graph, small.graph);
      ++compared;
    }
  }
  MESSAGE(compared << " compared, " << fixed << " members cannot shrink");
  CHECK(compared > 20);
}

TEST_CASE("a dimension that is summed, sliced, looked up or concatenated does not shrink") {
  for (const char* text : {
           "graph g {\n  %x = parameter 0 : f32[6,4]\n  %z = constant 0 : f32[]\n"
           "  %s = reduce add %x, %z, axes={0} : f32[4]\n  %b = broadcast %s, axes={1} : f32[6,4]\n"
           "  %y = add %x, %b : f32[6,4]\n  output %y\n}\n",
           "graph g {\n  %x = parameter 0 : f32[6,4]\n  %y = slice %x, ranges={0:4:1, 0:4:1} : f32[4,4]\n  output "
           "%y\n}\n",
           "graph g {\n  %x = parameter 0 : f32[6,4]\n  %y = concatenate %x, %x, axes={0} : f32[12,4]\n  output "
           "%y\n}\n",
       })
    CHECK_FALSE(outer_extent(parse_graph(text)).has_value());
}

TEST_CASE("a reshape shrinks in proportion, and its inner dimensions stay") {
  const Graph graph = parse_graph(
      "graph g {\n  %x = parameter 0 : f32[6,4,10]\n  %y = reshape %x : f32[24,10]\n  %n = negate %y : f32[24,10]\n"
      "  output %n\n}\n");
  const std::optional<OuterExtent> extent = outer_extent(graph);
  REQUIRE(extent);
  CHECK(extent->steps == 6);
  const Group small = shrunk(graph, *extent, 2);
  CHECK(text(small.graph.nodes[0].shape) == "f32[2,4,10]");
  CHECK(text(small.graph.nodes[2].shape) == "f32[8,10]");
  compare_prefixes(graph, small.graph);
}
