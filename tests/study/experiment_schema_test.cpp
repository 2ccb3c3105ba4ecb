// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// data/schemas/experiment.json, which editors read, says what the reader of sweep files does: the same keys, the words
// of the same tables, the same defaults. The oracle is the reader with its tables; tests/schemas asks both about whole
// files. Part of the suite `study`.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "costmodel/model.h"
#include "explore/plans/space.h"
#include "folder.h"
#include "ir/measurement.h"
#include "study/sweep/claim.h"
#include "study/sweep/config.h"

using namespace tailor;
using namespace tailor::study;

namespace {

Json schema() {
  const std::filesystem::path file = source / "data" / "schemas" / "experiment.json";
  return parse_json(read_file(file), file.string());
}

const Json& member(const Json& json, std::string_view way) {
  const Json* at = &json;
  for (const std::string_view key : split(way, '.')) {
    at = at->find(key);
    REQUIRE(at != nullptr);
  }
  return *at;
}

std::set<std::string> words(const Json& list) {
  std::set<std::string> result;
  for (const Json& item : *list.array()) result.insert(*item.string());
  return result;
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> result;
  for (const Json::Member& one : *object.object()) result.insert(one.key);
  return result;
}

}  // namespace

TEST_CASE("the schema of experiments has the reader's keys") {
  const Json whole = schema();
  std::set<std::string> published;
  for (const Json::Member& one : *member(whole, "properties").object()) {
    published.insert(one.key);
    const Json* inner = one.value.find("properties");
    if (inner == nullptr) continue;
    for (const std::string& key : keys(*inner)) published.insert(one.key + "." + key);
  }
  const std::vector<std::string> known = config_keys();
  CHECK(published == std::set<std::string>(known.begin(), known.end()));
}

TEST_CASE("the schema of experiments has the words of the tables") {
  const Json whole = schema();
  std::set<std::string> metrics, models, axes, states;
  for (const ClaimMetric& metric : claim_metrics()) metrics.insert(std::string(metric.name));
  for (const costmodel::Model& model : costmodel::models())
    if (model.ranks_plans) models.insert(std::string(model.name));
  for (const ir::PlanField field : explore::axes_of()) axes.insert(std::string(ir::row(field).name));
  CHECK(words(member(whole, "properties.claim.properties.metric.enum")) == metrics);
  CHECK(words(member(whole, "properties.cost_model.enum")) == models);
  CHECK(keys(member(whole, "properties.plans.properties.axes.properties")) == axes);
  for (const std::string& state : words(member(whole, "properties.profile.properties.cache.items.enum")))
    CHECK(ir::cache_state_named(state));
  CHECK(words(member(whole, "properties.check.properties.shape.enum")) == std::set<std::string>{"small", "whole"});
}

TEST_CASE("the defaults of the schema are the reader's") {
  const std::filesystem::path file = source / "experiments" / "test.json";
  Json given{{"models", Json::Array{"../data/models/softmax_fwd_f32_4096x1024.hlo"}}, {"devices", Json::Array{"h200"}}};
  const std::string plain = canonical_text(parse_config(json_text(given), file));
  int defaults = 0;
  const auto take = [&](const Json& properties, Json& into) {
    for (const Json::Member& one : *properties.object())
      if (const Json* value = one.value.find("default")) {
        into[one.key] = *value;
        ++defaults;
      }
  };
  const Json whole = schema();
  take(member(whole, "properties"), given);
  for (const std::string inner : {"check", "profile"})
    take(member(whole, "properties." + inner + ".properties"), given[inner]);
  CHECK(canonical_text(parse_config(json_text(given), file)) == plain);
  CHECK(defaults >= 15);
}

TEST_CASE("the schema's place may stand in a sweep file, and nothing depends on it") {
  const std::filesystem::path file = source / "experiments" / "test.json";
  const std::string rest = "\"models\": [\"../data/models/softmax_fwd_f32_4096x1024.hlo\"], \"devices\": [\"h200\"]}";
  const SweepConfig with = parse_config("{\"$schema\": \"../data/schemas/experiment.json\", " + rest, file);
  CHECK(with == parse_config("{" + rest, file));
}
