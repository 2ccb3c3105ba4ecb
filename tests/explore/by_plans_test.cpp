// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups held against plans. What a search by price decided is never worse than what it started from, by the plans of
// each group, which are looked for here once more; it can be run, is the same twice, and what it may spend is what it
// spends. Over modules whose price is far from their plans, and over random graphs. Part of the suite `explore`.
#include "explore/by_plans.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "codegen/lower/prepare.h"
#include "explore/merge_search.h"
#include "explore/partition.h"
#include "explore/price.h"
#include "explore/runnable.h"
#include "explore/writable.h"
#include "hlo/import.h"
#include "support/random_graph.h"
#include "support/search_setting.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;

namespace {

struct Total {
  std::int64_t unplanned = 0;
  double seconds = 0;
};

/// Of all groups, the price of those without a plan.
Total total(const Graph& graph, const NodeSets& groups, std::int64_t plans,
            const costmodel::CalibratedDevice& gpu = search_gpu()) {
  Fusion fusion;
  fusion.groups = groups;
  fusion.bodies.resize(graph.bodies.size());
  Total all;
  for (const DistinctGroup& group : partition(graph, fusion).groups) {
    const auto prepared = codegen::prepare(group.group);
    const auto* ready = std::get_if<codegen::Prepared>(&prepared);
    double seconds = 0;
    if (ready != nullptr) {
      const Tuned tuned = tune(*ready, default_axes(*ready, gpu.limits), gpu, {.max_plans = plans, .keep = 1});
      if (!tuned.best.empty()) seconds = tuned.best.front().estimate.total.value;
    }
    if (seconds == 0) {
      seconds = group_price(group.group.graph, gpu);
      all.unplanned += static_cast<std::int64_t>(group.occurrences.size());
    }
    all.seconds += group.times * seconds;
  }
  return all;
}

bool not_worse(const Total& a, const Total& b) {
  return a.unplanned != b.unplanned ? a.unplanned < b.unplanned : a.seconds <= b.seconds * (1 + 1e-6);
}

NodeSets by(std::string_view strategy, const Graph& graph, bool plans = false,
            const costmodel::CalibratedDevice& gpu = search_gpu()) {
  FusionSetting setting = search_setting();
  setting.device = &gpu;
  if (plans) setting.plans = costmodel::find_model("projected");
  return fuse(find_strategy(strategy), graph, setting).groups;
}

FusionTask task_of(const FusionSetting& setting, const Graph& graph, const DefUse& wires) {
  FusionTask task{setting, graph, wires};
  task.plans = costmodel::find_model("projected");
  return task;
}

/// Two arrays that are turned in different ways: one flat loop reads or writes one of them across memory.
const char* const turned_twice = R"(HloModule turned
ENTRY e {
  a = f16[6,32,24,40,10] parameter(0)
  t = f16[40,6,10,32,24] transpose(a), dimensions={3,0,4,1,2}
  u = f16[40,6,10,32,24] tanh(t)
  v = f16[24,40,32,6,10] transpose(u), dimensions={4,0,3,1,2}
  ROOT o = (f16[40,6,10,32,24], f16[24,40,32,6,10]) tuple(u, v)
}
)";
/// Rows of four, each element in another array.
const char* const short_rows = R"(HloModule rows
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT m = f32[] add(x, y)
}
ENTRY e {
  a = f32[1000000,4]{0,1} parameter(0)
  z = f32[] constant(0)
  q = f32[1000000,4]{0,1} multiply(a, a)
  r = f32[1000000]{0} reduce(q, z), dimensions={1}, to_apply=add
  s = f32[1000000]{0} rsqrt(r)
  b = f32[1000000,4]{0,1} broadcast(s), dimensions={0}
  n = f32[1000000,4]{0,1} multiply(a, b)
  ROOT c = f32[1000000,4]{1,0} copy(n)
}
)";

