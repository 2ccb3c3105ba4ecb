// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What executing and measuring found of one plan, as lines for people. In: a candidate with its verdict, or what a
// measurement came to, with the time that was predicted for it. Out: lines with their labels, aligned with the rest of
// explain's page. Called by tailor explain.
#pragma once

#include <string>

#include "study/pipeline/candidate.h"

namespace tailor::study {

/// "%4@warp, %13@warp": the plan's reductions, each at the level that stitches its result to those who read it.
std::string stitch_words(const Candidate& one);
/// What a loop over pieces goes over; empty for a plan of another loop.
std::string pieces_words(const Candidate& one);
/// The median with its interval, or why there is none.
/// Precondition: it was measured.
std::string measured_words(const Candidate& one);
/// State, worst error and the two estimates. Precondition: the candidate has a verdict.
std::string execution_words(const Candidate& one);

}  // namespace tailor::study
