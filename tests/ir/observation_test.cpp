// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Regimes and observations: their lines are read back equal, what does not fit is refused by name, and the split
// depends on operation and shape alone. Inputs are lines made here, and the same with one field spoiled. Part of the
// suite `ir`.
#include "ir/observation.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

Id named(const std::string& text) { return tailor::id_of(std::string_view(text)); }

Observation own(const std::string& group, const std::string& device = "h200", const std::string& source = "m 1") {
  return make_observation(device, make_regime({CacheState::warm, TimedBy::events, LaunchMode::graph}), {1.25e-5},
                          {1.2e-5}, {1.3e-5}, source, OwnKernel{named(group), named("plan"), 32});
}

Observation foreign(const std::string& shape, const std::string& device = "v100") {
  Regime regime;
  regime.timer = Timer::host;
  regime.includes = includes(Timer::host);
  return make_observation(device, regime, {3e-5}, {3e-5}, {3e-5}, "table \"a\\b\"\nrow 7",
                          ForeignKernel{"softmax f32", shape, 64, 128, 1024, 0, 1048576, 524288.5});
}

std::string refusal(const std::string& line) {
  try {
    parse_observation(line);
  } catch (const Error& error) {
    return error.message;
  }
  return "";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("every regime is read back from its words") {
  int regimes = 0;
  for (const CacheState cache : {CacheState::cold, CacheState::warm, CacheState::produced, CacheState::dirty})
    for (const Timer timer : {Timer::activity, Timer::events, Timer::stream, Timer::graph, Timer::host})
      for (const LaunchMode launch : {LaunchMode::stream, LaunchMode::graph})
        for (int bits = 0; bits < 8; ++bits) {
          const Regime regime{cache, timer, launch, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}};
          CHECK(parse_regime(text(regime)) == regime);
          ++regimes;
        }
  CHECK(regimes == 320);
  CHECK(text(Regime{}) == "cold, stream, stream, with launch gap and ramp");
  CHECK(Regime{}.includes == includes(Timer::stream));
  CHECK(text(make_regime({CacheState::warm, TimedBy::activity})) == "warm, activity, stream, with ramp");
  CHECK_FALSE(includes(Timer::activity).launch_gap);
  CHECK(includes(Timer::host).dispatch_floor);
  for (const char* wrong :
       {"", "cold", "cold, stream, stream", "cool, stream, stream, with ramp", "cold, clock, stream, with ramp",
        "cold, stream, row, with ramp", "cold, stream, stream, with lamp", "cold, stream, stream, ramp",
        "cold, stream, stream, with ramp and ramp", "cold, stream, stream, with nothing and ramp"})
    CHECK_THROWS_AS(parse_regime(wrong), Error);
}

TEST_CASE("an observation is one line that is read back equal") {
  for (const Observation& one : {own("g"), foreign("512x1024")}) {
    const std::string line = text(one);
    CHECK(line.find('\n') == line.npos);
    CHECK(parse_observation(line) == one);
    CHECK(text(parse_observation(line)) == line);
  }
  CHECK(own("g").id == own("g").id);
  CHECK(own("g").id != own("g", "h200", "m 2").id);
}

TEST_CASE("every number of somebody else's kernel is a field of its own, in the line and in the id") {
  const auto with = [](const std::function<void(ForeignKernel&)>& change) {
    ForeignKernel kernel{"softmax f32", "512x1024", 1, 2, 3, 4, 5, 6};
    kernel.variant = "v \"7\"";
    kernel.common = 8, kernel.reread = 9, kernel.far_trips = 10, kernel.near_trips = 11;
    kernel.shuffles = 12, kernel.barriers = 13, kernel.instructions = 14, kernel.transcendental = 15;
    change(kernel);
    return make_observation("v100", Regime{}, {3e-5}, {2e-5}, {4e-5}, "table", kernel);
  };
  const Observation whole = with([](ForeignKernel&) {});
  CHECK(parse_observation(text(whole)) == whole);
  const std::function<void(ForeignKernel&)> changes[] = {
      [](ForeignKernel& k) { k.operation = "ln f32"; }, [](ForeignKernel& k) { k.shape = "512x1025"; },
      [](ForeignKernel& k) { k.variant.clear(); },      [](ForeignKernel& k) { k.blocks += 100; },
      [](ForeignKernel& k) { k.threads += 100; },       [](ForeignKernel& k) { k.shared += 100; },
      [](ForeignKernel& k) { k.registers += 100; },     [](ForeignKernel& k) { k.read += 100; },
      [](ForeignKernel& k) { k.written += 100; },       [](ForeignKernel& k) { k.common += 100; },
      [](ForeignKernel& k) { k.reread += 100; },        [](ForeignKernel& k) { k.far_trips += 100; },
      [](ForeignKernel& k) { k.near_trips += 100; },    [](ForeignKernel& k) { k.shuffles += 100; },
      [](ForeignKernel& k) { k.barriers += 100; },      [](ForeignKernel& k) { k.instructions += 100; },
      [](ForeignKernel& k) { k.transcendental += 100; }};
  std::set<std::string> ids{hex(whole.id)};
  for (const auto& change : changes) {
    const Observation other = with(change);
    CHECK(ids.insert(hex(other.id)).second);
    CHECK(parse_observation(text(other)) == other);
    CHECK_FALSE(parse_observation(text(other)) == whole);
  }
  // What it was run on and when, too; the plain fields of the line.
  const ForeignKernel same = std::get<ForeignKernel>(whole.subject);
  for (const Observation& other :
       {make_observation("h200", Regime{}, {3e-5}, {2e-5}, {4e-5}, "table", same),
        make_observation("v100", make_regime({CacheState::warm}), {3e-5}, {2e-5}, {4e-5}, "table", same),
        make_observation("v100", Regime{}, {3.1e-5}, {2e-5}, {4e-5}, "table", same),
        make_observation("v100", Regime{}, {3e-5}, {2.1e-5}, {4e-5}, "table", same),
        make_observation("v100", Regime{}, {3e-5}, {2e-5}, {4.1e-5}, "table", same),
        make_observation("v100", Regime{}, {3e-5}, {2e-5}, {4e-5}, "row", same)}) {
    CHECK(ids.insert(hex(other.id)).second);
    CHECK(parse_observation(text(other)) == other);
  }
}

