// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a sweep's claim, for its report. In: a database, the text of the newest sweep's file in it. Out: the
// claim with its figure, or why it has none. Called by load_summary().
//
// The sweep itself judges by what is stored (sweep.cpp), so the same can be done again later, of the same models,
// devices and strategies. A model is known by the name of its file, for paths are of the machine that ran the sweep.
// Where that does not say which rows were the sweep's, there is no verdict.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "study/pipeline/import_summary.h"
#include "study/summary/summary_rows.h"
#include "study/sweep/claim.h"

namespace tailor::study {

namespace {

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// The graphs of a sweep's models; empty where a model has none or several, and `why` says which.
std::set<Id> graphs_of(const store::Store& store, const SweepWords& asked, std::string& why) {
  std::set<Id> found;
  for (const std::string& model : asked.models) {
    const std::string file = std::filesystem::path(model).filename().string();
    std::size_t versions = 0;
    for (const store::GraphRow& graph : store.graphs())
      if (std::filesystem::path(graph.source).filename() == file) {
        found.insert(graph.id);
        ++versions;
      }
    if (versions == 1) continue;
    why = versions == 0 ? fmt::format("it is about all models, and {} is not in the database", file)
                        : fmt::format("the database has {} versions of {}", versions, file);
    return {};
  }
  return found;
}

bool is_device(const SweepWords& asked, const std::string& name) {
  return std::any_of(asked.devices.begin(), asked.devices.end(),
                     [&](const std::string& one) { return one == name || std::filesystem::path(one).stem() == name; });
}

void judge_stored(const store::Store& store, const SweepWords& asked, report::ClaimSummary& claim) {
  const std::set<Id> graphs = graphs_of(store, asked, claim.not_judged);
  if (!claim.not_judged.empty()) return;
  Bytes library;
  for (const Id graph : graphs)
    for (const store::LibraryCallRow& call : store.library_calls(graph)) library += call.bytes * call.times;
  std::vector<store::StrategyTotals> totals;
  std::set<Id> devices;
  for (store::StrategyTotals& one : store.strategies()) {
    if (!graphs.contains(one.graph) || !holds(asked.strategies, one.strategy) || !is_device(asked, one.device_name))
      continue;
    devices.insert(one.device);
    totals.push_back(std::move(one));
  }
  const JudgedClaim judged = judge({claim.text, claim.metric, claim.threshold}, totals,
                                   library * static_cast<double>(devices.size()), asked.baseline);
  claim.meaning = judged.metric->meaning;
  claim.not_judged = judged.not_judged;
  claim.value = judged.value;
  claim.left_out = judged.left_out;
}

/// Whether the sweep of this configuration was a point of a grid.
bool is_of_grid(const store::Store& store, const std::optional<Id>& config) {
  const std::vector<store::PointRow> points = store.points();
  return std::any_of(points.begin(), points.end(), [&](const store::PointRow& point) { return point.id == config; });
}

bool is_metric(const std::string& name) {
  const auto all = claim_metrics();
  return std::any_of(all.begin(), all.end(), [&](const ClaimMetric& metric) { return metric.name == name; });
}

}  // namespace

std::optional<report::ClaimSummary> load_claim(const store::Store& store) {
  const std::optional<store::RunRow> run = newest_sweep(store);
  if (!run) return std::nullopt;
  const SweepWords asked = sweep_words(run->config);
  if (asked.claim.empty()) return std::nullopt;
  report::ClaimSummary claim{asked.claim, asked.metric, "", asked.baseline, 0, asked.threshold};
  if (run->outcome != "done" && run->outcome != "failed")
    claim.not_judged = "the sweep has not ended";
  else if (!is_metric(asked.metric))
    claim.not_judged = fmt::format("this version has no metric {}", asked.metric);
  else if (is_of_grid(store, run->config_id))
    claim.not_judged =
        "it must hold at each point of a grid, and this page has the best plans of all of them; tailor "
        "sweep says what holds at each, tailor report --by KEY what each came to";
  else
    judge_stored(store, asked, claim);
  return claim;
}

}  // namespace tailor::study
