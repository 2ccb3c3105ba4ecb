// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A record and those behind it as one list: as many as there are, in order, by number and in a loop, and by the
// standard library's algorithms; and that a place in it needs the records alone, not the view. In: numbers. Out:
// checks. Part of the suite `base`.
#include "base/chain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

using namespace tailor;

TEST_CASE("a chain has its first and then the others, wherever they lie") {
  const int first = 1;
  for (int count = 0; count < 5; ++count) {
    std::vector<int> rest(static_cast<std::size_t>(count));
    std::iota(rest.begin(), rest.end(), 2);
    const Chain<int> chain(first, rest);
    CHECK(chain.size() == rest.size() + 1);
    std::vector<int> all;
    for (const int& one : chain) all.push_back(one);
    std::vector<int> expected(chain.size());
    std::iota(expected.begin(), expected.end(), 1);
    CHECK(all == expected);
    for (std::size_t i = 0; i < chain.size(); ++i) CHECK(chain[i] == static_cast<int>(i) + 1);
    CHECK(&chain[0] == &first);
    CHECK(std::count_if(chain.begin(), chain.end(), [](int one) { return one > 1; }) == count);
    CHECK(*std::max_element(chain.begin(), chain.end()) == count + 1);
  }
}

TEST_CASE("a place in a chain outlives the view") {
  const int first = 7;
  const std::vector<int> rest{8, 9};
  auto at = Chain<int>(first, rest).begin();
  CHECK(*at == 7);
  CHECK(*++at == 8);
  CHECK(*at++ == 8);
  CHECK(*at == 9);
  CHECK(++at == Chain<int>(first, rest).end());
}
