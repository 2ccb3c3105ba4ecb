// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Random groups whose elements come from many places: trees of concatenations, pads with edges of either sign and
// with gaps, slices, dynamic slices, reversals, transpositions and copies over dimensions, parts of size 0 and 1 among
// them, with arithmetic between them or not, alone or inside a norm of rows. A group may be refused. If it is taken,
// every plan that lowers must compute what the evaluator computes and be counted as it runs. Part of the suite
// `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "ir/graph/graph_parse.h"
#include "ir/graph/graph_verify.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

using Sizes = std::vector<std::int64_t>;

/// Draws a group as text, from its result to its inputs.
class Moves {
 public:
  explicit Moves(unsigned seed) : random_(seed) {
    constexpr std::array<const char*, 5> types{"f32", "f16", "f64", "s32", "s8"};
    type_ = types[static_cast<std::size_t>(pick(0, 4))];
  }

  std::string draw() {
    Sizes sizes;
    for (int rank = pick(1, 3); rank > 0; --rank)
      sizes.push_back(std::array<std::int64_t, 7>{1, 2, 3, 4, 6, 8, 16}[static_cast<std::size_t>(pick(0, 6))]);
    std::string result = joined(sizes, 0, pick(0, 5) == 0 ? 24 : pick(2, 5));
    if ((type_ == "f32" || type_ == "f64") && pick(0, 1) == 0)
      result = centred(result, sizes);
    else if (pick(0, 1) == 0)
      result = line(sizes, "negate " + result);
    return fmt::format("graph moved {{\n  %zero = constant 0 : {0}[]\n  %two = constant 2 : {0}[]\n{1}  output {2}\n}}",
                       type_, lines_, result);
  }

 private:
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  int dimension(const Sizes& sizes) { return pick(0, static_cast<int>(sizes.size()) - 1); }

  std::string line(const Sizes& sizes, const std::string& what, std::string_view type = {}) {
    lines_ += fmt::format("  %v{} = {} : {}[{}]\n", values_, what, type.empty() ? type_ : type, fmt::join(sizes, ","));
    return fmt::format("%v{}", values_++);
  }

  std::string input(const Sizes& sizes) {
    for (const auto& [known, name] : inputs_)
      if (known == sizes && pick(0, 2) == 0) return name;
    inputs_.emplace_back(sizes, line(sizes, fmt::format("parameter {}", parameters_++)));
    return inputs_.back().second;
  }

  std::string piece(const Sizes& sizes, int depth) {
    const int kind = depth > 2 ? 0 : pick(0, 12);
    if (kind <= 4 || (kind == 9 && windows_ > 0)) return input(sizes);
    if (kind == 5) return line(sizes, "negate " + piece(sizes, depth + 1));
    if (kind == 6) return sliced(sizes, depth);
    if (kind == 7) return padded(sizes, depth);
    if (kind == 8) return transposed(sizes, depth);
    if (kind == 9)
      return line(sizes, fmt::format("reverse {}, axes={{{}}}", piece(sizes, depth + 1), dimension(sizes)));
    if (kind == 10) return started(sizes, depth);
    if (kind == 11) return repeated(sizes, depth);
    return joined(sizes, depth + 1, pick(1, 4));
  }

