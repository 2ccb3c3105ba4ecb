// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Results of a grid's points, grouped. In: rows of a database, keys. Out: a table. Called by tailor report --by. A
// speed-up is over the sum of the baseline's times of the same runs, as a claim has it, so rows of equal models can be
// compared with one another.
//
// A *run* is one model on one device at one point. What a row of the table adds up are runs, and what tells one run
// from another are the model, the device and the point's values at all keys that are not asked for. Points need not
// have the same models, devices and strategies. So rows are put into classes, and within a class only runs are added
// up that each row has. There is one class of all rows where they have a run in common; else one for each value of the
// keys, so that strategies can still be compared; else each row is alone. A time that is in part a bound is not added
// to predictions: a run stands in another row when any row of its class has a group without a plan in it.
#include "study/sweep/grid_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;

std::string_view last_word(std::string_view key) { return key.substr(key.rfind('.') + 1); }

/// The points of the grid whose point was swept last.
std::vector<store::PointRow> latest_points(const store::Store& store) {
  std::vector<store::PointRow> latest;
  const std::vector<store::PointRow> points = store.points();
  if (points.empty())
    throw Error(Fault::missing, "no grid was swept into this database, so there is nothing to group by",
                "a sweep file with the key 'grid' has one: experiments/README.md");
  std::set<Id> known;
  for (const store::PointRow& point : points) known.insert(point.id);
  for (const store::RunRow& run : store.runs())
    if (run.config_id && known.contains(*run.config_id)) latest = grid_of(store, *run.config_id);
  return latest.empty() ? grid_of(store, points.front().id) : latest;
}

/// What a row may be grouped by besides strategies, and what it has there.
using Setting = std::vector<std::pair<std::string, std::string>>;

Setting setting_of(const store::PointRow& point) {
  Setting setting;
  const Json json = parse_json(point.setting, "points");
  for (const Json::Member& one : *json.object()) setting.emplace_back(one.key, *one.value.string());
  setting.emplace_back("point", fmt::format("{}", point.number));
  setting.emplace_back("model", "");
  setting.emplace_back("device", "");
  return setting;
}

/// The places of the keys in a setting.
std::vector<std::size_t> places_of(const Setting& setting, const std::vector<std::string>& by) {
  std::vector<std::string_view> known;
  for (const auto& [key, value] : setting) known.push_back(key);
  std::vector<std::size_t> places;
  for (const std::string& word : by) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](auto key) { return key == word || last_word(key) == word; });
    if (found == known.end())
      throw Error(Fault::usage,
                  fmt::format("--by: found '{}', expected a key of the grid, model, device or point", word),
                  suggestion(word, known));
    const auto place = static_cast<std::size_t>(found - known.begin());
    if (std::find(places.begin(), places.end(), place) != places.end())
      throw Error(Fault::usage, fmt::format("--by: found '{}' twice, expected each key once", *found),
                  "leave one of them out");
    places.push_back(place);
  }
  return places;
}

/// The most precise level that a point's sweep asks of plans: what compiled has looked at registers, what executed has
/// counted. By the run that swept it last; empty where no run of it is known.
std::string level_of(const std::vector<store::RunRow>& runs, Id point) {
  const store::RunRow* last = nullptr;
  for (const store::RunRow& run : runs)
    if (run.config_id == point && (last == nullptr || run.started_at >= last->started_at)) last = &run;
  if (last == nullptr) return {};
  const Json config = parse_json(last->config, "runs");
  const auto number = [&](std::string_view key, std::string_view inside) -> std::int64_t {
    const Json* found = config.find(key);
    found = found == nullptr ? nullptr : found->find(inside);
    return found == nullptr ? 0 : found->integer().value_or(0);
  };
  if (last->toolchain != "none") {
    const bool checks = number("check", "top") > 0 && last->command.find("--no-check") == std::string::npos;
    return std::string(name(checks ? ir::Level::counted : ir::Level::compiled));
  }
  const Json* model = config.find("cost_model");
  return model == nullptr || model->string() == nullptr ? std::string() : *model->string();
}

