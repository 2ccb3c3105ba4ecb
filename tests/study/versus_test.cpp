// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two plans side by side: whether one is faster is what their places in the ranking say, so that two commands never
// contradict each other; differences that no figure shows are none. Candidates are made by hand, for words and tables
// read nothing but their estimates, plans and places. Part of the suite `study`.
#include "study/tables/versus_tables.h"

#include <doctest/doctest.h>

#include <string>

#include "support/approx.h"

using namespace tailor;
using namespace tailor::study;

namespace {

Candidate candidate(double microseconds, std::int64_t place, std::uint64_t kernel) {
  Candidate one;
  ir::Estimate& estimate = one.standing.estimates.emplace_back();
  estimate.level = ir::Level::projected;
  estimate.total = Seconds{microseconds * 1e-6};
  estimate.parts[0] = estimate.total;
  one.placed = {.place = place};
  one.kernel_id.low = kernel;
  one.plan.threads = static_cast<int>(32 * kernel);
  return one;
}

bool told_apart(const Candidate& a, const Candidate& b) {
  return std::get<std::string>(versus_table({a, b}).rows[0][0]) != "neither";
}

}  // namespace

TEST_CASE("two plans are told apart where their places differ, and by the model's resolution where none are known") {
  const Candidate first = candidate(10, 1, 1), near = candidate(10.009, 1, 2), next = candidate(10.018, 3, 3);
  CHECK_FALSE(told_apart(first, near));
  CHECK(told_apart(near, next));  // within 0.1 % of each other, yet places 1 and 3
  CHECK(told_apart(first, next));
  CHECK(versus_words({near, next, "2", "3"}).starts_with("A (2) beats B (3) by"));
  Candidate unplaced = next;
  unplaced.placed.place = 0;
  CHECK_FALSE(told_apart(near, unplaced));
  CHECK(told_apart(first, unplaced));
}

TEST_CASE("a plan against itself has nothing to compare, and another plan of its kernel is said to be one") {
  const Candidate one = candidate(10, 1, 1);
  CHECK(versus_words({one, one, "1", "1"}).find("are the same plan") != std::string::npos);
  Candidate alike = candidate(10, 1, 2);
  alike.kernel_id = one.kernel_id;
  CHECK(versus_words({one, alike, "1", "2"}).find("are two plans of the same kernel") != std::string::npos);
}

TEST_CASE("a difference that no figure shows is 0 for people, and noise of the arithmetic is 0 for everybody") {
  const auto more = [](double a, double b, bool rounded) {
    const Candidate first = candidate(a, 1, 1), second = candidate(b, 1, 2);
    const report::Table table = versus_part_table({first, second}, rounded);
    return std::get<double>(table.rows[0][report::place_of_column(table, "more")]);
  };
  CHECK(more(10, 10 + 1e-13, false) == 0);
  CHECK(more(10, 10.004, false) == approx(4e-9));
  CHECK(more(10, 10.004, true) == 0);
  CHECK(more(10, 10.04, true) == approx(4e-8));
}
