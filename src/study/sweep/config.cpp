// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading a sweep file: one table row per key, each with the function that checks and stores its value. In: a path.
// Out: a SweepConfig, or an Error with line and column. Called by sweeps; fuzzed. The same table gives the list of
// known keys that a message names.
#include "study/sweep/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "explore/partition_file.h"
#include "explore/plans/space.h"
#include "explore/strategy.h"
#include "study/sweep/claim.h"

namespace tailor::study {

namespace {

constexpr std::int64_t most_plans = 1'000'000'000;
constexpr std::int64_t longest_shortlist = 10'000;
constexpr std::int64_t most_seeds = 1000;

/// Keys that say nothing by null, as if they were not there: what is taken where nobody says it has no value of its
/// own, and a file that shows every key (effective_text) reads back.
bool may_be_null(std::string_view key) {
  constexpr std::array keys = std::to_array<std::string_view>(
      {"question", "claim", "baseline", "check.top", "check.blocks", "profile.top", "database", "report", "grid"});
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// A value of the file and the way to it ("plans.axes.threads[1]").
struct Value {
  const Json& node;
  std::string path;
};

/// The file being read: everything a message needs.
class Reader {
 public:
  Reader(std::string_view text, const std::filesystem::path& file) : text_(text), file_(file) {}

  [[noreturn]] void fail(Fault fault, std::size_t offset, std::string message, std::string hint) const {
    throw Error(fault, position_at(text_, offset, file_.string()), std::move(message), std::move(hint));
  }
  [[noreturn]] void wrong(const Value& value, std::string_view expected) const {
    fail(Fault::usage, value.node.offset,
         fmt::format("'{}' is {}, {} was expected", value.path, kind_of(value.node), expected), {});
  }

  /// Runs `check`, whose words gain the value's place.
  template <class Check>
  void at(const Value& value, Check&& check) const {
    with_position([&] { return position_at(text_, value.node.offset, file_.string()); }, std::forward<Check>(check));
  }

  const std::string& string(const Value& value) const {
    const std::string* text = value.node.string();
    if (text == nullptr) wrong(value, "a string");
    if (text->empty()) fail(Fault::usage, value.node.offset, fmt::format("'{}' is empty", value.path), {});
    return *text;
  }
  bool truth(const Value& value) const {
    if (!value.node.boolean()) wrong(value, "true or false");
    return *value.node.boolean();
  }
  double number(const Value& value) const {
    if (!value.node.number()) wrong(value, "a number");
    return *value.node.number();
  }
  std::int64_t integer(const Value& value, std::int64_t low, std::int64_t high, std::string hint = {}) const {
    if (!value.node.number()) wrong(value, "a whole number");
    std::optional<std::int64_t> integer = value.node.integer();
    // 4.0 is a whole number to JSON's schemas too.
    if (const double real = *value.node.number(); !integer && real == std::floor(real) && std::fabs(real) < 0x1p53)
      integer = static_cast<std::int64_t>(real);
    if (!integer || *integer < low || *integer > high)
      fail(Fault::usage, value.node.offset,
           fmt::format("'{}' is {}, a whole number from {} to {} was expected", value.path, *value.node.number(), low,
                       high),
           std::move(hint));
    return *integer;
  }
  std::vector<Value> list(const Value& value) const {
    if (value.node.array() == nullptr) wrong(value, "a list");
    if (value.node.array()->empty())
      fail(Fault::usage, value.node.offset, fmt::format("'{}' is an empty list", value.path), "name at least one");
    std::vector<Value> items;
    for (const Json& node : *value.node.array())
      items.push_back({node, fmt::format("{}[{}]", value.path, items.size())});
    return items;
  }
  /// The strings of a list, each once.
  std::vector<std::string> names(const Value& value) const {
    std::vector<std::string> result;
    for (const Value& item : list(value)) {
      const std::string& name = string(item);
      if (std::find(result.begin(), result.end(), name) != result.end())
        fail(Fault::usage, item.node.offset, fmt::format("'{}' repeats '{}'", item.path, name), "remove one");
      result.push_back(name);
    }
    return result;
  }
  std::filesystem::path resolved(const std::string& path) const {
    return (file_.parent_path() / path).lexically_normal();
  }
  /// A strategy's name as it is; the path of a partition file resolved.
  std::string strategy(const std::string& name) const {
    return name.ends_with(explore::partition_file_ending) ? resolved(name).string() : name;
  }
  /// The name of a device or a calibration as it is; the path of a file of either resolved, if it is there.
  std::string numbers(const std::string& name) const {
    const bool is_path = name.find('/') != name.npos || name.ends_with(".json");
    std::error_code absent;
    return is_path && std::filesystem::exists(resolved(name), absent) ? resolved(name).string() : name;
  }

  /// Calls the row's function for each member of an object; refuses unknown and repeated keys.
  template <class Target, std::size_t N>
  void members(
      const Value& object, Target& target,
      const std::array<std::pair<std::string_view, void (*)(const Reader&, const Value&, Target&)>, N>& table) const {
    const Json::Object& given = members_of(object);
    std::vector<std::string_view> known;
    for (const auto& row : table) known.push_back(row.first);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string& key = given[i].key;
      const std::string path = object.path.empty() ? key : object.path + "." + key;
      const auto found = std::find(known.begin(), known.end(), key);
      if (found == known.end())
        fail(Fault::usage, given[i].offset, fmt::format("unknown key '{}'", path), suggestion(key, known));
      refuse_repeated(given, i, path);
      if (given[i].value.null() && may_be_null(path)) continue;
      table[static_cast<std::size_t>(found - known.begin())].second(*this, {given[i].value, path}, target);
    }
  }
  const Json::Object& members_of(const Value& object) const {
    if (object.node.object() == nullptr) wrong(object, "an object");
    return *object.node.object();
  }
  void refuse_repeated(const Json::Object& members, std::size_t i, const std::string& path) const {
    const auto end = members.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(members.begin(), end, [&](const Json::Member& before) { return before.key == members[i].key; }))
      fail(Fault::usage, members[i].offset, fmt::format("'{}' is given twice", path), "remove one");
  }

