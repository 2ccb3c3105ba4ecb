// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// ImportReport to JSON and back. Every value is asked for its type before it is read, so no exception is thrown.
// Called when a graph is stored, and when a report is made of it. A member that is not there or of another type leaves
// its field empty.
#include "study/pipeline/import_summary.h"

#include <span>

#include "base/json.h"

namespace tailor::study {

namespace {

std::string words(const Json& object, const char* key) {
  const Json* found = object.find(key);
  return found != nullptr && found->string() != nullptr ? *found->string() : std::string();
}

std::int64_t number(const Json& object, const char* key) {
  const Json* found = object.find(key);
  return found != nullptr ? found->integer().value_or(0) : 0;
}

/// The list under a key, empty when there is none.
std::span<const Json> list(const Json& object, const char* key) {
  const Json* found = object.find(key);
  if (found == nullptr || found->array() == nullptr) return {};
  return *found->array();
}

}  // namespace

std::string import_summary_json(const ir::ImportReport& report) {
  Json root;
  root["module"] = report.module;
  root["text_bytes"] = report.text_bytes;
  root["instructions"] = report.instructions;
  root["computations"] = report.computations;
  Json& passes = root["passes"] = Json::Array();
  for (const ir::PassReport& pass : report.passes) {
    Json one;
    one["pass"] = pass.pass;
    one["rewrites"] = pass.rewrites;
    one["added"] = pass.added;
    one["removed"] = pass.removed;
    passes.push_back(std::move(one));
  }
  Json& opaque = root["opaque"] = Json::Array();
  for (const auto& [what, count] : report.opaque) opaque.push_back(Json::Array{what, count});
  root["warnings"] = report.warnings;
  return json_text(root);
}

std::optional<ir::ImportReport> import_summary(std::string_view json) {
  const Json root = try_parse_json(json).value_or(Json());
  if (root.find("passes") == nullptr) return std::nullopt;
  ir::ImportReport report;
  report.module = words(root, "module");
  report.text_bytes = number(root, "text_bytes");
  report.instructions = number(root, "instructions");
  report.computations = number(root, "computations");
  for (const Json& one : list(root, "passes"))
    report.passes.push_back(
        {words(one, "pass"), number(one, "rewrites"), number(one, "added"), number(one, "removed")});
  for (const Json& one : list(root, "opaque"))
    if (const Json::Array* pair = one.array();
        pair != nullptr && pair->size() == 2 && (*pair)[0].string() != nullptr && (*pair)[1].integer())
      report.opaque.emplace_back(*(*pair)[0].string(), *(*pair)[1].integer());
  for (const Json& one : list(root, "warnings"))
    if (one.string() != nullptr) report.warnings.push_back(*one.string());
  return report;
}

SweepWords sweep_words(std::string_view config) {
  const Json root = try_parse_json(config).value_or(Json());
  SweepWords found;
  found.question = words(root, "question");
  found.baseline = words(root, "baseline");
  for (const auto& [key, into] : {std::pair{"models", &found.models}, std::pair{"devices", &found.devices},
                                  std::pair{"strategies", &found.strategies}})
    for (const Json& one : list(root, key))
      if (one.string() != nullptr) into->push_back(*one.string());
  const Json* claim = root.find("claim");
  if (claim == nullptr) return found;
  found.claim = words(*claim, "text");
  found.metric = words(*claim, "metric");
  if (const Json* threshold = claim->find("threshold")) found.threshold = threshold->number().value_or(0);
  return found;
}

}  // namespace tailor::study
