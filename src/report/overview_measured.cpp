// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU said: times of plans beside their predictions, and whole models under two strategies.
#include "report/overview.h"

#include <string>

namespace tailor::report {

namespace {

Cell seconds(const std::optional<Seconds>& time) { return time ? Cell(time->value) : Cell(); }

std::string place_of(const MeasuredTime& time) { return time.tied ? "1=" : std::to_string(time.place); }

}  // namespace

Table measured_table(const Summary& summary) {
  Table table;
  table.columns = {{"group", "group"},
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
                   {"left_out", "groups left out", Hint::count, 2}};
  for (const ModuleTime& time : summary.modules)
    table.rows.push_back({time.strategy, time.launches, time.cache, time.launch_mode, time.median.value, time.baseline,
                          time.baseline_launches, time.baseline_median.value, time.speedup, time.left_out});
  return table;
}

}  // namespace tailor::report
