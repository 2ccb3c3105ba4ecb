// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// ImportReport to JSON and back. Every value is asked for its type before it is read, so no exception is thrown.
#include "study/pipeline/import_summary.h"

#include <nlohmann/json.hpp>

namespace tailor::study {

namespace {

using Json = nlohmann::ordered_json;

std::string words(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number(const Json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// The list under a key, empty when there is none.
Json list(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : Json::array();
}

}  // namespace

std::string import_summary_json(const ir::ImportReport& report) {
  Json root = Json::object();
  root["module"] = report.module;
  root["text_bytes"] = report.text_bytes;
  root["instructions"] = report.instructions;
  root["computations"] = report.computations;
  root["passes"] = Json::array();
  for (const ir::PassReport& pass : report.passes) {
    Json one = Json::object();
    one["pass"] = pass.pass;
    one["rewrites"] = pass.rewrites;
    one["added"] = pass.added;
    one["removed"] = pass.removed;
    root["passes"].push_back(std::move(one));
  }
  root["opaque"] = Json::array();
  for (const auto& [what, count] : report.opaque) root["opaque"].push_back(Json::array({what, count}));
  root["warnings"] = report.warnings;
  return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ir::ImportReport> import_summary(std::string_view json) {
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object() || !root.contains("passes")) return std::nullopt;
  ir::ImportReport report;
  report.module = words(root, "module");
  report.text_bytes = number(root, "text_bytes");
  report.instructions = number(root, "instructions");
  report.computations = number(root, "computations");
  for (const Json& one : list(root, "passes"))
    report.passes.push_back(
        {words(one, "pass"), number(one, "rewrites"), number(one, "added"), number(one, "removed")});
  for (const Json& one : list(root, "opaque"))
    if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_number_integer())
      report.opaque.emplace_back(one[0].get<std::string>(), one[1].get<std::int64_t>());
  for (const Json& one : list(root, "warnings"))
    if (one.is_string()) report.warnings.push_back(one.get<std::string>());
  return report;
}

SweepWords sweep_words(std::string_view config) {
  const Json root = Json::parse(config, nullptr, false);
  if (!root.is_object()) return {};
  return {words(root, "question"), words(root, "baseline")};
}

}  // namespace tailor::study
