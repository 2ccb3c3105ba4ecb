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
  return text;
}

}  // namespace tailor
