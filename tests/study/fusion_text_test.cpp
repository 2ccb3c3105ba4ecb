// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A fusion as HLO text and back: the graph that is read is the graph that was written, and what the text's fusions
// group is what was grouped, under every strategy, with loops, branches, values that several groups compute, and
// groups with several results. The oracle is the importer with strategy `imported`. Part of the suite `study`.
#include "study/module/fusion_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "explore/borders.h"
#include "explore/partition.h"
#include "explore/runnable.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "reference/evaluate.h"
#include "reference/inputs.h"
#include "support/paths.h"
#include "support/random_graph.h"
#include "support/search_setting.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

/// Working nodes of each group by their names in the text.
using Named = std::multiset<std::string>;

/// Of a cover only what a group's results need: a member that another group writes and nobody here reads is no work of
/// this kernel.
void collect_groups(const Graph& graph, const Fusion& fusion, const std::string& where,
                    std::map<std::string, Named>& all) {
  const DefUse wires = def_use(graph);
  const explore::Borders borders(graph, wires, fusion.groups);
  const std::vector<std::string> names = hlo::hlo_names(graph);
  for (std::size_t g = 0; g < fusion.groups.size(); ++g) {
    std::set<std::string> members;
    for (const NodeId id : borders.of(g).inside)
      if (wires.roles[id] == Role::work || wires.roles[id] == Role::outside) members.insert(names[index(id)]);
    all[where].insert(fmt::format("{}", fmt::join(members, " ")));
  }
  for (std::size_t i = 0; i < fusion.bodies.size(); ++i)
    collect_groups(graph.bodies[i], fusion.bodies[i], where + "/" + graph.bodies[i].name, all);
}

/// A line per group.
std::string named_groups(const Graph& graph, const Fusion& fusion) {
  std::map<std::string, Named> all;
  collect_groups(graph, fusion, "", all);
  std::string lines;
  for (const auto& [where, groups] : all) lines += fmt::format("in '{}':\n{}\n", where, fmt::join(groups, "\n"));
  return lines;
}

bool overlaps(const Fusion& fusion) {
  std::set<NodeId> seen;
  for (const std::vector<NodeId>& group : fusion.groups)
    for (const NodeId id : group)
      if (!seen.insert(id).second) return true;
  return std::any_of(fusion.bodies.begin(), fusion.bodies.end(), overlaps);
}

/// What a partition says of kernels, by the structure of groups.
std::map<std::string, double> counted(const Graph& graph, const Fusion& fusion) {
  const explore::Partition partition = explore::partition(graph, fusion);
  std::map<std::string, double> counts;
  for (const explore::DistinctGroup& group : partition.groups) counts[hex(group.group.id)] += group.times;
  counts["bytes"] = partition.bytes;
  counts["library"] = partition.library_launches;
  counts["unknown trips"] = static_cast<double>(partition.unknown_trips);
  return counts;
}

struct RoundTrip {
  std::string text;
  Graph graph;
  Fusion fusion;
};

RoundTrip round_trip(const Graph& graph, const Fusion& fusion) {
  RoundTrip back;
  back.text = study::fusion_text(graph, fusion);
  back.graph = hlo::import_hlo(back.text, "written.hlo").graph;
  back.fusion = explore::fuse(explore::find_strategy("imported"), back.graph);
  return back;
}

void same_both_ways(const Graph& graph, const Fusion& fusion) {
  const RoundTrip back = round_trip(graph, fusion);
  CAPTURE(back.text);
  REQUIRE(canonical_text(back.graph) == canonical_text(graph));
  REQUIRE(back.graph.in_place == graph.in_place);
  REQUIRE(named_groups(back.graph, back.fusion) == named_groups(graph, fusion));
  // In a cover the first group owns a value, and what data demands may turn the order of two.
  if (!overlaps(fusion)) REQUIRE(counted(back.graph, back.fusion) == counted(graph, fusion));
}

void every_strategy(const Graph& graph) {
  for (const explore::Strategy& strategy : explore::strategies()) {
    CAPTURE(strategy.name);
    same_both_ways(graph, explore::fuse(strategy, graph, search_setting()));
  }
}

