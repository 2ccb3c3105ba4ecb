// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What was found in the plan space of one group, as tables. In: the space as it was searched, and its best plans. Out:
// tables of report/table.h. Called by the command `explore`. A rank is a name (--plan takes it); a place says what the
// model can tell apart: tied plans share theirs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "report/table.h"
#include "study/pipeline/question.h"

namespace tailor::study {

/// The first `top` (0: all) of the different kernels, best first, with their axes, estimates and places, and the one
/// that XLA would write, marked.
report::Table plan_table(const FusedModel& model, const PreparedGroup& group, std::span<const Candidate> all,
                         std::int64_t top);
/// "9 of 185 different kernels tie for the first place: the model cannot tell them apart (within 0.1 %)".
std::string tie_words(std::span<const Candidate> all);
/// One row per rule, the one that dropped most first; with an example of each for programs and for -v.
report::Table rejection_table(const explore::Tuned& tuned, bool examples);
/// One row: how many plans there are and what became of them. `all` are the different kernels.
report::Table space_table(const explore::Tuned& tuned, std::span<const Candidate> all, Seconds spent);

}  // namespace tailor::study
