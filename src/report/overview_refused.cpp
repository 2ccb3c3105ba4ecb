// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What could not be had, as tables: groups that no kernel can be written for yet, and edges that a strategy cut. In: a
// Summary. Out: tables of table.h, one row per reason, most bytes first. Called by the page and its raw data. A group
// says of itself why it has no plan; of several rules the one against the group as a whole counts.
#include <algorithm>
#include <map>

#include "report/overview.h"

namespace tailor::report {

namespace {

/// Groups without a plan for one reason.
struct Unplanned {
  std::int64_t groups = 0, runs = 0;
  Bytes bytes;  ///< of a run
  const GroupSummary* largest = nullptr;
};

Bytes whole_traffic(const GroupSummary& group) { return group.traffic * static_cast<double>(group.occurrences); }

/// "needs skeleton: skeleton-column": the state, and the rule against the group as a whole where there is one.
std::string reason_of(const GroupSummary& group) {
  const std::string state = group.status == GroupStatus::ok ? "no plan" : std::string(name(group.status));
  const auto most = std::max_element(
      group.rejections.begin(), group.rejections.end(),
      [](const auto& a, const auto& b) { return std::pair(a.count == 0, a.count) < std::pair(b.count == 0, b.count); });
  return most == group.rejections.end() ? state : state + ": " + most->rule;
}

}  // namespace

Table unplanned_table(const Summary& summary) {
  std::map<std::string, Unplanned> by_reason;
  Bytes all;
  for (const GroupSummary& group : summary.groups) {
    all += whole_traffic(group);
    if (!group.best.empty()) continue;
    Unplanned& sum = by_reason[reason_of(group)];
    ++sum.groups;
    sum.runs += group.occurrences;
    sum.bytes += whole_traffic(group);
    if (sum.largest == nullptr || whole_traffic(*sum.largest) < whole_traffic(group)) sum.largest = &group;
  }
  Table table;
  table.columns = {{"reason", "reason", Hint::text, 0},
                   {"groups", "groups", Hint::count, 1},
                   {"runs", "launches", Hint::count, 2},
                   {"traffic", "bytes", Hint::bytes, 0},
                   {"traffic_share", "of all groups' bytes", Hint::fraction, 1},
                   {"title", "largest group", Hint::text, 3},
                   {"example", "what it says", Hint::text, 2, Align::by_hint, true}};
  std::vector<std::pair<std::string, Unplanned>> sorted(by_reason.begin(), by_reason.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  for (const auto& [reason, sum] : sorted)
    table.rows.push_back({reason, sum.groups, sum.runs, sum.bytes.value, all.value > 0 ? Cell(sum.bytes / all) : Cell(),
                          sum.largest->name, sum.largest->status_reason});
  return table;
}

Table refused_table(const Summary& summary) {
  Table table;
  table.columns = {{"reason_number", "#", Hint::integer, 0},
                   {"reason", "why two kernels", Hint::text, 0},
                   {"edges", "edges", Hint::count, 1},
                   {"traffic", "bytes on them", Hint::bytes, 0},
                   {"example", "one of them", Hint::text, 2}};
  for (const RefusedEdges& one : summary.map.refused)
    table.rows.push_back(
        {static_cast<std::int64_t>(table.rows.size() + 1), one.reason, one.edges, one.bytes.value, one.example});
  return table;
}

}  // namespace tailor::report
