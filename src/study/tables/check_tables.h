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
/// One row per candidate.
report::Table verdict_table(std::span<const Candidate> candidates);
/// One row per finding, with the line of the CUDA text it happened on.
report::Table finding_table(std::span<const Candidate> candidates);

}  // namespace tailor::study
