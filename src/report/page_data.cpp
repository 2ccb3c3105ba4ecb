// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The data block of the page. In: a Summary. Out: JSON with the records of all tables under one root,
// and the parts of every estimate as rows. Called by page(). It is there for people who want the
// numbers of a page in another program.
#include <algorithm>
#include <set>

#include "base/json.h"
#include "report/overview.h"
#include "report/page.h"
#include "report/table.h"

namespace tailor::report {

namespace {

Table parts_table(const GroupSummary& group) {
  Table table;
  table.columns = {{"plan_id", "plan", Hint::text},
                   {"level", "level", Hint::text},
                   {"part", "part", Hint::text},
                   {"part_time", "time", Hint::seconds}};
  for (const PlanSummary& plan : group.best)
    for (const EstimateSummary& estimate : plan.estimates) {
      table.rows.push_back({plan.id, estimate.level, std::string("total"), estimate.total.value});
      for (const NamedTime& part : estimate.parts)
        table.rows.push_back({plan.id, estimate.level, part.name, part.time.value});
    }
  return table;
}

}  // namespace

std::string raw_data(const Summary& summary, std::size_t in_full) {
  const std::vector<const GroupSummary*> heaviest = heaviest_first(summary);
  const std::set<const GroupSummary*> told(
      heaviest.begin(), heaviest.begin() + static_cast<std::ptrdiff_t>(std::min(in_full, heaviest.size())));
  Json root;
  root["schema"] = "tailor.report/1";
  root["tool"] = summary.manifest.tool;
  root["device"] = summary.manifest.device.empty() ? Json() : Json(summary.manifest.device);
  root["command"] = summary.manifest.command;
  root["verdict"] = records(verdict_table(summary));
  root["manifest"] = records(manifest_table(summary));
  root["chosen"] = summary.chosen;
  root["baseline"] = summary.baseline;
  root["results"] = records(strategy_table(summary, true));
  root["agreement"] = records(agreement_table(summary));
  root["groups"] = records(group_table(summary));
  Json& plans = root["plans"] = Json::Array();
  for (const GroupSummary& group : summary.groups) {
    if (!told.contains(&group)) continue;
    std::vector<double> times;
    for (const Seconds time : group.all_times) times.push_back(time.value);
    Json one;
    one["group_id"] = group.id;
    one["plans"] = records(plan_table(group));
    one["parts"] = records(parts_table(group));
    one["all_times_s"] = times;
    one["rejections"] = records(rejection_table(group));
    plans.push_back(std::move(one));
  }
  root["rejections"] = records(rejection_table(summary));
  root["unplanned"] = records(unplanned_table(summary));
  root["refused_edges"] = records(refused_table(summary));
  root["library_calls"] = records(library_table(summary));
  root["import"] = records(import_table(summary));
  root["warnings"] = summary.warnings;
  return json_text(root);
}

}  // namespace tailor::report