 private:
  std::string_view text_;
  const std::filesystem::path& file_;
};

template <class Target>
using Row = std::pair<std::string_view, void (*)(const Reader&, const Value&, Target&)>;

void read_metric(const Reader& r, const Value& v, Claim& claim) {
  claim.metric = r.string(v);
  r.at(v, [&] { find_metric(claim.metric); });
}

// clang-format off
constexpr auto claim_table = std::to_array<Row<Claim>>({
    {"text",      [](const Reader& r, const Value& v, Claim& claim) { claim.text = r.string(v); }     },
    {"metric",    read_metric},
    {"threshold", [](const Reader& r, const Value& v, Claim& claim) { claim.threshold = r.number(v); }},
});
// clang-format on

void read_models(const Reader& r, const Value& v, SweepConfig& config) {
  const std::vector<std::string> names = r.names(v);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::filesystem::path path = r.resolved(names[i]);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      r.fail(Fault::missing, (*v.node.array())[i].offset,
             fmt::format("'{}[{}]': there is no file '{}'", v.path, i, path.string()),
             "paths start at the folder of the sweep file");
    for (std::size_t k = 0; k < config.models.size(); ++k)
      if (std::filesystem::equivalent(config.models[k], path, ignored))
        r.fail(Fault::usage, (*v.node.array())[i].offset,
               fmt::format("'{}[{}]' is the same file as '{}[{}]', '{}'", v.path, i, v.path, k, path.string()),
               "remove one");
    config.models.push_back(path);
  }
}

void read_strategies(const Reader& r, const Value& v, SweepConfig& config) {
  config.strategies = r.names(v);
  for (std::size_t i = 0; i < config.strategies.size(); ++i) {
    std::string& name = config.strategies[i];
    const Json& node = (*v.node.array())[i];
    if (name.ends_with(explore::partition_file_ending)) {
      name = r.strategy(name);  // read when the sweep begins
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(name, ignored))
        r.fail(Fault::missing, node.offset, fmt::format("'{}[{}]': there is no file '{}'", v.path, i, name),
               "tailor fuse MODEL --write-partition FILE.partition makes one; paths start at the folder of the sweep "
               "file");
    } else
      r.at({node, v.path}, [&] { explore::find_strategy(name); });
  }
}

