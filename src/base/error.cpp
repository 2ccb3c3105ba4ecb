// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of an error as a person reads it.
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
