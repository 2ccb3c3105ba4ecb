// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The report as one HTML file: no server, no network, no file beside it. In: a Summary. Out: the text of the file.
// Called by the command that writes reports. Everything that comes from a run is escaped; the page works without its
// script, which only sorts tables.
#pragma once

#include <string>

#include "report/summary.h"

namespace tailor::report {

/// Deterministic: the same summary gives the same bytes.
std::string page(const Summary& summary);

/// The raw data of the page as a JSON document: manifest, strategies, groups, plans with the parts of each estimate,
/// rejections, library calls. Raw values in base units.
std::string raw_data(const Summary& summary);

/// A chart with its caption, for sections of the page. `words` is plain text.
std::string figure(const std::string& svg, std::string_view words);
/// One group's section of the page (page_groups.cpp).
std::string group_section(const GroupSummary& group);

}  // namespace tailor::report