void read_devices(const Reader& r, const Value& v, SweepConfig& config) {
  config.devices = r.names(v);
  for (std::string& name : config.devices) name = r.numbers(name);
}

std::string axis_word(const Reader& r, const Value& v) {
  if (v.node.boolean()) return *v.node.boolean() ? "on" : "off";
  if (v.node.string() != nullptr) return r.string(v);
  if (!v.node.number()) r.wrong(v, "a number, a word, or true or false");
  return fmt::format("{}", r.integer(v, 0, most_plans));
}

void read_axes(const Reader& r, const Value& v, SweepConfig& config) {
  const Json::Object& members = r.members_of(v);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string path = v.path + "." + members[i].key;
    r.refuse_repeated(members, i, path);
    AxisRestriction axis{members[i].key, {}};
    explore::Axes all;
    r.at({members[i].value, path}, [&] { explore::restrict_axis(all, {axis.axis, {}}); });
    for (const Value& item : r.list({members[i].value, path})) {
      axis.values.push_back(axis_word(r, item));
      r.at(item, [&] { explore::restrict_axis(all, {axis.axis, {axis.values.back()}}); });
    }
    config.axes.push_back(std::move(axis));
  }
  // The order of keys means nothing: sorted, so that equal restrictions have one text.
  std::sort(config.axes.begin(), config.axes.end(), [](const auto& a, const auto& b) { return a.axis < b.axis; });
}

void read_shape(const Reader& reader, const Value& value, CheckConfig& config) {
  const std::string shape = reader.string(value);
  if (shape != "whole" && shape != "small")
    reader.fail(Fault::usage, value.node.offset, fmt::format("'{}' is '{}'", value.path, shape),
                "expected whole or small");
  config.small_shape = shape == "small";
}

void read_random(const Reader& reader, const Value& value, ProfileConfig& config) {
  config.random = reader.integer(value, 0, longest_shortlist);
}

// clang-format off
constexpr auto plans_table = std::to_array<Row<SweepConfig>>({
    {"max_per_group",
     [](const Reader& r, const Value& v, SweepConfig& config) {
       if (!v.node.null()) config.max_plans_per_group = r.integer(v, 1, most_plans);
     }},
    {"axes",          read_axes          },
});

constexpr auto check_table = std::to_array<Row<CheckConfig>>({
    {"top",    [](const Reader& r, const Value& v, CheckConfig& c) { c.top = r.integer(v, 0, longest_shortlist); }},
    {"seeds",  [](const Reader& r, const Value& v, CheckConfig& c) { c.seeds = r.integer(v, 1, most_seeds); }     },
    {"blocks", [](const Reader& r, const Value& v, CheckConfig& c) { c.blocks = r.integer(v, 0, most_plans); }    },
    {"shape",  read_shape                                                                                         },
});

constexpr auto profile_table = std::to_array<Row<ProfileConfig>>({
    {"top",      [](const Reader& r, const Value& v, ProfileConfig& c) { c.top = r.integer(v, 0, longest_shortlist); }},
    {"random",   read_random},
    {"cache",    [](const Reader& r, const Value& v, ProfileConfig& c) { c.cache = r.names(v); }                      },
    {"stop",     [](const Reader& r, const Value& v, ProfileConfig& c) { c.stop = r.string(v); }                      },
    {"counters", [](const Reader& r, const Value& v, ProfileConfig& c) { c.counters = r.string(v); }                  },
    {"graph",    [](const Reader& r, const Value& v, ProfileConfig& c) { c.graph = r.truth(v); }                      },
    {"checks",   [](const Reader& r, const Value& v, ProfileConfig& c) { c.checks = r.integer(v, 1, most_seeds); }    },
});