/// One strategy on one model and device at one point.
struct GridRun {
  store::PointResultRow result;
  std::optional<double> baseline;                 ///< seconds of the point's baseline
  std::optional<double> baseline_without_plan{};  ///< its launches of groups without one
  std::string model, device, label, level;
};

/// A row before it is added up: by what tells its runs apart.
using Runs = std::map<std::vector<std::string>, GridRun>;

struct Rows {
  std::vector<std::vector<std::string>> order;  ///< values at the keys, then the strategy, as they first come
  std::map<std::vector<std::string>, Runs> runs;
  std::map<std::string, std::set<Id>> versions;  ///< of a model's name: files of other contents
};

/// Whether every point has one device: then points of different devices can be compared by the key `devices`.
bool one_device_each(const std::vector<std::vector<store::PointResultRow>>& results) {
  return std::all_of(results.begin(), results.end(), [](const std::vector<store::PointResultRow>& rows) {
    return std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row.device == rows.front().device; });
  });
}

Rows rows_of(const store::Store& store, const std::vector<store::PointRow>& points,
             const std::vector<std::size_t>& places) {
  std::map<Id, std::string> models, devices;
  for (const store::GraphRow& graph : store.graphs()) models[graph.id] = graph.name;
  for (const store::DeviceRow& device : store.devices()) devices[device.id] = device.name;
  std::vector<std::vector<store::PointResultRow>> results;
  for (const store::PointRow& point : points) results.push_back(store.point_results(point.id));
  const bool one_device = one_device_each(results);
  const std::vector<store::RunRow> swept = store.runs();
  Rows rows;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string level = level_of(swept, points[i].id);
    for (const store::PointResultRow& row : results[i]) {
      GridRun run{row, {}, {}, models[row.graph], devices[row.device], points[i].label, level};
      for (const store::PointResultRow& other : results[i])
        if (other.strategy == points[i].baseline && other.graph == row.graph && other.device == row.device) {
          run.baseline = other.kernel_time.value;
          run.baseline_without_plan = other.launches_without_plan;
        }
      Setting setting = setting_of(points[i]);
      setting[setting.size() - 2].second = run.model;
      setting[setting.size() - 1].second = run.device;
      std::set<std::string> told;
      std::vector<std::string> key, apart;
      for (const std::size_t place : places) {
        key.push_back(setting[place].second);
        told.insert(setting[place].first);
      }
      key.push_back(row.strategy);
      if (told.contains("devices") && one_device) told.insert("device");
      for (const auto& [name, value] : setting)  // a point's number is all of its values
        if (!told.contains(name) && (name == "model" || name == "device" || !told.contains("point")))
          if (name != "point") apart.push_back(value);
      apart.push_back(told.contains("model") ? "" : hex(row.graph));
      if (!rows.runs.contains(key)) rows.order.push_back(key);
      rows.versions[run.model].insert(row.graph);
      rows.runs[key].emplace(std::move(apart), std::move(run));
    }
  }
  return rows;
}

/// How widely rows can be compared.
enum class Compared { all, strategies, none };

/// A row's class: rows of one class add up the same runs.
std::vector<std::string> class_of(const std::vector<std::string>& key, Compared compared) {
  if (compared == Compared::all) return {};
  return compared == Compared::none ? key : std::vector<std::string>(key.begin(), key.end() - 1);
}

/// What each row of a class has, by class; `partly` those in which some row has a group without a plan.
struct Common {
  std::map<std::vector<std::string>, std::set<std::vector<std::string>>> runs, partly;
};

