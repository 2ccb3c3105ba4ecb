// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernel of a group beside a plan of ours, as a row and as a sentence: what a search added is the difference of
// their times. In: what xla_beside.h found, the estimate of the other plan. Out: a table, words. Called by the commands
// `explore` and `explain`.
#pragma once

#include <optional>
#include <string>

#include "report/table.h"
#include "study/pipeline/xla_beside.h"

namespace tailor::study {

/// One row: the emitter and its launch, whether the plan that is like it has that launch, its time, that of `best`, and
/// what lies between them. None for a device that XLA has no description of.
report::Table xla_beside_table(const std::optional<XlaBeside>& xla, const ir::Estimate& best);
/// The same of a group that was searched: `best` is its best plan.
report::Table xla_beside_table(const PreparedGroup& group, const Target& on, const costmodel::Model& model,
                               const Candidate& best);

/// "as XLA's row emitter: 12.3 us (grid 1024x1x1, block 256, the same launch), 1.28 times this plan's time".
std::string xla_beside_words(const XlaBeside& xla, const ir::Estimate& other);

}  // namespace tailor::study
