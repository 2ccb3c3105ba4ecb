// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How wide UTF-8 text stands on a terminal: combining marks take no column, CJK and emoji take two. The ranges are the
// few blocks that matter in names of operations and files, not the whole Unicode table; a terminal may disagree on
// exotic scripts. Broken UTF-8 and control characters never reach the screen: printable() replaces them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tailor::report {

/// The text with control characters (newline, tab, escape) as spaces and broken UTF-8 as U+FFFD.
std::string printable(std::string_view text);
/// Columns that printable text takes.
int display_width(std::string_view text);
/// At most `width` columns of printable text: the middle gives way to "…" when it is too long ("" for width <= 0).
std::string elided(std::string_view text, int width);
/// Lines of at most `width` columns (at least 1), broken at spaces where possible; `whole_words`: nowhere else, so that
/// a path can be copied: a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, int width, bool whole_words = false);

}  // namespace tailor::report
