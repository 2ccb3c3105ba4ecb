// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Words of measurements: each outcome, protocol and reason of slow clocks has one of its own that reads back, and of
// each outcome it is written down here whether it refutes the plan. Looks at all values there are. Part of the suite
// `ir`.
#include "ir/measurement.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace tailor::ir;

TEST_CASE("every outcome reads back from its word, and it is known which of them speak against the plan") {
  struct Row {
    Outcome outcome;
    std::string_view word;
    bool refutes;  ///< the plan did harm or gave wrong results, so nobody measures it again
  };
  constexpr Row rows[] = {
      {Outcome::ok, "ok", false},
      {Outcome::wrong, "wrong", true},
      {Outcome::overrun, "guard zone overwritten", true},
      {Outcome::unloadable, "unloadable", false},
      {Outcome::refused, "refused", false},
      {Outcome::no_memory, "out of memory", false},
      {Outcome::illegal_access, "illegal access", true},
      {Outcome::trapped, "trapped", true},
      {Outcome::timed_out, "timed out", true},
      {Outcome::crashed, "crashed", true},
      {Outcome::unavailable, "unavailable", false},
      {Outcome::not_recorded, "not recorded", false},
      {Outcome::stopped, "stopped", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CHECK(name(row.outcome) == row.word);
    CHECK(outcome_named(row.word) == row.outcome);
    CHECK(is_refuted(row.outcome) == row.refutes);
  }
  CHECK_FALSE(outcome_named("fine").has_value());
}

TEST_CASE("every protocol reads back from its text, and a text without one of its parts is none") {
  std::set<std::string> texts;
  for (const CacheState cache : {CacheState::cold, CacheState::warm, CacheState::produced, CacheState::dirty})
    for (const TimedBy timer : {TimedBy::activity, TimedBy::events})
      for (const LaunchMode launch : {LaunchMode::stream, LaunchMode::graph})
        for (const char* stop : {"standard", "long, and longer"}) {
          const Protocol protocol{cache, timer, launch, stop};
          CHECK(parse_protocol(text(protocol)) == protocol);
          texts.insert(text(protocol));
        }
  CHECK(texts.size() == 32);
  CHECK(text(Protocol{}) == "cold, activity, stream, stop standard");
  CHECK(text(Protocol{CacheState::dirty, TimedBy::events, LaunchMode::graph, "short"}) ==
        "dirty, events, graph, stop short");
  for (const char* wrong :
       {"", "cold", "cold, activity, stream", "cool, activity, stream, stop standard",
        "cold, clock, stream, stop standard", "cold, activity, row, stop standard", "cold, activity, stream, standard"})
    CHECK_FALSE(parse_protocol(wrong).has_value());
  CHECK(cache_state_names().size() == 4);
}

TEST_CASE("what slows the clocks is told bit by bit") {
  CHECK(throttle_text(0).empty());
  CHECK(throttle_text(1) == "power cap");
  CHECK(throttle_text(2) == "thermal");
  CHECK(throttle_text(4) == "hardware");
  CHECK(throttle_text(8) == "sync boost");
  CHECK(throttle_text(throttle_thermal | throttle_sync) == "thermal, sync boost");
}
