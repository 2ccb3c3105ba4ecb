// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two plans side by side. In: two candidates. Out: words and tables. Both are compared at the most precise level that
// estimated both. Parts overlap, so their differences do not add up to the whole; they say where to look, the largest
// first. Called through versus_tables.h.
#include "study/tables/versus_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

/// What both are compared by.
struct Estimates {
  const ir::Estimate& a;
  const ir::Estimate& b;
  std::int64_t a_place = 0, b_place = 0;  ///< among all plans by these estimates; 0: not known

  double more(ir::Part part) const { return row_for(b.parts, part).value - row_for(a.parts, part).value; }
  double more() const { return b.total.value - a.total.value; }
  bool told_apart() const {
    if (a_place > 0 && b_place > 0) return a_place != b_place;
    return std::abs(more()) > ir::model_resolution * std::min(a.total.value, b.total.value);
  }
};

Estimates estimates_of(const Versus& two) {
  const auto &a = two.a.standing.estimates, &b = two.b.standing.estimates;
  const bool first = a.size() == 1 || b.size() == 1 || a.back().level != b.back().level;
  if (!first) return {a.back(), b.back()};
  return {a.front(), b.front(), two.a.placed.place, two.b.placed.place};
}

/// What B has more; 0 where that is noise of the arithmetic, or, `rounded`, where both show the same three figures.
double difference(double a, double b, bool rounded) {
  constexpr double noise = 1e-9, shown = 5e-4;
  const double most = std::max(std::abs(a), std::abs(b));
  return std::abs(b - a) <= (rounded ? shown : noise) * most ? 0 : b - a;
}

/// Parts that take time in either, those that differ most first.
std::vector<ir::Part> parts_of(const Estimates& both) {
  std::vector<ir::Part> parts;
  for (std::size_t i = 0; i < ir::part_count; ++i)
    if (both.a.parts[i].value > 0 || both.b.parts[i].value > 0) parts.push_back(static_cast<ir::Part>(i));
  std::stable_sort(parts.begin(), parts.end(), [&](ir::Part left, ir::Part right) {
    return std::abs(both.more(left)) > std::abs(both.more(right));
  });
  return parts;
}

std::string signed_seconds(double seconds) { return (seconds < 0 ? "-" : "+") + humane_seconds(std::abs(seconds)); }

/// "dram binds both", "latency binds A, dram binds B".
std::string binding_words(const Estimates& both) {
  if (both.a.bottleneck == both.b.bottleneck) return fmt::format("{} binds both", ir::name(both.a.bottleneck));
  return fmt::format("{} binds A, {} binds B", ir::name(both.a.bottleneck), ir::name(both.b.bottleneck));
}

/// Time in which several parts are at work: it stands in each of them and once in the total, so this is below 0.
double overlap(const ir::Estimate& estimate) {
  double sum = estimate.total.value;
  for (const Seconds part : estimate.parts) sum -= part.value;
  return sum;
}

/// "in B latency +6.10 us, issue +410 ns, against 1.20 us more overlap". The parts and what overlaps add up to the
/// difference of the totals, so some of them always speak for the verdict. Those come first.
std::string terms_words(const Estimates& both) {
  struct Term {
    std::string words;
    double more = 0;
  };
  std::vector<Term> terms;
  for (const ir::Part part : parts_of(both))
    terms.push_back({fmt::format("{} {}", ir::name(part), signed_seconds(both.more(part))), both.more(part)});
  const double apart = overlap(both.b) - overlap(both.a);
  terms.push_back({fmt::format("{} {} overlap", humane_seconds(std::abs(apart)), apart > 0 ? "less" : "more"), apart});
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& left, const Term& right) { return std::abs(left.more) > std::abs(right.more); });
  constexpr std::size_t told = 3;
  constexpr double worth_telling = 0.01;  // of the slower one's time
  const double least = worth_telling * std::max(both.a.total.value, both.b.total.value);
  std::vector<std::string> with, against;
  for (const Term& term : terms) {
    if ((term.more > 0) == (both.more() > 0) && with.size() < told && (with.empty() || std::abs(term.more) > least))
      with.push_back(term.words);
    if ((term.more > 0) != (both.more() > 0) && against.size() < told && std::abs(term.more) > least)
      against.push_back(term.words);
  }
  return fmt::format("in B {}{}{}", fmt::join(with, ", "), against.empty() ? "" : ", against ",
                     fmt::join(against, ", "));
}

