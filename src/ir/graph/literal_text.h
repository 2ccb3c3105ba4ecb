// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants in the text form. In: the bytes of a literal, or its text. Out: the other. Used by the text of graphs.
// Decimals stand where they read back to the same bits, "0x..." bits where they do not, and a block of hexadecimal
// bytes for long contents.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// "1.5", "{1, 2, 3}" in row-major order, "hex\"0000803f\"" or, for a constant left out, "{...}".
std::string literal_text(const Literal& literal, const Shape& shape);

/// Reads what literal_text writes. Returns nothing and says in `reason` what was found and expected when it cannot:
/// only the caller knows the place.
std::optional<Literal> parse_literal(std::string_view text, const Shape& shape, std::string& reason);

}  // namespace tailor::ir
