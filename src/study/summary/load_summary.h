// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From the database to a report's Summary: one per model and device. Everything comes from stored rows, so a report can
// be drawn again without the program that made the rows having kept anything in memory.
//
// The time of a strategy is the sum over its groups of executions times the group's time: that of its best plan, where
// plans a more precise level has looked at come before the others; without a plan, the group's bound. Each column of a
// level applies this rule with the levels up to its own, so the strategies of one column are comparable; what is a
// bound, or comes from a lower level, is counted and said.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/summary.h"
#include "store/store.h"

namespace tailor::study {

/// A model on a device.
struct Subject {
  store::GraphRow graph;
  store::DeviceRow device;
};

/// The pairs the database says something about, by model and device. `model` is a name or the first digits of a graph
/// id, `device` a name; empty: all. Throws Error(usage) for a name that is not there, Error(failed) when nothing is
/// left.
std::vector<Subject> subjects(const store::Store& store, const std::string& model, const std::string& device);

struct SummaryOptions {
  std::string strategy;             ///< whose groups are shown; empty: the one of least predicted time
  std::string baseline;             ///< empty: the sweep's; else "imported", or "unfused" where the file has no fusions
  int plans = 5;                    ///< best plans per group; 0: all
  std::filesystem::path data = {};  ///< whose agreement.json scores strategies that imitate XLA; empty: none is scored
};

/// Throws Error(usage) for a strategy that was not run on the model, Error(failed) for rows that cannot be read.
report::Summary load_summary(const store::Store& store, const Subject& subject, const SummaryOptions& options);

}  // namespace tailor::study