/// The gradients of a norm's input and of a scale that each of a batch has of its own.
std::string modulated_norm_backward(int batch, int rows, int columns) {
  return fmt::format(R"(HloModule modulated
add {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT m = f32[] add(x, y)
}}
ENTRY e {{
  x = bf16[{0},{1},{2}] parameter(0)
  dy = bf16[{0},{1},{2}] parameter(1)
  w = f32[{0},{2}] parameter(2)
  z = f32[] constant(0)
  xf = f32[{0},{1},{2}] convert(x)
  df = f32[{0},{1},{2}] convert(dy)
  share = f32[] constant(0.001)
  shares = f32[{0},{1}] broadcast(share), dimensions={{}}
  m = f32[{0},{1}] reduce(xf, z), dimensions={{2}}, to_apply=add
  mean = f32[{0},{1}] multiply(m, shares)
  mb = f32[{0},{1},{2}] broadcast(mean), dimensions={{0,1}}
  c = f32[{0},{1},{2}] subtract(xf, mb)
  q = f32[{0},{1},{2}] multiply(c, c)
  s = f32[{0},{1}] reduce(q, z), dimensions={{2}}, to_apply=add
  r = f32[{0},{1}] rsqrt(s)
  rb = f32[{0},{1},{2}] broadcast(r), dimensions={{0,1}}
  n = f32[{0},{1},{2}] multiply(c, rb)
  t = f32[{0},{1},{2}] multiply(n, df)
  dw = f32[{0},{2}] reduce(t, z), dimensions={{1}}, to_apply=add
  db = f32[{0},{2}] reduce(df, z), dimensions={{1}}, to_apply=add
  wb = f32[{0},{1},{2}] broadcast(w), dimensions={{0,2}}
  p = f32[{0},{1},{2}] multiply(df, wb)
  u = f32[{0},{1},{2}] multiply(p, n)
  us = f32[{0},{1}] reduce(u, z), dimensions={{2}}, to_apply=add
  ub = f32[{0},{1},{2}] broadcast(us), dimensions={{0,1}}
  v = f32[{0},{1},{2}] multiply(n, ub)
  d = f32[{0},{1},{2}] subtract(p, v)
  ds = f32[{0},{1}] reduce(d, z), dimensions={{2}}, to_apply=add
  dm = f32[{0},{1}] multiply(ds, shares)
  dmb = f32[{0},{1},{2}] broadcast(dm), dimensions={{0,1}}
  g = f32[{0},{1},{2}] subtract(d, dmb)
  e = f32[{0},{1},{2}] multiply(g, rb)
  dx = bf16[{0},{1},{2}] convert(e)
  ROOT o = (bf16[{0},{1},{2}], f32[{0},{2}], f32[{0},{2}]) tuple(dx, dw, db)
}}
)",
                     batch, rows, columns);
}

/// A norm, and the halves of its rows rotated: what waits in shared memory is read at two places, and so are weights.
std::string rotated_norm(int rows, int columns) {
  std::string text = R"(HloModule rotated
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT m = f32[] add(x, y)
}
ENTRY e {
  a = f32[R,C] parameter(0)
  w = f32[C] parameter(1)
  c1 = f32[C] parameter(2)
  t1 = f32[C] parameter(3)
  c = f32[R,C] broadcast(c1), dimensions={1}
  t = f32[R,C] broadcast(t1), dimensions={1}
  z = f32[] constant(0)
  q = f32[R,C] multiply(a, a)
  s = f32[R] reduce(q, z), dimensions={1}, to_apply=add
  r = f32[R] rsqrt(s)
  b = f32[R,C] broadcast(r), dimensions={0}
  v = f32[R,C] broadcast(w), dimensions={1}
  n = f32[R,C] multiply(a, b)
  p = f32[R,C] multiply(n, v)
  l = f32[R,H] slice(p), slice={[0:R], [0:H]}
  h = f32[R,H] slice(p), slice={[0:R], [H:C]}
  g = f32[R,H] negate(h)
  d = f32[R,C] concatenate(g, l), dimensions={1}
  pc = f32[R,C] multiply(p, c)
  dt = f32[R,C] multiply(d, t)
  ROOT o = f32[R,C] add(pc, dt)
}
)";
  for (const auto& [letter, number] : {std::pair{'R', rows}, std::pair{'C', columns}, std::pair{'H', columns / 2}})
    for (std::size_t at = 0; (at = text.find(letter, at)) != std::string::npos; ++at)
      if (text[at - 1] == '[' || text[at - 1] == ',' || text[at - 1] == ':')
        text.replace(at, 1, std::to_string(number));
  return text;
}

