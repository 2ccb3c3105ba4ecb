// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Words of the launch: the names of roles, and the text form of a launch shape, written and read. Explain prints it,
// stored observations hold it, and what one wrote the other reads back equal. Reading refuses a word that it does not
// know with the words that it does.
#include "ir/kernel/launch.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/indexed.h"
#include "base/text.h"

namespace tailor::ir {

namespace {

constexpr std::array role_names =
    std::to_array<std::string_view>({"input", "output", "in_place", "workspace", "ticket"});
constexpr std::array words = std::to_array<std::string_view>(
    {"grid", "block", "cluster", "static_shared", "dynamic_shared", "min_blocks", "cooperative", "dependent"});

std::string extent_text(const Extent3& extent) {
  std::size_t last = extent.size();
  while (last > 1 && extent[last - 1] == 1) --last;
  return fmt::format("{}", fmt::join(extent.begin(), extent.begin() + static_cast<std::ptrdiff_t>(last), ","));
}

[[noreturn]] void bad_launch_word(std::string_view word, std::string_view expected, std::string hint = {}) {
  throw Error(Fault::usage, fmt::format("launch: found '{}', expected {}", word, expected), std::move(hint));
}

template <class Number>
Number launch_number(std::string_view word) {
  Number value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size() || value < 0) bad_launch_word(word, "a number");
  return value;
}

Extent3 extent(std::string_view word) {
  Extent3 made{1, 1, 1};
  const std::vector<std::string_view> parts = split(word, ',');
  if (parts.size() > made.size()) bad_launch_word(word, "up to three extents such as 8,2");
  for (std::size_t i = 0; i < parts.size(); ++i) made[i] = launch_number<std::uint32_t>(parts[i]);
  return made;
}

void set(LaunchShape& shape, std::string_view word) {
  const std::size_t at = word.find('=');
  const std::string_view key = word.substr(0, at);
  const std::string_view value = at == word.npos ? std::string_view() : word.substr(at + 1);
  if (key == "cooperative" && at == word.npos)
    shape.cooperative = true;
  else if (key == "dependent" && at == word.npos)
    shape.dependent = true;
  else if (key == "grid")
    shape.grid = extent(value);
  else if (key == "block")
    shape.block = extent(value);
  else if (key == "cluster")
    shape.cluster = extent(value);
  else if (key == "static_shared")
    shape.static_shared = launch_number<std::int64_t>(value);
  else if (key == "dynamic_shared")
    shape.dynamic_shared = launch_number<std::int64_t>(value);
  else if (key == "min_blocks")
    shape.min_blocks = launch_number<int>(value);
  else
    bad_launch_word(word, "a word of a launch", suggestion(key, words));
}

}  // namespace

std::string_view name(BufferRole role) { return row_for(role_names, role); }

std::string text(const LaunchShape& shape) {
  std::string out = fmt::format("grid={} block={}", extent_text(shape.grid), extent_text(shape.block));
  if (shape.cluster != Extent3{1, 1, 1}) out += fmt::format(" cluster={}", extent_text(shape.cluster));
  if (shape.static_shared != 0) out += fmt::format(" static_shared={}", shape.static_shared);
  if (shape.dynamic_shared != 0) out += fmt::format(" dynamic_shared={}", shape.dynamic_shared);
  if (shape.min_blocks != 0) out += fmt::format(" min_blocks={}", shape.min_blocks);
  if (shape.cooperative) out += " cooperative";
  if (shape.dependent) out += " dependent";
  return out;
}

LaunchShape parse_launch_shape(std::string_view source) {
  LaunchShape shape;
  for (std::string_view word : split(source, ' '))
    if (word = trim(word); !word.empty()) set(shape, word);
  return shape;
}

}  // namespace tailor::ir