/// The value behind "name=" in a plan's text; empty where it has none.
std::string_view value_in(std::string_view plan, std::string_view name) {
  for (const std::string_view word : split(plan, ' '))
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) return word.substr(name.size() + 1);
  return {};
}

/// "A (7)"; a plan's text stays out of the sentence.
std::string named(std::string_view letter, std::string_view word) {
  return word.empty() || word.find(' ') != word.npos ? std::string(letter) : fmt::format("{} ({})", letter, word);
}

}  // namespace

std::string versus_words(const Versus& two) {
  const Estimates both = estimates_of(two);
  const std::string times = fmt::format("{} and {}, level {}", humane_seconds(both.a.total.value),
                                        humane_seconds(both.b.total.value), ir::name(both.a.level));
  const std::string a = named("A", two.a_is), b = named("B", two.b_is);
  if (two.a.plan == two.b.plan)
    return fmt::format("{} and {} are the same plan, {} by level {}: there is nothing to compare", a, b,
                       humane_seconds(both.a.total.value), ir::name(both.a.level));
  if (two.a.kernel_id == two.b.kernel_id)
    return fmt::format("{} and {} are two plans of the same kernel, {} by level {}", a, b,
                       humane_seconds(both.a.total.value), ir::name(both.a.level));
  if (!both.told_apart())
    return fmt::format("the model cannot tell {} and {} apart: {}; {}", a, b, times, binding_words(both));
  const bool a_wins = both.more() > 0;
  const double most = std::max(both.a.total.value, both.b.total.value);
  return fmt::format("{} beats {} by {} ({:.1f} %): {}; {}; {}", a_wins ? a : b, a_wins ? b : a,
                     humane_seconds(std::abs(both.more())), 100 * std::abs(both.more()) / most, times,
                     binding_words(both), terms_words(both));
}

Table versus_table(const Versus& two) {
  const Estimates both = estimates_of(two);
  Table table;
  table.columns = {column("faster", "faster"),
                   column("level", "level"),
                   column("first_predicted", "A", Hint::seconds),
                   column("second_predicted", "B", Hint::seconds),
                   column("more", "B less A", Hint::seconds),
                   column("first_plan", "plan A"),
                   column("second_plan", "plan B")};
  table.rows.push_back({std::string(!both.told_apart() ? "neither"
                                    : both.more() > 0  ? "first"
                                                       : "second"),
                        std::string(ir::name(both.a.level)), both.a.total.value, both.b.total.value, both.more(),
                        ir::text(two.a.plan), ir::text(two.b.plan)});
  return table;
}

Table versus_part_table(const Versus& two, bool rounded) {
  const Estimates both = estimates_of(two);
  Table table;
  table.title = "each part alone, those that differ most first; with what overlaps they add up to the total";
  table.columns = {column("part", "part"), column("first_time", "A", Hint::seconds),
                   column("second_time", "B", Hint::seconds), column("more", "B less A", Hint::seconds),
                   column("binds", "binds")};
  for (const ir::Part part : parts_of(both)) {
    const bool a = both.a.bottleneck == part, b = both.b.bottleneck == part;
    table.rows.push_back({std::string(ir::name(part)), row_for(both.a.parts, part).value,
                          row_for(both.b.parts, part).value,
                          difference(row_for(both.a.parts, part).value, row_for(both.b.parts, part).value, rounded),
                          a || b ? Cell(std::string(a && b ? "both"
                                                    : a    ? "A"
                                                           : "B"))
                                 : Cell()});
  }
  const auto add = [&](std::string_view name, double a, double b) {
    table.rows.push_back({std::string(name), a, b, difference(a, b, rounded), Cell()});
  };
  add("overlap", overlap(both.a), overlap(both.b));
  add("total", both.a.total.value, both.b.total.value);
  return table;
}

