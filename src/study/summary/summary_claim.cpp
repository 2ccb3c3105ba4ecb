// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a sweep's claim, for its report. In: a database, the text of the newest sweep's file in it. Out: the
// claim with its figure, or why it has none. Called by load_summary().
//
// The sweep itself judges by what is stored (sweep.cpp), so the same can be done again later, of the same models,
// devices and strategies. A model is known by the name of its file, for paths are of the machine that ran the sweep.
// Where that does not say which rows were the sweep's, there is no verdict. A claim of a grid is judged at each of its
// points, by what these came to on their own, and the point where it comes out least has the verdict.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "study/pipeline/import_summary.h"
#include "study/summary/summary_rows.h"
#include "study/sweep/claim.h"
#include "study/sweep/grid_table.h"

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

/// What of a database a claim is judged by: totals, and the bytes of the library calls on all devices.
struct Evidence {
  std::vector<store::StrategyTotals> totals;
  Bytes library;
};

Evidence stored_of(const store::Store& store, const SweepWords& asked, const std::set<Id>& graphs) {
  Evidence stored;
  for (const Id graph : graphs)
    for (const store::LibraryCallRow& call : store.library_calls(graph)) stored.library += call.bytes * call.times;
  std::set<Id> devices;
  for (store::StrategyTotals& one : store.strategies()) {
    if (!graphs.contains(one.graph) || !holds(asked.strategies, one.strategy) || !is_device(asked, one.device_name))
      continue;
    devices.insert(one.device);
    stored.totals.push_back(std::move(one));
  }
  stored.library = stored.library * static_cast<double>(devices.size());
  return stored;
}

/// The same by what a point of a grid came to on its own.
Evidence stored_of(const store::Store& store, const store::PointRow& point, const std::set<Id>& graphs) {
  Evidence stored;
  std::map<Id, Bytes> bytes;
  std::map<Id, double> calls;
  for (const Id graph : graphs)
    for (const store::LibraryCallRow& call : store.library_calls(graph)) {
      bytes[graph] += call.bytes * call.times;
      calls[graph] += call.times;
    }
  std::set<std::pair<Id, Id>> seen;
  for (const store::PointResultRow& row : store.point_results(point.id)) {
    if (!graphs.contains(row.graph)) continue;
    store::StrategyTotals& one = stored.totals.emplace_back();
    one.strategy = row.strategy;
    one.launches = row.launches;
    one.launches_without_plan = row.launches_without_plan;
    one.library_calls = calls[row.graph];
    one.dram = row.dram;
    one.kernel_time = one.predicted_time = row.kernel_time;
    one.library_time = row.library_time;
    if (seen.insert({row.graph, row.device}).second) stored.library += bytes[row.graph];
  }
  return stored;
}

/// Fills the claim's figure, or why it has none. `point` null: of a sweep without a grid.
void judge_stored(const store::Store& store, const SweepWords& asked, const store::PointRow* point,
                  report::ClaimSummary& claim) {
  const std::set<Id> graphs = graphs_of(store, asked, claim.not_judged);
  if (!claim.not_judged.empty()) return;
  const Evidence stored = point == nullptr ? stored_of(store, asked, graphs) : stored_of(store, *point, graphs);
  const JudgedClaim judged =
      judge({claim.text, claim.metric, claim.threshold}, stored.totals, stored.library, asked.baseline);
  claim.meaning = judged.metric->meaning;
  claim.not_judged = judged.not_judged;
  claim.value = judged.value;
  claim.left_out = judged.left_out;
}

/// Whether all points of the grid are there: its id is a hash of theirs.
bool is_whole(const std::vector<store::PointRow>& points) {
  std::string ids;
  for (const store::PointRow& point : points) ids += hex(point.id);
  return tailor::id_of(std::string_view(ids)) == points.front().grid;
}

/// The verdict at the point where the claim comes out least. One point where it fails is enough to say so; that it
/// holds can be said where all were judged.
report::ClaimSummary judge_points(const store::Store& store, const std::vector<store::PointRow>& points,
                                  const report::ClaimSummary& claim) {
  std::map<Id, SweepWords> asked;
  for (const store::RunRow& run : store.runs())
    if (run.config_id) asked[*run.config_id] = sweep_words(run.config);
  std::optional<report::ClaimSummary> least, open;
  for (const store::PointRow& point : points) {
    report::ClaimSummary one = claim;
    one.points = std::ssize(points);
    one.point = point.label;
    one.baseline = point.baseline;
    if (asked.contains(point.id))
      judge_stored(store, asked[point.id], &point, one);
    else
      one.not_judged = "the run of this point is not in the database";
    std::optional<report::ClaimSummary>& kept = one.not_judged.empty() ? least : open;
    if (!kept || (one.not_judged.empty() && one.value < kept->value)) kept = std::move(one);
  }
  if (least && !least->holds()) return *least;
  if (open) {
    open->not_judged = fmt::format("at {}, {}", open->point, open->not_judged);
    return *open;
  }
  if (!is_whole(points))
    least->not_judged = fmt::format("of the grid only {} swept", counted(points.size(), "point", "is", "are"));
  return *least;
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
  else if (const auto points = run->config_id ? grid_of(store, *run->config_id) : std::vector<store::PointRow>();
           !points.empty())
    return judge_points(store, points, claim);
  else
    judge_stored(store, asked, nullptr, claim);
  return claim;
}

}  // namespace tailor::study
