// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing reductions in two steps as text. In: a seed and what is to be wrong. Out: a graph and whether its steps may
// be folded. Called by property tests. What is kept of a row-major array says the kind: nothing is everything, the last
// dimension a column, first dimensions a row; all else is mixed.
#include "support/split_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

namespace tailor::ir {

namespace {

struct Combination {
  const char* reducer;
  const char* dtype;
  const char* start;
};

constexpr Combination combinations[] = {
    {"add", "f32", "0"},   {"max", "f32", "-inf"}, {"min", "f32", "inf"},        {"multiply", "f32", "1"},
    {"add", "bf16", "0"},  {"add", "f16", "0"},    {"max", "bf16", "-inf"},      {"add", "s32", "0"},
    {"max", "u8", "0"},    {"add", "u8", "0"},     {"bit_and", "pred", "true"},  {"bit_or", "pred", "false"},
    {"add", "s16", "0"},   {"add", "f32", "-0"},   {"min", "s32", "2147483647"}, {"multiply", "s32", "1"},
    {"bit_or", "s32", "0"}};

std::string shape(const char* dtype, const std::vector<std::int64_t>& dims) {
  return fmt::format("{}[{}]", dtype, fmt::join(dims, ","));
}

}  // namespace

SplitGraph split_graph(std::uint64_t seed, Apart apart, int copies) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) { return low + random() % (high - low + 1); };
  SplitGraph made;
  made.folds = apart == Apart::none;
  std::string body, outputs;
  for (int copy = 0; copy < copies; ++copy) {
    const Combination& how = combinations[pick(0, std::size(combinations) - 1)];
    const bool wide = std::string_view(how.reducer) == "multiply";
    std::vector<std::int64_t> dims;
    for (std::uint64_t rank = pick(2, 4); rank > 0; --rank)
      dims.push_back(static_cast<std::int64_t>(pick(2, wide ? 3 : 7)));
    // 0: stays, 1: goes first, 2: goes second.
    std::vector<std::uint64_t> goes(dims.size());
    do
      for (std::uint64_t& one : goes) one = pick(0, 2);
    while (std::count(goes.begin(), goes.end(), 1U) == 0 || std::count(goes.begin(), goes.end(), 2U) == 0);
    std::vector<std::int64_t> first, second, between, kept;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (goes[d] == 1) first.push_back(static_cast<std::int64_t>(d));
      if (goes[d] == 2) second.push_back(static_cast<std::int64_t>(between.size()));
      if (goes[d] != 1) between.push_back(dims[d]);
      if (goes[d] == 0) kept.push_back(dims[d]);
    }
    made.narrow = made.narrow || std::string_view(how.dtype).ends_with("f16");
    const auto line = [&](const std::string& name, const std::string& what, const std::vector<std::int64_t>& of) {
      body += fmt::format("  %{}{} = {} : {}\n", name, copy, what, shape(how.dtype, of));
    };
    const auto at = [&](const char* name) { return fmt::format("%{}{}", name, copy); };
    const bool is_bits = std::string_view(how.dtype) == "pred";
    line("x", fmt::format("parameter {}", copy), dims);
    line("start",
         fmt::format("constant {}",
                     apart == Apart::start ? (is_bits ? (how.start[0] == 't' ? "false" : "true") : "3") : how.start),
         {});
    line("last", fmt::format("constant {}", is_bits ? "true" : pick(0, 1) == 0 ? how.start : "2"), {});
    line("y", is_bits ? fmt::format("bit_not {}", at("x")) : fmt::format("maximum {0}, {0}", at("x")), dims);
    const char* other = std::string_view(how.reducer) == "max" || std::string_view(how.reducer) == "bit_or"
                            ? is_bits ? "bit_and" : "min"
                        : is_bits ? "bit_or"
                                  : "max";
    line("r",
         fmt::format("reduce {} {}, {}, axes={{{}}}", apart == Apart::reducer ? other : how.reducer, at("y"),
                     at("start"), fmt::join(first, ",")),
         between);
    std::string operand = at("r");
    std::vector<std::int64_t> seen = between;
    if (const std::uint64_t view = pick(0, 2); view == 1) {  // with a dimension of size 1 in front
      seen.insert(seen.begin(), 1);
      line("v", fmt::format("reshape {}", operand), seen);
      operand = at("v");
      second.insert(second.begin(), -1);
      for (std::int64_t& d : second) ++d;
    } else if (view == 2 && kept.empty() && between.size() > 1) {  // as one dimension
      std::int64_t all = 1;
      for (const std::int64_t d : between) all *= d;
      line("v", fmt::format("{} {}", pick(0, 1) == 0 ? "bitcast" : "reshape", operand), {all});
      operand = at("v");
      second = {0};
    }
    line("s", fmt::format("reduce {} {}, {}, axes={{{}}}", how.reducer, operand, at("last"), fmt::join(second, ",")),
         kept);
    line("t", is_bits ? fmt::format("bit_not {}", at("s")) : fmt::format("minimum {0}, {0}", at("s")), kept);
    if (apart == Apart::read_twice)
      line("u", is_bits ? fmt::format("bit_not {}", at("r")) : fmt::format("maximum {0}, {0}", at("r")), between);
    outputs += fmt::format("{}%t{}", copy == 0 ? "" : ", ", copy);
    if (apart == Apart::output) outputs += ", " + at("r");
    if (apart == Apart::read_twice) outputs += ", " + at("u");
    made.what += fmt::format("{} of {} first {{{}}} then {{{}}} ", how.reducer, shape(how.dtype, dims),
                             fmt::join(first, ","), fmt::join(second, ","));
  }
  made.graph = parse_graph("graph split {\n" + body + "  output " + outputs + "\n}\n");
  verify(made.graph);
  return made;
}

}  // namespace tailor::ir
