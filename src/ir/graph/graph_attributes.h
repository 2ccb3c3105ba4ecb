// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How names and a node's attributes are written, shared by the text form, the canonical text and partition files so
// that they cannot drift apart.
// What the two write differently stays with them: names, bodies (an index, or the whole graph in place), and constants
// (decimal, or bytes).
#pragma once

#include <string>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Appends the word after the operation ("lt", "max", a parameter's number): a leading space, then the word.
void append_word(std::string& out, const Node& node);
/// Appends ", key=value" for every attribute that is not at its default, except the word, the literal and the bodies.
void append_attributes(std::string& out, const Node& node);
/// Letters, digits, '_', '.' and '-': a name of these alone is written as it is, any other in double quotes.
bool is_plain(char c);
/// What readers take for one word: a plain name, or a number with its signs.
bool is_word(char c);
/// Appends the name, quoted when it has to be.
void append_name(std::string& out, std::string_view name);
/// Appends `value` in double quotes; quotes, backslashes and bytes outside printable ASCII are escaped.
void append_quoted(std::string& out, std::string_view value);
/// Appends lower-case hexadecimal digits, two per byte, in memory order.
void append_hex(std::string& out, std::span<const std::byte> bytes);

}  // namespace tailor::ir
