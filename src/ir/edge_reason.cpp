// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reasons word by word. In: a reason. Out: the same words, of which names of nodes, extents of shapes and plain numbers
// are left out; punctuation behind them stays, so the sentence still reads as one. Called through edge_reason.h by the
// tables of a fusion and by the map of a report.
#include "ir/edge_reason.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tailor::ir {

namespace {

/// A word of a reason without what tells one edge from another: the name behind '%', the extents of a shape, a number.
std::string without_particulars(std::string_view word) {
  const std::size_t end = word.find_last_not_of(",;:.)") + 1;
  const std::string_view core = word.substr(0, end), rest = word.substr(end);
  if (const std::size_t name = core.find('%'); name != core.npos)
    return fmt::format("{}...{}", core.substr(0, name + 1), rest);
  if (const std::size_t extents = core.find('['); extents != core.npos && extents > 0)
    return fmt::format("{}[...]{}", core.substr(0, extents), rest);
  const std::size_t digits = core.starts_with('(') ? 1 : 0;
  if (core.size() > digits && core.find_first_not_of("0123456789", digits) == core.npos)
    return fmt::format("{}N{}", core.substr(0, digits), rest);
  return std::string(word);
}

}  // namespace

std::string general_reason(std::string_view reason) {
  std::string out;
  for (const std::string_view word : split(reason, ' ')) out += (out.empty() ? "" : " ") + without_particulars(word);
  return out;
}

}  // namespace tailor::ir
