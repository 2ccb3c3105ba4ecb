// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of timers, with what a time by each contains, and the text form of a regime. CUPTI takes the timestamps of
// a kernel when its first block starts and when its last has drained: the ramp lies between them, the gap before the
// launch does not. Two events hold the whole launch between them, and so does each turn of a row of launches.
#include "ir/regime.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/indexed.h"
#include "base/text.h"

namespace tailor::ir {

namespace {

struct TimerRow {
  Timer timer;
  std::string_view name;
  Includes includes;
};
constexpr std::array timer_table = std::to_array<TimerRow>({
    {Timer::activity, "activity", {false, true, false}},
    {Timer::events, "events", {true, true, false}},
    {Timer::stream, "stream", {true, true, false}},
    {Timer::graph, "graph", {true, true, false}},
    {Timer::host, "host", {true, true, true}},
});

struct IncludesRow {
  std::string_view name;
  bool Includes::*member;
};
constexpr std::array includes_table = std::to_array<IncludesRow>({
    {"launch gap", &Includes::launch_gap},
    {"ramp", &Includes::ramp},
    {"dispatch floor", &Includes::dispatch_floor},
});

[[noreturn]] void fail(std::string_view what, std::string_view found, std::span<const std::string_view> known) {
  throw Error(Fault::failed, fmt::format("regime: found {} '{}'", what, found), suggestion(found, known));
}

constexpr const char* regime_example = "for example: warm, host, stream, with launch gap and ramp and dispatch floor";

Includes parse_includes(std::string_view text) {
  constexpr std::string_view lead = "with ", nothing = "nothing", between = " and ";
  if (!text.starts_with(lead))
    throw Error(Fault::failed, fmt::format("regime: found '{}', expected 'with ...': what the time includes", text),
                regime_example);
  text.remove_prefix(lead.size());
  Includes includes;
  if (text == nothing) return includes;
  while (true) {
    const std::size_t end = text.find(between);
    const std::string_view word = text.substr(0, end);
    bool known = false;
    for (const IncludesRow& row : includes_table) {
      if (row.name != word) continue;
      if (includes.*row.member)
        throw Error(Fault::failed, fmt::format("regime: found '{}' twice", word), regime_example);
      includes.*row.member = known = true;
    }
    static constexpr std::string_view names[] = {"launch gap", "ramp", "dispatch floor", "nothing"};
    if (!known) fail("included part", word, names);
    if (end == text.npos) return includes;
    text.remove_prefix(end + between.size());
  }
}

}  // namespace

std::string_view name(Timer timer) { return row_for(timer_table, timer).name; }

std::optional<Timer> timer_named(std::string_view name) {
  for (const TimerRow& row : timer_table)
    if (row.name == name) return row.timer;
  return {};
}

Includes includes(Timer timer) { return row_for(timer_table, timer).includes; }

std::string text(const Regime& regime) {
  std::string all;
  for (const IncludesRow& row : includes_table)
    if (regime.includes.*row.member) all += (all.empty() ? "" : " and ") + std::string(row.name);
  return fmt::format("{}, {}, {}, with {}", name(regime.cache), name(regime.timer), name(regime.launch),
                     all.empty() ? "nothing" : all);
}

Regime parse_regime(std::string_view text) {
  std::string_view fields[4];
  for (int i = 0; i < 4; ++i) {
    const std::size_t comma = i == 3 ? text.npos : text.find(", ");
    if (i < 3 && comma == text.npos)
      throw Error(Fault::failed,
                  fmt::format("regime: found {} field{}, expected cache, timer, launch and what is included", i + 1,
                              i == 0 ? "" : "s"),
                  regime_example);
    fields[i] = text.substr(0, comma);
    if (i < 3) text.remove_prefix(comma + 2);
  }
  static constexpr std::string_view launches[] = {"stream", "graph"},
                                    timers[] = {"activity", "events", "stream", "graph", "host"};
  const auto cache = cache_state_named(fields[0]);
  if (!cache) fail("cache state", fields[0], cache_state_names());
  const auto timer = timer_named(fields[1]);
  if (!timer) fail("timer", fields[1], timers);
  const auto launch = launch_mode_named(fields[2]);
  if (!launch) fail("launch mode", fields[2], launches);
  return {*cache, *timer, *launch, parse_includes(fields[3])};
}

Regime make_regime(const Protocol& protocol) {
  const Timer timer = protocol.timed_by == TimedBy::activity ? Timer::activity : Timer::events;
  return {protocol.cache, timer, protocol.launch, includes(timer)};
}

}  // namespace tailor::ir
