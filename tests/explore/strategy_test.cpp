// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategies: what they make of the groups that stitching is for (softmax, LayerNorm, a column reduction), and the
// laws that every partition keeps on random graphs. The oracle for whether a partition can run is Kahn's algorithm
// over its groups, written apart from the strategies' own check. Rows made up here try the common part: needs of a
// device or a price, budgets, stopping. Part of the suite `explore`.
#include "explore/strategy.h"
#include "explore/edge_notes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <queue>
#include <string>

#include "base/error.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/runnable.h"
#include "support/random_graph.h"
#include "support/search_setting.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;

namespace {

constexpr std::string_view softmax = R"(graph softmax {
  %x = parameter 0 : f32[64,1000]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes={1} : f32[64]
  %mb = broadcast %m, axes={0} : f32[64,1000]
  %d = subtract %x, %mb : f32[64,1000]
  %e = exp %d : f32[64,1000]
  %s = reduce add %e, %zero, axes={1} : f32[64]
  %sb = broadcast %s, axes={0} : f32[64,1000]
  %y = divide %e, %sb : f32[64,1000]
  given fusion.1 kLoop { %mb, %d, %e }
  output %y
}
)";

constexpr std::string_view layernorm = R"(graph layernorm {
  %x = parameter 0 : f32[4096,768]
  %scale = parameter 1 : f32[768]
  %zero = constant 0 : f32[]
  %n = constant 768 : f32[]
  %ns = broadcast %n, axes={} : f32[4096,1]
  %sum = reduce add %x, %zero, axes={1} : f32[4096]
  %sum1 = reshape %sum : f32[4096,1]
  %mean = divide %sum1, %ns : f32[4096,1]
  %mean1 = reshape %mean : f32[4096]
  %meanb = broadcast %mean1, axes={0} : f32[4096,768]
  %d = subtract %x, %meanb : f32[4096,768]
  %q = multiply %d, %d : f32[4096,768]
  %var = reduce add %q, %zero, axes={1} : f32[4096]
  %inv = rsqrt %var : f32[4096]
  %invb = broadcast %inv, axes={0} : f32[4096,768]
  %o = multiply %d, %invb : f32[4096,768]
  %sb = broadcast %scale, axes={1} : f32[4096,768]
  %y = multiply %o, %sb : f32[4096,768]
  output %y
}
)";

/// a feeds b directly and through a library call: {a, b} would wait for itself.
constexpr std::string_view hazard = R"(graph hazard {
  %x = parameter 0 : f32[64,64]
  %a = exp %x : f32[64,64]
  %l = custom_call %a, target="lib" : f32[64,64]
  %b = add %a, %l : f32[64,64]
  output %b
}
)";

constexpr std::string_view columns = R"(graph columns {
  %x = parameter 0 : f32[64,32]
  %zero = constant 0 : f32[]
  %a = exp %x : f32[64,32]
  %c = reduce add %a, %zero, axes={0} : f32[32]
  %y = negate %c : f32[32]
  output %y
}
)";

/// Kahn's algorithm over groups and outside nodes, free nodes seen through: independent of the strategy's own check.
bool can_run(const Graph& graph, const Fusion& fusion) {
  const DefUse wires = def_use(graph);
  // A node that several groups compute is written by the first of them.
  std::vector<std::vector<int>> units(graph.nodes.size());
  int count = 0;
  for (const auto& group : fusion.groups) {
    for (const NodeId id : group) units[static_cast<std::size_t>(id)].push_back(count);
    ++count;
  }
  for (std::vector<int>& of : units)
    if (of.empty()) of.push_back(count++);
  std::vector<std::vector<int>> after(static_cast<std::size_t>(count));
  std::vector<int> waits(static_cast<std::size_t>(count), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const NodeId producer : suppliers(graph, wires, static_cast<NodeId>(i)))
      for (const int to : units[i]) {
        const std::vector<int>& from = units[static_cast<std::size_t>(producer)];
        if (std::find(from.begin(), from.end(), to) != from.end()) continue;
        after[static_cast<std::size_t>(from.front())].push_back(to);
        ++waits[static_cast<std::size_t>(to)];
      }
  std::queue<int> ready;
  for (int u = 0; u < count; ++u)
    if (waits[static_cast<std::size_t>(u)] == 0) ready.push(u);
  int done = 0;
  for (; !ready.empty(); ready.pop(), ++done)
    for (const int next : after[static_cast<std::size_t>(ready.front())])
      if (--waits[static_cast<std::size_t>(next)] == 0) ready.push(next);
  return done == count;
}

