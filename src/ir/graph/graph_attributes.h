// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a node's attributes are written, shared by the text form and the canonical text so the two cannot drift apart.
// What the two write differently stays with them: names, bodies (an index, or the whole graph in place), and constants
// (decimal, or bytes).
#pragma once

#include <string>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Appends the word after the operation ("lt", "max", a parameter's number): a leading space, then the word.
void append_word(std::string& out, const Node& node, std::int64_t parameter_number);
/// Appends ", key=value" for every attribute that is not at its default, except the word, the literal and the bodies.
void append_attributes(std::string& out, const Node& node);
/// Appends `value` in double quotes; quotes, backslashes and bytes outside printable ASCII are escaped.
void append_quoted(std::string& out, std::string_view value);
/// Appends lower-case hexadecimal digits, two per byte, in memory order.
void append_hex(std::string& out, std::span<const std::byte> bytes);

}  // namespace tailor::ir