/// As an import leaves it: reading finds nothing more to simplify.
Graph settled(Graph graph) {
  for (int i = 0; i < 8; ++i) {
    Graph again = hlo::import_hlo(hlo::hlo_text(graph, {}), "settled.hlo").graph;
    const bool same = canonical_text(again) == canonical_text(graph);
    graph = std::move(again);
    if (same) break;
  }
  return graph;
}

/// A cover of the working nodes by random groups that can run.
Fusion random_cover(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const DefUse wires = def_use(graph);
  Fusion fusion = explore::fuse(explore::find_strategy("unfused"), graph);
  for (int attempt = 0; attempt < 30 && fusion.groups.size() > 1; ++attempt) {
    std::vector<std::vector<NodeId>> changed = fusion.groups;
    const std::size_t a = random() % changed.size(), b = random() % changed.size();
    std::vector<NodeId> both;
    std::set_union(changed[a].begin(), changed[a].end(), changed[b].begin(), changed[b].end(),
                   std::back_inserter(both));
    changed[a] = both;
    if (a != b && random() % 2 == 0) changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(b));
    if (explore::find_circle(graph, wires, changed).empty()) fusion.groups = changed;
  }
  return fusion;
}

std::string data_folder() { return source_folder() + "/data/models/"; }

}  // namespace

TEST_CASE("a graph that is written without fusions computes what it did") {
  int evaluated = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const Graph graph = well_formed_graph(seed, 30);
    // Reading makes a region of one addition a sum, which the evaluator rounds once and not at each step.
    if (std::any_of(graph.nodes.begin(), graph.nodes.end(),
                    [](const Node& node) { return reducer(node) == Reducer::custom; }))
      continue;
    const Graph back = hlo::import_hlo(hlo::hlo_text(graph, {}), "written.hlo").graph;
    const std::vector<reference::Tensor> inputs = reference::sensible_inputs(graph, seed);
    const std::vector<reference::Tensor> expected = reference::evaluate(graph, inputs);
    const std::vector<reference::Tensor> found = reference::evaluate(back, inputs);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i].shape == expected[i].shape);
      for (std::int64_t e = 0; e < elements(found[i].shape); ++e) {
        const double a = reference::as_double(found[i], e), b = reference::as_double(expected[i], e);
        REQUIRE((a == b || (std::isnan(a) && std::isnan(b))));
      }
    }
    ++evaluated;
  }
  CHECK(evaluated > 20);
}

