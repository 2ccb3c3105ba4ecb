// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Short loops at import: written out they compute what they compute as loops, to the bit, and each condition for it is
// asked on both sides. The oracle is the same loop with a compiler's note of its trips, which stays a loop. Part of the
// suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/import.h"
#include "reference/evaluate.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

/// A loop over (i, x, w) from 0 while i < limit by `step`; `lines` compute %x2 and %w2 from i, x and w.
std::string loop_of(std::string_view lines, int limit, int step, bool noted) {
  const int trips = (limit + step - 1) / step;
  return fmt::format(
      "HloModule m\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}}\n"
      "cond {{\n p = (s32[], f32[4,8], f32[8,4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " n = s32[] constant({})\n ROOT lt = pred[] compare(i, n), direction=LT\n}}\n"
      "body {{\n p = (s32[], f32[4,8], f32[8,4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " x = f32[4,8] get-tuple-element(p), index=1\n w = f32[8,4] get-tuple-element(p), index=2\n"
      " z = f32[] constant(0)\n o = s32[] constant(0)\n step = s32[] constant({})\n j = s32[] add(i, step)\n{}\n"
      " ROOT t = (s32[], f32[4,8], f32[8,4]) tuple(j, x2, w2)\n}}\n"
      "ENTRY e {{\n x = f32[4,8] parameter(0)\n w = f32[8,4] parameter(1)\n z = s32[] constant(0)\n"
      " t = (s32[], f32[4,8], f32[8,4]) tuple(z, x, w)\n"
      " l = (s32[], f32[4,8], f32[8,4]) while(t), condition=cond, body=body{}\n"
      " i = s32[] get-tuple-element(l), index=0\n y = f32[4,8] get-tuple-element(l), index=1\n"
      " v = f32[8,4] get-tuple-element(l), index=2\n ROOT r = (s32[], f32[4,8], f32[8,4]) tuple(i, y, v)\n}}\n",
      limit, step, lines,
      noted ? fmt::format(", backend_config={{\"known_trip_count\":{{\"n\":\"{}\"}}}}", trips) : std::string());
}

bool has_loop(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.op == Op::while_loop; });
}

bool stays(std::string_view lines, int limit = 3, int step = 1) {
  return has_loop(hlo::import_hlo(loop_of(lines, limit, step, false), "test.hlo").graph);
}

constexpr std::string_view w_stays = "\n w2 = f32[8,4] copy(w)";

}  // namespace

TEST_CASE("a loop that is written out computes to the bit what it computes as a loop") {
  const std::vector<std::string> bodies = {
      " a = f32[4,8] sine(x)\n x2 = f32[4,8] add(a, x)\n w2 = f32[8,4] cosine(w)",
      // What two arrays hand each other.
      " x2 = f32[4,8] transpose(w), dimensions={1,0}\n n = f32[4,8] negate(x)\n w2 = f32[8,4] transpose(n), "
      "dimensions={1,0}",
      " s = f32[4] reduce(x, z), dimensions={1}, to_apply=sum\n b = f32[4,8] broadcast(s), dimensions={0}\n"
      " x2 = f32[4,8] subtract(x, b)\n w2 = f32[8,4] copy(w)",
      // The number of the trip picks a row, and counts.
      " r = f32[1,8] dynamic-slice(x, i, o), dynamic_slice_sizes={1,8}\n q = f32[8] reshape(r)\n"
      " b = f32[4,8] broadcast(q), dimensions={1}\n f = f32[] convert(i)\n g = f32[4,8] broadcast(f), dimensions={}\n"
      " h = f32[4,8] add(b, g)\n x2 = f32[4,8] add(h, x)\n w2 = f32[8,4] negate(w)",
  };
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (const int limit : {1, 2, 5, 12})
      for (const int step : {1, 3}) {
        CAPTURE(bodies[i]);
        CAPTURE(limit);
        CAPTURE(step);
        const hlo::Imported loop = hlo::import_hlo(loop_of(bodies[i], limit, step, true), "test.hlo"),
                            written = hlo::import_hlo(loop_of(bodies[i], limit, step, false), "test.hlo");
        REQUIRE(has_loop(loop.graph));
        REQUIRE_FALSE(has_loop(written.graph));
        CHECK(written.graph.bodies.empty());
        std::vector<Tensor> inputs;
        for (const NodeId id : parameters(loop.graph))
          inputs.push_back(random_tensor(loop.graph[id].shape, 11 + inputs.size()));
        const std::vector<Tensor> expected = evaluate(loop.graph, inputs), found = evaluate(written.graph, inputs);
        REQUIRE(expected.size() == found.size());
        for (std::size_t k = 0; k < found.size(); ++k) CHECK(expected[k].bytes == found[k].bytes);
      }
}

TEST_CASE("loops that are long, call others, sum both ways or go on by data stay loops") {
  const auto with = [](std::string_view lines) { return fmt::format("{}{}", lines, w_stays); };
  const std::string plain = with(" x2 = f32[4,8] negate(x)");
  CHECK_FALSE(stays(plain, 64));
  CHECK(stays(plain, 65));
  CHECK_FALSE(stays(plain, 128, 2));
  std::string many = " y0 = f32[4,8] negate(x)\n";
  for (int i = 0; i < 40; ++i) many += fmt::format(" y{} = f32[4,8] sine(y{})\n", i + 1, i);
  CHECK_FALSE(stays(with(many + " x2 = f32[4,8] copy(y40)"), 16));
  CHECK(stays(with(many + " x2 = f32[4,8] copy(y40)"), 32));  // over 1024 operations
  CHECK(stays(with(" x2 = f32[4,8] custom-call(x), custom_call_target=\"far\"")));
  const std::string rows =
      " s = f32[4] reduce(x, z), dimensions={1}, to_apply=sum\n b = f32[4,8] broadcast(s), "
      "dimensions={0}\n y = f32[4,8] add(x, b)\n";
  const auto again = [&](int dim) {
    return with(
        fmt::format("{} u = f32[{}] reduce(y, z), dimensions={{{}}}, to_apply=sum\n v = f32[4,8] broadcast(u), "
                    "dimensions={{{}}}\n x2 = f32[4,8] add(y, v)",
                    rows, dim == 1 ? 4 : 8, dim, 1 - dim));
  };
  CHECK_FALSE(stays(again(1)));
  CHECK(stays(again(0)));
  CHECK(
      stays(" x2 = f32[4,8] copy(x)\n r = f32[1,4] dynamic-slice(w, i, o), dynamic_slice_sizes={1,4}\n"
            " w2 = f32[8,4] dynamic-update-slice(w, r, o, o)"));
}