/// What a made-up row was asked, one entry per graph.
std::vector<std::pair<std::string, SearchBudget>> asked;

Fusion ask(const FusionTask& task) {
  asked.emplace_back(task.graph.name, task.budget);
  return fuse_unfused(task);
}

std::string refusal(const Strategy& row, const Graph& graph, const FusionSetting& setting) {
  try {
    (void)fuse(row, graph, setting);
  } catch (const Error& error) {
    CHECK(error.fault == Fault::usage);
    return error.message;
  }
  return {};
}

/// Notes say what groups say: one note for every edge and group of its consumer; stitched or recomputed with a level
/// where the group computes the producer too, else cut; a reason on each.
void check_notes(const Graph& graph, const Fusion& fusion) {
  const DefUse facts = def_use(graph);
  std::size_t expected = 0;
  for (const std::vector<NodeId>& group : fusion.groups)
    for (const NodeId id : group) {
      if (facts.roles[static_cast<std::size_t>(id)] != Role::work) continue;
      for (const NodeId producer : suppliers(graph, facts, id))
        expected += facts.roles[static_cast<std::size_t>(producer)] == Role::work ? 1 : 0;
    }
  CHECK(fusion.edges.size() == expected);
  for (const EdgeNote& note : fusion.edges) {
    INFO(graph[note.producer].name, " to ", graph[note.consumer].name, ": ", note.reason);
    REQUIRE(note.group >= 0);
    const auto holds = [&](std::size_t group, NodeId id) {
      return std::binary_search(fusion.groups[group].begin(), fusion.groups[group].end(), id);
    };
    const auto group = static_cast<std::size_t>(note.group);
    CHECK(holds(group, note.consumer));
    CHECK((note.decision != EdgeDecision::cut) == holds(group, note.producer));
    bool earlier = false;
    for (std::size_t g = 0; g < group; ++g) earlier = earlier || holds(g, note.producer);
    if (note.decision != EdgeDecision::cut) CHECK((note.decision == EdgeDecision::recomputed) == earlier);
    CHECK(note.level.has_value() == (note.decision != EdgeDecision::cut));
    CHECK(note.seconds.has_value() == (!fusion.price.empty() && note.decision == EdgeDecision::cut));
    CHECK_FALSE(note.reason.empty());
  }
}

}  // namespace

TEST_CASE("softmax and LayerNorm become one row group each") {
  for (const std::string_view source : {softmax, layernorm}) {
    const Graph graph = parse_graph(source);
    const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
    REQUIRE(fusion.groups.size() == 1);
    const Partition counted = partition(graph, fusion);
    const auto* layout = std::get_if<codegen::Layout>(&counted.groups[0].needs);
    REQUIRE(layout != nullptr);
    CHECK(layout->skeleton == Skeleton::row);
    CHECK(counted.least_kernels == 1);
  }
}

TEST_CASE("a LayerNorm reads each input once and writes its output once") {
  const Graph graph = parse_graph(layernorm);
  const Partition counted = partition(graph, fuse(find_strategy("stitch-v1"), graph));
  CHECK(counted.bytes == 2.0 * 4096 * 768 * 4 + 768 * 4);
}

TEST_CASE("a group that would wait for a library call of its own is refused with the call's name") {
  const Graph graph = parse_graph(hazard);
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  CHECK(fusion.groups.size() == 2);
  REQUIRE(fusion.edges.size() == 1);
  CHECK(fusion.edges[0].reason == "refused: would make a cycle through %l");
  CHECK(partition(graph, fusion).least_kernels == 2);
}

TEST_CASE("a column reduction takes along what makes its input and what follows with one element per column") {
  const Graph graph = parse_graph(columns);
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  REQUIRE(fusion.groups.size() == 1);
  const Partition counted = partition(graph, fusion);
  const auto* layout = std::get_if<codegen::Layout>(&counted.groups[0].needs);
  REQUIRE(layout != nullptr);
  CHECK(codegen::text(*layout) == "column 64 x 32");
  REQUIRE(fusion.edges.size() == 2);
  CHECK(fusion.edges[0].reason == "register: element-wise in front of a reduction");
  CHECK(fusion.edges[1].reason ==
        "stitched: the column reduction feeds its own columns, in the block that adds them up");
}

