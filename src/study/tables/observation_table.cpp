// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting observations by device, regime and side of the split. In: rows as the store loads them, in any order. Out: a
// table, its lines in the order of devices and regimes, so that two runs can be compared. Called by tailor db
// observations.
#include "study/tables/observation_table.h"

#include <map>
#include <utility>

#include "study/tables/column.h"

namespace tailor::study {

report::Table observation_table(std::span<const store::ObservationRow> observations) {
  using report::Hint;
  struct Counts {
    std::int64_t ours = 0;
    std::map<std::string, std::int64_t> by_split;
  };
  std::map<std::pair<std::string, std::string>, Counts> counted;
  for (const store::ObservationRow& row : observations) {
    Counts& counts = counted[{row.device, row.regime}];
    counts.ours += row.plan ? 1 : 0;
    ++counts.by_split[row.split];
  }
  report::Table table;
  table.columns = {column("device", "device"),
                   column("regime", "regime"),
                   column("train", "train", Hint::count),
                   column("validate", "validate", Hint::count),
                   column("test", "test", Hint::count),
                   column("own", "of our plans", Hint::count, 1)};
  for (auto& [where, counts] : counted)
    table.rows.push_back({where.first, where.second, counts.by_split["train"], counts.by_split["validate"],
                          counts.by_split["test"], counts.ours});
  return table;
}

}  // namespace tailor::study