TEST_CASE("loops, branches, regions, library calls and in-place updates are read back as they were written") {
  every_strategy(hlo::import_hlo(R"(HloModule all, input_output_alias={ {1}: (1, {}, may-alias) }

sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
pair { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  m = f32[] maximum(a, b)
  less = pred[] compare(a, b), direction=LT
  n = s32[] select(less, j, i)
  ROOT t = (f32[], s32[]) tuple(m, n) }
after { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT less = pred[] compare(a, b), direction=LT, type=TOTALORDER }
condition { s = (s32[], f32[8,16], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT }
step { s = (s32[], f32[8,16], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8,16] get-tuple-element(s), index=1
  e = f32[8,16] exponential(x)
  zero = f32[] constant(0)
  r = f32[8] reduce(e, zero), dimensions={1}, to_apply=sum
  b = f32[8,16] broadcast(r), dimensions={0}
  d = f32[8,16] divide(e, b)
  k = f32[8] get-tuple-element(s), index=2
  l = f32[8] add(k, r)
  ROOT t = (s32[], f32[8,16], f32[8]) tuple(next, d, l) }
yes { x = f32[8] parameter(0)
  ROOT y = f32[8] tanh(x) }
no { s = (f32[8], f32[8]) parameter(0)
  a = f32[8] get-tuple-element(s), index=0
  b = f32[8] get-tuple-element(s), index=1
  c = f32[8] multiply(a, b)
  ROOT y = f32[8] sine(c) }
nothing { s = () parameter(0)
  ROOT y = f32[8] constant({0, -0, inf, -inf, nan, 1e-45, 3.4e38, 0.1}) }
ENTRY e { x = f32[8,16]{0,1} parameter(0)
  cache = f32[64,8] parameter(1)
  which = s32[] parameter(2)
  h = f16[2,2] constant({{1, 0.1}, {-2.5, 65504}})
  c = c64[2] constant({(1, -2), (0.5, inf)})
  y = f32[8,16] copy(x)
  k = f32[8] parameter(3)
  zero = s32[] constant(0)
  state = (s32[], f32[8,16], f32[8]) tuple(zero, y, k)
  w = (s32[], f32[8,16], f32[8]) while(state), condition=condition, body=step
  out = f32[8,16] get-tuple-element(w), index=1
  rows = f32[8] get-tuple-element(w), index=2
  some = (f32[8], f32[8]) tuple(rows, k)
  none = () tuple()
  chosen = f32[8] conditional(which, rows, some, none), branch_computations={yes, no, nothing}
  flag = pred[] compare(which, zero), direction=GT
  either = f32[8] conditional(flag, chosen, some), true_computation=yes, false_computation=no
  p = f32[8,8] dot(out, out), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  q = f32[8,8] exponential(p)
  row = f32[1,8] reshape(either)
  updated = f32[64,8] dynamic-update-slice(cache, row, which, zero)
  start = f32[] constant(-inf)
  numbers = s32[8,8] iota(), iota_dimension=1
  best = (f32[8], s32[8]) reduce(q, numbers, start, zero), dimensions={1}, to_apply=pair
  most = f32[8] get-tuple-element(best), index=0
  at = s32[8] get-tuple-element(best), index=1
  sorted = f32[8] sort(most), dimensions={0}, is_stable=true, to_apply=after
  cut = f32[4] slice(sorted), slice={[0:8:2]}
  padded = f32[10] pad(cut, start), padding=1_2_1
  slid = f32[2] dynamic-slice(padded, which), dynamic_slice_sizes={2}
  windows = f32[5] reduce-window(padded, start), window={size=2 stride=2}, to_apply=sum
  call = (f32[5], f32[2]) custom-call(windows, slid), custom_call_target="secret", api_version=API_VERSION_STATUS_RETURNING
  first = f32[5] get-tuple-element(call), index=0
  back = f32[5] reverse(first), dimensions={0}
  ROOT t = (s32[8], f32[64,8], f32[5], f16[2,2], c64[2]) tuple(at, updated, back, h, c) }
)",
                                 "all.hlo")
                     .graph);
}

TEST_CASE("models that ship are read back as they were written, under every strategy" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  for (const auto& file : std::filesystem::directory_iterator(data_folder())) {
    CAPTURE(file.path().string());
    every_strategy(hlo::import_file(file.path().string()).graph);
  }
}

TEST_CASE("dumps are read back as they were written, XLA's own partitions among them" *
          doctest::test_suite(testing::in_broad_runs)) {
  if (third_party_folder().empty()) return skip("no dumps configured");
  for (const std::string_view folder : {"hlo", "xla_reference"})
    for (const auto& file :
         std::filesystem::directory_iterator(std::filesystem::path(third_party_folder()) / std::string(folder))) {
      const std::string path = file.path().string();
      if (!path.ends_with(".hlo") && !path.ends_with("h200.default.optimized.hlo.gz")) continue;
      CAPTURE(path);
      const Graph graph = settled(hlo::import_file(path).graph);
      for (const std::string_view strategy : {"imported", "stitch-v1"})
        same_both_ways(graph, explore::fuse(explore::find_strategy(strategy), graph));
    }
}

TEST_CASE("random covers are read back as they were written: values that several groups compute have one owner") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = settled(well_formed_graph(seed, 40));
    same_both_ways(graph, random_cover(graph, seed));
  }
}

TEST_CASE("random graphs are read back as they were written, under every strategy") {
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(20, 60, 60); ++seed) {
    CAPTURE(seed);
    every_strategy(settled(well_formed_graph(seed, 12 + static_cast<int>(seed))));
  }
}
