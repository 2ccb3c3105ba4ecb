// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// At how many places an element needs values. The oracle goes back from one element, far from every border, and keeps
// the places as numbers. Random graphs of slices, pads, windows, concatenations and sums, with seeds; where nothing but
// whole steps inside moves places both are equal, elsewhere two ways to one place may count as two. Part of the suite
// `explore`.
#include "explore/places.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "explore/strategy.h"
#include "hlo/import.h"
#include "ir/graph/attribute_text.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;

namespace {

class MovesCase {
 public:
  MovesCase(std::uint64_t seed, bool whole_steps) : random_(seed), whole_steps_(whole_steps) {
    text_ = "graph g {\n  %z = constant 0 : f32[]\n  %v0 = parameter 0 : f32[1000]\n";
    lengths_ = {1000};
    for (int step = 0; step < 12; ++step) grow();
    text_ += fmt::format("  output %v{}\n}}\n", lengths_.size() - 1);
  }
  const std::string& text() const { return text_; }

 private:
  std::int64_t below(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::size_t>(most));
  }
  std::size_t any() {
    return lengths_.size() - 1 - static_cast<std::size_t>(below(std::min<std::int64_t>(std::ssize(lengths_), 3)));
  }

  std::size_t put(std::int64_t length, const std::string& what) {
    text_ += fmt::format("  %v{} = {} : f32[{}]\n", lengths_.size(), what, length);
    lengths_.push_back(length);
    return lengths_.size() - 1;
  }
  std::size_t slice(std::size_t of, std::int64_t start, std::int64_t limit, std::int64_t stride = 1) {
    return put((limit - start + stride - 1) / stride,
               fmt::format("slice %v{}, ranges={{{}:{}:{}}}", of, start, limit, stride));
  }
  void grow() {
    const std::size_t a = any(), b = any();
    const std::int64_t length = lengths_[a];
    switch (below(whole_steps_ ? 4 : 7)) {
      case 0: {
        const std::int64_t both = std::min(length, lengths_[b]);
        const std::size_t left = slice(a, 0, both), right = slice(b, 0, both);
        put(both, fmt::format("add %v{}, %v{}", left, right));
        return;
      }
      case 1:
        slice(a, below(4), length - below(4));
        return;
      case 2: {
        const std::int64_t low = whole_steps_ ? -below(4) : below(6) - 2;
        put(length + low, fmt::format("pad %v{}, %z, ranges={{{}:0:0}}", a, low));
        return;
      }
      case 3: {
        const std::int64_t taps = 2 + below(3);
        put(length - taps + 1, fmt::format("reduce_window add %v{}, %z, text=\"window={{size={}}}\"", a, taps));
        return;
      }
      case 4:
        if (length < 4000) put(length + lengths_[b], fmt::format("concatenate %v{}, %v{}, axes={{0}}", a, b));
        return;
      case 5:
        if (length > 50) slice(a, below(2), length, 2);
        return;
      default:
        if (length < 4000) put(2 * length - 1, fmt::format("pad %v{}, %z, ranges={{0:0:1}}", a));
    }
  }

  std::mt19937_64 random_;
  bool whole_steps_;
  std::string text_;
  std::vector<std::int64_t> lengths_;
};

/// The most places of any value, going back from place `from` of the result; borders hold nothing back.
std::size_t places_by_numbers(const codegen::Region& region, std::int64_t from) {
  std::vector<std::set<std::int64_t>> places(region.graph.nodes.size());
  places[static_cast<std::size_t>(region.graph.outputs[0])].insert(from);
  for (auto id = region.inside().rbegin(); id != region.inside().rend(); ++id) {
    const Node& node = region[*id];
    std::int64_t before = 0;
    for (const NodeId operand : node.operands) {
      if (elements(region[operand].shape) == 1) continue;
      std::set<std::int64_t>& there = places[static_cast<std::size_t>(operand)];
      for (const std::int64_t at : places[static_cast<std::size_t>(*id)]) {
        if (const auto* slices = std::get_if<SliceRanges>(&node.attributes)) {
          there.insert(at * slices->ranges[0].stride + slices->ranges[0].start);
        } else if (const auto* pads = std::get_if<PadRanges>(&node.attributes)) {
          there.insert((at - pads->ranges[0].low) / (pads->ranges[0].interior + 1));
        } else if (node.op == Op::reduce_window) {
          for (std::int64_t tap = 0; tap < window_elements(hlo_text(node), 1); ++tap) there.insert(at + tap);
        } else {
          there.insert(at - before);
        }
      }
      if (node.op == Op::concatenate) before += region[operand].shape.dims[0];
    }
  }
  std::size_t most = 1;
  for (const auto& one : places) most = std::max(most, one.size());
  return most;
}

struct Counted {
  std::size_t found = 1, wanted = 1;
};

Counted count_places(const Graph& graph) {
  const DefUse uses = def_use(graph);
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (uses.roles[i] == Role::work) nodes.push_back(static_cast<NodeId>(i));
  if (nodes.empty()) return {};
  const Boundary border = boundary(graph, uses, nodes);
  const codegen::Region region(graph, border);
  std::int64_t most = 1;
  while (read_all_over(region, most)) ++most;
  return {static_cast<std::size_t>(most), places_by_numbers(region, 1'000'000)};
}

}  // namespace

TEST_CASE("places at which an element needs values are those that numbers come to") {
  std::size_t widest = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const bool whole_steps = seed % 2 == 0;
    const MovesCase moves(seed, whole_steps);
    CAPTURE(moves.text());
    const Graph graph = parse_graph(moves.text());
    const auto [found, wanted] = count_places(graph);
    widest = std::max(widest, wanted);
    if (whole_steps)
      CHECK(found == wanted);
    else
      CHECK(found >= wanted);
  }
  CHECK(widest >= 12);
}

TEST_CASE("windows of windows and trees of slices are cut by rule before an element needs a value all over") {
  const auto groups_of = [](std::string_view window, std::int64_t length) {
    const Graph graph =
        hlo::import_hlo(
            fmt::format("HloModule m\n\nr {{\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] "
                        "add(p, q)\n}}\n\nENTRY e {{\n  x = f32[{0},8] parameter(0)\n  i = f32[] constant(0)\n  ROOT "
                        "y = f32[{0},8] reduce-window(x, i), window={{{1}}}, to_apply=r\n}}\n",
                        length, window),
            "test.hlo")
            .graph;
    const DefUse uses = def_use(graph);
    const Fusion fusion = fuse_stitch_v1(FusionTask{{}, graph, uses});
    return fusion.groups.size();
  };
  CHECK(groups_of("size=64x1 pad=63_0x0_0", 64) == 1);
  CHECK(groups_of("size=100x1 pad=99_0x0_0", 100) >= 1);
  CHECK(groups_of("size=65536x1 pad=65535_0x0_0", 65536) >= 3);
}
