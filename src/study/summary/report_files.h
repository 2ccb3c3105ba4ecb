// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A report as files in a folder. Summaries of models on devices come in; a page and a Markdown file for each go out,
// and an index where there are several. Called by tailor report, and by tailor sweep when its file asks for a report.
// A file with the name is written over, others stay.
#pragma once

#include <filesystem>
#include <span>

#include "report/summary.h"
#include "study/pipeline/observer.h"
#include "study/summary/load_summary.h"

namespace tailor::study {

/// The folder is made when absent. `summaries` is parallel to `subjects`, and neither is empty. Throws Error(usage) for
/// a folder that holds the report of another database, Error(failed) when something cannot be written.
void write_report_files(const std::filesystem::path& folder, const std::filesystem::path& database,
                        std::span<const Subject> subjects, std::span<const report::Summary> summaries,
                        const Watch& watch);

}  // namespace tailor::study
