// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places of plans by predicted times: what a model cannot tell apart shares one place. The oracle looks at each time
// and at the first of its place: the one is within the resolution of the other, and that one is beyond the resolution
// of the first of the place before it. Part of the suite `ir`.
#include "ir/estimate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ir/most_moved.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

std::string words(const std::vector<Seconds>& times) {
  std::string out;
  for (const Placed& one : placed(times)) out += (out.empty() ? "" : " ") + text(one);
  return out;
}

}  // namespace

TEST_CASE("plans that a model cannot tell apart share a place, and the next one counts them") {
  CHECK(words({}).empty());
  CHECK(words({{1.0}}) == "1");
  CHECK(words({{1.0}, {1.0}, {1.0005}, {1.01}, {1.5}, {1.5001}}) == "1= 1= 1= 4 5= 5=");
  CHECK(words({{1.0}, {1.0009}, {1.0018}, {1.0027}}) == "1= 1= 3= 3=");  // no chain of ties makes all of them one
}

TEST_CASE("the group to look at first is the first that moves most of those that can be planned") {
  using Groups = std::vector<GroupTraffic>;
  CHECK_FALSE(most_moved(Groups{}).has_value());
  CHECK(most_moved(Groups{{true, 1}, {true, 3}, {true, 3}, {false, 9}}) == 1u);
  CHECK(most_moved(Groups{{false, 2}, {false, 5}, {false, 5}}) == 1u);
  CHECK(most_moved(Groups{{false, 7}, {true, 0}}) == 1u);
}

TEST_CASE("a place is one more than the plans before its first, in any row of times") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Seconds> times(1 + random() % 40);
    for (Seconds& time : times) time = {1e-6 * (1 + 1e-4 * static_cast<double>(random() % 60))};
    std::sort(times.begin(), times.end());
    const std::vector<Placed> places = placed(times);
    REQUIRE(places.size() == times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      const auto first = static_cast<std::size_t>(places[i].place - 1);
      REQUIRE(first <= i);
      CHECK(times[i].value <= times[first].value * (1 + model_resolution));
      if (first > 0)
        CHECK(times[first].value >
              times[static_cast<std::size_t>(places[first - 1].place - 1)].value * (1 + model_resolution));
      const bool shares = std::count_if(places.begin(), places.end(),
                                        [&](const Placed& other) { return other.place == places[i].place; }) > 1;
      CHECK(places[i].tied == shares);
    }
    std::shuffle(times.begin(), times.end(), random);
    CHECK(tied_with_least(times) ==
          std::count_if(places.begin(), places.end(), [](const Placed& one) { return one.place == 1; }));
  }
}
