// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Random groups with reductions: sums and maxima over any dimensions, spread back in any way that fits, scans, chunks,
// arrays seen through reshapes and transposes, several outputs. A group may be refused. If it is taken, every plan that
// lowers must compute what the evaluator computes, and what has no doubt must have such a plan. Part of the suite
// `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "ir/graph/graph_parse.h"
#include "ir/graph/graph_verify.h"
#include "support/text_group.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

struct Drawn {
  std::string name;
  std::vector<std::int64_t> dims;
};

/// Draws a group as text, one operation after the other.
class Drawing {
 public:
  /// `longest`: of the last dimension; others have up to 7 elements.
  explicit Drawing(unsigned seed, int longest = 7) : random_(seed), longest_(longest) {}

  std::string draw() {
    std::vector<std::int64_t> dims;
    for (int rank = pick(2, 4); rank > 0; --rank) dims.push_back(pick(0, 5) == 0 ? 1 : pick(2, 7));
    if (longest_ > 7) dims.back() = pick(longest_ / 4, longest_);
    for (int i = 0, inputs = pick(1, 2); i < inputs; ++i) add(dims, fmt::format("parameter {}", i));
    for (int steps = pick(3, 9); steps > 0; --steps) step();
    std::vector<std::string> outputs{"%" + values_.back().name};
    for (int more = pick(0, 2); more > 0; --more)
      if (const std::string name = "%" + any().name;
          std::find(outputs.begin(), outputs.end(), name) == outputs.end() && values_.size() > 2)
        outputs.push_back(name);
    const std::string ends = fmt::format("  output {}\n", fmt::join(outputs, ", "));
    return "graph drawn {\n  %zero = constant 0 : f32[]\n  %lowest = constant -inf : f32[]\n" + needed(ends) + ends +
           "}";
  }

  /// The lines that others need, the inputs among them.
  std::string needed(std::string behind) const {
    std::string kept;
    for (std::size_t i = lines_.size(); i-- > 0;) {
      const std::string& line = lines_[i];
      const std::string name = "%" + values_[i].name;
      const bool reads = behind.find(name + ",") != behind.npos || behind.find(name + " ") != behind.npos ||
                         behind.find(name + "\n") != behind.npos;
      if (!reads && line.find("parameter") == line.npos) continue;
      kept = line + kept;
      behind += line.substr(line.find('='));
    }
    return kept;
  }

 private:
  int pick(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  const Drawn& any() { return values_[random_() % values_.size()]; }
  void add(std::vector<std::int64_t> dims, const std::string& what, const std::string& attributes = "") {
    const std::string name = fmt::format("v{}", values_.size());
    lines_.push_back(fmt::format("  %{} = {}{} : f32[{}]\n", name, what, attributes, fmt::join(dims, ",")));
    values_.push_back({name, std::move(dims)});
  }

  void step() {
    const Drawn of = any();
    if (longest_ > 7 && of.dims.size() > 1 && of.dims.back() > 64 && pick(0, 3) == 0) return scan(of);
    if (longest_ > 7 && !of.dims.empty() && of.dims.back() > 8 && of.dims.back() % 4 == 0 && pick(0, 2) == 0)
      return chunks(of);
    switch (pick(0, 7)) {
      case 0:
      case 1:
        return reduce(of);
      case 2:
      case 3:
        return spread(of);
      case 4:
        return reshape(of);
      case 5:
        if (pick(0, 2) == 0) return transpose(of);
        return add(of.dims, "negate %" + of.name);
      default:
        return join(of);
    }
  }

  void reduce(const Drawn& of) {
    std::vector<int> axes;
    std::vector<std::int64_t> kept;
    for (std::size_t d = 0; d < of.dims.size(); ++d)
      if (pick(0, 1) == 0)
        axes.push_back(static_cast<int>(d));
      else
        kept.push_back(of.dims[d]);
    if (axes.empty()) return;
    const bool sum = pick(0, 2) > 0;
    add(kept, fmt::format("reduce {} %{}, %{}", sum ? "add" : "max", of.name, sum ? "zero" : "lowest"),
        fmt::format(", axes={{{}}}", fmt::join(axes, ",")));
  }

  void scan(const Drawn& of) {
    std::string sizes, pads;
    const std::int64_t reach = of.dims.back() - 1;
    const bool forward = pick(0, 3) > 0;
    for (std::size_t d = 0; d + 1 < of.dims.size(); ++d) sizes += "1x", pads += "0_0x";
    add(of.dims, fmt::format("reduce_window add %{}, %zero", of.name),
        fmt::format(", text=\"window={{size={}{} pad={}{}_{}}}\"", sizes, reach + 1, pads, forward ? reach : 0,
                    forward ? 0 : reach));
  }

  /// Of four or more neighbours, and spread over them again.
  void chunks(const Drawn& of) {
    std::vector<std::int64_t> apart = of.dims;
    std::int64_t length = 4;
    while (apart.back() % (2 * length) == 0 && 2 * length < apart.back() && pick(0, 1) == 0) length *= 2;
    apart.back() /= length;
    const std::vector<std::int64_t> kept = apart;
    apart.push_back(length);
    const std::size_t first = values_.size();
    add(apart, "reshape %" + of.name);
    add(kept, fmt::format("reduce max %v{}, %lowest, axes={{{}}}", first, kept.size()));
    if (pick(0, 2) == 0) return;
    std::vector<std::size_t> axes(kept.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    add(apart, fmt::format("broadcast %v{}, axes={{{}}}", first + 1, fmt::join(axes, ",")));
    add(of.dims, fmt::format("reshape %v{}", first + 2));
  }

  /// Into the shape of another value, at dimensions of the same size, in their order.
  void spread(const Drawn& of) {
    const std::vector<std::int64_t> into = any().dims;
    std::vector<int> axes;
    for (std::size_t d = 0; d < into.size() && axes.size() < of.dims.size(); ++d)
      if (into[d] == of.dims[axes.size()] && pick(0, 3) > 0) axes.push_back(static_cast<int>(d));
    if (axes.size() < of.dims.size() || into.size() == of.dims.size()) return;
    const std::string at = axes.empty() ? "" : fmt::format(", axes={{{}}}", fmt::join(axes, ","));
    add(into, "broadcast %" + of.name, at);
  }

  void reshape(const Drawn& of) {
    std::vector<std::int64_t> dims = of.dims;
    if (dims.size() >= 2 && pick(0, 2) > 0) {  // two neighbours become one, or all
      const std::size_t at = random_() % (dims.size() - 1), last = pick(0, 2) == 0 ? dims.size() : at + 2;
      const std::size_t first = last == dims.size() && pick(0, 1) == 0 ? 0 : at;
      dims[first] =
          std::accumulate(dims.begin() + static_cast<std::ptrdiff_t>(first),
                          dims.begin() + static_cast<std::ptrdiff_t>(last), std::int64_t{1}, std::multiplies<>());
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                 dims.begin() + static_cast<std::ptrdiff_t>(last));
    } else {
      for (std::size_t d = 0; d < dims.size(); ++d)
        if (dims[d] % 2 == 0 && dims[d] > 2) {
          dims[d] /= 2;
          dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(d) + pick(0, 1), 2);
          break;
        }
    }
    if (dims != of.dims) add(dims, "reshape %" + of.name);
  }