TEST_CASE("two column reductions of one array are one group, and nothing of full size is written beside them") {
  const Graph graph = parse_graph(R"(graph statistics {
  %x = parameter 0 : f32[64,32]
  %zero = constant 0 : f32[]
  %a = exp %x : f32[64,32]
  %s = reduce add %x, %zero, axes={0} : f32[32]
  %q = multiply %x, %x : f32[64,32]
  %t = reduce add %q, %zero, axes={0} : f32[32]
  %u = reduce add %a, %zero, axes={0} : f32[32]
  %d = add %s, %t : f32[32]
  %db = broadcast %d, axes={1} : f32[64,32]
  %y = subtract %x, %db : f32[64,32]
  output %a, %u, %y
}
)");
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  const auto together = [&](std::string_view one, std::string_view other) {
    for (const std::vector<NodeId>& group : fusion.groups) {
      const auto holds = [&](std::string_view name) {
        return std::any_of(group.begin(), group.end(), [&](NodeId id) { return graph[id].name == name; });
      };
      if (holds(one)) return holds(other);
    }
    return false;
  };
  CHECK(together("s", "t"));
  CHECK(together("s", "q"));
  CHECK(together("s", "d"));
  CHECK(!together("u", "a"));
  CHECK(!together("d", "y"));
  for (const DistinctGroup& group : partition(graph, fusion).groups)
    CHECK(std::holds_alternative<codegen::Layout>(group.needs));
}

TEST_CASE(
    "a window does not go through another's taps again where that takes longer than to write and read its results") {
  // Of large images the smaller result of the first window is read again; of small ones a launch is dearer. What is one
  // operation before a window goes with it however large they are.
  const auto groups = [](int images, const std::string& first) {
    const auto of = [&](int edge) { return fmt::format("f32[{0},{1},{1}]", images, edge); };
    const Graph graph = parse_graph(
        fmt::format("graph pools {{\n  %x = parameter 0 : {0}\n  %z = constant 0 : f32[]\n  %a = {3} : {1}\n"
                    "  %d = multiply %a, %a : {1}\n"
                    "  %w = reduce_window add %d, %z, text=\"window={{size=1x5x5}}\" : {2}\n  output %w\n}}\n",
                    of(68), of(64), of(60), first));
    return fuse(find_strategy("stitch-v1"), graph).groups.size();
  };
  const std::string window = "reduce_window add %x, %z, text=\"window={size=1x5x5}\"";
  CHECK(groups(2, window) == 1);
  CHECK(groups(4096, window) == 2);
  CHECK(groups(4096, "slice %x, ranges={0:4096:1, 2:66:1, 2:66:1}") == 1);
}

TEST_CASE("a long row that one block sums takes its producers along, because together they have a plan") {
  const Graph graph = parse_graph(R"(graph long {
  %x = parameter 0 : f32[1048576]
  %zero = constant 0 : f32[]
  %a = exp %x : f32[1048576]
  %c = reduce add %a, %zero, axes={0} : f32[]
  output %c
}
)");
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  REQUIRE(fusion.groups.size() == 1);
  CHECK(std::holds_alternative<codegen::Layout>(partition(graph, fusion).groups[0].needs));
}

TEST_CASE("every partition can run and covers every working node") {
  for (const std::string_view source : {softmax, layernorm, hazard, columns}) {
    const Graph graph = parse_graph(source);
    for (const Strategy& strategy : strategies()) {
      const Fusion fusion = fuse(strategy, graph, search_setting());
      INFO(graph.name, " ", strategy.name);
      CHECK(can_run(graph, fusion));
      const DefUse wires = def_use(graph);
      for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (wires.roles[i] != Role::work) continue;
        bool found = false;
        for (const auto& group : fusion.groups)
          found |= std::find(group.begin(), group.end(), static_cast<NodeId>(i)) != group.end();
        CHECK(found);
      }
    }
  }
}

