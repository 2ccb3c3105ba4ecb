// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work that is done again: the cover is no dearer than the groups it comes from, can be run, leaves nothing out, holds
// nothing that nobody needs, and computes the same numbers; examples say what is computed again and what is not. In:
// random graphs cut by strategies and by chance, for a GPU whose memory is so slow that small arrays matter. Part of
// the suite `explore`.
#include "explore/recompute.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>

#include "base/text.h"
#include "explore/borders.h"
#include "explore/price.h"
#include "explore/runnable.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "reference/evaluate.h"
#include "reference/inputs.h"
#include "support/approx.h"
#include "support/optimum.h"
#include "support/paths.h"
#include "support/random_graph.h"
#include "support/search_setting.h"
#include "support/skip.h"
#include "support/thorough.h"

namespace tailor::explore {

namespace {

using ir::Graph;
using ir::NodeId;
using reference::Tensor;
using Names = std::set<std::string>;

const costmodel::CalibratedDevice& slow_memory() {
  static const costmodel::CalibratedDevice device = [] {
    costmodel::CalibratedDevice slow = search_gpu();
    slow.dram_bandwidth /= 1e6;
    slow.l2_bandwidth /= 1e6;
    return slow;
  }();
  return device;
}

NodeSets recomputed(const Graph& graph, const ir::DefUse& wires, const NodeSets& groups,
                    const costmodel::CalibratedDevice& device, const MergeLimits& limits = {}) {
  FusionSetting setting = search_setting();
  setting.device = &device;
  const FusionTask task{setting, graph, wires};
  Spending spending(task);
  return recompute(task, costmodel::group_facts(graph, wires), limits, groups, spending);
}

/// Each group once all that it reads is in memory; nothing where that never comes.
std::optional<std::vector<Tensor>> run_cover(const Graph& graph, const ir::DefUse& wires, const NodeSets& groups,
                                             const std::vector<Tensor>& inputs) {
  std::vector<std::optional<Tensor>> memory(graph.nodes.size());
  const std::vector<NodeId> places = ir::parameters(graph);
  for (std::size_t i = 0; i < places.size(); ++i) memory[ir::index(places[i])] = inputs[i];
  const Borders all(graph, wires, groups);
  std::vector<ir::Boundary> borders;
  for (std::size_t g = 0; g < groups.size(); ++g) borders.push_back(all.of(g));
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (wires.roles[i] != ir::Role::work && graph.nodes[i].op != ir::Op::parameter &&
        graph.nodes[i].shape.dtype != ir::DType::tuple)
      borders.push_back({graph.nodes[i].operands, {static_cast<NodeId>(i)}, {static_cast<NodeId>(i)}, {}});
  std::vector<bool> done(borders.size(), false);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t b = 0; b < borders.size(); ++b) {
      std::vector<NodeId> reads = borders[b].reads;
      std::sort(reads.begin(), reads.end());
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
      const bool ready =
          std::all_of(reads.begin(), reads.end(), [&](NodeId id) { return memory[ir::index(id)].has_value(); });
      if (done[b] || !ready) continue;
      ir::Boundary border = borders[b];
      border.reads = reads;
      std::vector<Tensor> given;
      for (const NodeId id : reads) given.push_back(*memory[ir::index(id)]);
      const std::vector<Tensor> written = reference::evaluate(ir::outline(graph, border).graph, given);
      for (std::size_t i = 0; i < border.writes.size(); ++i) memory[ir::index(border.writes[i])] = written[i];
      done[b] = moved = true;
    }
  }
  std::vector<Tensor> outputs;
  for (const NodeId id : graph.outputs) {
    if (!memory[ir::index(id)]) return std::nullopt;
    outputs.push_back(*memory[ir::index(id)]);
  }
  return outputs;
}

/// Working members that no write of their group needs.
std::size_t idle(const Graph& graph, const ir::DefUse& wires, const NodeSets& groups) {
  const Borders borders(graph, wires, groups);
  std::size_t count = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<NodeId> inside = borders.of(g).inside;
    for (const NodeId id : groups[g])
      if (wires.roles[ir::index(id)] == ir::Role::work && std::find(inside.begin(), inside.end(), id) == inside.end())
        ++count;
  }
  return count;
}

Names members_of(const Graph& graph, const std::vector<NodeId>& ids) {
  Names found;
  for (const NodeId id : ids) found.insert(graph[id].name);
  return found;
}

NodeSets named(const Graph& graph, std::initializer_list<std::initializer_list<std::string_view>> groups) {
  NodeSets found;
  for (const auto& group : groups) {
    found.emplace_back();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (std::find(group.begin(), group.end(), graph.nodes[i].name) != group.end())
        found.back().push_back(static_cast<NodeId>(i));
  }
  return found;
}

