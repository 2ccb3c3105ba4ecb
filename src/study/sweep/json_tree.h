// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A JSON text as a tree that remembers where each value stands, so that a person is told line and column of what does
// not fit, not only of what does not parse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tailor::study {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

struct JsonNode {
  JsonKind kind = JsonKind::null;
  std::size_t offset = 0;  ///< of its first character in the text
  bool truth = false;
  bool integral = false;  ///< a number written without point or exponent, and within 64 bits
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<JsonNode> items;    ///< of an array; values of an object
  std::vector<std::string> keys;  ///< of an object, parallel to items
  std::vector<std::size_t> key_offsets;
};

/// Throws Error(usage) with line and column for a text that is not JSON, or is nested deeper than 32.
JsonNode parse_json(std::string_view text, const std::string& file);

/// Line and column of an offset, both from 1.
std::pair<std::int64_t, std::int64_t> line_and_column(std::string_view text, std::size_t offset);

/// "a string", "an object", ...: for messages.
std::string_view described(JsonKind kind);

}  // namespace tailor::study
