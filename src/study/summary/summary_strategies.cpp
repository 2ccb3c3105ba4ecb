// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the strategies of a model cost on a device, by the one rule of load_summary.h. In: fusions and the best plans
// of their groups. Out: a row for each strategy. Called by load_summary. Warnings about a strategy's total stand
// beside it, one sentence each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/counted.h"
#include "base/text.h"
#include "ir/estimate.h"
#include "study/summary/summary_rows.h"

namespace tailor::study {

namespace {

constexpr auto ordered_levels = std::to_array<ir::Level>(
    {ir::Level::sol, ir::Level::projected, ir::Level::compiled, ir::Level::counted, ir::Level::profiled});

std::vector<report::LibraryCall> load_library_calls(const store::Store& store, const Subject& subject) {
  std::map<std::string, Seconds> times;  // the first model counts, as in the views
  for (const store::LibraryTimeRow& row : store.library_times(subject.graph.id, subject.device.id))
    times.try_emplace(row.node, row.total);
  std::map<std::tuple<std::string, std::string, double, double>, report::LibraryCall> equal;
  for (const store::LibraryCallRow& row : store.library_calls(subject.graph.id)) {
    auto& call = equal[{row.kind, row.shape, row.bytes.value, row.flops}];
    if (call.op.empty()) {
      call = {row.kind, row.shape, 0, row.bytes, row.flops, std::nullopt};
      if (const auto time = times.find(row.node); time != times.end()) call.time = time->second;
    }
    call.occurrences += whole_count(row.times);
  }
  std::vector<report::LibraryCall> all;
  for (const auto& [key, call] : equal) all.push_back(call);
  std::stable_sort(all.begin(), all.end(), [](const report::LibraryCall& a, const report::LibraryCall& b) {
    return a.traffic.value * static_cast<double>(a.occurrences) > b.traffic.value * static_cast<double>(b.occurrences);
  });
  return all;
}

std::string groups_in_words(std::int64_t groups) { return counted(groups, "distinct group"); }

}  // namespace

std::size_t precision(std::string_view level) {
  const auto found =
      std::find_if(ordered_levels.begin(), ordered_levels.end(), [&](ir::Level one) { return ir::name(one) == level; });
  return static_cast<std::size_t>(found - ordered_levels.begin());
}

namespace {

std::optional<report::XlaSummary> load_xla(const store::Store& store, Id group, Id device) {
  const std::optional<store::XlaPlanRow> row = store.xla_plan(group, device);
  if (!row) return {};
  report::XlaSummary xla{row->emitter, row->launch, row->note, "", {}, {}};
  if (const auto added = store.search_added(group, device)) {
    xla.level = added->level;
    xla.as_xla = added->as_xla;
    xla.best = added->best;
  }
  return xla;
}

}  // namespace

Gathered gather(const store::Store& store, const Subject& subject) {
  Gathered gathered;
  gathered.fusions = store.fusions(subject.graph.id, subject.device.name);
  // Reports know a strategy by its name; where it was asked under several prices, the price belongs to the name.
  std::map<std::string, int> asked;
  for (const store::FusionRow& fusion : gathered.fusions) ++asked[fusion.strategy];
  for (store::FusionRow& fusion : gathered.fusions)
    if (asked[fusion.strategy] > 1) fusion.strategy += fmt::format("@{}", fusion.price.empty() ? "none" : fusion.price);
  for (const store::FusionRow& fusion : gathered.fusions)
    for (const store::FusionGroupRow& row : fusion.groups) {
      if (gathered.groups.contains(row.group)) continue;
      if (auto group = store.group(row.group)) gathered.groups.emplace(row.group, std::move(*group));
      if (auto xla = load_xla(store, row.group, subject.device.id)) gathered.xla.emplace(row.group, std::move(*xla));
      for (const store::GroupBoundRow& bound : store.group_bounds(row.group, subject.device.id)) {
        Seconds& most = gathered.lower_bounds[row.group];
        most = std::max(most, bound.total);
      }
    }
  std::set<std::pair<std::size_t, std::string>> levels{{0, "sol"}};
  for (store::LevelBest& best : store.level_bests(subject.graph.id, subject.device.id)) {
    levels.insert({precision(best.level), best.level});
    gathered.bests[best.group].push_back(std::move(best));
  }
  for (const auto& [place, level] : levels) gathered.levels.push_back(level);
  gathered.library = load_library_calls(store, subject);
  return gathered;
}

std::optional<TimeAt> time_at(const Gathered& gathered, Id group, std::string_view level) {
  const auto bound = gathered.lower_bounds.find(group);
  const auto bests = gathered.bests.find(group);
  const TimeAt by_bound{bound != gathered.lower_bounds.end() ? bound->second : Seconds{}, "bound"};
  const bool only_bounds = precision(level) == 0 || bests == gathered.bests.end();
  if (!only_bounds)
    for (auto best = bests->second.rbegin(); best != bests->second.rend(); ++best)
      if (precision(best->level) <= precision(level)) return TimeAt{best->total, best->level};
  if (bound == gathered.lower_bounds.end()) return std::nullopt;
  return by_bound;
}

report::StrategyTotals make_totals(const Gathered& gathered, const store::FusionRow& fusion) {
  report::StrategyTotals totals;
  totals.name = fusion.strategy;
  totals.distinct_groups = static_cast<std::int64_t>(fusion.groups.size());
  if (fusion.least_kernels > 0) totals.kernel_floor = fusion.least_kernels;
  double launches = 0, at_bound = 0;
  for (const store::FusionGroupRow& row : fusion.groups) {
    const store::GroupRow& group = gathered.groups.at(row.group);
    totals.kernels += row.occurrences;
    launches += row.times;
    totals.traffic += (group.read + group.written) * row.times;
    if (const auto xla = gathered.xla.find(row.group); xla != gathered.xla.end() && xla->second.as_xla) {
      totals.xla_kernels += row.occurrences;
      totals.xla_same_launch += xla->second.launch == "equal" ? row.occurrences : 0;
      totals.as_xla += *xla->second.as_xla * row.times;
      totals.best_of_xla += *xla->second.best * row.times;
    }
    if (!gathered.bests.contains(row.group)) {
      ++totals.groups_at_lower_bound;
      at_bound += row.times;
      if (const auto time = time_at(gathered, row.group, "sol")) totals.time_at_lower_bound += time->total * row.times;
    }
  }
  for (const std::string& level : gathered.levels) {
    report::LevelTime& sum = totals.time.emplace_back();
    sum.level = level;
    bool complete = true;
    std::map<std::string_view, Seconds> of_level;
    for (const store::FusionGroupRow& row : fusion.groups) {
      const auto time = time_at(gathered, row.group, level);
      complete = complete && time.has_value();
      if (!time) continue;
      sum.time += time->total * row.times;
      of_level[time->level] += time->total * row.times;
    }
    // The column of bounds is all bounds; another one takes what it has not itself from those below.
    if (precision(level) > 0 && (of_level.size() > 1 || !of_level.contains(level)))
      for (const auto& [name, time] : of_level) sum.made_of.push_back({std::string(name), time});
    std::stable_sort(sum.made_of.begin(), sum.made_of.end(),
                     [](const report::NamedTime& a, const report::NamedTime& b) { return a.time > b.time; });
    if (!complete) totals.time.pop_back();
  }
  Seconds library;
  bool timed = !gathered.library.empty();
  for (const report::LibraryCall& call : gathered.library) {
    const auto times = static_cast<double>(call.occurrences);
    totals.library_calls += call.occurrences;
    totals.library_traffic += call.traffic * times;
    totals.library_flops += call.flops * times;
    timed = timed && call.time.has_value();
    if (call.time) library += *call.time * times;
  }
  if (timed) totals.library_time = library;
  totals.launches = whole_count(launches);
  totals.launches_at_lower_bound = whole_count(at_bound);
  return totals;
}

std::vector<std::string> make_warnings(const Gathered& gathered, const store::FusionRow& fusion) {
  const std::string& top = gathered.levels.back();
  std::int64_t unknown = 0;
  std::map<std::string, std::int64_t> lower;
  for (const store::FusionGroupRow& row : fusion.groups) {
    const auto time = time_at(gathered, row.group, top);
    if (!time) ++unknown;
    if (time && time->level != "bound" && time->level != top) ++lower[std::string(time->level)];
  }
  std::vector<std::string> out;
  if (unknown > 0)
    out.push_back(fmt::format("{}: {} of {} have neither a plan nor a bound yet, so the strategy has no total.",
                              fusion.strategy, groups_in_words(unknown), fusion.groups.size()));
  for (const auto& [level, groups] : lower)
    out.push_back(fmt::format("{}: column {} takes the {} time of {} that level {} has not looked at.", fusion.strategy,
                              top, level, groups_in_words(groups), top));
  if (fusion.unknown_trips > 0)
    out.push_back(fmt::format("{}: of unknown length {} as one trip.", fusion.strategy,
                              counted(fusion.unknown_trips, "loop", "counts", "count")));
  if (fusion.branches > 0)
    out.push_back(fmt::format("{}: of conditionals {} as taken.", fusion.strategy,
                              counted(fusion.branches, "branch", "counts", "all count")));
  return out;
}

bool same_groups(const store::FusionRow& a, const store::FusionRow& b) {
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const store::FusionGroupRow& x, const store::FusionGroupRow& y) {
                      return x.group == y.group && x.occurrences == y.occurrences && x.times == y.times;
                    });
}

}  // namespace tailor::study
