// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Summary as tables and words. In: a Summary. Out: the tables that every output shares (terminal,
// Markdown file, page), and the two outputs that are only tables and sentences. Called by commands and
// by the page.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"
#include "report/table.h"

namespace tailor::report {

/// The answer in short sentences. head: "Strategy tailor is predicted 2.10 x faster than xla-priority ...", or its
/// kernels where no two times can be compared. rest: what the head rests on (kernels, levels, whether anything was
/// measured, how much is a bound); may be empty.
struct Answer {
  std::string head, rest;
  std::string text() const;  ///< both
};
Answer answer(const Summary& summary);

/// What became of a claim: "The claim holds.", and what that rests on.
struct Verdict {
  std::string head, words;
};
Verdict verdict(const ClaimSummary& claim);
/// The same as a row; none without a claim.
Table verdict_table(const Summary& summary);

/// How much less time one strategy takes than another, at the most precise level that both have a time at; measured
/// times only where all of both was measured, for a prediction may hold a launch that a timer leaves out. Two figures,
/// and no text names one of them without saying which: fused kernels alone, which is what a strategy decides, and a run
/// of the model, in which the library calls take the same time under both.
struct Speedup {
  std::string level;
  Seconds chosen, baseline;        ///< the fused kernels of a run
  std::optional<Seconds> library;  ///< its library calls; absent: it has none, or one has no time
  std::vector<NamedTime> chosen_made_of = {}, baseline_made_of = {};  ///< as of LevelTime
  double of_kernels() const { return baseline / chosen; }
  std::optional<double> with_library() const;
};
/// Absent when there is no level at which both have a time.
std::optional<Speedup> speedup(const StrategyTotals& chosen, const StrategyTotals& baseline);

Table manifest_table(const Summary& summary);
/// One row per strategy, the chosen one marked. A column per level that any strategy has, and both speed-ups over the
/// baseline. Programs get `every_column`: what is unknown is empty there, and not left out.
Table strategy_table(const Summary& summary, bool every_column = false);
/// How well those that imitate XLA agree with the real one; no rows when none does.
Table agreement_table(const Summary& summary);
/// One row per group, heaviest first by predicted time of all its occurrences.
Table group_table(const Summary& summary);
/// Best plans of one group, best first, a column per level.
Table plan_table(const GroupSummary& group);
/// Plan texts split into the words all of them share and what is each one's own ("as above" when nothing is). A single
/// plan keeps all its words.
struct PlanWords {
  std::string shared;
  std::vector<std::string> own;
};
PlanWords plan_words(const GroupSummary& group);
/// Rejections of all groups added up by rule.
Table rejection_table(const Summary& summary);
Table rejection_table(const GroupSummary& group);
Table library_table(const Summary& summary);
/// Groups without a plan by what stands in the way, most bytes of a run first.
Table unplanned_table(const Summary& summary);
/// Edges that the chosen strategy cut, by reason, most bytes first. The first column numbers them as the picture does.
Table refused_table(const Summary& summary);
/// Plans measured on a GPU, and whole models; no rows when nothing was.
Table measured_table(const Summary& summary);
Table twin_table(const Summary& summary);
Table module_table(const Summary& summary);
Table import_table(const Summary& summary);

/// Whether some time is a measured one: of a GPU that this database measured on, or replayed from records.
bool has_measured_times(const Summary& summary);

/// The strategy with this name, or nullptr.
const StrategyTotals* find_strategy(const Summary& summary, const std::string& name);
/// Time of the group's best plan at its highest level, one occurrence; absent without a plan.
std::optional<Seconds> best_time(const GroupSummary& group);
/// Whether that level is a GPU's.
bool is_measured(const GroupSummary& group);
/// Its DRAM traffic over that time; absent without a plan, or without traffic.
std::optional<BytesPerSecond> achieved_bandwidth(const GroupSummary& group);

/// The groups, most time of a run first.
std::vector<const GroupSummary*> heaviest_first(const Summary& summary);
/// What a group adds to the model's predicted time: all occurrences of its best plan, or of its bound without a plan.
Seconds whole_time(const GroupSummary& group);

std::string_view name(BinaryState state);
std::string_view name(CheckState state);
std::string_view name(GroupStatus status);

/// What a terminal shows when a run ends. Of several the first alone has the verdict and whose plans these are.
std::string overview(const Summary& summary, const Screen& screen, bool is_first = true);
/// The same for a file in a repository.
std::string markdown(const Summary& summary);

}  // namespace tailor::report
