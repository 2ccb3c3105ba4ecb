// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of measurements. In: an enumeration's value or a word; a protocol or its text. Out: the other. Called by
// the profiler, the store, sweep files and the command line. There is one array of words for each enumeration, and both
// directions read it.
#include "ir/measurement.h"

#include <fmt/format.h>

#include "base/indexed.h"

namespace tailor::ir {

namespace {

constexpr std::array<std::string_view, 13> outcomes = {"ok",
                                                       "wrong",
                                                       "guard zone overwritten",
                                                       "unloadable",
                                                       "refused",
                                                       "out of memory",
                                                       "illegal access",
                                                       "trapped",
                                                       "timed out",
                                                       "crashed",
                                                       "unavailable",
                                                       "not recorded",
                                                       "stopped"};
constexpr std::array<std::string_view, 4> cache_states = {"cold", "warm", "produced", "dirty"};
constexpr std::array<std::string_view, 2> timers = {"activity", "events"};
constexpr std::array<std::string_view, 2> modes = {"stream", "graph"};

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& words, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (words[i] == name) return static_cast<Enum>(i);
  return {};
}

/// The next field of a list, without the blank before it; `rest` keeps what follows.
std::string_view next_field(std::string_view& rest) {
  const std::size_t comma = rest.find(", ");
  const std::string_view field = rest.substr(0, comma);
  rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 2);
  return field;
}

}  // namespace

std::string_view name(Outcome outcome) { return row_for(outcomes, outcome); }
std::optional<Outcome> outcome_named(std::string_view name) { return named<Outcome>(outcomes, name); }
std::string_view name(CacheState state) { return cache_states[static_cast<std::size_t>(state)]; }
std::span<const std::string_view> cache_state_names() { return cache_states; }
std::optional<CacheState> cache_state_named(std::string_view name) { return named<CacheState>(cache_states, name); }
std::string_view name(TimedBy by) { return row_for(timers, by); }
std::optional<TimedBy> timed_by_named(std::string_view name) { return named<TimedBy>(timers, name); }
std::string_view name(LaunchMode mode) { return row_for(modes, mode); }
std::optional<LaunchMode> launch_mode_named(std::string_view name) { return named<LaunchMode>(modes, name); }

bool is_refuted(Outcome outcome) {
  return outcome == Outcome::wrong || outcome == Outcome::overrun || outcome == Outcome::illegal_access ||
         outcome == Outcome::trapped || outcome == Outcome::timed_out || outcome == Outcome::crashed;
}

std::string text(const Protocol& protocol) {
  return fmt::format("{}, {}, {}, stop {}", name(protocol.cache), name(protocol.timed_by), name(protocol.launch),
                     protocol.stop);
}

std::optional<Protocol> parse_protocol(std::string_view text) {
  const auto cache = cache_state_named(next_field(text));
  const auto timed_by = timed_by_named(next_field(text));
  const auto launch = launch_mode_named(next_field(text));
  if (!cache || !timed_by || !launch || !text.starts_with("stop ")) return {};
  return Protocol{*cache, *timed_by, *launch, std::string(text.substr(5))};
}

std::string throttle_text(std::uint32_t bits) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 4> words = {{{throttle_power, "power cap"},
                                                                                {throttle_thermal, "thermal"},
                                                                                {throttle_hardware, "hardware"},
                                                                                {throttle_sync, "sync boost"}}};
  std::string all;
  for (const auto& [bit, word] : words)
    if ((bits & bit) != 0) all += (all.empty() ? "" : ", ") + std::string(word);
  return all;
}

}  // namespace tailor::ir
