// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A tuning space of other people, replayed: its file, how many tries, how many runs. In: names and numbers. Out: tables
// for people and programs: the space, what each way of searching finds, what a learned model tells. Called by tailor
// replay.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calibrate/replay.h"
#include "report/table.h"
#include "study/pipeline/observer.h"

namespace tailor::study {

struct ReplayQuestion {
  std::string table;  ///< a CSV file, perhaps packed
  calibrate::SpaceColumns columns;
  calibrate::ReplayOptions options;
};

/// Tables by key. Throws Error(usage) for numbers of tries that do not rise from 1, and what read_space() throws.
std::vector<std::pair<std::string, report::Table>> replay_tables(const ReplayQuestion& question, const Watch& watch);

}  // namespace tailor::study
