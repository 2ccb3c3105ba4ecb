// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Times, races, counters, row by row. In: measured candidates. Out: tables. A time is a median between the ends of its
// interval. Called by tailor profile and tailor explain. A candidate without a measurement is a row with its state and
// reason.
#include "study/tables/profile_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/statistics.h"
#include "profiler/measure/sampled.h"
#include "study/tables/check_tables.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;

/// What came of it; nothing in it where it was not measured.
const profiler::CandidateResult& result_of(const Candidate& item) {
  static const profiler::CandidateResult none;
  return item.measured ? *item.measured : none;
}

Spread spread_of_item(const Candidate& item, std::size_t cache, const std::string& stop_rule) {
  const std::vector<ir::Measurement>& times = result_of(item).times;
  if (cache >= times.size()) return {};
  return spread_of(profiler::durations(times[cache].samples), profiler::stop_rule(stop_rule).confidence);
}

/// "1", "1=" among several, "3"; empty without a time.
std::string place_text(const profiler::Ranking& ranking, int item) {
  const auto at = std::find(ranking.order.begin(), ranking.order.end(), item);
  if (at == ranking.order.end()) return {};
  const bool tied = std::find(ranking.tie.begin(), ranking.tie.end(), item) != ranking.tie.end();
  if (tied) return ranking.tie.size() > 1 ? "1=" : "1";
  return std::to_string(at - ranking.order.begin() + 1);
}

std::pair<std::string, std::string> profile_state(const Candidate& item) {
  if (item.measured) return {std::string(ir::name(item.measured->outcome)), item.measured->reason};
  if (item.refused) return {std::string(refused_words), item.refused->reason};
  if (item.binary && !item.compiled()) return not_compiled(*item.binary);
  return {"stopped", "not begun"};
}

std::uint32_t throttle_of(const ir::Measurement& measurement) {
  std::uint32_t bits = 0;
  for (const ir::Sample& sample : measurement.samples) bits |= sample.throttle;
  return bits;
}

Cell whole(int value) { return value > 0 ? Cell(static_cast<std::int64_t>(value)) : Cell(); }
Cell positive(double value) { return value > 0 ? Cell(value) : Cell(); }

std::vector<Cell> time_row(const Candidate& item, const profiler::Ranking* ranking, std::size_t cache, int number) {
  const auto [state, reason] = profile_state(item);
  const ir::Measurement none;
  const ir::Measurement& measured = cache < result_of(item).times.size() ? result_of(item).times[cache] : none;
  const Spread time = measured.samples.empty() ? Spread{} : spread_of_item(item, cache, measured.protocol.stop);
  const bool timed = time.n > 0;
  // A time that nobody took has no regime to predict for.
  const Seconds predicted = timed ? predicted_for(item, measured.protocol).value_or(Seconds{}) : Seconds{};
  return {static_cast<std::int64_t>(item.of->number + 1),
          item.of->title(),
          item.rank > 0 ? Cell(item.rank) : Cell(),
          item.kernel.name,
          ranking != nullptr ? std::string(ir::name(ranking->cache)) : std::string(),
          state,
          ranking != nullptr ? place_text(*ranking, number) : std::string(),
          timed ? Cell(time.median) : Cell(),
          timed ? Cell(time.low) : Cell(),
          timed ? Cell(time.high) : Cell(),
          static_cast<std::int64_t>(measured.samples.size()),
          timed ? Cell(item.of->bytes / time.median) : Cell(),
          positive(predicted.value),
          item.rank > 0 ? Cell(ir::text(item.placed)) : Cell(),
          predicted.value > 0 ? Cell(predicted.value / time.median) : Cell(),
          clock_of(measured),
          ir::throttle_text(throttle_of(measured)),
          whole(result_of(item).entry.registers),
          whole(result_of(item).entry.blocks_per_sm),
          timed ? Cell(std::string(ir::name(measured.protocol.timed_by))) : Cell(),
          timed ? Cell(std::string(ir::name(measured.protocol.launch))) : Cell(),
          timed ? Cell(measured.protocol.stop) : Cell(),
          measured.gpu,
          measured.driver,
          result_of(item).judged ? Cell(result_of(item).worst) : Cell(),
          result_of(item).checked_on,
          reason.empty() ? measured.reason : reason,
          ir::text(item.plan)};
}

}  // namespace