Common common_runs(const Rows& rows, Compared compared) {
  Common common;
  for (const auto& [key, runs] : rows.runs) {
    const auto name = class_of(key, compared);
    auto [found, is_first] = common.runs.try_emplace(name);
    if (is_first)
      for (const auto& [apart, run] : runs) found->second.insert(apart);
    std::erase_if(found->second, [&](const auto& apart) { return !runs.contains(apart); });
    for (const auto& [apart, run] : runs)
      if (run.result.launches_without_plan > 0) common.partly[name].insert(apart);
  }
  return common;
}

struct Sums {
  std::int64_t results = 0;
  double launches = 0, without_plan = 0, moved = 0, kernels = 0, library = 0, baseline = 0, baseline_without_plan = 0;
  bool has_baseline = true;
  std::set<std::string> levels;
};

Sums sum_of(const std::vector<const GridRun*>& runs) {
  Sums sum;
  for (const GridRun* run : runs) {
    ++sum.results;
    sum.levels.insert(run->level);
    sum.launches += run->result.launches;
    sum.without_plan += run->result.launches_without_plan;
    sum.moved += run->result.dram.value;
    sum.kernels += run->result.kernel_time.value;
    sum.library += run->result.library_time.value;
    sum.baseline += run->baseline.value_or(0);
    sum.baseline_without_plan += run->baseline_without_plan.value_or(0);
    sum.has_baseline = sum.has_baseline && run->baseline.has_value();
  }
  return sum;
}

/// What the times of a row are; `beside`: some row of its class has a group without a plan in these runs.
std::string time_is(const Sums& sum, bool beside) {
  if (sum.without_plan <= 0) return beside ? "predicted, beside bounds" : "predicted";
  return sum.without_plan < sum.launches ? "in part a bound" : "a bound";
}

/// Baseline over own time; nothing over a bound, or where more of the own time is a bound than of the baseline's.
Cell speedup(const Sums& sum) {
  const bool bounds = sum.without_plan >= sum.launches || sum.without_plan > sum.baseline_without_plan;
  return sum.has_baseline && sum.kernels > 0 && sum.baseline > 0 && !bounds ? Cell(sum.baseline / sum.kernels) : Cell();
}

report::Table empty_table(const std::vector<std::string>& headings, bool partly, bool library) {
  report::Table table;
  table.title = "what the points of the grid came to";
  for (std::size_t i = 0; i < headings.size(); ++i)
    table.columns.push_back(column(fmt::format("by_{}", i + 1), std::string(last_word(headings[i]))));
  for (report::Column one :
       {column("strategy", "strategy"), column("time_is", "times are", Hint::text, partly ? 0 : 6),
        column("level", "level"), column("results", "runs", Hint::count, partly ? 0 : 2),
        column("launches", "launches", Hint::count, 1),
        column("launches_without_plan", "of these no plan", Hint::count, partly ? 0 : 5),
        column("traffic", "traffic", Hint::bytes, 3), column("kernel_time", "kernels take", Hint::seconds),
        column("library_time", "library takes", Hint::seconds, library ? 4 : 9),
        column("speedup_of_kernels", "faster, kernels alone", Hint::ratio)})
    table.columns.push_back(std::move(one));
  return table;
}

/// Runs that were not added up, by model and device.
report::Table left_out_table(const std::map<std::pair<std::string, std::string>, std::map<std::string, int>>& left) {
  report::Table table;
  if (left.empty()) return table;
  table.title = "left out, because some row has no such run";
  table.columns = {column("model", "model"), column("device", "device"), column("results", "runs", Hint::count),
                   sentence("example", "for example at")};
  for (const auto& [who, points] : left) {
    std::int64_t runs = 0;
    for (const auto& [label, count] : points) runs += count;
    table.rows.push_back({who.first, who.second, runs, points.begin()->first});
  }
  return table;
}

