// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The report as one HTML file: no server, no network, no file beside it. In: a Summary. Out: the text of the file.
// Called by the command that writes reports. Everything that comes from a run is escaped; the page works without its
// script, which only sorts tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/summary.h"

namespace tailor::report {

/// Deterministic: the same summary gives the same bytes.
std::string page(const Summary& summary);

/// The raw data of the page as a JSON document: manifest, strategies, groups, plans with the parts of each estimate,
/// rejections, library calls. Raw values in base units. `in_full` limits whose plans, times and rejections are listed:
/// the groups of most time; the table of groups always has all.
std::string raw_data(const Summary& summary, std::size_t in_full = static_cast<std::size_t>(-1));
/// The groups of a page that have charts, code, and their plans in its data.
inline constexpr std::size_t groups_in_full = 40;

// ---- parts of the page
// ------------------------------------------------------------------------------------------------

/// A chart with its caption, for sections of the page. `words` is plain text.
std::string figure(const std::string& svg, std::string_view words);
/// Two pieces of HTML beside each other where there is room for both.
std::string side_by_side(const std::string& left, const std::string& right);

/// The bars of one model on one device; no bars without a baseline.
SpeedupPanel speedup_panel(const Summary& summary);
std::string speedup_figure(const Summary& summary);
std::string time_section(const Summary& summary);
std::string map_section(const Summary& summary);
std::string roofline_section(const Summary& summary);
/// The table of groups, and a section for each: those of much time unfolded, those of least without charts and code.
std::string groups_section(const Summary& summary);

/// Everything up to <main>: `title` is plain text.
std::string page_head(std::string_view title);
/// The question, the verdict where something was claimed, and whose plans are shown where that is not plain: the first
/// lines of a page. `of` null: the question alone.
std::string question_and_verdict(std::string_view question, const std::string& asked, const Summary* of);

}  // namespace tailor::report
