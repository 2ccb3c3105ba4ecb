// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What executing candidates found, as tables. Candidates that passed the check stage come in, as far as they got; rows
// go out in their order, with nothing computed but what a cell shows. Called by tailor check and, for the words of a
// failed compile, by profile's tables.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "report/table.h"
#include "study/pipeline/candidate.h"

namespace tailor::study {

/// State and reason of a kernel that did not compile: the first line of what the compiler said.
std::pair<std::string, std::string> not_compiled(const ir::Binary& binary);
/// How many candidates ended in each way.
struct VerdictCounts {
  std::int64_t passed = 0, refuted = 0, not_judged = 0, not_executed = 0;
  std::int64_t late = 0;       ///< of the refuted: they took too long
  std::int64_t not_all = 0;    ///< of the passed: a part of their results has no bound
  std::int64_t elsewhere = 0;  ///< at another shape than their own
};
VerdictCounts count_verdicts(std::span<const Candidate> candidates);
/// "3 of 5 kernels passed, 1 of them executed at a smaller shape, 1 not judged".
std::string text(const VerdictCounts& counts);
/// "all", "none" or "99.4 %" of the results.
std::string judged_words(double fraction);
/// One row per candidate.
report::Table verdict_table(std::span<const Candidate> candidates);
/// One row per finding, with the line of the CUDA text it happened on.
report::Table finding_table(std::span<const Candidate> candidates);

}  // namespace tailor::study
