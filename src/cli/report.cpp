// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The report command: summaries from the database, rendered by src/report, printed and written. In: a database. Out:
// tables on stdout and, with --folder, pages. Called by the command `report`, and by `sweep` at its end. What a
// summary holds is study's (study/summary/load_summary.h).
#include "cli/report.h"

#include <fmt/format.h>
#include <stdio.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/output.h"
#include "report/index_page.h"
#include "report/overview.h"
#include "report/page.h"
#include "store/recorded.h"
#include "study/summary/report_files.h"

namespace tailor::cli {

using study::Subject;
using study::subjects;

namespace {

std::string printed(const ReportOptions& options, const std::vector<report::Summary>& summaries) {
  std::string text;
  switch (options.format) {
    case Format::table: {
      const report::Screen screen{options.width, options.colour, static_cast<std::size_t>(options.top)};
      for (const report::Summary& summary : summaries)
        text += (text.empty() ? "" : "\n") + summary.question + "\n" + report::overview(summary, screen, text.empty());
      return text;
    }
    case Format::md:
      for (const report::Summary& summary : summaries) text += (text.empty() ? "" : "\n") + report::markdown(summary);
      return text;
    case Format::json:
      for (const report::Summary& summary : summaries) text += (text.empty() ? "" : ",\n") + report::raw_data(summary);
      return "{\"schema\":\"tailor.reports/1\",\"reports\":[\n" + text + "\n]}\n";
    case Format::csv:
      return report::csv(report::all_strategies(summaries));
  }
  return text;
}

}  // namespace

Sink standard_output() { return write_stdout; }

int run_report(const ReportOptions& options, Console& console) {
  const store::Store store = store::Store::open_read_only(options.database, {.stop = options.stop});
  if (options.device.empty() && !options.each_device)
    store::chosen_device(store.measured_devices(), "", options.database);
  const std::vector<Subject> pairs =
      doing("reading " + options.database.string(), [&] { return subjects(store, options.model, options.device); });
  std::vector<report::Summary> summaries;
  for (const Subject& pair : pairs) {
    console.progress(
        {"summing up", static_cast<std::int64_t>(summaries.size()), static_cast<std::int64_t>(pairs.size()), {}});
    summaries.push_back(doing(fmt::format("summing up {} on {}", pair.graph.name, pair.device.name), [&] {
      return study::load_summary(store, pair, {options.strategy, options.baseline, options.top, options.data});
    }));
  }
  console.finish();
  stop_if_asked(options.stop);
  options.out(printed(options, summaries));
  if (!options.folder.empty())
    study::write_report_files(options.folder, options.database, pairs, summaries, {console, options.stop});
  return 0;
}

}  // namespace tailor::cli
