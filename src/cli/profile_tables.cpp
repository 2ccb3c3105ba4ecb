// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Times, races, counters, row by row. A time is a median between the ends of its interval.
#include "cli/profile_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"
#include "base/text.h"
#include "cli/output.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;

Spread spread_of_item(const ProfileItem& item, std::size_t cache, const std::string& stop_rule) {
  if (cache >= item.result.times.size()) return {};
  return spread_of(profiler::durations(item.result.times[cache].samples), profiler::stop_rule(stop_rule).confidence);
}

/// "1", "1=" among several, "3"; empty without a time.
std::string place_text(const profiler::Ranking& ranking, int item) {
  const auto at = std::find(ranking.order.begin(), ranking.order.end(), item);
  if (at == ranking.order.end()) return {};
  const bool tied = std::find(ranking.tie.begin(), ranking.tie.end(), item) != ranking.tie.end();
  if (tied) return ranking.tie.size() > 1 ? "1=" : "1";
  return std::to_string(at - ranking.order.begin() + 1);
}

std::pair<std::string, std::string> state_of(const ProfileItem& item) {
  if (item.measured) return {std::string(ir::name(item.result.outcome)), item.result.reason};
  if (!item.binary) return {"stopped", "not begun"};
  if (!item.compiled())
    return {"not compiled",
            std::string(trim(std::string_view(item.binary->log).substr(0, item.binary->log.find('\n'))))};
  return {"stopped", "not begun"};
}

std::uint32_t throttle_of(const ir::Measurement& measurement) {
  std::uint32_t bits = 0;
  for (const ir::Sample& sample : measurement.samples) bits |= sample.throttle;
  return bits;
}

/// The clock in the middle of those known; nothing without.
Cell clock_of(const ir::Measurement& measurement) {
  std::vector<double> known;
  for (const ir::Sample& sample : measurement.samples)
    if (sample.sm_clock > 0) known.push_back(sample.sm_clock);
  if (known.empty() && measurement.sm_clock > 0) known.push_back(measurement.sm_clock);
  return known.empty() ? Cell() : Cell(median_of(known) / 1e6);
}

Cell whole(int value) { return value > 0 ? Cell(static_cast<std::int64_t>(value)) : Cell(); }
Cell positive(double value) { return value > 0 ? Cell(value) : Cell(); }

std::vector<Cell> time_row(const ProfileItem& item, const profiler::Ranking* ranking, std::size_t cache, int number,
                           double bytes) {
  const auto [state, reason] = state_of(item);
  const ir::Measurement none;
  const ir::Measurement& measured = cache < item.result.times.size() ? item.result.times[cache] : none;
  const Spread time = measured.samples.empty() ? Spread{} : spread_of_item(item, cache, measured.protocol.stop);
  const bool timed = time.n > 0;
  return {static_cast<std::int64_t>(item.group + 1),
          item.title,
          item.rank > 0 ? Cell(item.rank) : Cell(),
          item.kernel.name,
          ranking != nullptr ? std::string(ir::name(ranking->cache)) : std::string(),
          state,
          ranking != nullptr ? place_text(*ranking, number) : std::string(),
          timed ? Cell(time.median) : Cell(),
          timed ? Cell(time.low) : Cell(),
          timed ? Cell(time.high) : Cell(),
          static_cast<std::int64_t>(measured.samples.size()),
          timed ? Cell(bytes / time.median) : Cell(),
          positive(item.predicted.value),
          timed && item.predicted.value > 0 ? Cell(item.predicted.value / time.median) : Cell(),
          clock_of(measured),
          ir::throttle_text(throttle_of(measured)),
          whole(item.result.entry.registers),
          whole(item.result.entry.blocks_per_sm),
          timed ? Cell(std::string(ir::name(measured.protocol.timed_by))) : Cell(),
          timed ? Cell(std::string(ir::name(measured.protocol.launch))) : Cell(),
          timed ? Cell(measured.protocol.stop) : Cell(),
          measured.gpu,
          measured.driver,
          item.result.judged ? Cell(item.result.worst) : Cell(),
          item.result.checked_on,
          reason.empty() ? measured.reason : reason,
          ir::text(item.plan)};
}

}  // namespace

