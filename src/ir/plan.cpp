// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text form of plans.
#include "ir/plan.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace tailor::ir {

namespace {

constexpr std::array skeleton_names = std::to_array<std::string_view>({"map", "row"});
constexpr std::array stitch_names = std::to_array<std::string_view>({"thread", "warp", "block"});
constexpr std::array residence_names = std::to_array<std::string_view>({"registers", "shared", "reload", "recompute"});
constexpr std::array grid_names = std::to_array<std::string_view>({"tile", "persistent"});
constexpr std::array switch_names = std::to_array<std::string_view>({"off", "on"});
constexpr std::array keys =
    std::to_array<std::string_view>({"dominant", "sub_roots", "threads", "threads_per_row", "vector", "in_flight",
                                     "residence", "grid", "blocks_per_sm", "index_cache", "value_cache"});

[[noreturn]] void bad_word(std::string_view word, std::string_view expected, std::string hint = {}) {
  throw Error(Fault::usage, fmt::format("plan: found '{}', expected {}", word, expected), std::move(hint));
}

template <std::size_t N>
std::size_t choice(std::string_view word, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == word) return i;
  bad_word(word, fmt::format("one of {}", fmt::join(names, ", ")), suggestion(word, names));
}

int number(std::string_view word) {
  int value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size() || value < 0) bad_word(word, "a number");
  return value;
}

NodeId node(std::string_view word) {
  if (word.empty() || word[0] != '%') bad_word(word, "a node such as %5");
  return number(word.substr(1));
}

void set(Plan& plan, std::string_view key, std::string_view value) {
  if (key == "dominant") {
    plan.dominant = node(value);
  } else if (key == "sub_roots") {
    for (const std::string_view item : split(value, ',')) {
      const std::size_t at = item.find('@');
      if (at == item.npos) bad_word(item, "node@level such as %3@warp");
      plan.sub_roots.push_back(
          {node(item.substr(0, at)), static_cast<Stitch>(choice(item.substr(at + 1), stitch_names))});
    }
  } else if (key == "threads") {
    plan.threads = number(value);
  } else if (key == "threads_per_row") {
    plan.threads_per_row = number(value);
  } else if (key == "vector") {
    plan.vector = number(value);
  } else if (key == "in_flight") {
    plan.in_flight = number(value);
  } else if (key == "residence") {
    plan.residence = static_cast<Residence>(choice(value, residence_names));
  } else if (key == "grid") {
    plan.grid = static_cast<GridShape>(choice(value, grid_names));
  } else if (key == "blocks_per_sm") {
    plan.blocks_per_sm = number(value);
  } else if (key == "index_cache") {
    plan.index_cache = choice(value, switch_names) == 1;
  } else if (key == "value_cache") {
    plan.value_cache = choice(value, switch_names) == 1;
  } else {
    bad_word(key, "a field of a plan", suggestion(key, keys));
  }
}

}  // namespace

std::string_view name(Skeleton skeleton) { return skeleton_names[static_cast<std::size_t>(skeleton)]; }
std::string_view name(Stitch stitch) { return stitch_names[static_cast<std::size_t>(stitch)]; }
std::string_view name(Residence residence) { return residence_names[static_cast<std::size_t>(residence)]; }
std::string_view name(GridShape grid) { return grid_names[static_cast<std::size_t>(grid)]; }

std::string text(const Plan& plan) {
  std::string out = fmt::format("{} dominant=%{}", name(plan.skeleton), plan.dominant);
  for (std::size_t i = 0; i < plan.sub_roots.size(); ++i)
    out +=
        fmt::format("{}%{}@{}", i == 0 ? " sub_roots=" : ",", plan.sub_roots[i].node, name(plan.sub_roots[i].stitch));
  out += fmt::format(" threads={}", plan.threads);
  if (plan.skeleton == Skeleton::row) out += fmt::format(" threads_per_row={}", plan.threads_per_row);
  out += fmt::format(" vector={} in_flight={}", plan.vector, plan.in_flight);
  if (plan.skeleton == Skeleton::row) out += fmt::format(" residence={}", name(plan.residence));
  out += fmt::format(" grid={}", name(plan.grid));
  if (plan.grid == GridShape::persistent) out += fmt::format(" blocks_per_sm={}", plan.blocks_per_sm);
  out += fmt::format(" index_cache={} value_cache={}", switch_names[plan.index_cache], switch_names[plan.value_cache]);
  return out;
}

Plan parse_plan(std::string_view source) {
  Plan plan;
  bool first = true;
  for (std::string_view word : split(source, ' ')) {
    word = trim(word);
    if (word.empty()) continue;
    if (std::exchange(first, false)) {
      plan.skeleton = static_cast<Skeleton>(choice(word, skeleton_names));
      continue;
    }
    const std::size_t at = word.find('=');
    if (at == word.npos) bad_word(word, "key=value");
    set(plan, word.substr(0, at), word.substr(at + 1));
  }
  if (first) bad_word("", "a skeleton: map or row");
  return plan;
}

Id id_of(const Plan& plan, Id group) { return tailor::id_of(std::string_view(hex(group) + ' ' + text(plan))); }

}  // namespace tailor::ir