/// How alike two images are, by windows of both, of their squares and of their product.
std::string likeness(std::string_view images, std::string_view means, int size) {
  std::string text =
      "HloModule likeness\nadd {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
      "  ROOT m = f32[] add(x, y)\n}\nENTRY e {\n";
  const auto line = [&](std::string_view name, std::string_view type, const std::string& what) {
    text += fmt::format("  {} = f32{} {}\n", name, type, what);
  };
  line("a", images, "parameter(0)");
  line("b", images, "parameter(1)");
  line("z", "[]", "constant(0)");
  line("t", "[]", "constant(0.02)");
  line("c", means, "broadcast(t), dimensions={}");
  line("aa", images, "multiply(a, a)");
  line("bb", images, "multiply(b, b)");
  line("ab", images, "multiply(a, b)");
  for (const std::string of : {"a", "b", "aa", "bb", "ab"}) {
    line("s" + of, means, fmt::format("reduce-window({}, z), window={{size=1x{}x{}}}, to_apply=add", of, size, size));
    line("m" + of, means, fmt::format("multiply(s{}, c)", of));
  }
  line("p", means, "multiply(ma, mb)");
  line("pa", means, "multiply(ma, ma)");
  line("pb", means, "multiply(mb, mb)");
  line("q", means, "subtract(mab, p)");
  line("qa", means, "subtract(maa, pa)");
  line("qb", means, "subtract(mbb, pb)");
  line("n", means, "multiply(p, q)");
  line("d", means, "add(pa, pb)");
  line("f", means, "add(qa, qb)");
  line("g", means, "multiply(d, f)");
  line("o", means, "divide(n, g)");
  line("ROOT r", "[8]", "reduce(o, z), dimensions={1,2}, to_apply=add");
  return text + "}\n";
}

/// Steps of a difference scheme: one kernel computes the first of them at as many places as there are steps.
std::string diffused(int steps, int length) {
  std::string text = fmt::format("HloModule diffused\nENTRY e {{\n  u0 = f32[{}] parameter(0)\n", length);
  for (int i = 0; i < steps; ++i) {
    const int inner = length - 2 * (i + 1);
    for (int k = 0; k < 3; ++k)
      text += fmt::format("  s{}{} = f32[{}] slice(u{}), slice={{[{}:{}]}}\n", i, k, inner, i, k, inner + k);
    text += fmt::format(
        "  a{0} = f32[{1}] add(s{0}0, s{0}2)\n  m{0} = f32[{1}] multiply(a{0}, s{0}1)\n"
        "  {2}u{3} = f32[{1}] tanh(m{0})\n",
        i, inner, i + 1 == steps ? "ROOT " : "", i + 1);
  }
  return text + "}\n";
}

/// Sums of the first 1, 2 ... elements by pairs: pairs are added, their sums are taken of those, and what stands
/// between two sums is one of them and an element. Returns the name of the result.
std::string summed_by_pairs(std::string& text, const std::string& x, int length) {
  if (length < 2) return x;
  const auto line = [&](const std::string& name, int of, const std::string& what) {
    text += fmt::format("  {}{} = f32[4,{}] {}\n", x, name, of, what);
    return x + name;
  };
  const auto slice = [&](const std::string& name, const std::string& from, int low, int high, int stride) {
    return line(name, (high - low + stride - 1) / stride,
                fmt::format("slice({}), slice={{[0:4], [{}:{}:{}]}}", from, low, high, stride));
  };
  const int half = length / 2;
  const std::string pairs =
      line("p", half, fmt::format("add({}, {})", slice("e", x, 0, length, 2), slice("o", x, 1, length, 2)));
  const std::string sums = summed_by_pairs(text, pairs, half);
  const std::string rest = slice("r", x, 2, length, 2);
  const std::string first = slice("f", x, 0, 1, 1);
  std::string evens = first;
  if (half > 1) {
    const std::string between = line("b", half - 1, fmt::format("add({}, {})", slice("s", sums, 0, half - 1, 1), rest));
    evens = line("c", half, fmt::format("concatenate({}, {}), dimensions={{1}}", first, between));
  }
  const std::string left = line("l", length, fmt::format("pad({}, z), padding=0_0x0_1_1", evens));
  const std::string right = line("h", length, fmt::format("pad({}, z), padding=0_0x1_0_1", sums));
  return line("y", length, fmt::format("add({}, {})", left, right));
}