Cell clock_of(const ir::Measurement& measurement) {
  std::vector<double> known;
  for (const ir::Sample& sample : measurement.samples)
    if (sample.sm_clock > 0) known.push_back(sample.sm_clock);
  if (known.empty() && measurement.sm_clock > 0) known.push_back(measurement.sm_clock);
  return known.empty() ? Cell() : Cell(median_of(known) / 1e6);
}

report::Table compiled_table(std::span<const Candidate> items) {
  report::Table table;
  table.columns = {column("number", "group", Hint::integer),
                   column("title", "of", Hint::text, 3),
                   column("rank", "plan", Hint::integer),
                   column("kernel", "kernel", Hint::text, 5),
                   column("outcome", "outcome"),
                   column("registers", "registers", Hint::integer),
                   column("spill_stores", "spill stores", Hint::bytes),
                   column("loads_outstanding", "loads at once", Hint::integer, 1),
                   column("compiler", "compiler", Hint::text, 4),
                   sentence("reason", "reason")};
  for (const Candidate& item : items) {
    std::vector<Cell> row{static_cast<std::int64_t>(item.of->number + 1), item.of->title(), item.rank,
                          item.kernel.name};
    if (!item.binary) {
      row.insert(row.end(), {std::string("interrupted"), Cell(), Cell(), Cell(), Cell(), std::string()});
    } else if (item.binary->outcome != ir::CompileOutcome::ok) {
      const auto [state, reason] = not_compiled(*item.binary);
      row.insert(row.end(), {state, Cell(), Cell(), Cell(), item.binary->compiler, reason});
    } else {
      using Entry = ir::CompiledEntry;
      row.insert(row.end(), {std::string(item.refused ? refused_words : "compiled"),
                             std::int64_t{most_of(*item.binary, &Entry::registers)},
                             static_cast<double>(most_of(*item.binary, &Entry::spill_stores)),
                             most_of(*item.binary, &Entry::loads_outstanding), item.binary->compiler,
                             item.refused ? item.refused->reason : std::string()});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Table time_table(std::span<const Candidate> items, std::span<const RacedGroup> groups) {
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
                   column("predicted_place", "predicted place", Hint::text, 2),
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
                   sentence("reason", "reason"),
                   column("plan", "plan text", Hint::text, 8)};
  for (const RacedGroup& group : groups)
    for (std::size_t i = 0; i < group.count; ++i) {
      const Candidate& item = items[group.first + i];
      if (group.rankings.empty()) table.rows.push_back(time_row(item, nullptr, 0, 0));
      for (std::size_t cache = 0; cache < group.rankings.size(); ++cache)
        table.rows.push_back(time_row(item, &group.rankings[cache], cache, static_cast<int>(i)));
    }
  return table;
}

namespace {

/// How well the model ranked those that were timed.
Cell rank_correlation_of(std::span<const Candidate> items, const RacedGroup& group, std::size_t cache) {
  std::vector<double> predicted, measured;
  for (const int place : group.rankings[cache].order) {
    const Candidate& item = items[group.first + static_cast<std::size_t>(place)];
    const ir::Measurement& time = result_of(item).times[cache];
    const std::optional<Seconds> expected = predicted_for(item, time.protocol);
    if (!expected || time.samples.empty()) continue;
    predicted.push_back(expected->value);
    measured.push_back(spread_of_item(item, cache, time.protocol.stop).median);
  }
  const std::optional<double> found = rank_correlation(predicted, measured);
  return found ? Cell(*found) : Cell();
}

/// How many GPUs the plans of a race were timed on: a GPU that is there times all of them, records may be of several.
std::size_t gpus_of(std::span<const Candidate> items, const RacedGroup& group, const profiler::Ranking& ranking,
                    std::size_t cache) {
  std::set<std::string> gpus;
  for (const int plan : ranking.order)
    gpus.insert(result_of(items[group.first + static_cast<std::size_t>(plan)]).times[cache].gpu);
  return gpus.size();
}

}  // namespace

report::Table race_table(std::span<const Candidate> items, std::span<const RacedGroup> groups) {
  report::Table table;
  table.title = "races";
  table.columns = {column("number", "group", Hint::integer),
                   column("title", "of", Hint::text, 2),
                   column("cache", "cache"),
                   column("plans_timed", "plans timed", Hint::integer),
                   column("fastest", "may be fastest"),
                   column("end", "race"),
                   column("first_to_best", "model's first / fastest", Hint::ratio),
                   column("rank_correlation", "model's ranking", Hint::number, 1),
                   column("twin", "a plan twice", Hint::ratio),
                   column("twin_told_apart", "told apart"),
                   column("samples", "samples", Hint::count, 3),
                   column("equal_samples", "samples without racing", Hint::count, 4),
                   column("note", "note", Hint::text, 1)};
  for (const RacedGroup& group : groups)
    for (std::size_t cache = 0; cache < group.rankings.size(); ++cache) {
      const profiler::Ranking& ranking = group.rankings[cache];
      const Candidate& first = items[group.first];
      std::string fastest;
      for (const int tied : ranking.tie)
        fastest += fmt::format("{}plan {}", fastest.empty() ? "" : ", ",
                               items[group.first + static_cast<std::size_t>(tied)].rank);
      Cell regret;
      if (!ranking.order.empty() && !result_of(first).times.empty() && !result_of(first).times[cache].samples.empty()) {
        const Candidate& best = items[group.first + static_cast<std::size_t>(ranking.order.front())];
        const std::string& rule = result_of(first).times[cache].protocol.stop;
        regret = spread_of_item(first, cache, rule).median / spread_of_item(best, cache, rule).median;
      }
      std::vector<std::string> notes;
      if (!group.unjudged.empty()) notes.push_back("results not judged: " + group.unjudged);
      if (ranking.drifted) notes.emplace_back("the GPU's speed changed during the race");
      if (const std::size_t gpus = gpus_of(items, group, ranking, cache); gpus > 1)
        notes.push_back(fmt::format("recorded on {} GPUs of this kind, which are not alike to some per cent", gpus));
      table.rows.push_back({static_cast<std::int64_t>(first.of->number + 1), first.of->title(),
                            std::string(ir::name(ranking.cache)), static_cast<std::int64_t>(ranking.order.size()),
                            fastest, ranking.end, regret, rank_correlation_of(items, group, cache),
                            ranking.twin.plan < 0 ? Cell() : Cell(ranking.twin.ratio),
                            std::string(ranking.twin.plan < 0     ? ""
                                        : ranking.twin.told_apart ? "YES"
                                                                  : "no"),
                            ranking.samples, ranking.equal_samples, fmt::format("{}", fmt::join(notes, "; "))});
    }
  return table;
}

report::Table counter_table(std::span<const Candidate> items) {
  report::Table table;
  table.title = "counters, collected apart from the times";
  table.columns = {column("number", "group", Hint::integer),  column("rank", "plan", Hint::integer),
                   column("kernel", "kernel", Hint::text, 1), column("counter", "counter"),
                   column("value", "value", Hint::number),    column("unit", "unit")};
  for (const Candidate& item : items) {
    if (!result_of(item).uncounted.empty())
      table.rows.push_back({static_cast<std::int64_t>(item.of->number + 1), item.rank, item.kernel.name,
                            std::string("none: ") + result_of(item).uncounted, Cell(), std::string()});
    for (const ir::Measurement& measured : result_of(item).times)
      for (const ir::CounterValue& counter : measured.counters)
        table.rows.push_back({static_cast<std::int64_t>(item.of->number + 1), item.rank, item.kernel.name, counter.name,
                              counter.value, counter.unit});
  }
  return table;
}

report::Table measured_plan_table(const Candidate& one) {
  const profiler::CandidateResult& result = *one.measured;
  report::Table table;
  table.title = "measured";
  table.columns = {column("outcome", "outcome"),
                   column("median", "time", Hint::seconds),
                   column("low", "from", Hint::seconds),
                   column("high", "to", Hint::seconds),
                   column("samples", "samples", Hint::integer),
                   column("predicted", "predicted for that", Hint::seconds),
                   column("predicted_to_measured", "predicted / measured", Hint::ratio),
                   column("protocol", "protocol"),
                   column("gpu", "GPU"),
                   column("driver", "driver"),
                   sentence("reason", "reason")};
  for (const ir::Measurement& measured : result.times) {
    const Spread time = profiler::time_of(measured);
    const bool timed = time.n > 0;
    const double expected = predicted_for(one, measured.protocol).value_or(Seconds{}).value;
    table.rows.push_back({std::string(ir::name(measured.outcome)), timed ? Cell(time.median) : Cell(),
                          timed ? Cell(time.low) : Cell(), timed ? Cell(time.high) : Cell(),
                          static_cast<std::int64_t>(time.n), expected, timed ? Cell(expected / time.median) : Cell(),
                          text(measured.protocol), measured.gpu, measured.driver,
                          measured.reason.empty() ? result.reason : measured.reason});
  }
  return table;
}

}  // namespace tailor::study
