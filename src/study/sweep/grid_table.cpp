// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Results of a grid's points, grouped. In: rows of a database, keys. Out: a table. Called by tailor report --by. A
// speed-up is over the sum of the baseline's times at the same points, models and devices, as a claim has it, so rows
// of equal models can be compared with one another.
#include "study/sweep/grid_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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
  std::vector<store::PointRow> points = store.points();
  if (points.empty())
    throw Error(Fault::missing, "no grid was swept into this database, so there is nothing to group by",
                "a sweep file with the key 'grid' has one: experiments/README.md");
  std::optional<Id> latest;
  for (const store::RunRow& run : store.runs())
    for (const store::PointRow& point : points)
      if (run.config_id == point.id) latest = point.grid;
  std::erase_if(points,
                [&](const store::PointRow& point) { return point.grid != latest.value_or(points.front().grid); });
  return points;
}

/// What a row may be grouped by besides strategies, and what it has there.
using Setting = std::vector<std::pair<std::string, std::string>>;

Setting setting_of(const store::PointRow& point) {
  Setting setting;
  const Json json = parse_json(point.setting, "points");
  for (const Json::Member& one : *json.object()) setting.emplace_back(one.key, *one.value.string());
  setting.emplace_back("point", fmt::format("{}", point.number));
  return setting;
}

std::size_t find_key(const Setting& setting, const std::string& word) {
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    if (setting[i].first == word || last_word(setting[i].first) == word) return i;
    known.push_back(setting[i].first);
  }
  throw Error(Fault::usage, fmt::format("--by: the grid does not turn '{}'", word), suggestion(word, known));
}

struct Sums {
  std::int64_t results = 0;
  double launches = 0, without_plan = 0, moved = 0, kernels = 0, library = 0, baseline = 0;
};

}  // namespace

report::Table grid_table(const store::Store& store, const std::vector<std::string>& by) {
  std::map<Id, std::string> models, devices;
  for (const store::GraphRow& graph : store.graphs()) models[graph.id] = graph.name;
  for (const store::DeviceRow& device : store.devices()) devices[device.id] = device.name;
  std::vector<std::vector<std::string>> order;  // as they first come
  std::map<std::vector<std::string>, Sums> sums;
  std::vector<std::string> headings;
  for (const store::PointRow& point : latest_points(store)) {
    const std::vector<store::PointResultRow> results = store.point_results(point.id);
    for (const store::PointResultRow& row : results) {
      Setting setting = setting_of(point);
      setting.emplace_back("model", models[row.graph]);
      setting.emplace_back("device", devices[row.device]);
      std::vector<std::string> key;
      headings.clear();
      for (const std::string& word : by) {
        const auto& [name, value] = setting[find_key(setting, word)];
        headings.push_back(name);
        key.push_back(value);
      }
      key.push_back(row.strategy);
      if (!sums.contains(key)) order.push_back(key);
      Sums& sum = sums[key];
      ++sum.results;
      sum.launches += row.launches;
      sum.without_plan += row.launches_without_plan;
      sum.moved += row.dram.value;
      sum.kernels += row.kernel_time.value;
      sum.library += row.library_time.value;
      for (const store::PointResultRow& other : results)
        if (other.strategy == point.baseline && other.graph == row.graph && other.device == row.device)
          sum.baseline += other.kernel_time.value;
    }
  }
  report::Table table;
  table.title = "what the points of the grid came to, one run of each model";
  for (std::size_t i = 0; i < by.size(); ++i)
    table.columns.push_back(column(fmt::format("by_{}", i + 1), std::string(last_word(headings[i]))));
  for (report::Column one :
       {column("strategy", "strategy"), column("results", "models at points", Hint::count, 3),
        column("launches", "launches", Hint::count),
        column("launches_without_plan", "of these no plan", Hint::count, 2),
        column("traffic", "traffic", Hint::bytes, 1), column("kernel_time", "kernels take", Hint::seconds),
        column("library_time", "library takes", Hint::seconds, 4),
        column("speedup_of_kernels", "faster, kernels alone", Hint::ratio)})
    table.columns.push_back(std::move(one));
  for (const std::vector<std::string>& key : order) {
    const Sums& sum = sums[key];
    std::vector<Cell> row(key.begin(), key.end());
    const bool bounds = sum.without_plan >= sum.launches;  // a bound over a bound is no speed-up
    row.insert(row.end(), {sum.results, std::llround(sum.launches), std::llround(sum.without_plan), sum.moved,
                           sum.kernels, sum.library > 0 ? Cell(sum.library) : Cell(),
                           sum.kernels > 0 && sum.baseline > 0 && !bounds ? Cell(sum.baseline / sum.kernels) : Cell()});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tailor::study