costmodel::CalibratedDevice gpu_named(const std::string& name) {
  const std::string data = source_folder() + "/data/";
  const std::string facts = data + "devices/" + name + ".json", fits = data + "calibrations/uncalibrated.json";
  return costmodel::calibrated(parse_device(read_file(facts), facts), parse_calibration(read_file(fits), fits));
}

}  // namespace

TEST_CASE("the price of a window lies near its best plan, whatever stands before it") {
  int number = 0;
  for (const int size : {3, 5, 7})
    for (const char* front : {"copy(a)", "exponential(a)", "sine(a)"}) {
      if (!testing::broad() && number++ % 4 != 0) continue;  // each size and each front once
      const std::string means = fmt::format("[32,{0},{0}]", 501 - size);
      const Graph graph =
          hlo::import_hlo(
              fmt::format("HloModule window\nadd {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                          "  ROOT m = f32[] add(x, y)\n}}\nENTRY e {{\n"
                          "  a = f32[32,500,500] parameter(0)\n  z = f32[] constant(0)\n"
                          "  p = f32[32,500,500] {}\n"
                          "  ROOT w = f32{} reduce-window(p, z), window={{size=1x{}x{}}}, to_apply=add\n}}\n",
                          front, means, size, size),
              "m.hlo")
              .graph;
      NodeSets one(1);
      const DefUse wires = def_use(graph);
      for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (wires.roles[i] == Role::work) one.front().push_back(static_cast<NodeId>(i));
      const Total plan = total(graph, one, plans_in_passing);
      const double price = price_of(graph, wires, one, search_gpu());
      INFO(size, " ", front, ": ", price * 1e6, " us, best plan ", plan.seconds * 1e6);
      CHECK(plan.unplanned == 0);
      CHECK(price < 1.1 * plan.seconds);
      CHECK(plan.seconds < 3 * price);
    }
}

TEST_CASE("groups with windows lie between one kernel and one for each node where plans say so" *
          doctest::test_suite(testing::in_broad_runs)) {
  struct Case {
    std::string gpu;
    int window, edge;
  };
  const std::vector<Case> quick{{"v100_pcie", 5, 100}};
  const std::vector<Case> all{{"h200", 7, 400}, {"l4", 7, 400}, {"v100_pcie", 5, 400}, {"v100_pcie", 5, 100}};
  const std::vector<Case>& cases = testing::thorough() ? all : quick;
  int between = 0;
  for (const auto& [name, size, edge] : cases) {
    INFO(name, ", windows of ", size, " x ", size, " in images of ", edge, " x ", edge);
    const costmodel::CalibratedDevice gpu = gpu_named(name);
    const std::string images = fmt::format("[8,{0},{0}]", edge), means = fmt::format("[8,{0},{0}]", edge + 1 - size);
    const Graph graph = hlo::import_hlo(likeness(images, means, size), "m.hlo").graph;
    const NodeSets ours = by("tailor", graph, true, gpu);
    const double best = total(graph, ours, plans_in_passing, gpu).seconds;
    double rival = std::numeric_limits<double>::infinity();
    for (const std::string_view other : {"unfused", "stitch-v1", "xla-2022"}) {
      const Total of_other = total(graph, by(other, graph, false, gpu), plans_in_passing, gpu);
      if (of_other.unplanned == 0) rival = std::min(rival, of_other.seconds);
    }
    CHECK(best <= rival * (1 + 1e-6));
    between += best < 0.9 * rival ? 1 : 0;
    MESSAGE(name, ": ", ours.size(), " groups, ", best * 1e6, " us, best of the others ", rival * 1e6);
  }
  CHECK(between == static_cast<int>(cases.size()));
}

