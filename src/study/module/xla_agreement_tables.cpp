// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of how far our XLA agrees with XLA. In: the scores of modules (study/module/xla_agreement.h). Out: one row
// each, with their sum below when there are several, and the disagreements of all of them by reason. Called by
// `tailor import-xla --agreement`.
#include "study/module/xla_agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "study/tables/column.h"

namespace tailor::study {

using report::Hint;
using report::Table;

namespace {

report::Cell part(double same, double all) { return all > 0 ? report::Cell(same / all) : report::Cell(); }

void add_row(Table& table, const Agreement& one) {
  table.rows.push_back({one.module, one.device, one.kernels.same, one.kernels.all,
                        part(static_cast<double>(one.kernels.same), static_cast<double>(one.kernels.all)),
                        part(one.kernels.same_bytes, one.kernels.all_bytes), one.launches.same, one.launches.all,
                        part(static_cast<double>(one.launches.same), static_cast<double>(one.launches.all)),
                        one.prices.same, one.prices.all,
                        part(static_cast<double>(one.prices.same), static_cast<double>(one.prices.all)),
                        one.note.empty() ? report::Cell() : report::Cell(one.note)});
}

/// "module: kernel, kernel; module: kernel, and 12 more".
std::string first_kernels(const std::vector<Agreement>& all, const Disagreement& what, std::int64_t count) {
  std::string text;
  std::size_t shown = 0;
  for (const Agreement& one : all) {
    const auto named = one.named.find(what);
    if (named == one.named.end()) continue;
    for (std::size_t i = 0; i < named->second.size() && shown < shown_kernels; ++i, ++shown)
      text += (i > 0 ? ", " : (shown > 0 ? "; " : "") + one.module + ": ") + named->second[i];
  }
  const std::int64_t more = count - static_cast<std::int64_t>(shown);
  return more > 0 ? fmt::format("{}, and {} more", text, more) : text;
}

}  // namespace

report::XlaScores published(const std::vector<Agreement>& all, const std::string& command) {
  report::XlaScores scores;
  scores.how =
      "Summed over modules that the real XLA compiled for the device. A kernel is the same when exactly the same "
      "instructions are inside, a launch when grid and block are, a price when it is within 2 %. Loop and input "
      "fusions; kernels of Triton and of libraries are no decision of these passes.";
  scores.command = command;
  std::map<std::string, double> bytes;
  for (const Agreement& one : all) {
    if (one.kernels.all == 0) continue;
    auto at = std::find_if(scores.scores.begin(), scores.scores.end(),
                           [&](const report::XlaScore& score) { return score.device == one.device; });
    if (at == scores.scores.end()) at = scores.scores.insert(at, {.strategy = "xla-priority", .device = one.device});
    if (at->release.find(one.release) == std::string::npos)
      at->release += (at->release.empty() ? "" : ", ") + one.release;
    ++at->modules;
    at->same_kernels += one.kernels.same;
    at->xla_kernels += one.kernels.all;
    at->same_launches += one.launches.same;
    at->xla_launches += one.launches.all;
    at->same_prices += one.prices.same;
    at->xla_prices += one.prices.all;
    at->same_kernel_bytes_fraction += one.kernels.same_bytes;
    bytes[one.device] += one.kernels.all_bytes;
  }
  for (report::XlaScore& score : scores.scores)
    if (const double whole = bytes[score.device]; whole > 0) score.same_kernel_bytes_fraction /= whole;
  return scores;
}

Table agreement_table(const std::vector<Agreement>& all) {
  Table table;
  table.title = "our XLA beside XLA: kernels of xla-priority, launches and prices of xla-model";
  table.columns = {column("module", "module"),
                   column("device", "device"),
                   column("same_kernels", "same kernels", Hint::count),
                   column("xla_kernels", "of", Hint::count),
                   column("same_kernels", "share", Hint::fraction),
                   column("same_kernel_bytes", "by bytes", Hint::fraction),
                   column("same_launches", "same launches", Hint::count, 3),
                   column("xla_launches", "of", Hint::count, 3),
                   column("same_launches", "share", Hint::fraction),
                   column("same_prices", "same prices", Hint::count, 3),
                   column("xla_prices", "of", Hint::count, 3),
                   column("same_prices", "share", Hint::fraction),
                   sentence("note", "note")};
  Agreement sum;
  sum.module = "all";
  for (const Agreement& one : all) {
    add_row(table, one);
    sum.kernels += one.kernels;
    sum.launches += one.launches;
    sum.prices += one.prices;
  }
  if (all.size() > 1) add_row(table, sum);
  return table;
}

Table disagreement_table(const std::vector<Agreement>& all) {
  Table table;
  table.title = "where they differ";
  table.columns = {column("about", "about"),
                   column("reason", "reason"),
                   column("differing_kernels", "kernels", Hint::count),
                   column("differing", "share of all", Hint::fraction),
                   column("differing_bytes_of_all", "by bytes", Hint::fraction),
                   sentence("first_kernels", "the first of them")};
  std::map<Disagreement, Share> reasons;
  std::map<std::string, Share> asked;
  for (const Agreement& one : all) {
    for (const auto& [what, share] : one.reasons) reasons[what] += share;
    asked["kernel"] += one.kernels;
    asked["launch"] += one.launches;
    asked["price"] += one.prices;
  }
  for (const auto& [what, share] : reasons) {
    const Share& of = asked[what.about];
    table.rows.push_back({what.about, what.reason, share.all,
                          part(static_cast<double>(share.all), static_cast<double>(of.all)),
                          part(share.all_bytes, of.all_bytes), first_kernels(all, what, share.all)});
  }
  return table;
}

}  // namespace tailor::study
