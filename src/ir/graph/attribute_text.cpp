// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading one attribute out of "key=value, key=value". In: the text HLO prints after the operands, and a key. Out: the
// value, or its default. Called by the evaluator, the verifier and the counters of library calls. It is a scan that
// skips what stands in braces and in quotes, so that a key inside a value is not found.
#include "ir/graph/attribute_text.h"

#include <charconv>

#include "base/text.h"

namespace tailor::ir {

namespace {

/// The position after the value that starts at `at`.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;  // what it stands before belongs to the string, a quote too
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      return at;
    }
  }
  return at;
}

std::int64_t parse_integer(std::string_view text, std::int64_t otherwise = 0) {
  text = trim(text);
  std::int64_t value = otherwise;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// "3x3": one number per dimension, set on `window` through `assign`.
template <class Assign>
void per_dimension(std::string_view value, std::vector<WindowDim>& window, Assign&& assign) {
  const std::vector<std::string_view> fields = split(value, 'x');
  if (window.size() < fields.size()) window.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) assign(window[i], fields[i]);
}

void read_window_field(std::string_view key, std::string_view value, std::vector<WindowDim>& window) {
  if (key == "size")
    per_dimension(value, window, [](WindowDim& d, std::string_view v) { d.size = parse_integer(v, 1); });
  if (key == "stride")
    per_dimension(value, window, [](WindowDim& d, std::string_view v) { d.stride = parse_integer(v, 1); });
  if (key == "lhs_dilate")
    per_dimension(value, window, [](WindowDim& d, std::string_view v) { d.base_dilation = parse_integer(v, 1); });
  if (key == "rhs_dilate")
    per_dimension(value, window, [](WindowDim& d, std::string_view v) { d.window_dilation = parse_integer(v, 1); });
  if (key == "rhs_reversal")
    per_dimension(value, window, [](WindowDim& d, std::string_view v) { d.reversed = parse_integer(v) != 0; });
  if (key == "pad")
    per_dimension(value, window, [](WindowDim& d, std::string_view v) {
      const std::vector<std::string_view> sides = split(v, '_');
      d.pad_low = parse_integer(sides.front());
      d.pad_high = parse_integer(sides.back());
    });
}

/// visit(key, value) for each "key=value" of the printed window.
template <class Visit>
void for_window_fields(std::string_view text, const Visit& visit) {
  const std::optional<std::string_view> value = attribute(text, "window");
  if (!value || value->size() < 2) return;
  for (const std::string_view field : split(value->substr(1, value->size() - 2), ' '))
    if (const std::size_t equals = field.find('='); equals != std::string_view::npos)
      visit(field.substr(0, equals), field.substr(equals + 1));
}

}  // namespace

std::optional<std::string_view> attribute(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = value_end(text, at);
    const std::string_view field = trim(text.substr(at, end - at));
    if (field.size() > key.size() && field.starts_with(key) && field[key.size()] == '=')
      return trim(field.substr(key.size() + 1));
    at = end + 1;
  }
  return std::nullopt;
}

Dims attribute_numbers(std::string_view text, std::string_view key) {
  Dims result;
  const std::optional<std::string_view> value = attribute(text, key);
  if (!value) return result;
  std::string_view inside = *value;
  if (inside.starts_with('{') && inside.ends_with('}')) inside = trim(inside.substr(1, inside.size() - 2));
  if (inside.empty()) return result;
  for (const std::string_view field : split(inside, ','))
    if (result.size() < max_rank) result.push_back(parse_integer(field));
  return result;
}

std::int64_t attribute_number(std::string_view text, std::string_view key, std::int64_t otherwise) {
  const std::optional<std::string_view> value = attribute(text, key);
  return value ? parse_integer(*value, otherwise) : otherwise;
}

IndexedVector<WindowDim> parse_window(std::string_view text, int rank) {
  IndexedVector<WindowDim> window(static_cast<std::size_t>(rank));
  for_window_fields(text, [&](std::string_view key, std::string_view value) { read_window_field(key, value, window); });
  return window;
}

int window_rank(std::string_view text) {
  std::size_t rank = 0;
  for_window_fields(text, [&](std::string_view key, std::string_view value) {
    if (key == "size") rank = split(value, 'x').size();
  });
  return static_cast<int>(rank);
}

std::int64_t window_elements(std::string_view text, int rank) {
  std::int64_t count = 1;
  for (const WindowDim& dim : parse_window(text, rank)) count *= dim.size;
  return count;
}

}  // namespace tailor::ir
