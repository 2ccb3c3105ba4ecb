// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep file with nothing left out. In: a SweepConfig, and which of its keys the file and the command line gave. Out:
// a sweep file that has every key, with paths in full, and says of each where its value is from. Called by tailor sweep
// --show-effective. Keys that a grid turns stand in the grid alone, since the reader refuses them in two places.
#include "study/sweep/effective.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "explore/partition_file.h"

namespace tailor::study {

std::vector<std::string> given_keys(const std::filesystem::path& file) {
  const Json root = parse_json(read_file(file), file.string(), Fault::usage);
  const std::vector<std::string> known = config_keys();
  std::vector<std::string> given;
  const auto add = [&](const std::string& key, const Json& value) {
    if (value.null()) return;
    const bool inner =
        std::any_of(known.begin(), known.end(), [&](const std::string& one) { return one.starts_with(key + "."); });
    if (!inner || key == "claim") given.push_back(key);
    if (!inner || value.object() == nullptr) return;
    for (const Json::Member& one : *value.object())
      if (!one.value.null()) given.push_back(fmt::format("{}.{}", key, one.key));
  };
  if (root.object() != nullptr)
    for (const Json::Member& one : *root.object()) add(one.key, one.value);
  return given;
}

namespace {

/// A name as it is, a path in full.
std::string in_full(const std::string& name) {
  const bool is_path =
      name.find('/') != name.npos || name.ends_with(".json") || name.ends_with(explore::partition_file_ending);
  return is_path ? std::filesystem::absolute(name).lexically_normal().string() : name;
}

Json in_full(const std::filesystem::path& path) {
  return path.empty() ? Json() : Json(std::filesystem::absolute(path).lexically_normal().string());
}

Json in_full(const std::vector<std::string>& names) {
  Json all = Json::Array();
  for (const std::string& name : names) all.push_back(in_full(name));
  return all;
}

Json in_full(const GridKey& column) {
  const bool paths = column.key == "models" || column.key == "strategies" || column.key == "devices" ||
                     column.key == "baseline" || column.key == "calibration";
  Json values = Json::Array();
  for (const std::string& text : column.values) {
    Json value = parse_json(text, "grid");
    if (const std::string* one = value.string(); one != nullptr && paths) value = in_full(*one);
    if (const Json::Array* items = value.array(); items != nullptr && paths) {
      Json::Array all = *items;
      for (Json& item : all)
        if (const std::string* one = item.string()) item = in_full(*one);
      value = std::move(all);
    }
    values.push_back(std::move(value));
  }
  return values;
}

/// Takes the member at "check.top" out.
void take_out(Json& json, std::string_view key) {
  const std::size_t point = key.rfind('.');
  Json* holder = &json;
  if (point != key.npos)
    for (const std::string_view name : split(key.substr(0, point), '.')) holder = &(*holder)[name];
  const std::string_view last = point == key.npos ? key : key.substr(point + 1);
  Json::Object members = *holder->object();
  std::erase_if(members, [&](const Json::Member& one) { return one.key == last; });
  holder->value = std::move(members);
}

/// Values on a line of their own, as far as they fit.
std::string in_lines(const Json& json, std::size_t indent) {
  constexpr std::size_t width = 100;
  const std::string line = json_text(json);
  const bool inside = indent > 0;
  if (inside && line.size() + indent <= width) return line;
  const std::string lead(indent + 2, ' '), end(indent, ' ');
  std::string out;
  const auto add = [&](const std::string& item) { out += fmt::format("{}{}{}", out.empty() ? "" : ",\n", lead, item); };
  if (const Json::Object* members = json.object())
    for (const Json::Member& one : *members)
      add(fmt::format("{}: {}", json_text(Json(one.key)), in_lines(one.value, indent + 2)));
  else if (const Json::Array* items = json.array())
    for (const Json& item : *items) add(in_lines(item, indent + 2));
  else
    return line;
  return fmt::format("{}\n{}\n{}{}", json.object() ? "{" : "[", out, end, json.object() ? "}" : "]");
}

}  // namespace

std::string effective_text(const SweepConfig& config, const std::vector<std::string>& given,
                           const std::vector<std::string>& changed) {
  Json json;
  json["question"] = config.question.empty() ? Json() : Json(config.question);
  json["claim"] = Json();
  if (config.claim) {
    json["claim"] = Json{{"metric", config.claim->metric}, {"threshold", config.claim->threshold}};
    if (!config.claim->text.empty()) json["claim"]["text"] = config.claim->text;
  }
  json["models"] = Json::Array();
  for (const std::filesystem::path& model : config.models) json["models"].push_back(in_full(model));
  json["devices"] = in_full(config.devices);
  json["strategies"] = in_full(config.strategies);
  json["baseline"] = in_full(config.baseline);
  json["cost_model"] = config.cost_model;
  json["calibration"] = in_full(config.calibration);
  json["plans"] = Json{{"max_per_group", config.max_plans_per_group}, {"axes", Json::Object()}};
  for (const AxisRestriction& axis : config.axes) json["plans"]["axes"][axis.axis] = axis.values;
  json["shortlist"] = config.shortlist;
  json["compile"] = config.compile;
  json["check"] = Json{{"top", config.check.top.value_or(config.shortlist)},
                       {"seeds", config.check.seeds},
                       {"blocks", config.check.blocks},
                       {"shape", config.check.small_shape ? "small" : "whole"}};
  const ProfileConfig& how = config.profile;
  json["profile"] = Json{{"top", how.top.value_or(config.shortlist)},
                         {"random", how.random},
                         {"cache", how.cache},
                         {"stop", how.stop},
                         {"counters", how.counters},
                         {"graph", how.graph},
                         {"checks", how.checks}};
  json["arch"] = config.arch;
  json["seed"] = config.seed;
  json["database"] = in_full(config.database);
  json["report"] = in_full(config.report);
  json["grid"] = Json();
  for (const GridKey& column : config.grid) {
    json["grid"][column.key] = in_full(column);
    take_out(json, column.key);
  }
  // What follows another key where it is not said turns with that key.
  const auto turns = [&](std::string_view key) {
    return std::any_of(config.grid.begin(), config.grid.end(), [&](const GridKey& one) { return one.key == key; });
  };
  const auto said = [&](std::string_view key) { return std::find(given.begin(), given.end(), key) != given.end(); };
  if (turns("shortlist") && !turns("check.top") && !said("check.top")) json["check"]["top"] = Json();
  if (turns("shortlist") && !turns("profile.top") && !said("profile.top")) json["profile"]["top"] = Json();
  if (turns("strategies") && !turns("baseline") && !said("baseline")) json["baseline"] = Json();
  Json& from = json["$from"] = Json::Object();
  for (const std::string& key : config_keys()) {
    const bool inner = key == "plans" || key == "check" || key == "profile";
    if (key.starts_with("$") || key.starts_with("claim.") || inner) continue;
    from[key] = std::find(changed.begin(), changed.end(), key) != changed.end() ? "command line"
                : turns(key)                                                    ? "grid"
                : said(key)                                                     ? "file"
                                                                                : "default";
  }
  return in_lines(json, 0) + "\n";
}

}  // namespace tailor::study
