// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts load_summary() is made of: what is read once per model and device, a strategy's totals, a group's section.
// map of its groups, the verdict on the sweep's claim. In: a store, a subject. Out: parts of a Summary. Private to
// load_summary.cpp and the files named summary_*.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/summary/load_summary.h"

namespace tailor::study {

/// What all strategies of a model share on a device.
struct Gathered {
  std::vector<store::FusionRow> fusions;
  std::map<Id, store::GroupRow> groups;
  std::map<Id, Seconds> lower_bounds;                 ///< groups without one are absent
  std::map<Id, std::vector<store::LevelBest>> bests;  ///< lowest level first; groups without a plan are absent
  std::map<Id, report::XlaSummary> xla;               ///< groups of a device that XLA has a description of
  std::vector<std::string> levels;                    ///< of columns: "sol", then those of any plan, lowest first
  std::vector<report::LibraryCall> library;           ///< equal calls once
};
Gathered gather(const store::Store& store, const Subject& subject);

/// One group's time under the rule of a column: absent without plan and bound.
struct TimeAt {
  Seconds total;
  std::string_view level;  ///< "bound" without a plan
};
std::optional<TimeAt> time_at(const Gathered& gathered, Id group, std::string_view level);

report::StrategyTotals make_totals(const Gathered& gathered, const store::FusionRow& fusion);
/// What must be said about a strategy's totals, one sentence each.
std::vector<std::string> make_warnings(const Gathered& gathered, const store::FusionRow& fusion);
/// Whether two strategies made the same partition.
bool same_groups(const store::FusionRow& a, const store::FusionRow& b);

report::GroupSummary load_group(const store::Store& store, const Subject& subject, const Gathered& gathered,
                                const store::FusionGroupRow& row, int plans);

/// The strategy's partition, equal groups once, with the edges it cut. Near-linear in the graph.
report::FusionMap make_map(const ir::Graph& graph, const Gathered& gathered, const store::FusionRow& fusion);

/// The newest run that a sweep's file asked for; none without one.
std::optional<store::RunRow> newest_sweep(const store::Store& store);
/// What the newest sweep claimed, judged by what is stored; none without a claim.
std::optional<report::ClaimSummary> load_claim(const store::Store& store);

/// Fills what was measured of the model's groups on the device.
void add_measured(const store::Store& store, const Subject& subject, const Gathered& gathered,
                  report::Summary& summary);

/// Place of a level in the order of precision; unknown ones last.
std::size_t precision(std::string_view level);

}  // namespace tailor::study