constexpr auto config_table = std::to_array<Row<SweepConfig>>({
    {"$schema", [](const Reader& r, const Value& v, SweepConfig&) { r.string(v); }},    // for editors
    {"$from", [](const Reader& r, const Value& v, SweepConfig&) { r.members_of(v); }},  // for people
    {"question", [](const Reader& r, const Value& v, SweepConfig& c) { c.question = r.string(v); }},
    {"claim", [](const Reader& r, const Value& v, SweepConfig& c) { r.members(v, c.claim.emplace(), claim_table); }},
    {"models", read_models},
    {"devices", read_devices},
    {"strategies", read_strategies},
    {"baseline", [](const Reader& r, const Value& v, SweepConfig& c) { c.baseline = r.strategy(r.string(v)); }},
    {"cost_model", [](const Reader& r, const Value& v, SweepConfig& c) { c.cost_model = r.string(v); }},
    {"calibration", [](const Reader& r, const Value& v, SweepConfig& c) { c.calibration = r.numbers(r.string(v)); }},
    {"plans", [](const Reader& r, const Value& v, SweepConfig& c) { r.members(v, c, plans_table); }},
    {"shortlist",
     [](const Reader& r, const Value& v, SweepConfig& c) {
       c.shortlist = r.integer(v, 1, longest_shortlist, "\"compile\": false compiles none");
     }},
    {"compile", [](const Reader& r, const Value& v, SweepConfig& c) { c.compile = r.truth(v); }},
    {"check", [](const Reader& r, const Value& v, SweepConfig& c) { r.members(v, c.check, check_table); }},
    {"profile", [](const Reader& r, const Value& v, SweepConfig& c) { r.members(v, c.profile, profile_table); }},
    {"arch", [](const Reader& r, const Value& v, SweepConfig& c) { c.arch = r.string(v); }},
    {"seed", [](const Reader& r, const Value& v, SweepConfig& c) { c.seed = r.integer(v, 0, INT64_MAX); }},
    {"database", [](const Reader& r, const Value& v, SweepConfig& c) { c.database = r.resolved(r.string(v)); }},
    {"report", [](const Reader& r, const Value& v, SweepConfig& c) { c.report = r.resolved(r.string(v)); }},
    {"grid", [](const Reader&, const Value&, SweepConfig&) {}},  // read_grid() has made points of it
});
// clang-format on

/// Where the value of a key of the outermost object stands; the object itself when the key is absent.
std::size_t find_offset(const Json& root, std::string_view key) {
  const Json* found = root.find(key);
  return found == nullptr ? root.offset : found->offset;
}

/// A claim says of what, how much and over whom: one without these could not fail.
void check_claim(const Reader& reader, const Json& claim, const SweepConfig& config) {
  if (config.claim->metric.empty())
    reader.fail(Fault::usage, claim.offset, "'claim.metric' is missing", "say what the threshold is of");
  const Json* threshold = claim.find("threshold");
  if (threshold == nullptr)
    reader.fail(Fault::usage, claim.offset, "'claim.threshold' is missing, a number above 0 was expected",
                "say how many times better than the baseline the best strategy must be, 2 for one");
  if (config.claim->threshold <= 0)
    reader.fail(Fault::usage, threshold->offset,
                fmt::format("'claim.threshold' is {}, a number above 0 was expected", config.claim->threshold),
                "it is a proportion, which is never below 0: such a claim always holds");
  if (config.strategies.size() < 2)
    reader.fail(Fault::usage, claim.offset,
                fmt::format("'claim' is over the strategy '{}' alone, at least two were expected in 'strategies'",
                            config.strategies.front()),
                "a claim compares the baseline with another strategy");
}