namespace {

/// The plan's own words and those of each body and stage, with what tables call it: "", "stage 2: ", "body 1: ".
std::vector<std::pair<std::string, std::string_view>> parts_of_plan(std::string_view plan) {
  std::vector<std::pair<std::string, std::string_view>> parts;
  const bool has_stages = plan.find("||") != plan.npos;
  for (std::size_t stage = 0; !plan.empty(); ++stage) {
    const std::size_t end = has_stages ? std::min(plan.find("||"), plan.size()) : plan.size();
    const std::vector<std::string_view> bodies = split(plan.substr(0, end), '|');
    for (std::size_t body = 0; body < bodies.size(); ++body) {
      std::string whose = stage > 0 ? fmt::format("stage {}: ", stage) : "";
      if (body > 0) whose += fmt::format("body {}: ", body);
      parts.emplace_back(std::move(whose), bodies[body]);
    }
    plan.remove_prefix(std::min(end + 2, plan.size()));
  }
  return parts;
}

}  // namespace

Table versus_plan_table(const Versus& two) {
  Table table;
  table.title = "what differs in the plans";
  table.columns = {column("axis", "axis"), column("first_value", "A"), column("second_value", "B")};
  const std::string a = ir::text(two.a.plan), b = ir::text(two.b.plan);
  const auto all_a = parts_of_plan(a), all_b = parts_of_plan(b);
  // A plan names an axis only where it matters: of a grid of tiles nobody asks how many blocks an SM holds.
  for (std::size_t body = 0; body < std::min(all_a.size(), all_b.size()); ++body)
    for (const ir::PlanFieldRow& field : ir::plan_fields()) {
      const std::string_view of_a = value_in(all_a[body].second, field.name),
                             of_b = value_in(all_b[body].second, field.name);
      if (of_a == of_b) continue;
      const auto cell = [](std::string_view value) { return value.empty() ? Cell() : Cell(std::string(value)); };
      table.rows.push_back({all_a[body].first + std::string(field.name), cell(of_a), cell(of_b)});
    }
  return table;
}

Table versus_count_table(const Versus& two) {
  const Estimates both = estimates_of(two);
  const bool executed = two.a.counted() && two.b.counted();
  Table table;
  table.title = fmt::format("what differs in the counts ({})", executed ? "as executed" : "by the model");
  table.columns = {column("counter", "counter"), column("first_count", "A", Hint::count),
                   column("second_count", "B", Hint::count), column("second_to_first", "B / A", Hint::ratio),
                   column("unit", "unit")};
  const auto add = [&](std::string name, double a, double b, std::string_view unit) {
    const auto cell = [](double count) {
      return count == std::floor(count) ? Cell(static_cast<std::int64_t>(count)) : Cell(count);
    };
    if (difference(a, b, false) != 0)
      table.rows.push_back({std::move(name), cell(a), cell(b), a > 0 ? Cell(b / a) : Cell(), std::string(unit)});
  };
  add("launches", static_cast<double>(launches_of(two.a.kernel).size()),
      static_cast<double>(launches_of(two.b.kernel).size()), "launch");
  const ir::LaunchShape launch_a = launch_shape(launches_of(two.a.kernel).front()),
                        launch_b = launch_shape(launches_of(two.b.kernel).front());
  add("blocks", launch_a.grid[0], launch_b.grid[0], "block");
  add("threads of a block", two.a.kernel.threads, two.b.kernel.threads, "thread");
  add("shared memory of a block", static_cast<double>(launch_a.static_shared + launch_a.dynamic_shared),
      static_cast<double>(launch_b.static_shared + launch_b.dynamic_shared), "B");
  add("registers of a thread", both.a.registers, both.b.registers, "register");
  add("occupancy", 100 * both.a.occupancy, 100 * both.b.occupancy, "%");
  add("waves", both.a.waves, both.b.waves, "wave");
  add("bytes in flight of a thread", costmodel::as_one(costmodel::launches_of(two.a.work).front()).bytes_in_flight,
      costmodel::as_one(costmodel::launches_of(two.b.work).front()).bytes_in_flight, "B");
  for (const ir::CounterRow& row : ir::counter_table()) {
    const std::optional<double> a = costmodel::model_count(two.a.work, row.name);
    const std::optional<double> b = costmodel::model_count(two.b.work, row.name);
    if (executed && (row.launch != nullptr || row.direction != nullptr))
      add(std::string(row.name), ir::value_of(row, two.a.verdict->counts), ir::value_of(row, two.b.verdict->counts),
          row.unit);
    else if (!executed && a && b)
      add(std::string(row.name), *a, *b, row.unit);
  }
  return table;
}

}  // namespace tailor::study
