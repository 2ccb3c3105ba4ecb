// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two plans side by side: whether one is faster is what their places in the ranking say, so that two commands never
// contradict each other; differences that no figure shows are none. Candidates are made by hand, for words and tables
// read nothing but their estimates, plans and places. Part of the suite `study`.
#include "study/tables/versus_tables.h"

#include <doctest/doctest.h>

#include <random>
#include <regex>
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

/// The same with a time of DRAM and one of latency, which overlap where they are more than the total.
Candidate with_parts(double microseconds, std::uint64_t kernel, double dram, double latency) {
  Candidate one = candidate(microseconds, static_cast<std::int64_t>(kernel), kernel);
  auto& parts = one.standing.estimates.front().parts;
  parts = {};
  row_for(parts, ir::Part::dram) = Seconds{dram * 1e-6};
  row_for(parts, ir::Part::latency) = Seconds{latency * 1e-6};
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

TEST_CASE("what speaks for the verdict stands first, and what overlaps is told where it decides") {
  const Candidate slow_latency = with_parts(10, 1, 9, 8), less_overlap = with_parts(11, 2, 9, 6);
  CHECK(versus_words({slow_latency, less_overlap, "1", "2"})
            .ends_with("; in B 3.00 us less overlap, against latency -2.00 us"));
  CHECK(versus_words({less_overlap, slow_latency, "2", "1"})
            .ends_with("; in B 3.00 us more overlap, against latency +2.00 us"));
  CHECK(versus_words({with_parts(10, 1, 6, 4), with_parts(12, 2, 8, 4)}).ends_with("; in B dram +2.00 us"));
}

TEST_CASE("the terms of a sentence before 'against' have the sign of the verdict, whatever the parts") {
  std::mt19937 random(20261124);
  const auto drawn = [&] { return 1 + static_cast<double>(random() % 1000) / 100; };
  const std::regex term("(dram|latency) ([+-])|(less|more) overlap");
  for (int run = 0; run < 200; ++run) {
    const Candidate a = with_parts(drawn(), 1, drawn(), drawn()), b = with_parts(drawn(), 2, drawn(), drawn());
    const std::string words = versus_words({a, b});
    if (words.find(" beats ") == std::string::npos) continue;
    INFO(words);
    const bool a_wins = words.starts_with("A beats");
    const std::string with = words.substr(words.rfind("; in B "), words.find(", against ") - words.rfind("; in B "));
    int terms = 0;
    for (std::sregex_iterator it(with.begin(), with.end(), term), end; it != end; ++it, ++terms)
      CHECK(((*it)[2] == "+" || (*it)[3] == "less") == a_wins);
    CHECK(terms > 0);
  }
}
