// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of an Error as a person reads it. In: an Error with place, message, frames and hint. Out: a
// few lines that begin with "error:". Called by main() for the one Error that ends a command, and by
// tests.
#include "base/error.h"

#include <fmt/format.h>

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
  if (!error.hint.empty()) text += fmt::format("  hint: {}\n", error.hint);
  return text;
}

}  // namespace tailor