TEST_CASE("a group that takes much more than its price lies between one kernel and one for each node" *
          doctest::test_suite(testing::in_broad_runs)) {
  // Columns of sines and cosines: a warp of one kernel has elements of all pieces, and takes the way of each.
  constexpr int frequencies = 8;
  std::string text = "HloModule columns\nENTRY e {\n  x = f32[100000,3] parameter(0)\n";
  std::string pieces = "x";
  for (int i = 0; i < frequencies; ++i) {
    text += fmt::format(
        "  c{0} = f32[] constant({1})\n  b{0} = f32[100000,3] broadcast(c{0}), dimensions={{}}\n"
        "  m{0} = f32[100000,3] multiply(x, b{0})\n  s{0} = f32[100000,3] sine(m{0})\n"
        "  k{0} = f32[100000,3] cosine(m{0})\n",
        i, 2 + i);
    pieces += fmt::format(", s{0}, k{0}", i);
  }
  text += fmt::format("  ROOT y = f32[100000,{}] concatenate({}), dimensions={{1}}\n}}\n", 3 + 6 * frequencies, pieces);
  const Graph graph = hlo::import_hlo(text, "m.hlo").graph;
  const double ours = total(graph, by("tailor", graph, true), plans_in_passing).seconds;
  double rival = std::numeric_limits<double>::infinity();
  for (const std::string_view other : {"unfused", "stitch-v1"})
    rival = std::min(rival, total(graph, by(other, graph), plans_in_passing).seconds);
  INFO(1e6 * ours, " us, best of the others ", 1e6 * rival);
  CHECK(ours < 0.75 * rival);
}

TEST_CASE("sums across rows are apart from these where plans say so, and only there" *
          doctest::test_suite(testing::in_broad_runs)) {
  int joined = 0, apart = 0;
  for (const auto& [batch, rows, columns] : {std::tuple{2, 2048, 5120}, {32, 256, 1152}, {64, 256, 512}}) {
    const Graph graph = hlo::import_hlo(modulated_norm_backward(batch, rows, columns), "m.hlo").graph;
    INFO(batch, " x ", rows, " x ", columns);
    const DefUse wires = def_use(graph);
    const FusionSetting setting = search_setting();
    const FusionTask task = task_of(setting, graph, wires);
    NodeSets single;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (wires.roles[i] == Role::work) single.push_back({static_cast<NodeId>(i)});
    Spending spending(task);
    MergeLimits limits;
    limits.sums_across = false;
    const costmodel::GroupFacts facts = costmodel::group_facts(graph, wires);
    MergeSearch search(task, facts, limits, single, spending);
    search.run();
    for (const std::vector<NodeId>& group : search.groups()) CHECK(!sums_across(graph, wires, group));
    const NodeSets ours = by("tailor", graph, true), by_price = by("tailor", graph);
    REQUIRE(by_price.size() == 1);
    CHECK(sums_across(graph, wires, by_price.front()));
    const double seconds = total(graph, ours, plans_in_passing).seconds;
    CHECK(seconds <= total(graph, by_price, plans_in_passing).seconds * (1 + 1e-6));
    CHECK(seconds <= total(graph, search.groups(), plans_in_passing).seconds * (1 + 1e-6));
    (ours.size() == 1 ? joined : apart) += 1;
  }
  CHECK(joined >= 1);
  CHECK(apart >= 1);
  MESSAGE(joined, " joined, ", apart, " apart");
}