TEST_CASE("every note says what the groups say, and every partition of a random graph can run") {
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(20, 50, 200); ++seed) {
    const Graph graph = well_formed_graph(seed, 40);
    for (const Strategy& strategy : strategies()) {
      INFO("seed ", seed, " ", strategy.name);
      const Fusion fusion = fuse(strategy, graph, search_setting());
      check_notes(graph, fusion);
      const DefUse facts = def_use(graph);
      CHECK(find_circle(graph, facts, fusion.groups).empty());
      CHECK(find_left_out(facts, fusion.groups).empty());
      CHECK(fusion.strategy == strategy.name);
      CHECK(fusion.device.empty() == !strategy.needs.device);
      CHECK(fusion.price.empty() == !strategy.needs.price);
    }
  }
}

TEST_CASE("an edge of a row or column group has its level: registers into the reduction, at most a block behind it") {
  const Graph graph = parse_graph(softmax);
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  check_notes(graph, fusion);
  for (const EdgeNote& note : fusion.edges) {
    const bool reduced = graph[note.producer].op == Op::reduce;
    CHECK(note.level == (reduced ? StitchLevel::block : StitchLevel::registers));
  }
  const Graph narrow = parse_graph(columns);
  for (const EdgeNote& note : fuse(find_strategy("stitch-v1"), narrow).edges)
    CHECK(note.level == (narrow[note.producer].op == Op::reduce ? StitchLevel::block : StitchLevel::registers));
}

TEST_CASE("what waits between stages of a group is handed to the whole grid, the rest as in a loop") {
  const Graph graph = parse_graph(R"(graph stages {
  %x = parameter 0 : f32[64,96]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[64]
  %sb = broadcast %s, axes={0} : f32[64,96]
  %y = divide %x, %sb : f32[64,96]
  %c = reduce max %y, %z, axes={0} : f32[96]
  %cb = broadcast %c, axes={1} : f32[64,96]
  %w = subtract %y, %cb : f32[64,96]
  output %w
}
)");
  const DefUse facts = def_use(graph);
  std::vector<NodeId> all;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (facts.roles[i] == Role::work) all.push_back(static_cast<NodeId>(i));
  int grid = 0;
  for (const EdgeNote& note : edge_notes(graph, facts, {all})) {
    const bool waits = graph[note.producer].name == "c";
    CAPTURE(graph[note.producer].name);
    grid += note.level == StitchLevel::grid ? 1 : 0;
    if (waits) CHECK(note.level == StitchLevel::grid);
    if (graph[note.producer].op != Op::reduce) CHECK(note.level == StitchLevel::registers);
  }
  CHECK(grid > 0);
}

TEST_CASE("a value that two groups of a file compute is stitched in the first and recomputed in the second") {
  const Graph graph = parse_graph(R"(graph overlap {
  %x = parameter 0 : f32[4,6]
  %a = exp %x : f32[4,6]
  %b = negate %a : f32[4,6]
  %c = add %a, %x : f32[4,6]
  given fusion.1 kLoop { %a, %b }
  given fusion.2 kLoop { %a, %c }
  output %b, %c
}
)");
  const Fusion fusion = fuse(find_strategy("imported"), graph);
  check_notes(graph, fusion);
  REQUIRE(fusion.edges.size() == 2);
  CHECK(fusion.edges[0].decision == EdgeDecision::stitched);
  CHECK(fusion.edges[0].reason == "given: both in %fusion.1");
  CHECK(fusion.edges[1].decision == EdgeDecision::recomputed);
  CHECK(fusion.edges[1].reason == "given: %fusion.2 computes it too");
}

TEST_CASE("a row that needs a device or a price is refused without, and its partition bears their names") {
  const Graph graph = parse_graph(softmax);
  const Strategy row{"dear", {.device = true, .price = true}, "", "", &fuse_unfused};
  FusionSetting setting;
  CHECK(refusal(row, graph, setting) == "strategy 'dear' decides for one GPU and none was named");
  costmodel::CalibratedDevice device;
  device.name = "gpu";
  setting.device = &device;
  CHECK(refusal(row, graph, setting) == "strategy 'dear' decides by a price and no cost model was named");
  setting.price = costmodel::find_model("sol");
  REQUIRE(setting.price != nullptr);
  const Fusion fusion = fuse(row, graph, setting);
  CHECK(fusion.device == "gpu");
  CHECK(fusion.price == "sol");
  CHECK(fuse(find_strategy("unfused"), graph, setting).device.empty());
  CHECK(text(row.needs) == "device, price");
}

