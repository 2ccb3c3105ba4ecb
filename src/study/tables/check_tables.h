// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What executing candidates found, as tables. Candidates that passed the check stage come in, as far as they got; rows
// go out in their order, with nothing computed but what a cell shows. Called by tailor check and, for the words of a
// failed compile, by profile's tables.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "report/table.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/question.h"

namespace tailor::study {

/// The state of a candidate whose binary needs what its plan does not allow.
inline constexpr std::string_view refused_words = "refused";
/// State and reason of a kernel that did not compile: the first line of what the compiler said.
std::pair<std::string, std::string> not_compiled(const ir::Binary& binary);
/// A line's number; nothing where no line is known (0).
report::Cell line_number(std::int64_t line);
/// What stands in a line, counted from 1, without the blanks around it; "" where there is none.
std::string line_text(std::span<const std::string_view> lines, std::int64_t line);
/// How many candidates ended in each way.
struct VerdictCounts {
  std::int64_t passed = 0, refuted = 0, not_judged = 0, not_executed = 0;
  std::int64_t late = 0;                                      ///< of the refuted: they took too long
  std::int64_t late_references = 0;                           ///< of the not executed: their reference took too long
  std::int64_t late_may_shrink = 0, late_may_be_sampled = 0;  ///< of both: what would make less to execute of them
  std::int64_t compile_late = 0;                              ///< of the not executed: their compiler took too long
  std::int64_t not_all = 0;                                   ///< of the passed: a part of their results has no bound
  double least_judged = 1;                                    ///< of what one of these stored, where that is least
  std::string least_because;                                  ///< why the others of that one have no bound
  std::int64_t elsewhere = 0;                                 ///< at another shape than their own
  std::int64_t sampled = 0;                                   ///< some of their blocks
  std::int64_t sampled_to_fit = 0;                            ///< of these: all would take more memory than there is
  std::set<std::string> compiled_for;              ///< "sm_75 in the place of sm_70": where not for the device itself
  double sampled_results = 0, sampled_judged = 0;  ///< of the sampled: elements of all their results; of these judged
  std::int64_t finished = 0;                       ///< have a verdict
  std::int64_t all = 0;
};
VerdictCounts count_verdicts(std::span<const Candidate> candidates);
/// "3 of 5 kernels passed, 1 executed at a smaller shape, 1 of them judged in part (8 % of what it stored), 1 not
/// judged; 2 groups have no plan; the rest has no bound: from %reduce.7 (reduce) on something overflows, ...".
std::string text(const VerdictCounts& counts, std::size_t groups_without_plan);
/// What the command ends with: failed where a kernel is refuted, missing where one was not executed or not judged and
/// where there is nothing to check; nothing where all passed.
std::optional<Error> fault_of(const VerdictCounts& counts, std::size_t groups_without_plan);
/// What the counts come to and the counts: "1 of 4 kernels is not right; 3 of 4 kernels passed"; of kernels that are
/// all right the counts alone.
std::string verdict_text(const VerdictCounts& counts, std::size_t groups_without_plan);
/// The same as one row, for programs. `fault`: what the command ends with; it is the verdict.
report::Table verdict_count_table(const VerdictCounts& counts, std::size_t groups_without_plan,
                                  const std::optional<Error>& fault);
/// Of what was asked to be smaller and is executed whole a line for each reason: "--shape small: executed whole (2
/// kernels): each stage of it has rows of its own". `few_blocks`: asked for of larger launches; 0: all of each.
std::vector<std::string> executed_whole(std::span<const Candidate> candidates, bool small, std::int64_t few_blocks);
/// "37,355,520 lane instructions executed in 1.2 s (4.1e+07/s of one thread), 2 references in 80 ms".
std::string text(const profiler::CheckAccount& account);
/// "all", "none" or "99.4 %" of the results.
std::string judged_words(double fraction);
/// What a table of verdicts has rows of.
struct VerdictRows {
  bool finished_only = false;  ///< no row of a candidate without a verdict; of others only what no stage fills later
  bool grouped = false;        ///< groups without a plan for the same rule share a row where there are many
  bool passed = true;          ///< also those that passed
  /// By number of a group, those that were checked on given arrays; null: nobody gave any, and no column says so.
  const std::map<std::size_t, profiler::GivenArrays>* given = nullptr;
};
/// One row per candidate, then those of the groups without a plan. No columns where there is no row.
report::Table verdict_table(std::span<const Candidate> candidates, std::span<const Unplanned> unplanned,
                            const VerdictRows& rows);
/// One row per finding, with the line of the CUDA text it happened on.
report::Table finding_table(std::span<const Candidate> candidates);

}  // namespace tailor::study