report::Table time_table(std::span<const ProfileItem> items, std::span<const ProfiledGroup> groups,
                         const std::function<double(std::size_t)>& bytes) {
  report::Table table;
  table.columns = {column("number", "group", Hint::integer),
                   column("title", "of", Hint::text, 3),
                   column("rank", "plan", Hint::integer),
                   column("kernel", "kernel", Hint::text, 9),
                   column("cache", "cache"),
                   column("outcome", "outcome"),
                   column("place", "place"),
                   column("median", "time", Hint::seconds),
                   column("low", "from", Hint::seconds, 2),
                   column("high", "to", Hint::seconds, 2),
                   column("samples", "samples", Hint::integer, 4),
                   column("rate", "arrays once", Hint::rate, 1),
                   column("predicted", "predicted", Hint::seconds, 1),
                   column("predicted_to_measured", "predicted / measured", Hint::ratio),
                   column("sm_clock_mhz", "SM MHz", Hint::number, 5),
                   column("throttle", "slowed by", Hint::text, 5),
                   column("registers", "registers", Hint::integer, 6),
                   column("blocks_per_sm", "blocks per SM", Hint::integer, 6),
                   column("timed_by", "timed by", Hint::text, 5),
                   column("launch_mode", "launched as", Hint::text, 6),
                   column("stop_rule", "stop rule", Hint::text, 7),
                   column("gpu", "GPU", Hint::text, 9),
                   column("driver", "driver", Hint::text, 9),
                   column("worst", "worst error / tolerance", Hint::number, 4),
                   column("checked_on", "checked on", Hint::text, 7),
                   column("reason", "reason", Hint::text, 1),
                   column("plan", "plan text", Hint::text, 8)};
  for (const ProfiledGroup& group : groups)
    for (std::size_t i = 0; i < group.count; ++i) {
      const ProfileItem& item = items[group.first + i];
      const double moved = bytes(item.group);
      if (group.rankings.empty()) table.rows.push_back(time_row(item, nullptr, 0, 0, moved));
      for (std::size_t cache = 0; cache < group.rankings.size(); ++cache)
        table.rows.push_back(time_row(item, &group.rankings[cache], cache, static_cast<int>(i), moved));
    }
  return table;
}

report::Table race_table(std::span<const ProfileItem> items, std::span<const ProfiledGroup> groups) {
  report::Table table;
  table.title = "races";
  table.columns = {column("number", "group", Hint::integer),
                   column("title", "of", Hint::text, 2),
                   column("cache", "cache"),
                   column("plans", "plans timed", Hint::integer),
                   column("fastest", "may be fastest"),
                   column("end", "race"),
                   column("first_to_best", "model's first / fastest", Hint::ratio),
                   column("samples", "samples", Hint::count, 3),
                   column("equal_samples", "samples without racing", Hint::count, 4),
                   column("note", "note", Hint::text, 1)};
  for (const ProfiledGroup& group : groups)
    for (std::size_t cache = 0; cache < group.rankings.size(); ++cache) {
      const profiler::Ranking& ranking = group.rankings[cache];
      const ProfileItem& first = items[group.first];
      std::string fastest;
      for (const int tied : ranking.tie)
        fastest += fmt::format("{}plan {}", fastest.empty() ? "" : ", ",
                               items[group.first + static_cast<std::size_t>(tied)].rank);
      Cell regret;
      if (!ranking.order.empty() && !first.result.times.empty() && !first.result.times[cache].samples.empty()) {
        const ProfileItem& best = items[group.first + static_cast<std::size_t>(ranking.order.front())];
        const std::string& rule = first.result.times[cache].protocol.stop;
        regret = spread_of_item(first, cache, rule).median / spread_of_item(best, cache, rule).median;
      }
      std::string note = group.unjudged.empty() ? "" : "results not judged: " + group.unjudged;
      if (ranking.drifted) note += (note.empty() ? "" : "; ") + std::string("the GPU's speed changed during the race");
      table.rows.push_back({static_cast<std::int64_t>(first.group + 1), first.title,
                            std::string(ir::name(ranking.cache)), static_cast<std::int64_t>(ranking.order.size()),
                            fastest, ranking.end, regret, ranking.samples, ranking.equal_samples, note});
    }
  return table;
}

report::Table counter_table(std::span<const ProfileItem> items) {
  report::Table table;
  table.title = "counters, collected apart from the times";
  table.columns = {column("number", "group", Hint::integer),  column("rank", "plan", Hint::integer),
                   column("kernel", "kernel", Hint::text, 1), column("counter", "counter"),
                   column("value", "value", Hint::number),    column("unit", "unit")};
  for (const ProfileItem& item : items) {
    if (!item.result.uncounted.empty())
      table.rows.push_back({static_cast<std::int64_t>(item.group + 1), item.rank, item.kernel.name,
                            std::string("none: ") + item.result.uncounted, Cell(), std::string()});
    for (const ir::Measurement& measured : item.result.times)
      for (const ir::CounterValue& counter : measured.counters)
        table.rows.push_back({static_cast<std::int64_t>(item.group + 1), item.rank, item.kernel.name, counter.name,
                              counter.value, counter.unit});
  }
  return table;
}

}  // namespace tailor::cli
