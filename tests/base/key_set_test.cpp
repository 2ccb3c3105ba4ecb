// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys are known from when they are first put in until the set is emptied, however often that was: held against the
// standard library's set over random runs, few keys and many, some of them alike in all low bits. In: random keys.
// Out: checks. Part of the suite `base`.
#include "base/key_set.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <unordered_set>

using namespace tailor;

TEST_CASE("a set of keys is what the standard library's is") {
  constexpr unsigned seed = 11;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  KeySet keys;
  std::unordered_set<std::uint64_t> same;
  CHECK_FALSE(keys.contains(0));
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t different = round % 3 == 0 ? 10 : 5000;
    const int steps = round % 5 == 0 ? 3000 : 100;
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t number = random() % different;
      // Some far apart, some neighbours, some alike in all low bits.
      const std::uint64_t key = number % 3 == 0   ? number * 0x9e3779b97f4a7c15U
                                : number % 3 == 1 ? number
                                                  : number << 40;
      REQUIRE(keys.contains(key) == same.contains(key));
      if (random() % 2 == 0) REQUIRE(keys.insert(key) == same.insert(key).second);
      REQUIRE(keys.size() == same.size());
    }
    if (round % 2 != 0) continue;
    keys.clear();
    same.clear();
  }
}
