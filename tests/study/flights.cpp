// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Short lists and what their machine code does with the loads. In: a model. Out: for each plan how many loads it asks
// for together and how many are on their way, and a check of all of them.
// Called by flight_test.cpp and flight_slow_test.cpp.
#include "flights.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "folder.h"
#include "study/pipeline/question.h"
#include "study/pipeline/stages.h"
#include "support/kernel_cache.h"
#include "support/listener.h"

namespace tailor::study {

std::vector<PlannedFlight> short_listed_flights(const profiler::Nvrtc& api, const std::filesystem::path& path,
                                                std::size_t most) {
  Question question;
  question.model = path.string();
  question.device = "h200";
  Listener listener;
  FusedModel model(question, source / "data", {listener});
  std::vector<std::size_t> order(model.partition.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return model.group(a).bytes > model.group(b).bytes; });
  std::vector<Candidate> candidates;
  std::size_t groups = 0;
  for (const std::size_t number : order) {
    const PreparedGroup& group = model.group(number);
    if (group.ready() == nullptr) continue;
    if (groups++ == most) break;
    Choice choice = choose(group, model.target, model.choosing(4), {});
    for (Candidate& candidate : choice.candidates) candidates.push_back(std::move(candidate));
  }
  print(candidates);
  Compiling how;
  how.api = &api;
  how.cache = kernels::cache().folder;
  how.shapes = Shapes::own;
  compile(candidates, how, {listener});
  std::vector<PlannedFlight> flights;
  for (const Candidate& candidate : candidates) {
    REQUIRE(candidate.binary);
    REQUIRE_MESSAGE(candidate.binary->outcome == ir::CompileOutcome::ok, candidate.binary->log);
    REQUIRE(candidate.lowered);
    flights.push_back({text(candidate.plan), candidate.of->title(), candidate.work.loads_in_flight,
                       candidate.binary->loads_outstanding, candidate.standing.estimates.front().registers,
                       most_of(*candidate.binary, &ir::CompiledEntry::registers)});
  }
  return flights;
}

void check_flights(const std::vector<PlannedFlight>& flights) {
  REQUIRE_FALSE(flights.empty());
  std::size_t kept = 0;
  std::string others;
  for (const PlannedFlight& flight : flights) {
    const bool keeps = 4 * flight.outstanding >= 3 * flight.planned;
    kept += keeps ? 1 : 0;
    if (!keeps)
      others += fmt::format("\n  {} of {}: {} ({})", flight.outstanding, flight.planned, flight.plan, flight.group);
  }
  MESSAGE(kept << " of " << flights.size() << " plans have three quarters of their loads on their way at once");
  CHECK_MESSAGE(10 * kept >= 9 * flights.size(), others);
}

}  // namespace tailor::study