TEST_CASE("a wrong field of an observation is named with what was expected") {
  const std::string a = text(own("g")), b = text(foreign("512x1024"));
  const std::pair<std::string, std::string> rows[] = {
      {"", "observation: found '' for the line, expected a word"},
      {replaced(a, "observation", "measurement"),
       "observation: found 'measurement' for the line, expected 'observation'"},
      {replaced(a, "device=", "gpu="), "observation: found 'gpu' for the next field, expected 'device='"},
      {replaced(a, "device=\"h200\"", "device=h200"), "observation: found 'h200' for device, expected text in quotes"},
      {replaced(a, "time=1.25e-05", "time=fast"), "observation: found 'fast' for time, expected a number"},
      {replaced(a, "time=1.25e-05", "time=-1"), "observation: found '-1' for time, expected a number from 0 up"},
      {replaced(a, "time=1.25e-05", "time=0"), "observation: found '0' for time, expected seconds above 0"},
      {replaced(a, "time=1.25e-05", "time=nan"), "observation: found 'nan' for time, expected a number from 0 up"},
      {replaced(a, "time=1.25e-05", "time=2e-05"),
       "observation: found '2e-05' for time, expected one in its interval, 1.2e-05 to 1.3e-05"},
      {replaced(a, "registers=32", "registers=3x"), "observation: found '3x' for registers, expected a number"},
      {replaced(a, " own ", " mine "), "observation: found 'mine' for the subject, expected own or foreign"},
      {replaced(a, "warm, events", "warm, clock"), "regime: found timer 'clock'"},
      {a + " more", "observation: found 'more' for the end, expected nothing more"},
      {replaced(a, "registers=32", "registers=33"), ""},
      {b.substr(0, b.size() - 20), ""},
  };
  for (const auto& [line, message] : rows) {
    CAPTURE(line);
    const std::string found = refusal(line);
    CHECK_FALSE(found.empty());
    if (!message.empty()) CHECK(found == message);
  }
  CHECK(refusal(replaced(a, "registers=32", "registers=33")).find("the hash of the rest") != std::string::npos);
  for (const char* side : {"train", "validate", "test"})
    if (name(own("g").split) != side)
      CHECK(refusal(replaced(a, "split=" + std::string(name(own("g").split)), "split=" + std::string(side)))
                .find("by operation and shape") != std::string::npos);
  for (std::size_t cut = 0; cut < b.size(); ++cut) CHECK_FALSE(refusal(b.substr(0, cut)).empty());
}

TEST_CASE("a line without id and split is given both, the same as one that was made here") {
  for (const Observation& one : {own("g"), foreign("512x1024")}) {
    const std::string line = text(one);
    const std::string bare = "observation " + line.substr(line.find("device="));
    CHECK(parse_observation(bare) == one);
    CHECK_FALSE(refusal(replaced(bare, "time=", "tme=")).empty());
    CHECK_FALSE(refusal(replaced(bare, "device=", "split=train device=")).empty());
  }
}

TEST_CASE("the id leaves the split out: one kept by its id is found again whatever the split means later") {
  Observation one = foreign("512x1024");
  const Id before = one.id;
  one.split = one.split == Split::train ? Split::test : Split::train;
  CHECK(text(one).find(hex(before)) != std::string::npos);
  CHECK(split_named("validate") == Split::validate);
  CHECK_FALSE(split_named("rest").has_value());
}

TEST_CASE("device, repeat and plan do not move an observation to another side of the split, operation and shape do") {
  std::map<Split, int> sides;
  for (int i = 0; i < 2000; ++i) {
    const std::string shape = std::to_string(i) + "x64";
    const Observation one = foreign(shape);
    CHECK(foreign(shape, "h200").split == one.split);
    ++sides[one.split];
    const std::string group = "g" + std::to_string(i);
    CHECK(own(group, "l4", "m 9").split == own(group).split);
    Observation other = own(group);
    std::get<OwnKernel>(other.subject).plan = named("another plan");
    std::get<OwnKernel>(other.subject).registers = 64;
    CHECK(split_of(other.subject) == other.split);
    // Somebody else's kernel for the same group stands on the same side.
    CHECK(split_of(ForeignKernel{hex(named(group)), ""}) == other.split);
  }
  CHECK(sides[Split::train] == approx(1200).epsilon(0.1));
  CHECK(sides[Split::validate] == approx(400).epsilon(0.2));
  CHECK(sides[Split::test] == approx(400).epsilon(0.2));
}