TEST_CASE("each graph of a model gets its share of the budget, by its nodes") {
  const Graph graph = parse_graph(R"(graph outer {
  graph condition {
    %i = parameter 0 : f32[]
    %limit = constant 3 : f32[]
    %go = compare lt %i, %limit : pred[]
    output %go
  }
  graph body {
    %i = parameter 0 : f32[]
    %next = exp %i : f32[]
    output %next
  }
  %x = parameter 0 : f32[]
  %l = while_loop %x, bodies={0,1} : f32[]
  %y = negate %l : f32[]
  output %y
}
)");
  const Strategy row{"asked", {}, "", "", &ask};
  FusionSetting setting;
  setting.budget = {.seconds = 8, .evaluations = 800};
  asked.clear();
  (void)fuse(row, graph, setting);
  REQUIRE(asked.size() == 3);
  CHECK(asked[0] == std::pair<std::string, SearchBudget>{"outer", {3, 300}});
  CHECK(asked[1] == std::pair<std::string, SearchBudget>{"condition", {3, 300}});
  CHECK(asked[2] == std::pair<std::string, SearchBudget>{"body", {2, 200}});
  asked.clear();
  (void)fuse(row, graph);
  CHECK(asked[2].second == SearchBudget{});
}

TEST_CASE("a stitching that is stopped answers with a partition that can run") {
  std::stop_source source;
  source.request_stop();
  FusionSetting setting;
  setting.stop = source.get_token();
  const Graph graph = parse_graph(layernorm);
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph, setting);
  CHECK(fusion.groups == fuse(find_strategy("unfused"), graph).groups);
  CHECK(fusion.edges.empty());
}

TEST_CASE("a chain over a single row is one kernel, however many dimensions of size 1 its shapes have") {
  struct Form {
    std::string full, kept, axes, spread;  // shapes of the row and of its statistic, axes of reduce and broadcast
  };
  const std::array<Form, 5> forms = {{{"[4096]", "[]", "{0}", "{}"},
                                      {"[1,4096]", "[1]", "{1}", "{0}"},
                                      {"[1,1,4096]", "[1,1]", "{2}", "{0,1}"},
                                      {"[1,4096,1]", "[1,1]", "{1}", "{0,2}"},
                                      {"[2,1,4096]", "[2,1]", "{2}", "{0,1}"}}};
  const auto filled = [](std::string text, const Form& form) {
    const auto put = [&](std::string_view mark, const std::string& words) {
      for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark))
        text.replace(at, mark.size(), words);
    };
    put("FULL", "f32" + form.full), put("KEPT", "f32" + form.kept), put("AXES", form.axes), put("SPREAD", form.spread);
    return text;
  };
  const std::string_view chains[] = {
      R"(graph softmax {
  %x = parameter 0 : FULL
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes=AXES : KEPT
  %mb = broadcast %m, axes=SPREAD : FULL
  %d = subtract %x, %mb : FULL
  %e = exp %d : FULL
  %s = reduce add %e, %zero, axes=AXES : KEPT
  %sb = broadcast %s, axes=SPREAD : FULL
  %y = divide %e, %sb : FULL
  output %y
}
)",
      R"(graph rms_norm {
  %x = parameter 0 : FULL
  %w = parameter 1 : FULL
  %zero = constant 0 : f32[]
  %n = constant 4096 : f32[]
  %eps = constant 0.00001 : f32[]
  %nb = broadcast %n, axes={} : KEPT
  %eb = broadcast %eps, axes={} : KEPT
  %q = multiply %x, %x : FULL
  %s = reduce add %q, %zero, axes=AXES : KEPT
  %mean = divide %s, %nb : KEPT
  %safe = add %mean, %eb : KEPT
  %r = rsqrt %safe : KEPT
  %rb = broadcast %r, axes=SPREAD : FULL
  %o = multiply %x, %rb : FULL
  %y = multiply %o, %w : FULL
  output %y
}
)",
      R"(graph layer_norm {
  %x = parameter 0 : FULL
  %zero = constant 0 : f32[]
  %n = constant 4096 : f32[]
  %nb = broadcast %n, axes={} : KEPT
  %s = reduce add %x, %zero, axes=AXES : KEPT
  %mean = divide %s, %nb : KEPT
  %mb = broadcast %mean, axes=SPREAD : FULL
  %d = subtract %x, %mb : FULL
  %q = multiply %d, %d : FULL
  %v = reduce add %q, %zero, axes=AXES : KEPT
  %var = divide %v, %nb : KEPT
  %r = rsqrt %var : KEPT
  %rb = broadcast %r, axes=SPREAD : FULL
  %y = multiply %d, %rb : FULL
  output %y
}
)"};
  for (const std::string_view chain : chains)
    for (const Form& form : forms) {
      const Graph graph = parse_graph(filled(std::string(chain), form));
      const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
      INFO(graph.name, " ", form.full);
      check_notes(graph, fusion);
      CHECK(fusion.groups.size() == 1);
      const Partition counted = partition(graph, fusion);
      for (const DistinctGroup& group : counted.groups) CHECK(std::holds_alternative<codegen::Layout>(group.needs));
    }
  // A row that is too long for one block keeps its loops apart.
  const Form wide{"[1,1048576]", "[1]", "{1}", "{0}"};
  CHECK(fuse(find_strategy("stitch-v1"), parse_graph(filled(std::string(chains[0]), wide))).groups.size() == 4);
}