  /// A concatenation of so many parts, some of them empty.
  std::string joined(const Sizes& sizes, int depth, int parts) {
    const auto dim = static_cast<std::size_t>(dimension(sizes));
    Sizes cuts{0, sizes[dim]};
    for (int i = 1; i < parts; ++i)
      cuts.push_back(sizes[dim] % parts == 0 && parts > 4 ? i * sizes[dim] / parts
                                                          : pick(0, static_cast<int>(sizes[dim])));
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::string> names;
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      Sizes part = sizes;
      part[dim] = cuts[i] - cuts[i - 1];
      if (part[dim] > 0 || pick(0, 29) == 0) names.push_back(part[dim] > 0 ? piece(part, depth) : input(part));
    }
    return line(sizes, fmt::format("concatenate {}, axes={{{}}}", fmt::join(names, ", "), dim));
  }

  static std::string ranges(const Sizes& sizes, std::size_t dim, const std::string& own, bool of_slice) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      words.push_back(i == dim ? own : of_slice ? fmt::format("0:{}:1", sizes[i]) : "0:0:0");
    return fmt::format("{{{}}}", fmt::join(words, ", "));
  }

  std::string sliced(const Sizes& sizes, int depth) {
    const auto dim = static_cast<std::size_t>(dimension(sizes));
    const std::int64_t low = pick(0, 3), step = pick(1, 2), end = low + (sizes[dim] - 1) * step + 1;
    Sizes from = sizes;
    from[dim] = end + pick(0, 3);
    const std::string of = piece(from, depth + 1);
    return line(sizes, fmt::format("slice {}, ranges={}", of,
                                   ranges(sizes, dim, fmt::format("{}:{}:{}", low, end, step), true)));
  }

  std::string padded(const Sizes& sizes, int depth) {
    const auto dim = static_cast<std::size_t>(dimension(sizes));
    const int gap = pick(0, 3) == 0 ? 1 : 0;
    const std::int64_t inside = pick(1, static_cast<int>(sizes[dim]) + 1), wide = inside + (inside - 1) * gap;
    const std::int64_t low = pick(-static_cast<int>(std::min<std::int64_t>(wide - 1, 1)), 2),
                       high = sizes[dim] - wide - low;
    if (wide + low <= 0) return input(sizes);
    Sizes from = sizes;
    from[dim] = inside;
    const std::string of = piece(from, depth + 1);
    return line(sizes, fmt::format("pad {}, {}, ranges={}", of, pick(0, 3) == 0 ? "%two" : "%zero",
                                   ranges(sizes, dim, fmt::format("{}:{}:{}", low, high, gap), false)));
  }

  std::string transposed(const Sizes& sizes, int depth) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    Sizes from(sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i) from[order[i]] = sizes[i];
    return line(sizes, fmt::format("transpose {}, axes={{{}}}", piece(from, depth + 1), fmt::join(order, ",")));
  }

  /// A window whose place is an input.
  std::string started(const Sizes& sizes, int depth) {
    Sizes from = sizes;
    from[static_cast<std::size_t>(dimension(sizes))] += pick(0, 3);
    ++windows_;  // where a window of what is reversed lies is known when it runs: sectors are counted for another place
    const std::string of = piece(from, depth + 1);
    --windows_;
    std::vector<std::string> starts;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      starts.push_back(line({}, fmt::format("parameter {}", parameters_++), "s32"));
    return line(sizes, fmt::format("dynamic_slice {}, {}", of, fmt::join(starts, ", ")));
  }

  std::string repeated(const Sizes& sizes, int depth) {
    const auto gone = static_cast<std::size_t>(dimension(sizes));
    Sizes from;
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (i != gone) from.push_back(sizes[i]), kept.push_back(i);
    if (from.empty()) return input(sizes);
    return line(sizes, fmt::format("broadcast {}, axes={{{}}}", piece(from, depth + 1), fmt::join(kept, ",")));
  }

  /// Less the sum of its row, and less the greatest of what is left: rows are gone through two or three times.
  std::string centred(const std::string& of, const Sizes& sizes) {
    const std::string once = less(of, "add", sizes);
    return pick(0, 1) == 0 ? once : less(line(sizes, fmt::format("multiply {}, {}", once, of)), "max", sizes);
  }

  std::string less(const std::string& of, const char* by, const Sizes& sizes) {
    const Sizes rows(sizes.begin(), sizes.end() - 1);
    std::vector<std::size_t> kept(rows.size());
    std::iota(kept.begin(), kept.end(), 0);
    const std::string number = line(rows, fmt::format("reduce {} {}, %zero, axes={{{}}}", by, of, sizes.size() - 1));
    const std::string wide = line(sizes, fmt::format("broadcast {}, axes={{{}}}", number, fmt::join(kept, ",")));
    return line(sizes, fmt::format("subtract {}, {}", of, wide));
  }

  std::mt19937 random_;
  std::string type_, lines_;
  std::vector<std::pair<Sizes, std::string>> inputs_;
  int values_ = 0, parameters_ = 0;
  int windows_ = 0;  ///< dynamic slices around the place that is drawn
};

}  // namespace

TEST_CASE("random groups of moved elements compute what the evaluator computes, or are refused") {
  int taken = 0, programs = 0, joined = 0;
  for (unsigned seed = 1; seed <= testing::effort(70u, 170u, 5000u); ++seed) {
    CAPTURE(seed);
    const std::string text = Moves(seed).draw();
    CAPTURE(text);
    Group group;
    group.graph = parse_graph(text);
    verify(group.graph);
    group.id = id_of(std::string_view(canonical_text(group.graph)));
    const Boundary border = codegen::whole_border(group.graph);
    if (!std::holds_alternative<codegen::Layout>(codegen::analyse(group.graph, border))) continue;
    ++taken;
    joined += text.find("concatenate") != text.npos ? 1 : 0;
    programs += explore::check_every_plan(group, {testing::effort(61, 7)}, true).programs;
  }
  MESSAGE(taken << " groups taken, " << joined << " with concatenations, " << programs << " programs");
  CHECK(joined > testing::effort(25, 70, 100));
  CHECK(programs > testing::effort(80, 200, 200));
}

TEST_CASE("a number that a row's vectors load under a condition is loaded for the elements around them as well") {
  // Rows of 6 are a vector of 4 and two elements around it, at either end; every eighth row is one number.
  Group group;
  group.graph = parse_graph(R"(graph moved {
    %zero = constant 0 : f32[]
    %x = parameter 0 : f32[3,7,6]
    %n = parameter 1 : f32[3,2]
    %none = parameter 2 : s32[]
    %at = parameter 3 : s32[]
    %wide = broadcast %n, axes={0,1} : f32[3,2,6]
    %row = dynamic_slice %wide, %none, %at, %none : f32[3,1,6]
    %all = concatenate %x, %row, axes={1} : f32[3,8,6]
    %s = reduce add %all, %zero, axes={2} : f32[3,8]
    %b = broadcast %s, axes={0,1} : f32[3,8,6]
    %y = subtract %all, %b : f32[3,8,6]
    output %y
  })");
  verify(group.graph);
  group.id = id_of(std::string_view(canonical_text(group.graph)));
  CHECK(explore::check_every_plan(group, {3}, true).programs > 50);
}