TEST_CASE("what a doubt alone keeps apart is joined where plans of the whole take less, and only there" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  int joined = 0, apart = 0;
  for (const auto& [rows, columns] : {std::pair{4096, 256}, {4096, 4096}, {4096, 16'384}, {4, 100'002}}) {
    const Graph graph = hlo::import_hlo(rotated_norm(rows, columns), "m.hlo").graph;
    INFO(rows, " x ", columns);
    const NodeSets groups = by("tailor", graph, true), by_price = by("tailor", graph);
    REQUIRE(by_price.size() == 2);
    NodeSets one{by_price.front()};
    one.front().insert(one.front().end(), by_price.back().begin(), by_price.back().end());
    std::sort(one.front().begin(), one.front().end());
    one.front().erase(std::unique(one.front().begin(), one.front().end()), one.front().end());
    const Total of_one = total(graph, one, plans_in_passing), of_two = total(graph, by_price, plans_in_passing);
    const bool pays = of_one.unplanned == 0 && of_one.seconds < (1 - PlanEffort{}.gain) * of_two.seconds;
    CHECK((groups.size() == 1) == pays);
    (pays ? joined : apart) += 1;
    // In a large graph the same is asked with fewer plans.
    const DefUse wires = def_use(graph);
    const FusionSetting setting = search_setting();
    const FusionTask task = task_of(setting, graph, wires);
    PlanEffort large;
    large.whole_nodes = 0;
    CHECK((hold_against_plans(task, by_price, {}, Spending(task), large).groups.size() == 1) == pays);
  }
  CHECK(joined >= 1);
  CHECK(apart >= 1);
  MESSAGE(joined, " joined, ", apart, " left apart");
}

TEST_CASE("by plans a search is never worse than the strategies it starts from, where its price is far from plans" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  int helped = 0;
  for (const std::string& text : {std::string(turned_twice), std::string(short_rows), diffused(6, 100'000)}) {
    const Graph graph = hlo::import_hlo(text, "m.hlo").graph;
    INFO(graph.name);
    const NodeSets ours = by("tailor", graph, true);
    const Total best = total(graph, ours, plans_in_passing);
    for (const std::string_view other : {"unfused", "stitch-v1", "xla-2020", "xla-2022", "xla-priority"}) {
      INFO(other);
      CHECK(not_worse(best, total(graph, by(other, graph), plans_in_passing)));
    }
    CHECK(ours == by("tailor", graph, true));
    helped += best.seconds < 0.95 * total(graph, by("tailor", graph), plans_in_passing).seconds ? 1 : 0;
  }
  CHECK(helped >= 1);
}

TEST_CASE("by plans a search is never worse than the rules, whatever the graph") {
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(3, 60); ++seed) {
    CAPTURE(seed);
    const Graph graph = well_formed_graph(seed, 8);
    const Total best = total(graph, by("tailor", graph, true), plans_in_passing);
    for (const std::string_view rules : {"stitch-v1", "xla-2020", "xla-2022", "xla-priority"}) {
      CAPTURE(rules);
      CHECK(not_worse(best, total(graph, by(rules, graph), plans_in_passing)));
    }
  }
}

TEST_CASE("of a tree of slices that no kernel holds whole nothing is left without a plan" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  std::string text = "HloModule sums\nENTRY e {\n  z = f32[] constant(0)\n  x = f32[4,512] parameter(0)\n";
  const std::string last = summed_by_pairs(text, "x", 512);
  text += fmt::format("  ROOT n = f32[4,512] negate({})\n}}\n", last);
  const Graph graph = hlo::import_hlo(text, "m.hlo").graph;
  const NodeSets ours = by("tailor", graph, true);
  CHECK(total(graph, ours, plans_in_passing).unplanned == 0);
  CHECK(ours.size() > 1);
}

TEST_CASE("a mixture of partitions is not worse than any of them, can be run and leaves nothing out" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  PlanEffort effort;
  effort.plans = 2;
  effort.whole_nodes = 1 << 20;
  int mixed = 0;
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(10, 30, 150); ++seed) {
    INFO("seed ", seed);
    const Graph graph = well_formed_graph(seed, 20);
    const DefUse wires = def_use(graph);
    const FusionSetting setting = search_setting();
    const FusionTask task = task_of(setting, graph, wires);
    const std::vector<MetPartition> others{
        {by("unfused", graph)}, {by("stitch-v1", graph)}, {writable(graph, wires, by("xla-2022", graph))}};
    const NodeSets ours = by("tailor", graph);
    const HeldAgainstPlans held = hold_against_plans(task, ours, others, Spending(task), effort);
    CHECK(find_circle(graph, wires, held.groups).empty());
    CHECK(find_left_out(wires, held.groups).empty());
    const Total best = total(graph, held.groups, effort.plans);
    CHECK(not_worse(best, total(graph, ours, effort.plans)));
    bool is_one = held.groups == ours;
    for (const MetPartition& other : others) {
      if (!find_circle(graph, wires, other.groups).empty()) continue;
      CHECK(not_worse(best, total(graph, other.groups, effort.plans)));
      is_one = is_one || held.groups == other.groups;
    }
    mixed += is_one ? 0 : 1;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (held.groups == ours) CHECK_FALSE(held.changed[i]);
  }
  CHECK(mixed > 0);
}