TEST_CASE("a loop's counter joins a group of arrays and needs no launch of its own") {
  const Graph graph = parse_graph(R"(graph body {
  %i = parameter 0 : s32[]
  %x = parameter 1 : f32[64,64]
  %one = constant 1 : s32[]
  %next = add %i, %one : s32[]
  %y = exp %x : f32[64,64]
  output %next, %y
}
)");
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  CHECK(fusion.groups.size() == 1);
  check_notes(graph, fusion);
  const Partition counted = partition(graph, fusion);
  CHECK(std::holds_alternative<codegen::Layout>(counted.groups[0].needs));
}

TEST_CASE("the index that dynamic slices begin with is computed in each of them") {
  const Graph graph = parse_graph(R"(graph body {
  %i = parameter 0 : s32[]
  %x = parameter 1 : f32[100,64]
  %z = parameter 2 : f32[50,64]
  %lasts = parameter 3 : s32[8]
  %third = slice %lasts, ranges={2:3:1} : s32[1]
  %last = reshape %third : s32[]
  %one = constant 1 : s32[]
  %zero = constant 0 : s32[]
  %back = subtract %last, %i : s32[]
  %place = add %back, %one : s32[]
  %stack = parameter 4 : f32[100,64]
  %a = dynamic_slice %x, %place, %zero : f32[1,64]
  %b = dynamic_slice %z, %place, %zero : f32[3,64]
  %y = exp %a : f32[1,64]
  %n = exp %b : f32[3,64]
  %k = dynamic_update_slice %stack, %y, %back, %zero : f32[100,64]
  %next = add %i, %one : s32[]
  output %next, %k, %n
  in_place 1 of 4
}
)");
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  CHECK(fusion.groups.size() ==
        2);  // the slice that is written over the stack, the other, the counter with one of them
  check_notes(graph, fusion);
  CHECK(find_circle(graph, def_use(graph), fusion.groups).empty());
  for (const std::vector<NodeId>& group : fusion.groups)
    CHECK(std::any_of(group.begin(), group.end(), [&](NodeId id) { return elements(graph[id].shape) > 1; }));
}