/// What a reader must know of the numbers before he compares them.
std::string words_of(const Rows& rows, std::int64_t added, std::int64_t partly, std::int64_t left, Compared compared) {
  std::string words =
      "A run is one model on one device at one point, by one strategy. Times are predicted and added up over the runs; "
      "nothing was measured. Their level is the most precise one that looked at a point's plans.";
  if (added == 0) words = "Nothing can be added up: no point has a result.";
  if (partly > 0)
    words += fmt::format(
        " Groups without a plan count with a bound, which is less than any time: {} with such a group in some row {} "
        "in rows of their own.",
        counted(partly, "run"), partly == 1 ? "stands" : "stand");
  if (left > 0)
    words +=
        fmt::format(" {} left out, because some row has no such run: see below.", counted(left, "run", "is", "are"));
  if (compared == Compared::strategies)
    words += " Rows of different values add up different models: compare strategies of one value alone.";
  if (compared == Compared::none)
    words +=
        " Rows add up different runs: only the last column, which is over the baseline of the same runs, compares.";
  for (const auto& [model, files] : rows.versions)
    if (files.size() > 1)
      words += fmt::format(" The database has {} versions of {}, and the runs of all are there.", files.size(), model);
  return words;
}

}  // namespace

std::vector<store::PointRow> grid_of(const store::Store& store, Id point) {
  std::vector<store::PointRow> points = store.points();
  const auto found = std::find_if(points.begin(), points.end(), [&](const auto& one) { return one.id == point; });
  if (found == points.end()) return {};
  std::erase_if(points, [grid = found->grid](const store::PointRow& one) { return one.grid != grid; });
  return points;
}

GridAnswer grid_table(const store::Store& store, const std::vector<std::string>& by) {
  const std::vector<store::PointRow> points = latest_points(store);
  const Setting setting = setting_of(points.front());
  const std::vector<std::size_t> places = places_of(setting, by);
  const Rows rows = rows_of(store, points, places);
  Compared compared = Compared::all;
  const auto nothing_alike = [](const auto& one) { return one.second.empty(); };
  Common common = common_runs(rows, compared);
  for (const Compared next : {Compared::strategies, Compared::none})
    if (std::any_of(common.runs.begin(), common.runs.end(), nothing_alike)) common = common_runs(rows, compared = next);
  std::int64_t added = 0, partly = 0, left = 0;
  bool library = false;
  std::map<std::pair<std::string, std::string>, std::map<std::string, int>> left_out;
  std::vector<std::vector<Cell>> lines;
  for (const std::vector<std::string>& key : rows.order) {
    const auto name = class_of(key, compared);
    std::array<std::vector<const GridRun*>, 2> apart;  // predicted; in part bounds
    for (const auto& [what, run] : rows.runs.at(key)) {
      if (common.runs.at(name).contains(what)) {
        apart[common.partly[name].contains(what) ? 1 : 0].push_back(&run);
        continue;
      }
      ++left;
      ++left_out[{run.model, run.device}][run.label];
    }
    added += std::ssize(apart[0]) + std::ssize(apart[1]);
    partly += std::ssize(apart[1]);
    for (const auto& runs : apart) {
      if (runs.empty()) continue;
      const Sums sum = sum_of(runs);
      library = library || sum.library > 0;
      std::vector<Cell> row(key.begin(), key.end());
      row.insert(row.end(), {time_is(sum, &runs == &apart[1]), fmt::format("{}", fmt::join(sum.levels, ", ")),
                             sum.results, whole_count(sum.launches), whole_count(sum.without_plan), sum.moved,
                             sum.kernels, sum.library > 0 ? Cell(sum.library) : Cell(), speedup(sum)});
      lines.push_back(std::move(row));
    }
  }
  std::vector<std::string> headings;
  for (const std::size_t place : places) headings.push_back(setting[place].first);
  GridAnswer answer{empty_table(headings, partly > 0, library), left_out_table(left_out),
                    words_of(rows, added, partly, left, compared)};
  answer.table.rows = std::move(lines);
  return answer;
}

}  // namespace tailor::study