void check_whole(const Reader& reader, const Json& root, SweepConfig& config) {
  if (config.models.empty()) reader.fail(Fault::usage, root.offset, "'models' is missing", "list HLO files");
  if (config.devices.empty())
    reader.fail(Fault::usage, root.offset, "'devices' is missing", "list devices; 'tailor devices' shows them");
  if (!config.check.top) config.check.top = config.shortlist;
  if (!config.profile.top) config.profile.top = config.shortlist;
  if (config.baseline.empty()) config.baseline = config.strategies.front();
  if (std::find(config.strategies.begin(), config.strategies.end(), config.baseline) == config.strategies.end())
    reader.fail(Fault::usage, find_offset(root, "baseline"),
                fmt::format("'baseline' is '{}', which is not among 'strategies'", config.baseline),
                fmt::format("strategies: {}", fmt::join(config.strategies, ", ")));
  if (const Json* claim = root.find("claim"); config.claim && claim != nullptr) check_claim(reader, *claim, config);
}

Json plans_json(const SweepConfig& config) {
  Json axes = Json::Object();
  for (const AxisRestriction& axis : config.axes) axes[axis.axis] = axis.values;
  return {{"max_per_group", config.max_plans_per_group}, {"axes", axes}};
}

/// The file without a grid, or with one combination of its values in place.
SweepConfig read_point(const Reader& reader, const Json& root, const std::filesystem::path& file) {
  SweepConfig config;
  reader.members({root, ""}, config, config_table);
  check_whole(reader, root, config);
  if (config.database.empty())
    config.database = std::filesystem::path(file).replace_extension(".db").lexically_normal();
  return config;
}

constexpr std::string_view axes_prefix = "plans.axes.";

/// A key of the grid as the file has it.
struct GridColumn {
  std::string key;
  std::vector<Json> values;
  std::size_t offset = 0;
};

/// What a grid may turn: what decides results. Words about the file, and where results go, stand once.
bool may_turn(std::string_view key) {
  constexpr std::array once =
      std::to_array<std::string_view>({"$schema", "$from", "question", "claim", "database", "report", "grid", "plans",
                                       "plans.axes", "check", "profile"});
  return !key.starts_with("claim.") && std::find(once.begin(), once.end(), key) == once.end();
}

const Json* find_at(const Json& root, std::string_view key) {
  const Json* at = &root;
  for (const std::string_view name : split(key, '.')) at = at == nullptr ? nullptr : at->find(name);
  return at;
}

/// What a grid can turn instead of `key`.
std::string turnable(const std::string& key, std::vector<std::string_view> known) {
  if (key == "plans" || key == "check" || key == "profile" || key == "plans.axes")
    return fmt::format("name what is inside, as {}", key == "plans" || key == "plans.axes" ? "plans.axes.threads"
                                                     : key == "check"                      ? "check.top"
                                                                                           : "profile.top");
  known.push_back("plans.axes.NAME");
  if (const auto field = ir::plan_field_named(key); field && row(*field).turn > 0)
    return fmt::format("an axis of the plans is written '{}{}'", axes_prefix, key);
  return suggestion(key, known);
}