TEST_CASE("a cheap value that groups of other sizes share is computed again in each") {
  constexpr std::string_view shared = R"(graph shared {
  %w = parameter 0 : bf16[768]
  %x = parameter 1 : f32[64,768]
  %y = parameter 2 : f32[32,768]
  %c = OPERATION %w : f32[768]
  %cx = broadcast %c, axes={1} : f32[64,768]
  %cy = broadcast %c, axes={1} : f32[32,768]
  %a = multiply %x, %cx : f32[64,768]
  %b = multiply %y, %cy : f32[32,768]
  output %a, %b
}
)";
  std::string text(shared);
  text.replace(text.find("OPERATION"), 9, "convert");
  const Graph graph = parse_graph(text);
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  REQUIRE(fusion.groups.size() == 2);
  check_notes(graph, fusion);
  CHECK(find_circle(graph, def_use(graph), fusion.groups).empty());
  std::vector<EdgeDecision> decisions;
  for (const EdgeNote& note : fusion.edges) decisions.push_back(note.decision);
  CHECK(decisions == std::vector<EdgeDecision>{EdgeDecision::stitched, EdgeDecision::recomputed});
  const Partition counted = partition(graph, fusion);
  CHECK(counted.bytes == 2.0 * 2 * 768 + 2.0 * (64 + 32) * 768 * 4);  // the narrow weights twice, no wide copy
  for (const DistinctGroup& group : counted.groups) CHECK(std::holds_alternative<codegen::Layout>(group.needs));
  // Not cheap: reads more than it writes; an expensive operation.
  text = shared;
  text.replace(text.find("OPERATION"), 9, "convert");
  text.replace(text.find("bf16[768]"), 9, "f64[768]");
  CHECK(fuse(find_strategy("stitch-v1"), parse_graph(text)).groups.size() == 3);
  text = shared;
  text.replace(text.find("OPERATION"), 9, "exp");
  text.replace(text.find("bf16[768]"), 9, "f32[768]");
  CHECK(fuse(find_strategy("stitch-v1"), parse_graph(text)).groups.size() == 3);
}

namespace {

Graph chain(int nodes) {
  std::string text = "graph chain {\n  %n0 = parameter 0 : f32[64,128]\n";
  for (int i = 1; i <= nodes; ++i)
    text += "  %n" + std::to_string(i) + " = negate %n" + std::to_string(i - 1) + " : f32[64,128]\n";
  return parse_graph(text + "  output %n" + std::to_string(nodes) + "\n}\n");
}

double seconds_to_fuse(const Graph& graph, Fusion& fusion) {
  const auto start = std::chrono::steady_clock::now();
  fusion = fuse(find_strategy("stitch-v1"), graph);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a chain of reductions becomes kernels of a bounded number of them") {
  constexpr int links = 200;
  std::string lines = "graph g {\n  %x0 = parameter 0 : f32[64,256]\n  %zero = constant 0 : f32[]\n";
  for (int i = 0; i < links; ++i)
    lines += fmt::format(
        "  %s{0} = reduce add %x{0}, %zero, axes={{1}} : f32[64]\n  %b{0} = broadcast %s{0}, axes={{0}} : f32[64,256]\n"
        "  %x{1} = subtract %x{0}, %b{0} : f32[64,256]\n",
        i, i + 1);
  const Graph graph = parse_graph(lines + fmt::format("  output %x{}\n}}\n", links));
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  bool said = false;
  for (const EdgeNote& note : fusion.edges) said |= note.reason.find("reductions, at most 64") != note.reason.npos;
  CHECK(said);
  CHECK(fusion.groups.size() == 4);
  for (const auto& group : fusion.groups) CHECK(reductions_of(graph, group) <= StitchV1Rules{}.reductions);
}

TEST_CASE("stitch-v1 stops a chain at the most operations of a group, in time that is linear in the nodes" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const auto most = StitchV1Rules{}.operations;
  Fusion fusion;
  CHECK(seconds_to_fuse(chain(static_cast<int>(most)), fusion) >= 0);
  CHECK(fusion.groups.size() == 1);
  const Graph four = chain(4096), sixteen = chain(16384);
  const double short_chain = seconds_to_fuse(four, fusion);
  CHECK(fusion.groups.size() == 4096 / most);
  CHECK(find_circle(four, def_use(four), fusion.groups).empty());
  bool said = false;
  for (const EdgeNote& note : fusion.edges) said |= note.reason.find("operations, at most") != note.reason.npos;
  CHECK(said);
  const double long_chain = seconds_to_fuse(sixteen, fusion);
  CHECK(fusion.groups.size() == 16384 / most);
  for (const auto& group : fusion.groups) CHECK(group.size() <= most);
  CHECK(long_chain < 9 * short_chain + 0.05);  // 4 when it is linear, 16 when it is quadratic
}