TEST_CASE("of large graphs only doubtful groups are looked at, and no more than may be spent") {
  const Graph graph = hlo::import_hlo(short_rows, "m.hlo").graph;
  const DefUse wires = def_use(graph);
  const FusionSetting setting = search_setting();
  FusionTask task = task_of(setting, graph, wires);
  const NodeSets ours = by("tailor", graph);
  const NodeSets other = by("stitch-v1", graph);
  bool of_strategy = false;
  const auto held = [&](const PlanEffort& effort) {
    return hold_against_plans(task, ours, {{other, of_strategy}}, Spending(task), effort).groups;
  };
  PlanEffort few;
  few.whole_nodes = 0;
  few.doubt = 1;
  CHECK(held(few) != ours);
  PlanEffort sure = few;
  sure.doubt = 1e9;
  CHECK(held(sure) == ours);
  PlanEffort nothing = few;
  nothing.most_work = 0;
  CHECK(held(nothing) == ours);
  // What another strategy makes is asked about without a doubt too.
  of_strategy = true;
  CHECK(held(sure) != ours);
  CHECK(not_worse(total(graph, held(sure), plans_in_passing), total(graph, other, plans_in_passing)));
  sure.strategies_work = 0;
  CHECK(held(sure) == ours);
  std::stop_source source;
  source.request_stop();
  task.stop = source.get_token();
  CHECK(held({}) == ours);
}

TEST_CASE("where few may be looked at the cheapest by the price come first, whenever they were met") {
  const Graph graph = hlo::import_hlo(short_rows, "m.hlo").graph;
  const DefUse wires = def_use(graph);
  const FusionSetting setting = search_setting();
  const FusionTask task = task_of(setting, graph, wires);
  const NodeSets ours = by("tailor", graph), good = by("stitch-v1", graph), bad = by("unfused", graph);
  PlanEffort effort;
  effort.whole_nodes = 0;
  effort.doubt = 1e9;
  const auto held = [&](const std::vector<MetPartition>& others) {
    return hold_against_plans(task, ours, others, Spending(task), effort).groups;
  };
  // As little as is enough for the better one alone.
  std::int64_t too_little = 0, enough = effort.strategies_work;
  REQUIRE(held({{good, true}}) != ours);
  while (enough - too_little > 1) {
    effort.strategies_work = (too_little + enough) / 2;
    (held({{good, true}}) != ours ? enough : too_little) = effort.strategies_work;
  }
  effort.strategies_work = enough;
  const MetPartition cheap{good, true, 1e-6}, dear{bad, true, 2e-6}, said_cheaper{bad, true, 0.5e-6};
  CHECK(held({cheap, dear}) != ours);
  CHECK(held({dear, cheap}) != ours);
  CHECK(held({cheap, said_cheaper}) == ours);  // nothing is left when it is its turn
  CHECK(held({said_cheaper, cheap}) == ours);
}

TEST_CASE("plans that are slow to count are fewer, and no more are lowered than there is patience for") {
  const Graph graph = hlo::import_hlo(short_rows, "m.hlo").graph;
  const Group group = outline(graph, by("tailor", graph).front());
  const auto prepared = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
  const auto& ready = std::get<codegen::Prepared>(prepared);
  const auto lowered = [&](std::int64_t looks) {
    const Tuned tuned = tune(ready, default_axes(ready, search_gpu().limits), search_gpu(),
                             {.max_plans = 64, .most_looks = looks, .keep = 1});
    CHECK_FALSE(tuned.best.empty());
    return tuned.lowerings;
  };
  const std::int64_t all = lowered(0);
  CHECK(all > 40);
  CHECK(lowered(1 << 30) == all);
  CHECK(lowered(1) < all / 2);
}
