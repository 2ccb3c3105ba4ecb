// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of files from names of models and devices, then the files. In: subjects with their summaries. Out: a page and
// a Markdown file for each. A single pair is called report; several are named by model and device, and two pairs of
// the same names are told apart by their ids.
#include "study/summary/report_files.h"

#include <fmt/format.h>

#include <set>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "report/index_page.h"
#include "report/overview.h"
#include "report/owner.h"
#include "report/page.h"

namespace tailor::study {

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
std::vector<std::string> stems(std::span<const Subject> subjects) {
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

}  // namespace

void write_report_files(const std::filesystem::path& folder, const std::filesystem::path& database,
                        std::span<const Subject> subjects, std::span<const report::Summary> summaries,
                        const Watch& watch) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(Fault::failed, Position{folder.string(), 0, 0}, "the folder cannot be made: " + failed.message());
  report::own(folder, database);
  const std::vector<std::string> names = stems(subjects);
  std::vector<report::IndexEntry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) {
    stop_if_asked(watch.stop);
    write_file(folder / (names[i] + ".md"), report::markdown(summaries[i]));
    write_file(folder / (names[i] + ".html"), report::page(summaries[i]));
    entries.push_back({names[i] + ".html", &summaries[i]});
  }
  std::filesystem::path first = folder / (names[0] + ".html");
  if (names.size() > 1) write_file(first = folder / "index.html", report::index_page(entries));
  watch.observer.note(fmt::format("wrote {}{}", first.string(),
                                  names.size() > 1 ? fmt::format(" and {} reports", names.size()) : std::string()));
}

}  // namespace tailor::study
