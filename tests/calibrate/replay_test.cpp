// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Replayed searches: spaces whose times follow a law written here, so that optimum, neighbours and order are known.
// Properties that hold for every searcher (each asks once, knows only what it asked, finds the optimum when it asks for
// all), and what makes each of them better than drawing at random. What needs trees is skipped without their library.
#include "calibrate/replay.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/boosting.h"
#include "support/approx.h"
#include "support/skip.h"
#include "support/thorough.h"

namespace tailor::calibrate {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// All x in 1..width, y in 1..height, flag in 0..1, at the times of `law`.
TuningSpace grid(int width, int height, const std::function<double(int x, int y, int flag)>& law) {
  TuningSpace space;
  space.parameters = {"x", "y", "flag"};
  for (int x = 1; x <= width; ++x)
    for (int y = 1; y <= height; ++y)
      for (int flag = 0; flag < 2; ++flag) {
        space.values.insert(space.values.end(), {static_cast<double>(x), static_cast<double>(y), flag * 1.0});
        space.times.push_back(law(x, y, flag));
      }
  return space;
}

/// Downhill from everywhere: the optimum is at (7, 5, 1).
double bowl(int x, int y, int flag) {
  return 1 + 0.1 * std::abs(x - 7) + 0.2 * std::abs(y - 5) + (flag == 1 ? 0 : 0.3);
}

/// A launch is good where x * y is near 64; above 200 it fails.
double product(int x, int y, int flag) {
  if (x * y > 200) return infinite;
  return 1e-3 * (1 + std::abs(std::log2(x * y / 64.0)) + 0.05 * flag + 1e-4 * x);
}

std::string fault_of(const std::string& csv, const SpaceColumns& columns = {}) {
  try {
    read_space(parse_csv(csv, "s.csv"), columns);
  } catch (const Error& error) {
    return fmt::format("{}:{}: {}", error.at.file, error.at.line, error.message);
  }
  return "";
}

/// A table of n configurations x = 0..n-1.
std::string table(int n, const std::string& head, const std::function<std::string(int)>& row) {
  std::string text = head + "\n";
  for (int i = 0; i < n; ++i) text += row(i) + "\n";
  return text;
}

TEST_CASE("a space has the parameters that vary, words by their place, and what failed as infinite") {
  const TuningSpace space = read_space(
      parse_csv(table(30, "x,same,mode,status,time_ms,other",
                      [](int i) {
                        return fmt::format("{},7,{},{},{},9", i, i % 2 == 0 ? "wide" : "deep",
                                           i == 4 ? "compile_failed" : "ok", i == 5 ? "" : fmt::format("{}", 100 - i));
                      }),
                "s.csv"),
      {});
  CHECK(space.parameters == std::vector<std::string>{"x", "mode"});
  REQUIRE(space.size() == 30);
  CHECK(space.of(3)[0] == 3);
  CHECK(space.of(2)[1] == 1);  // "wide" stands behind "deep"
  CHECK(space.of(3)[1] == 0);
  CHECK(space.times[3] == approx(0.097));
  CHECK(space.times[4] == infinite);
  CHECK(space.times[5] == infinite);
  CHECK(space.failed() == 2);
  CHECK(space.best() == approx(0.071));
}

TEST_CASE("times and parameters can be other columns") {
  const std::string text =
      table(20, "time_s,median_us,x,y", [](int i) { return fmt::format("1,{},{},{}", 5 + i, i, i % 3); });
  const TuningSpace space = read_space(parse_csv(text, "s.csv"), {"median", {"y", "x"}});
  CHECK(space.parameters == std::vector<std::string>{"y", "x"});
  CHECK(space.times[2] == approx(7e-6));
  CHECK(fault_of(text) ==
        "s.csv:1: found 20 configurations that worked, of 0 parameters with more than one value; "
        "expected 20 or more, and a parameter");
}

TEST_CASE("what is wrong with a table of configurations is said with its line") {
  const auto row = [](int i) { return fmt::format("{},{}", i, i + 1); };
  CHECK(fault_of(table(20, "x,time_ms", row)) == "");
  CHECK(fault_of(table(19, "x,time_ms", row)).find("found 19 configurations that worked") != std::string::npos);
  CHECK(fault_of(table(20, "x,span_ms", row)).find("found no column 'time' with its unit") != std::string::npos);
  CHECK(fault_of(table(20, "x,time_ms", [](int i) { return fmt::format("{},1", i == 11 ? 3 : i); })) ==
        "s.csv:13: found the configuration of line 5 once more, expected each once");
  CHECK(fault_of(table(20, "x,time_ms", [](int i) {
          return fmt::format("{},{}", i, i == 7 ? "0" : "1");
        })).starts_with("s.csv:9: "));
  CHECK(fault_of(table(20, "x,time_ms", [](int i) {
          return fmt::format("{},{}", i, i == 7 ? "-1" : "1");
        })).starts_with("s.csv:9: "));
  CHECK(fault_of(table(20, "x,time_ms", row), {"time", {"z"}}).find("z") != std::string::npos);
  CHECK(
      fault_of(table(20, "x,time_ms", row), {"time", {"x", "time_ms"}}).find("found 'time_ms' among the parameters") !=
      std::string::npos);
}

TEST_CASE("a time in a unit that nobody knows is refused with the units that are") {
  const std::string said = fault_of(table(20, "x,time_min", [](int i) { return fmt::format("{},{}", i, i + 1); }));
  CHECK(said ==
        "s.csv:1: found column 'time_min', whose unit is not known, expected one of time_s, time_ms, time_us, time_ns");
  CHECK(fault_of(table(20, "x,time_kb", [](int i) { return fmt::format("{},{}", i, i + 1); })).find("time_kb") !=
        std::string::npos);
}

TEST_CASE("more tries than configurations are all of them, once; where all times are equal there is no tau") {
  ReplayOptions options;
  options.tries = {10, 45, 60, 100};
  options.runs = 2;
  const TuningSpace space = grid(6, 5, [](int, int, int) { return 1.0; });  // 60 configurations
  const Replay found = replay(space, options, {});
  std::vector<int> tries;
  for (const SearchScore& one : found.searches)
    if (one.searcher == "random") tries.push_back(one.tries);
  CHECK(tries == std::vector<int>{10, 45, 60});
  if (boosting_library().empty()) return;
  REQUIRE(found.models.size() == 3);
  CHECK(found.models[2].learned_from == 48);
  for (const ModelScore& one : found.models) CHECK(std::isnan(one.said.rank.median));
}

TEST_CASE("a median over runs, and what the middle eight of ten stay in") {
  const OverRuns ten = over_runs({9, 1, 8, 2, 7, 3, 6, 4, 5, 100});
  CHECK(ten.median == 5.5);
  CHECK(ten.low == 2);
  CHECK(ten.high == 9);
  const OverRuns three = over_runs({3, 1, 2});
  CHECK(three.median == 2);
  CHECK(three.low == 1);
  CHECK(three.high == 3);
}

TEST_CASE("every searcher asks for as many as it may, each once, alike for one seed, and for all finds the optimum") {
  const TuningSpace space = grid(7, 4, product);
  for (const Searcher& searcher : searchers()) {
    if (searcher.learns && boosting_library().empty()) continue;
    CAPTURE(std::string(searcher.name));
    for (const std::size_t budget : {std::size_t{1}, std::size_t{17}, space.size() + 9}) {
      CAPTURE(budget);
      const auto asked = [&](std::uint64_t seed) {
        std::vector<std::size_t> all;
        std::mt19937_64 random(seed);
        searcher.search(prepared(space),
                        [&](std::size_t i) {
                          all.push_back(i);
                          return space.times[i];
                        },
                        budget, random, {});
        return all;
      };
      const std::vector<std::size_t> first = asked(1);
      CHECK(first.size() == std::min(budget, space.size()));
      CHECK(std::set<std::size_t>(first.begin(), first.end()).size() == first.size());
      CHECK(asked(1) == first);
      if (budget > 1) CHECK(asked(2) != first);
    }
  }
}

TEST_CASE("the more tries the nearer to the optimum, which all tries reach; failures are never the best" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const TuningSpace space = grid(6, 5, product);
  ReplayOptions options;
  options.tries = {5, 12, 30, static_cast<int>(space.size())};
  options.runs = 2;
  int steps = 0, of = 0;
  const Replay found = replay(space, options, {}, [&](int done, int total) {
    CHECK(done == ++steps);
    of = total;
  });
  CHECK(steps == of);
  const std::size_t ways = boosting_library().empty() ? 2 : 3;
  REQUIRE(found.searches.size() == ways * 4);
  for (std::size_t i = 0; i < found.searches.size(); ++i) {
    const SearchScore& one = found.searches[i];
    CAPTURE(std::string(one.searcher));
    CHECK(one.tries == options.tries[i % 4]);
    CHECK(one.ratio.median >= 1);
    CHECK(one.ratio.low <= one.ratio.median);
    CHECK(one.ratio.median <= one.ratio.high);
    if (i % 4 != 0) CHECK(one.ratio.median <= found.searches[i - 1].ratio.median);
    if (i % 4 == 3) CHECK(one.ratio.high == 1);
  }
  CHECK(found.models.size() == (ways == 3 ? 4 : 0));
  options.tries = {1};
  for (const SearchScore& one : replay(grid(6, 5, bowl), options, {}).searches) CHECK(std::isfinite(one.ratio.high));
  options.tries = {5, 12, 30, static_cast<int>(space.size())};
  const Replay again = replay(space, options, {});
  for (std::size_t i = 0; i < found.searches.size(); ++i)
    CHECK(again.searches[i].ratio.median == found.searches[i].ratio.median);
}

TEST_CASE(
    "neighbours go downhill: from anywhere of a bowl the optimum is found by a way no longer than its steps allow") {
  const TuningSpace space = grid(14, 11, bowl);
  // At most 13 + 10 + 1 moves, each after 5 tries at most.
  ReplayOptions options;
  options.tries = {120};
  options.runs = 20;
  options.searchers = {"random", "neighbours"};
  const Replay found = replay(space, options, {});
  CHECK(found.models.empty());
  REQUIRE(found.searches[1].searcher == "neighbours");
  CHECK(found.searches[1].ratio.high == 1);
  CHECK(found.searches[0].ratio.median > 1);
}

TEST_CASE("what is learned from a few tells the rest, and leads sooner to the optimum than chance" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  if (boosting_library().empty()) return skip("this build has no XGBoost");
  const TuningSpace space = grid(32, 24, product);
  ReplayOptions options;
  options.tries = {20, 60};
  options.runs = 3;
  options.searchers = {"learned", "random"};
  const Replay found = replay(space, options, {});
  REQUIRE(found.models.size() == 2);
  CHECK(found.models[0].said.rank.median > 0.5);
  CHECK(found.models[1].said.rank.median > found.models[0].said.rank.median);
  const Prediction& said = found.models[1].said;
  CHECK(said.first.median >= said.first_five.median);
  CHECK(said.first_five.median >= said.first_ten.median);
  CHECK(said.first_ten.median < 1.1);
  CHECK(found.models[1].error.median < found.models[0].error.median);
  REQUIRE(found.searches[3].searcher == "learned");
  REQUIRE(found.searches[1].searcher == "random");
  CHECK(found.searches[3].ratio.median - 1 < 0.5 * (found.searches[1].ratio.median - 1));
}

/// What a feature says of each configuration; nothing where there is no such feature.
std::vector<double> column_of(const Features& features, const std::string& name) {
  std::vector<double> values;
  const auto at = std::find(features.names.begin(), features.names.end(), name);
  if (at == features.names.end()) return values;
  const auto place = static_cast<std::size_t>(at - features.names.begin());
  for (std::size_t i = 0; i * features.count() < features.rows.size(); ++i) values.push_back(features.of(i)[place]);
  return values;
}

TEST_CASE("a model is told products, powers of two in whole numbers, and what whole pieces cover of a problem's size") {
  TuningSpace space = grid(12, 3, bowl);
  const std::vector<double> x = column_of(features_of(space), "x"), y = column_of(features_of(space), "y");
  CHECK(column_of(features_of(space), "cover of 100 by x").empty());
  space.problem = {100, 100, 7};
  const Features features = features_of(space);
  const std::vector<double> product = column_of(features, "y * x"),
                            power = column_of(features, "power of two in y * x"),
                            cover = column_of(features, "cover of 100 by x");
  REQUIRE(product.size() == space.size());
  REQUIRE(power.size() == space.size());
  REQUIRE(cover.size() == space.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    CHECK(product[i] == x[i] * y[i]);
    const int whole = static_cast<int>(product[i]), pieces = static_cast<int>(power[i]);
    CHECK(whole % pieces == 0);
    CHECK(whole / pieces % 2 == 1);
    const int piece = static_cast<int>(x[i]);
    CHECK(cover[i] == approx(static_cast<double>((100 + piece - 1) / piece * piece) / 100));
  }
  // Each once, of a switch no more than itself, and none that is the same everywhere.
  const std::set<std::string> names(features.names.begin(), features.names.end());
  CHECK(names.size() == features.count());
  for (const std::string& name : names) {
    if (name != "flag") CHECK(name.find("flag") == std::string::npos);
    const std::vector<double> values = column_of(features, name);
    CHECK(std::set<double>(values.begin(), values.end()).size() > 1);
  }
  // Halves have no power of two.
  for (double& value : space.values) value /= 2;
  for (const std::string& name : features_of(space).names) CHECK(name.find("power") == std::string::npos);
}

TEST_CASE("sizes of a problem are numbers above 1; what has none has no sizes, and what is no JSON is refused") {
  CHECK(problem_sizes(R"({"problem_size": [4096, 2048, 1]})", "s.json") == std::vector<double>{4096, 2048});
  CHECK(problem_sizes(R"({"problem_size": 1000})", "s.json") == std::vector<double>{1000});
  CHECK(problem_sizes(R"({"problem_size": ["n", 64]})", "s.json") == std::vector<double>{64});
  CHECK(problem_sizes(R"({"kernel": "add"})", "s.json").empty());
  CHECK(problem_sizes("[1, 2]", "s.json").empty());
  CHECK_THROWS_AS(problem_sizes("{", "s.json"), Error);
}

TEST_CASE("a model tells what powers of two decide, which trees do not see in the numbers themselves") {
  if (boosting_library().empty()) return skip("this build has no XGBoost");
  const auto law = [](int x, int y, int) {
    return x % 8 == 0 ? 1.0 : x % 4 == 0 ? 1.3 : x % 2 == 0 ? 1.6 : 2.0 + 0 * y;
  };
  ReplayOptions options;
  options.tries = {4};
  options.learn_from = {150};
  options.searchers = {"random"};
  options.runs = 3;
  const Replay found = replay(grid(64, 8, law), options, {});
  REQUIRE(found.models.size() == 1);
  CHECK(found.models[0].learned_from == 150);
  CHECK(found.models[0].said.rank.low > 0.99);
  CHECK(found.models[0].said.first_near == 1);
  CHECK(enough_to_learn_from(found) == 150);
}

TEST_CASE("what is known but for an error ranks the worse the larger that is, and a true one takes the optimum" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  if (boosting_library().empty()) return skip("this build has no XGBoost");
  ReplayOptions options;
  options.tries = {4};
  options.learn_from = {40};
  options.searchers = {"random"};
  options.runs = 40;
  // Steps of a tenth: a hundredth of error leaves nearly all in order, twice a step very few.
  const Replay found = replay(grid(10, 8, [](int x, int y, int) { return std::pow(1.1, x + 10 * y); }), options, {});
  REQUIRE(found.noisy.size() > 2);
  CHECK(found.noisy.front().said.first_near > 0.9);
  for (std::size_t i = 1; i < found.noisy.size(); ++i) {
    CHECK(found.noisy[i].error > found.noisy[i - 1].error);
    CHECK(found.noisy[i].said.rank.median < found.noisy[i - 1].said.rank.median);
    CHECK(found.noisy[i].said.first_ten.median <= found.noisy[i].said.first.median);
  }
  CHECK(found.noisy.back().said.first_near < 0.5);
}

TEST_CASE("the number to learn from is the one from which on all are near, not the first that is by luck") {
  const auto score = [](int n, double first) {
    ModelScore one;
    one.learned_from = n;
    one.said.first.median = first;
    return one;
  };
  Replay found;
  CHECK(enough_to_learn_from(found) == 0);
  found.models = {score(50, 1.04), score(100, 1.2), score(200, 1.05), score(400, 1.01)};
  CHECK(enough_to_learn_from(found) == 200);
  found.models.push_back(score(800, 1.06));
  CHECK(enough_to_learn_from(found) == 0);
}

TEST_CASE("a searcher that is none is refused with those there are") {
  try {
    replay(grid(5, 5, bowl), {.searchers = {"randon"}}, {});
    FAIL("it ran");
  } catch (const Error& error) {
    CHECK(error.message == "found searcher 'randon', expected one of random, neighbours, learned");
    CHECK(error.hint.find("random") != std::string::npos);
  }
}

TEST_CASE("a search that is asked to stop ends") {
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(replay(grid(5, 5, bowl), {}, source.get_token()), Error);
}

}  // namespace
}  // namespace tailor::calibrate
