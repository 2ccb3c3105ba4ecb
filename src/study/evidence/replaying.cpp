// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Replays as tables. In: a question: a file and how often it is searched. Out: a row for each way of searching and
// number of tries, a row for each number of configurations that a model was learned from, and the space in figures.
// Called through replaying.h. Where all tries of a run failed there is no best time, and the cell stays empty.
#include "study/evidence/replaying.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/compressed.h"
#include "base/counted.h"
#include "base/error.h"
#include "calibrate/boosting.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using calibrate::TuningSpace;
using report::Cell;
using report::Hint;
using report::Table;

Table space_table(const TuningSpace& space, const calibrate::Replay& replay) {
  std::vector<double> times;
  std::copy_if(space.times.begin(), space.times.end(), std::back_inserter(times),
               [](double time) { return std::isfinite(time); });
  std::sort(times.begin(), times.end());
  const auto near = std::upper_bound(times.begin(), times.end(), 1.05 * times[0]) - times.begin();
  const int enough = calibrate::enough_to_learn_from(replay);
  Table table;
  table.title = "the space";
  table.columns = {column("configurations", "configurations", Hint::count),
                   column("failed", "failed", Hint::count),
                   column("parameters", "parameters"),
                   column("optimum", "optimum", Hint::seconds),
                   column("near", "within 5 % of it", Hint::count),
                   column("enough", "first is within 5 % from", Hint::count),
                   column("median_time", "median over it", Hint::ratio),
                   column("worst_time", "worst over it", Hint::ratio)};
  table.rows.push_back({static_cast<std::int64_t>(space.size()), static_cast<std::int64_t>(space.failed()),
                        fmt::format("{}", fmt::join(space.parameters, ", ")), times[0], static_cast<std::int64_t>(near),
                        enough > 0 ? Cell(std::int64_t{enough}) : Cell(), times[times.size() / 2] / times[0],
                        times.back() / times[0]});
  return table;
}

void add_over_runs(std::vector<report::Column>& columns, const std::string& key, const std::string& heading, Hint hint,
                   int sacrifice = 0) {
  columns.push_back(column(key, heading, hint, sacrifice));
  columns.push_back(column(key + "_low", "low", hint, 3));
  columns.push_back(column(key + "_high", "high", hint, 3));
}

void add_over_runs(std::vector<Cell>& row, const calibrate::OverRuns& values) {
  for (const double value : {values.median, values.low, values.high})
    row.push_back(std::isfinite(value) ? Cell(value) : Cell());
}

Table search_table(const calibrate::Replay& replay) {
  Table table;
  table.title = "the best time found after so many tries, over the optimum";
  table.columns = {column("searcher", "searcher"), column("tries", "tries", Hint::count)};
  add_over_runs(table.columns, "best", "best found", Hint::ratio);
  for (const calibrate::SearchScore& score : replay.searches) {
    table.rows.push_back({std::string(score.searcher), static_cast<std::int64_t>(score.tries)});
    add_over_runs(table.rows.back(), score.ratio);
  }
  return table;
}

void add_prediction(std::vector<report::Column>& columns) {
  add_over_runs(columns, "tau", "Kendall's tau", Hint::number);
  add_over_runs(columns, "first", "its first over the fastest", Hint::ratio);
  add_over_runs(columns, "first_five", "best of its first five", Hint::ratio, 2);
  add_over_runs(columns, "first_ten", "best of its first ten", Hint::ratio);
  columns.push_back(column("first_near", "first within 5 %", Hint::fraction));
}

void add_prediction(std::vector<Cell>& row, const calibrate::Prediction& said) {
  for (const calibrate::OverRuns* values : {&said.rank, &said.first, &said.first_five, &said.first_ten})
    add_over_runs(row, *values);
  row.emplace_back(said.first_near);
}

Table model_table(const calibrate::Replay& replay) {
  Table table;
  table.title = "a model learned from so many drawn at random, asked about all others";
  table.columns = {column("learned_from", "learned from", Hint::count)};
  add_prediction(table.columns);
  add_over_runs(table.columns, "error", "off by where fast", Hint::fraction);
  for (const calibrate::ModelScore& score : replay.models) {
    table.rows.push_back({static_cast<std::int64_t>(score.learned_from)});
    add_prediction(table.rows.back(), score.said);
    add_over_runs(table.rows.back(), score.error);
  }
  return table;
}