/// The groups of a graph's lines after work was done again.
std::set<Names> again(const std::string& lines, std::initializer_list<std::initializer_list<std::string_view>> groups) {
  const Graph graph = ir::parse_graph(fmt::format("graph g {{\n{}}}\n", lines));
  const ir::DefUse wires = ir::def_use(graph);
  std::set<Names> found;
  for (const std::vector<NodeId>& group : recomputed(graph, wires, named(graph, groups), search_gpu()))
    found.insert(members_of(graph, group));
  return found;
}

}  // namespace

TEST_CASE("a cover in which work is done again is no dearer, can be run, and computes the same" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  std::size_t changed = 0;
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(40, 200); ++seed) {
    const Graph graph = all_read(well_formed_graph(seed, 30));
    const ir::DefUse wires = ir::def_use(graph);
    std::vector<Tensor> inputs;
    for (const NodeId id : ir::parameters(graph))
      inputs.push_back(reference::random_tensor(graph[id].shape, seed + static_cast<std::uint64_t>(id)));
    const std::vector<Tensor> expected = reference::evaluate(graph, inputs);
    MergeLimits any;
    any.lowerable = false;
    for (const std::string_view strategy : {"unfused", "stitch-v1", "xla-2020", "xla-2022", "xla-priority"})
      for (const MergeLimits& limits : {MergeLimits{}, any}) {
        INFO("seed ", seed, " ", strategy, " ", limits.lowerable);
        const NodeSets before = fuse(find_strategy(strategy), graph, search_setting()).groups;
        if (!run_cover(graph, wires, before, inputs)) continue;
        const NodeSets after = recomputed(graph, wires, before, slow_memory(), limits);
        changed += before == after ? 0 : 1;
        CHECK(price_of(graph, wires, after, slow_memory()) <=
              price_of(graph, wires, before, slow_memory()) * (1 + 1e-12));
        CHECK(find_circle(graph, wires, after).empty());
        CHECK(find_left_out(wires, after).empty());
        CHECK(idle(graph, wires, after) <= idle(graph, wires, before));
        CHECK(after == recomputed(graph, wires, before, slow_memory(), limits));
        const std::optional<std::vector<Tensor>> found = run_cover(graph, wires, after, inputs);
        REQUIRE(found.has_value());
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK((*found)[i].bytes == expected[i].bytes);
      }
  }
  CHECK(changed > 20);
}

TEST_CASE("who reads what another kernel computed on its way computes it again from what that one reads") {
  const std::string lines = R"(  %x = parameter 0 : f32[4096,3072]
  %q = multiply %x, %x : f32[4096,3072]
  %c = multiply %q, %x : f32[4096,3072]
  %t = tanh %c : f32[4096,3072]
  %y = multiply %t, %x : f32[4096,3072]
  %l = custom_call %y, target="lib" : f32[4096,3072]
  %d = multiply %l, %t : f32[4096,3072]
  %e = multiply %d, %q : f32[4096,3072]
)";
  // Nobody writes the two arrays any more.
  CHECK(again(lines + "  output %e\n", {{"q", "c", "t", "y"}, {"d", "e"}}) ==
        std::set<Names>{{"q", "c", "t", "y"}, {"q", "c", "t", "d", "e"}});
  // A result is written whatever its readers do, who do not read it where they read already what it is made of.
  CHECK(again(lines + "  output %e, %t\n", {{"q", "c", "t", "y"}, {"d", "e"}}) ==
        std::set<Names>{{"q", "c", "t", "y"}, {"q", "c", "t", "d", "e"}});
  CHECK(again(lines + "  output %d, %t\n", {{"q", "c", "t", "y"}, {"d"}}) ==
        std::set<Names>{{"q", "c", "t", "y"}, {"d"}});
  // Two arrays would be read for one that is written and read.
  CHECK(again(R"(  %x = parameter 0 : f32[4096,3072]
  %z = parameter 1 : f32[4096,3072]
  %v = parameter 2 : f32[4096,3072]
  %a = multiply %x, %z : f32[4096,3072]
  %b = multiply %a, %v : f32[4096,3072]
  %y = negate %b : f32[4096,3072]
  %l = custom_call %y, target="lib" : f32[4096,3072]
  %d = multiply %l, %b : f32[4096,3072]
  output %d
)",
              {{"a", "b", "y"}, {"d"}}) == std::set<Names>{{"a", "b", "y"}, {"d"}});
}

TEST_CASE("a small result that a reader needs to compute a large one again is written in place of the large one") {
  // %k takes 48 MB on its way; the sum of its rows, which only %k needed, is 16 KB. The two sums share no kernel: the
  // second is neither of such rows nor of their columns.
  const std::string lines = R"(  %x = parameter 0 : f32[64,64,3072]
  %w = parameter 1 : f32[3072]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={2} : f32[64,64]
  %sb = broadcast %s, axes={0,1} : f32[64,64,3072]
  %k = add %x, %sb : f32[64,64,3072]
  %wb = broadcast %w, axes={2} : f32[64,64,3072]
  %m = maximum %k, %wb : f32[64,64,3072]
  %c = reduce add %m, %zero, axes={0,2} : f32[64]
  output %c
)";
  CHECK(again(lines, {{"s", "k"}, {"m", "c"}}) == std::set<Names>{{"s"}, {"k", "m", "c"}});
}