std::vector<GridColumn> read_grid(const Reader& reader, const Json& root) {
  const Json* grid = root.find("grid");
  if (grid == nullptr || grid->null()) return {};
  const Value whole{*grid, "grid"};
  const Json::Object& members = reader.members_of(whole);
  if (members.empty()) reader.fail(Fault::usage, grid->offset, "'grid' is empty", "name a key, with its values");
  std::vector<std::string> keys = config_keys();
  std::erase_if(keys, [](const std::string& key) { return !may_turn(key); });
  std::vector<std::string_view> known(keys.begin(), keys.end());
  std::vector<GridColumn> columns;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string& key = members[i].key;
    const std::string path = "grid." + key;
    reader.refuse_repeated(members, i, path);
    const bool axis = key.starts_with(axes_prefix) && key.size() > axes_prefix.size();
    if (!axis && std::find(known.begin(), known.end(), key) == known.end())
      reader.fail(Fault::usage, members[i].offset, fmt::format("'{}' is no key that a grid can turn", path),
                  turnable(key, known));
    if (const Json* twice = find_at(root, key))
      reader.fail(Fault::usage, twice->offset, fmt::format("'{}' stands here and in 'grid'", key), "remove one");
    GridColumn column{key, {}, members[i].offset};
    for (const Value& item : reader.list({members[i].value, path})) {
      if (std::find(column.values.begin(), column.values.end(), item.node) != column.values.end())
        reader.fail(Fault::usage, item.node.offset, fmt::format("'{}' repeats {}", item.path, json_text(item.node)),
                    "remove one");
      column.values.push_back(item.node);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

/// The value of a column at a point: points count like figures of a number, the last column turns fastest.
const Json& value_at(const std::vector<GridColumn>& grid, std::size_t column, std::size_t point) {
  for (std::size_t i = grid.size() - 1; i > column; --i) point /= grid[i].values.size();
  return grid[column].values[point % grid[column].values.size()];
}

/// The file with a point's values in the places of their keys. What was read keeps its place in the text.
Json at_point(Json root, const std::vector<GridColumn>& grid, std::size_t point) {
  for (std::size_t i = 0; i < grid.size(); ++i) {
    Json* at = &root;
    bool leads_there = true;  // what stands on the way and is no object the reader refuses by its own name
    for (const std::string_view name : split(grid[i].key, '.')) {
      leads_there = leads_there && (at->null() || at->object() != nullptr);
      if (leads_there) at = &(*at)[name];
      if (leads_there && at->offset == 0) at->offset = grid[i].offset;
    }
    if (leads_there) *at = value_at(grid, i, point);
  }
  return root;
}

/// Models and partition files as resolved, so that the text means the same in any folder.
Json resolved(const Reader& reader, const std::string& key, Json value) {
  const auto turn = [&](const std::string& text) {
    if (key == "models") return reader.resolved(text).string();
    if (key == "strategies" || key == "baseline") return reader.strategy(text);
    return key == "devices" || key == "calibration" ? reader.numbers(text) : text;
  };
  if (const std::string* text = value.string()) return turn(*text);
  if (const Json::Array* items = value.array()) {
    Json::Array all = *items;
    for (Json& item : all)
      if (const std::string* text = item.string()) item = turn(*text);
    return all;
  }
  return value;
}

/// A value for people: a list by its items, a path by its file's name.
std::string in_words(const Json& value) {
  if (const Json::Array* items = value.array()) {
    std::string words;
    for (const Json& item : *items) words += (words.empty() ? "" : "+") + in_words(item);
    return words;
  }
  const std::string* text = value.string();
  return text == nullptr ? json_text(value) : std::filesystem::path(*text).filename().string();
}

std::vector<GridValue> setting_of(const Reader& reader, const std::vector<GridColumn>& grid, std::size_t point) {
  std::vector<GridValue> setting;
  for (std::size_t i = 0; i < grid.size(); ++i) setting.push_back({grid[i].key, in_words(value_at(grid, i, point))});
  for (std::size_t i = 0; i < grid.size(); ++i)  // two files of one name are told apart by their folders
    for (const Json& other : grid[i].values)
      if (!(other == value_at(grid, i, point)) && in_words(other) == setting[i].value)
        setting[i].value = json_text(resolved(reader, grid[i].key, value_at(grid, i, point)));
  return setting;
}

}  // namespace

SweepConfig parse_config(std::string_view text, const std::filesystem::path& file) {
  const Json root = parse_json(text, file.string(), Fault::usage);
  const Reader reader(text, file);
  if (root.object() == nullptr)
    reader.fail(Fault::usage, root.offset, fmt::format("a sweep file is an object, this is {}", kind_of(root)),
                "see experiments/README.md");
  const std::vector<GridColumn> grid = read_grid(reader, root);
  if (grid.empty()) return read_point(reader, root, file);
  std::size_t count = 1;
  for (const GridColumn& column : grid) {
    count *= column.values.size();
    if (count > most_points)
      reader.fail(Fault::usage, column.offset, fmt::format("'grid' has more than {}", counted(most_points, "point")),
                  "take values away, or split the file");
  }
  std::vector<SweepConfig> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(read_point(reader, at_point(root, grid, i), file));
  for (std::size_t i = 0; i < count; ++i) points[i].setting = setting_of(reader, grid, i);
  SweepConfig config = points.front();
  config.setting.clear();
  for (const GridColumn& column : grid) {
    GridKey& key = config.grid.emplace_back(GridKey{column.key, {}});
    for (const Json& value : column.values) key.values.push_back(json_text(resolved(reader, column.key, value)));
  }
  config.points = std::move(points);
  return config;
}

std::string label(const SweepConfig& point) {
  const auto last = [](std::string_view key) { return key.substr(key.rfind('.') + 1); };
  std::string words;
  for (const GridValue& one : point.setting) {
    const auto alike = std::count_if(point.setting.begin(), point.setting.end(),
                                     [&](const GridValue& other) { return last(other.key) == last(one.key); });
    words += fmt::format("{}{}={}", words.empty() ? "" : ", ", alike > 1 ? one.key : last(one.key), one.value);
  }
  return words;
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  const auto add = [&](std::string_view prefix, const auto& table) {
    for (const auto& row : table) keys.push_back(fmt::format("{}{}", prefix, row.first));
  };
  add("", config_table);
  add("claim.", claim_table);
  add("plans.", plans_table);
  add("check.", check_table);
  add("profile.", profile_table);
  return keys;
}

SweepConfig read_config(const std::filesystem::path& file) { return parse_config(read_file(file), file); }

std::string canonical_text(const SweepConfig& config) {
  Json json;
  if (!config.question.empty()) json["question"] = config.question;
  if (config.claim) {
    json["claim"] = Json{{"metric", config.claim->metric}, {"threshold", config.claim->threshold}};
    if (!config.claim->text.empty()) json["claim"]["text"] = config.claim->text;
  }
  for (const std::filesystem::path& model : config.models) json["models"].push_back(model.string());
  json["devices"] = config.devices;
  json["strategies"] = config.strategies;
  json["baseline"] = config.baseline;
  json["cost_model"] = config.cost_model;
  if (config.calibration != SweepConfig{}.calibration) json["calibration"] = config.calibration;
  json["plans"] = plans_json(config);
  json["shortlist"] = config.shortlist;
  json["compile"] = config.compile;
  json["check"] = Json{{"top", config.check.top.value_or(0)}, {"seeds", config.check.seeds}};
  if (config.check.blocks) json["check"]["blocks"] = *config.check.blocks;
  if (config.check.small_shape) json["check"]["shape"] = "small";
  ProfileConfig usual;
  usual.top = config.shortlist;
  if (config.profile != usual) {
    json["profile"] = Json{{"top", config.profile.top.value_or(0)}, {"cache", config.profile.cache},
                           {"stop", config.profile.stop},           {"counters", config.profile.counters},
                           {"graph", config.profile.graph},         {"checks", config.profile.checks}};
    if (config.profile.random > 0) json["profile"]["random"] = config.profile.random;
  }
  json["arch"] = config.arch;
  json["seed"] = config.seed;
  if (!config.database.empty()) json["database"] = config.database.string();
  if (!config.report.empty()) json["report"] = config.report.string();
  return json_text(json, 2) + "\n";
}

Id id_of(const SweepConfig& config) {
  std::string ids;
  for (const SweepConfig& point : config.points) ids += hex(id_of(point));
  if (!ids.empty()) return tailor::id_of(std::string_view(ids));
  SweepConfig rows = config;
  rows.database.clear();
  rows.report.clear();
  for (std::filesystem::path& model : rows.models) model = model.filename();
  return tailor::id_of(canonical_text(rows));
}

Id plan_space_id(const SweepConfig& config) {
  Json json = plans_json(config);
  json["cost_model"] = config.cost_model;
  // Plans that were written with other fields are no answer to what is asked today.
  std::string fields;
  for (const ir::PlanFieldRow& field : ir::plan_fields())
    fields += fmt::format("{}({}) ", field.name, fmt::join(field.words, ","));
  json["plan_fields"] = fields;
  return tailor::id_of(json_text(json));
}

}  // namespace tailor::study
