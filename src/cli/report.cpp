// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The report command: summaries from the database, rendered by src/report, printed and written.
#include "cli/report.h"

#include <fmt/format.h>
#include <stdio.h>

#include <set>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "report/index_page.h"
#include "report/overview.h"
#include "report/page.h"
#include "store/recorded.h"
#include "study/summary/load_summary.h"

namespace tailor::cli {

using study::load_summary;
using study::Subject;
using study::subjects;

namespace {

/// A name that every file system takes.
std::string file_stem(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
    out += plain ? c : '_';
  }
  return out.empty() ? "unnamed" : out;
}

/// One stem per pair: model and device, and ids where two pairs have the same names.
std::vector<std::string> stems(const std::vector<Subject>& subjects) {
  if (subjects.size() == 1) return {"report"};
  std::multiset<std::string> all{"index"};
  std::vector<std::string> out;
  for (const Subject& subject : subjects)
    out.push_back(file_stem(subject.graph.name) + "-" + file_stem(subject.device.name));
  all.insert(out.begin(), out.end());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (all.count(out[i]) > 1) out[i] += "-" + short_hex(subjects[i].graph.id) + "-" + short_hex(subjects[i].device.id);
  return out;
}

std::string printed(const ReportOptions& options, const std::vector<report::Summary>& summaries) {
  std::string text;
  switch (options.format) {
    case Format::table: {
      const report::Screen screen{options.width, options.colour, static_cast<std::size_t>(options.top)};
      for (const report::Summary& summary : summaries)
        text += (text.empty() ? "" : "\n") + summary.question + "\n" + report::overview(summary, screen);
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

void write_files(const ReportOptions& options, const std::vector<Subject>& subjects,
                 const std::vector<report::Summary>& summaries, Console& console) {
  std::error_code failed;
  std::filesystem::create_directories(options.folder, failed);
  if (failed)
    throw Error(Fault::failed, Position{options.folder.string(), 0, 0},
                "the folder cannot be made: " + failed.message());
  const std::vector<std::string> names = stems(subjects);
  std::vector<report::IndexEntry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) {
    write_file(options.folder / (names[i] + ".md"), report::markdown(summaries[i]));
    write_file(options.folder / (names[i] + ".html"), report::page(summaries[i]));
    entries.push_back({names[i] + ".html", &summaries[i]});
  }
  std::filesystem::path first = options.folder / (names[0] + ".html");
  if (names.size() > 1) write_file(first = options.folder / "index.html", report::index_page(entries));
  console.note(fmt::format("wrote {}{}", first.string(),
                           names.size() > 1 ? fmt::format(" and {} reports", names.size()) : std::string()));
}

}  // namespace

Sink standard_output() {
  return [](std::string_view text) { fwrite(text.data(), 1, text.size(), stdout); };
}

int run_report(const ReportOptions& options, Console& console) {
  const store::Store store = store::Store::open_read_only(options.database);
  if (options.device.empty()) store::chosen_device(store.measured_devices(), "", options.database);
  const std::vector<Subject> pairs =
      doing("reading " + options.database.string(), [&] { return subjects(store, options.model, options.device); });
  std::vector<report::Summary> summaries;
  for (const Subject& pair : pairs) {
    console.progress(
        {"summing up", static_cast<std::int64_t>(summaries.size()), static_cast<std::int64_t>(pairs.size()), {}});
    summaries.push_back(doing(fmt::format("summing up {} on {}", pair.graph.name, pair.device.name), [&] {
      return load_summary(store, pair, {options.strategy, options.baseline, options.top});
    }));
  }
  console.finish();
  options.out(printed(options, summaries));
  if (!options.folder.empty()) write_files(options, pairs, summaries, console);
  return 0;
}

}  // namespace tailor::cli
