// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How Tailor fails. A command that cannot go on throws one Error: what was found, what was expected, a hint. Callers
// add context on the way up with doing(); `cli/main.cpp` holds the only catch and maps the fault to an exit code.
// Expected outcomes (an illegal plan, a kernel that does not compile) are values, never an Error; bugs are assertions.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tailor {

/// The exit code of the command (design: 0 is success).
enum class Fault : int { failed = 1, usage = 2, missing = 3, claim = 4, interrupted = 130 };

/// A position in a text file. Line and column count from 1; 0 means unknown.
struct Position {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;
  bool operator==(const Position&) const = default;
};

/// The one exception type. `what()` is the message alone; `error_text()` is what a person reads.
class Error : public std::exception {
 public:
  Error(Fault kind, std::string what_was_wrong, std::string what_to_try = {})
      : fault(kind), message(std::move(what_was_wrong)), hint(std::move(what_to_try)) {}

  Error(Fault kind, Position place, std::string what_was_wrong, std::string what_to_try = {})
      : fault(kind), message(std::move(what_was_wrong)), hint(std::move(what_to_try)), at(std::move(place)) {}

  const char* what() const noexcept override { return message.c_str(); }

  Fault fault;
  std::string message;                   ///< what was found, what was expected
  std::string hint;                      ///< what to try; may be empty
  Position at;                           ///< where; empty file when it has no place
  std::vector<std::string> while_doing;  ///< innermost first
};

/// "error: FILE:LINE:COL: MESSAGE\n  while ...\n  hint: ...\n".
std::string error_text(const Error& error);

/// Runs `work`; an Error that passes gains one "while" frame.
template <class Work>
decltype(auto) doing(std::string_view what, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (Error& error) {
    error.while_doing.emplace_back(what);
    throw;
  }
}

/// Runs `work`; an Error without a place that passes gains the one `locate()` gives. For checks that know what is
/// wrong, called by someone who knows where.
template <class Locate, class Work>
decltype(auto) with_position(Locate&& locate, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (Error& error) {
    if (error.at.file.empty()) error.at = std::forward<Locate>(locate)();
    throw;
  }
}

}  // namespace tailor