Table noisy_table(const calibrate::Replay& replay) {
  Table table;
  table.title = "the true times of all, but for an error of each that is drawn";
  table.columns = {column("error", "off by in the median", Hint::fraction)};
  add_prediction(table.columns);
  for (const calibrate::NoisyScore& score : replay.noisy) {
    table.rows.push_back({score.error});
    add_prediction(table.rows.back(), score.said);
  }
  return table;
}

/// What the tables do not say of what was asked.
void warn(const ReplayQuestion& question, const TuningSpace& space, const calibrate::Replay& replay,
          Observer& observer) {
  const std::vector<int>& tries = question.options.tries;
  const std::size_t all = space.size(), learned = calibrate::most_learned(space);
  if (static_cast<std::size_t>(tries.back()) > all)
    observer.warning(
        fmt::format("the space has {}: more tries than that count as all of them", counted(all, "configuration")));
  const std::vector<int>& counts = question.options.learn_from.empty() ? tries : question.options.learn_from;
  if (!replay.models.empty() && static_cast<std::size_t>(counts.back()) > learned)
    observer.warning(fmt::format("a model learns from {} at most, four fifths, so that some are left to ask it about",
                                 counted(learned, "configuration")));
  std::vector<double> worked;
  for (const double time : space.times)
    if (std::isfinite(time)) worked.push_back(time);
  const std::vector<std::string>& wanted = question.options.searchers;
  const bool learns = !question.options.learn_from.empty() || wanted.empty() ||
                      std::find(wanted.begin(), wanted.end(), "learned") != wanted.end();
  if (std::adjacent_find(worked.begin(), worked.end(), std::not_equal_to<>()) == worked.end())
    observer.warning("all times are equal: every try that works finds the optimum, and Kendall's tau has no value");
  else if (std::any_of(replay.models.begin(), replay.models.end(),
                       [](const calibrate::ModelScore& one) { return !std::isfinite(one.said.rank.median); }))
    observer.warning("Kendall's tau has no value where a model predicts the same time for all");
  if (learns && replay.models.empty())
    observer.warning(fmt::format("no model was learned: there is no XGBoost; {}", calibrate::boosting_remedy()));
}

void check(const calibrate::ReplayOptions& options) {
  const auto rises = [](const std::vector<int>& counts) {
    return (counts.empty() || counts[0] > 0) &&
           std::adjacent_find(counts.begin(), counts.end(), std::greater_equal<>()) == counts.end();
  };
  if (options.tries.empty() || !rises(options.tries) || options.runs < 1)
    throw Error(Fault::usage,
                fmt::format("--tries {} and --runs {}: expected numbers of tries that rise from 1 or more, and a run",
                            fmt::join(options.tries, ","), options.runs),
                "for example: --tries 10,50,200 --runs 20");
  if (!rises(options.learn_from))
    throw Error(Fault::usage,
                fmt::format("--learn-from {}: expected numbers of configurations that rise from 1 or more",
                            fmt::join(options.learn_from, ",")),
                "for example: --learn-from 100,400,1600");
}

/// "a/space.json" of "a/space.csv" and of "a/space.csv.gz".
std::string description_of(const std::string& table) {
  std::filesystem::path path(table);
  if (path.extension() != ".csv") path.replace_extension();
  return path.replace_extension(".json").string();
}

}  // namespace

std::vector<std::pair<std::string, Table>> replay_tables(const ReplayQuestion& question, const Watch& watch) {
  check(question.options);
  TuningSpace space = calibrate::read_space(
      calibrate::parse_csv(read_unpacked(question.table), question.table, watch.stop), question.columns);
  if (const std::string file = description_of(question.table); std::filesystem::exists(file))
    space.problem = calibrate::problem_sizes(read_unpacked(file), file);
  const calibrate::Replay replay = calibrate::replay(space, question.options, watch.stop, [&](int done, int total) {
    watch.observer.progress({"replaying", done, total, ""});
  });
  watch.observer.finish();
  std::vector<std::pair<std::string, Table>> tables{{"searches", search_table(replay)}};
  if (!replay.models.empty()) {
    tables.emplace_back("models", model_table(replay));
    tables.emplace_back("noisy", noisy_table(replay));
  }
  tables.emplace_back("space", space_table(space, replay));
  warn(question, space, replay, watch.observer);
  return tables;
}

}  // namespace tailor::study
