// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two plans of one group against each other: which is faster by the model, by how much, and where it comes from. In:
// two candidates of one group, executed where somebody asked for it. Out: a sentence, and tables of the parts of their
// predictions, of the words in which the plans differ, and of the counters that differ. Called by `tailor explain A B`.
#pragma once

#include <string>

#include "report/table.h"
#include "study/pipeline/candidate.h"

namespace tailor::study {

/// Both of one group and device, lowered and estimated. Whoever asked calls them A and B.
struct Versus {
  const Candidate& a;
  const Candidate& b;
  std::string a_is = {}, b_is = {};  ///< as they were asked for: a rank, "xla", a text
};

/// "A (1) beats B (7) by 1.52 us (12.8 %): 10.4 us and 11.9 us, level projected; dram binds A, latency binds B;
/// in B latency +6.10 us, issue +410 ns, against 4.99 us more overlap" (what speaks for the verdict stands first), or
/// that the model cannot tell them apart: as the places say that tailor explore gives them, else by
/// ir::model_resolution.
std::string versus_words(const Versus& two);

/// One row: both plans, their times, which is faster.
report::Table versus_table(const Versus& two);
/// One row per part that takes time in either: both times, and what B takes more. `rounded`: where both show the same
/// three figures the difference is 0.
report::Table versus_part_table(const Versus& two, bool rounded);
/// One row per word of the plans' texts that differs.
report::Table versus_plan_table(const Versus& two);
/// One row per count that differs, launch and registers among them: as executions counted where both were executed,
/// else as the model counts.
report::Table versus_count_table(const Versus& two);

}  // namespace tailor::study