TEST_CASE("groups that nothing keeps apart once work was done again are one kernel") {
  // %p is summed along both dimensions, so %q is in no kernel with its maker until each sum has a %q of its own.
  const std::string lines = R"(  %x = parameter 0 : f32[4096,3072]
  %zero = constant 0 : f32[]
  %p = exp %x : f32[4096,3072]
  %q = multiply %p, %p : f32[4096,3072]
  %r = reduce add %q, %zero, axes={1} : f32[4096]
  %c = reduce add %q, %zero, axes={0} : f32[3072]
  output %r, %c
)";
  CHECK(again(lines, {{"p"}, {"q", "r"}, {"c"}}) == std::set<Names>{{"p", "q", "r"}, {"p", "q", "c"}});
}

TEST_CASE("a value is written for another group's reader although its own group has that reader too") {
  const std::string lines = R"(  %x = parameter 0 : f32[64]
  %a = exp %x : f32[64]
  %b = negate %a : f32[64]
  %c = abs %b : f32[64]
  %d = sqrt %b : f32[64]
  output %c, %d
)";
  const Graph graph = ir::parse_graph(fmt::format("graph g {{\n{}}}\n", lines));
  const ir::DefUse wires = ir::def_use(graph);
  const NodeSets groups = named(graph, {{"a", "b", "c"}, {"b", "d"}});
  const std::vector<Tensor> given = {reference::random_tensor(graph[ir::parameters(graph)[0]].shape, 1)};
  const std::vector<Tensor> expected = reference::evaluate(graph, given);
  const std::optional<std::vector<Tensor>> found = run_cover(graph, wires, groups, given);
  REQUIRE(found.has_value());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK((*found)[i].bytes == expected[i].bytes);
  CHECK(members_of(graph, Borders(graph, wires, groups).of(0).writes) == Names{"a", "c"});
}

TEST_CASE("what only a value needed that nobody writes any more goes with it") {
  CHECK(again(R"(  %x = parameter 0 : f32[4096,3072]
  %k = parameter 1 : u8[4096,3072]
  %f = convert %k : f32[4096,3072]
  %s = sqrt %f : f32[4096,3072]
  %y = negate %x : f32[4096,3072]
  %l = custom_call %y, target="lib" : f32[4096,3072]
  %d = multiply %l, %s : f32[4096,3072]
  output %d
)",
              {{"f", "s", "y"}, {"d"}}) == std::set<Names>{{"y"}, {"f", "s", "d"}});
}

TEST_CASE("nobody waits for a group that computes a value again and waits for him") {
  // The library call reads %v of the first group that computes it, and the sum reads what the call wrote.
  const Graph graph = ir::parse_graph(R"(graph g {
  %x = parameter 0 : f32[4096,3072]
  %v = negate %x : f32[4096,3072]
  %s = custom_call %v, target="lib" : f32[4096,3072]
  %a = add %v, %x : f32[4096,3072]
  %r = add %a, %s : f32[4096,3072]
  output %r
}
)");
  const ir::DefUse wires = ir::def_use(graph);
  for (const NodeSets& groups : {named(graph, {{"a", "r"}, {"v"}}), named(graph, {{"v"}, {"a", "r"}})})
    CHECK(find_circle(graph, wires, recomputed(graph, wires, groups, search_gpu())).empty());
}

TEST_CASE("the groups of a whole training step wait for each other in no circle" *
          doctest::test_suite(testing::in_broad_runs)) {
  // In one of its searches what is done again closes a circle of four groups, three of them packs.
  const std::filesystem::path model =
      std::filesystem::path(third_party_folder()) / "workloads/hlo/bert_train_l2_b32_s128_f32.hlo";
  if (third_party_folder().empty() || !std::filesystem::exists(model)) return skip("no folder of workloads");
  const Graph graph = hlo::import_hlo(read_file(model), model.filename().string()).graph;
  const ir::Fusion fusion = fuse(find_strategy("tailor"), graph, search_setting());
  CHECK(fusion.groups.size() > 30);
  CHECK(find_circle(graph, ir::def_use(graph), fusion.groups).empty());
}

TEST_CASE("a result that waits for others is not computed again") {
  const std::set<Names> found = again(R"(  %x = parameter 0 : f32[4096,3072]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={1} : f32[4096]
  %b = broadcast %s, axes={0} : f32[4096,3072]
  %y = multiply %x, %b : f32[4096,3072]
  %l = custom_call %y, target="lib" : f32[4096,3072]
  %d = multiply %l, %y : f32[4096,3072]
  %e = multiply %d, %x : f32[4096,3072]
  output %e
)",
                                      {{"s", "y"}, {"d", "e"}});
  for (const Names& group : found) CHECK((!group.contains("d") || !group.contains("s")));
}

}  // namespace tailor::explore