  void transpose(const Drawn& of) {
    std::vector<int> order(of.dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<std::int64_t> dims;
    for (const int from : order) dims.push_back(of.dims[static_cast<std::size_t>(from)]);
    if (order.size() > 1) add(dims, "transpose %" + of.name, fmt::format(", axes={{{}}}", fmt::join(order, ",")));
  }

  void join(const Drawn& of) {
    std::vector<Drawn> fitting;
    std::copy_if(values_.begin(), values_.end(), std::back_inserter(fitting),
                 [&](const Drawn& other) { return other.dims == of.dims; });
    const Drawn& other = fitting[random_() % fitting.size()];
    constexpr std::array<const char*, 3> words{"add", "subtract", "maximum"};
    add(of.dims, fmt::format("{} %{}, %{}", words[static_cast<std::size_t>(pick(0, 2))], of.name, other.name));
  }

  std::mt19937 random_;
  int longest_;
  std::vector<Drawn> values_;
  std::vector<std::string> lines_;
};

}  // namespace

TEST_CASE("random groups of longer rows compute what the evaluator computes where blocks that meet share them" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  int clustered = 0, groups = 0, met = 0, launched = 0;
  for (unsigned seed = 1; seed <= testing::effort(60u, 900u); ++seed) {
    CAPTURE(seed);
    const std::string text = Drawing(seed, 150).draw();
    CAPTURE(text);
    const Group group = group_of_text(text);
    const codegen::Classified found = codegen::analyse(group.graph, codegen::whole_border(group.graph));
    if (!std::holds_alternative<codegen::Layout>(found)) continue;
    if (std::get<codegen::Layout>(found).skeleton != Skeleton::row) continue;
    const explore::SpaceRun run = explore::check_every_plan(group, {testing::effort(97, 23)}, true);
    if (!codegen::find_doubt(group.graph, codegen::whole_border(group.graph), std::get<codegen::Layout>(found)))
      CHECK(std::holds_alternative<codegen::Layout>(codegen::classify(group)));
    clustered += run.clustered;
    met += run.met;
    launched += run.programs_of_several;
    groups += run.clustered > 0 ? 1 : 0;
  }
  MESSAGE(clustered << " programs with clusters, of " << groups << " groups; " << met
                    << " whose blocks meet in the grid");
  CHECK(clustered > 30);
  CHECK(met > 30);
  CHECK(launched > 30);
  CHECK(groups > 8);
}

TEST_CASE("random groups with reductions compute what the evaluator computes, or are refused") {
  int taken = 0, programs = 0, lowered = 0;
  for (unsigned seed = 1; seed <= testing::effort(90u, 250u, 5000u); ++seed) {
    CAPTURE(seed);
    const std::string text = Drawing(seed).draw();
    CAPTURE(text);
    const Group group = group_of_text(text);
    const Boundary border = codegen::whole_border(group.graph);
    const codegen::Classified found = codegen::analyse(group.graph, border);
    if (!std::holds_alternative<codegen::Layout>(found)) continue;
    if (std::get<codegen::Layout>(found).skeleton == Skeleton::map) continue;
    ++taken;
    const explore::SpaceRun run = explore::check_every_plan(group, {testing::effort(61, 17)}, true);
    programs += run.programs;
    const bool lowers = std::holds_alternative<codegen::Layout>(codegen::classify(group));
    lowered += lowers ? 1 : 0;
    if (!codegen::find_doubt(group.graph, border, std::get<codegen::Layout>(found))) CHECK(lowers);
  }
  MESSAGE(taken << " of rows or columns, " << lowered << " lowered, " << programs << " programs");
  CHECK(lowered > 20);
  CHECK(programs > 100);
}
