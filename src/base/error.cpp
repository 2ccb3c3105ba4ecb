// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of an Error as a person reads it. In: an Error with place, message, frames and hint. Out: a
// few lines that begin with "error:". Called by main() for the one Error that ends a command, and by
// tests.
#include "base/error.h"

#include <fmt/format.h>

#include <string_view>

namespace tailor {

namespace {

/// Bytes of the code point at the start of `text` (not empty); 0 where the encoding is broken there.
std::size_t whole_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0u) != 0x80u) return 0;
  return length;
}

/// A message may quote a damaged file. What could move a terminal's cursor, or is no UTF-8, is told as its bytes.
std::string visible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = whole_code_point(text);
    const auto byte = static_cast<unsigned char>(text.front());
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ||
                         (byte == 0xc2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0);
    const std::string_view glyph = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || control)
      for (const char one : glyph) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(one));
    else
      out += glyph;
    text.remove_prefix(glyph.size());
  }
  return out;
}

}  // namespace

std::string error_text(const Error& error) {
  std::string text = "error: ";
  if (!error.at.file.empty()) {
    text += error.at.file;
    if (error.at.line > 0) text += fmt::format(":{}", error.at.line);
    if (error.at.line > 0 && error.at.column > 0) text += fmt::format(":{}", error.at.column);
    text += ": ";
  }
  text += error.message;
  text += '\n';
  for (const std::string& frame : error.while_doing) text += fmt::format("  while {}\n", frame);
  // A list of what is known that the message has already is not said twice.
  constexpr std::string_view known = "known: ";
  const bool said = error.hint.starts_with(known) && error.message.ends_with(error.hint.substr(known.size()));
  if (!error.hint.empty() && !said) text += fmt::format("  hint: {}\n", error.hint);
  return visible(text);
}

}  // namespace tailor
