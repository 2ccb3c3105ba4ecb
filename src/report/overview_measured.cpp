// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU said, as tables: plans, plans that ran twice in their race, whole models in turns. In: a Summary. Out:
// tables of table.h, without rows where nothing was measured. Called by overview.cpp for the terminal and Markdown, by
// page.cpp and page_data.cpp for the page and its JSON.
#include <algorithm>

#include "report/overview.h"

namespace tailor::report {

namespace {

Cell seconds(const std::optional<Seconds>& time) { return time ? Cell(time->value) : Cell(); }

std::string place_of(const MeasuredTime& time) { return time.tied ? "1=" : std::to_string(time.place); }

}  // namespace

Table measured_table(const Summary& summary) {
  Table table;
  table.columns = {{"title", "group"},
                   {"place", "place"},
                   {"cache", "cache"},
                   {"launch_mode", "launched as", Hint::text, 3},
                   {"median", "time", Hint::seconds},
                   {"low", "from", Hint::seconds, 2},
                   {"high", "to", Hint::seconds, 2},
                   {"samples", "samples", Hint::integer, 4},
                   {"predicted", "predicted", Hint::seconds, 1},
                   {"level", "level", Hint::text, 3},
                   {"predicted_to_measured", "predicted / measured", Hint::ratio},
                   {"dram", "of DRAM bandwidth", Hint::fraction, 1},
                   {"plan", "plan", Hint::text, 5}};
  for (const MeasuredTime& time : summary.times)
    table.rows.push_back({time.group, place_of(time), time.cache, time.launch_mode, time.median.value,
                          seconds(time.low), seconds(time.high), time.samples, seconds(time.predicted), time.level,
                          time.predicted ? Cell(*time.predicted / time.median) : Cell(),
                          time.dram_fraction ? Cell(*time.dram_fraction) : Cell(), time.plan});
  return table;
}

Table twin_table(const Summary& summary) {
  Table table;
  table.columns = {{"cache", "cache"},
                   {"timed_by", "timed by", Hint::text, 1},
                   {"launch_mode", "launched as"},
                   {"races", "races", Hint::count},
                   {"apart_middle", "apart, in the middle", Hint::fraction},
                   {"apart_most", "apart, at most", Hint::fraction},
                   {"told_apart", "told apart", Hint::count}};
  for (const TwinSpread& one : summary.twins)
    table.rows.push_back({one.cache, one.timed_by, one.launch_mode, one.races, one.middle, one.most, one.told_apart});
  return table;
}

Table module_table(const Summary& summary) {
  Table table;
  table.columns = {{"strategy", "strategy"},
                   {"launches", "launches", Hint::count},
                   {"cache", "cache"},
                   {"launch_mode", "launched as"},
                   {"median", "time", Hint::seconds},
                   {"baseline", "against"},
                   {"baseline_launches", "its launches", Hint::count, 1},
                   {"baseline_median", "its time", Hint::seconds},
                   {"speedup", "times as fast", Hint::ratio},
                   {"groups_left_out", "groups left out", Hint::count, 2},
                   {"baseline_groups_left_out", "its left out", Hint::count, 2}};
  const bool partial = std::any_of(summary.modules.begin(), summary.modules.end(),
                                   [](const ModuleTime& time) { return time.left_out + time.baseline_left_out > 0; });
  // Then they say what the times are of.
  if (partial)
    for (const char* key : {"groups_left_out", "baseline_groups_left_out"})
      table.columns[place_of_column(table, key)].sacrifice = 0;
  for (const ModuleTime& time : summary.modules)
    table.rows.push_back({time.strategy, time.launches, time.cache, time.launch_mode, time.median.value, time.baseline,
                          time.baseline_launches, time.baseline_median.value,
                          time.same_work ? Cell(time.speedup) : Cell(), time.left_out, time.baseline_left_out});
  return table;
}

}  // namespace tailor::report
