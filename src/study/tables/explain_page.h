// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of one plan, and that as a page of text: what it is, how long each part would take alone, what binds,
// what was counted, advice, the program. In: a candidate as far as the stages filled it. Out: text and the tables that
// stand in it. Called by tailor explain.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/occupancy.h"
#include "ir/counters.h"
#include "report/table.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/xla_beside.h"

namespace tailor::study {

struct Explained {
  Candidate one;      ///< with its verdict and measurement, where they were asked for
  std::string title;  ///< of its group
  ir::Estimate estimate = {};
  std::optional<ir::Estimate> compiled = {};  ///< by its machine code, where that was followed
  costmodel::Occupancy occupancy = {};
  Seconds bound = {};  ///< what one run of the group takes at least, by the data sheet (level sol)
  std::vector<std::string> advice = {};
  std::optional<XlaBeside> xla = {};  ///< XLA's kernel of the group; nothing for a device it has no description of
};

/// What a GPU counted; empty where none was asked.
std::span<const ir::CounterValue> gpu_counters(const Explained& all);
/// The model's counts beside those of whoever else counted; nothing when nobody did.
std::optional<report::Table> counted_beside(const Explained& all);
/// "unchecked", or what the execution found.
std::string state_of(const Explained& all);

/// "labels" and words, broken at the screen's edge.
std::string paragraph(std::string_view label, std::string_view words, int width);
/// The page, in lines of at most the screen's width where they are words and numbers; the program keeps its own lines,
/// of which as many are shown as rows of a table.
std::string explanation(const Explained& all, const report::Screen& screen);

}  // namespace tailor::study
