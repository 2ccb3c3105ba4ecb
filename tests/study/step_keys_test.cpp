// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The keys by which a sweep finds done work again: every setting that decides the rows of a step changes its key, and
// no other one does. The settings are walked one by one, from a sweep file that says nothing else. Part of the suite
// `study`.
#include "study/sweep/step_keys.h"
#include "support/paths.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

using namespace tailor;
using namespace tailor::study;

namespace {

SweepConfig config_with(const std::string& members) {
  return parse_config(fmt::format("{{\"models\": [\"../data/models/softmax_fwd_f32_4096x1024.hlo\"], "
                                  "\"devices\": [\"h200\"]{}{}}}",
                                  members.empty() ? "" : ", ", members),
                      std::filesystem::path(source_folder()) / "experiments" / "test.json");
}

struct Keys {
  std::string score, check, profile;
};

Keys keys_of(const SweepConfig& config, const SweepMeasurer& by = {{"gpu", nullptr, nullptr, {}}, {}},
             std::string_view recorded = {}) {
  ir::Device device;
  device.arch = "sm_90";
  const std::string space = work_space(config);
  return {space, space + check_key(config, device), space + profile_key(config, by, recorded)};
}

enum Steps : unsigned { of_none = 0, of_score = 1, of_check = 2, of_profile = 4, of_all = 7 };

unsigned changed(const Keys& one, const Keys& other) {
  return (one.score != other.score ? of_score : of_none) | (one.check != other.check ? of_check : of_none) |
         (one.profile != other.profile ? of_profile : of_none);
}

struct Setting {
  const char* members;
  unsigned steps;  ///< whose rows it decides
};

// Models, devices and strategies decide which groups there are, and a group has a key of its own; the calibration is in
// the figures of a device. Whether a step is done at all is no matter of how.
constexpr Setting settings[] = {
    {R"("question": "why?")", of_none},
    {R"("claim": {"metric": "launch_reduction_of_kernels", "threshold": 2})", of_none},
    {R"("strategies": ["unfused"])", of_none},
    {R"("strategies": ["unfused", "imported"], "baseline": "imported")", of_none},
    {R"("calibration": "mine")", of_none},
    {R"("compile": false)", of_none},
    {R"("database": "else.db")", of_none},
    {R"("report": "pages")", of_none},
    {R"("cost_model": "sol")", of_all},
    {R"("plans": {"max_per_group": 9})", of_all},
    {R"("plans": {"axes": {"vector": [4]}})", of_all},
    {R"("shortlist": 2)", of_all},
    {R"("arch": "sm_80")", of_all},
    {R"("seed": 2)", of_check | of_profile},
    {R"("check": {"top": 1})", of_check},
    {R"("check": {"seeds": 2})", of_check},
    {R"("check": {"blocks": 0})", of_check},
    {R"("check": {"blocks": 64})", of_check},
    {R"("check": {"shape": "small"})", of_check},
    {R"("profile": {"top": 1})", of_profile},
    {R"("profile": {"random": 4})", of_all},
    {R"("profile": {"cache": ["warm"]})", of_check | of_profile},  // the check stores predictions for these times
    {R"("profile": {"cache": ["cold", "warm"]})", of_check | of_profile},
    {R"("profile": {"stop": "quick"})", of_profile},
    {R"("profile": {"counters": "none"})", of_profile},
    {R"("profile": {"graph": true})", of_check | of_profile},
    {R"("profile": {"checks": 5})", of_profile},
};

}  // namespace

TEST_CASE("each setting of a sweep file changes the keys of the steps whose rows it decides, and no others") {
  const SweepConfig usual = config_with("");
  // Every member of the settings has a row above: who adds one is sent here.
  [[maybe_unused]] const auto& [question, claim, models, devices, strategies, baseline, cost_model, calibration,
                                max_plans_per_group, axes, shortlist, compile, checking, profiling, arch, seed,
                                database, report, grid, points, setting] = usual;
  [[maybe_unused]] const auto& [check_top, seeds, blocks, small_shape] = checking;
  [[maybe_unused]] const auto& [profile_top, random, cache, stop, counters, graph, checks] = profiling;
  for (const Setting& one : settings) {
    CAPTURE(one.members);
    CHECK(changed(keys_of(usual), keys_of(config_with(one.members))) == one.steps);
  }
}

TEST_CASE("no two settings of a step have one key") {
  std::set<std::string> checks, profiles;
  std::size_t with_check = 1, with_profile = 1;
  const Keys usual = keys_of(config_with(""));
  checks.insert(usual.check);
  profiles.insert(usual.profile);
  for (const Setting& setting : settings) {
    const Keys keys = keys_of(config_with(setting.members));
    with_check += (setting.steps & of_check) != 0 ? 1 : 0;
    with_profile += (setting.steps & of_profile) != 0 ? 1 : 0;
    checks.insert(keys.check);
    profiles.insert(keys.profile);
  }
  CHECK(checks.size() == with_check);
  CHECK(profiles.size() == with_profile);
}

TEST_CASE("what the command line says of measuring is in the key of that step alone") {
  const SweepConfig config = config_with("");
  const Keys usual = keys_of(config);
  SweepMeasurer by{{"gpu", nullptr, nullptr, {}}, {}};
  CHECK(changed(usual, keys_of(config, by)) == of_none);
  CHECK(changed(usual, keys_of(config, by, "h200.jsonl")) == of_profile);
  by.how.image = profiler::ImageForm::ptx;
  CHECK(changed(usual, keys_of(config, by)) == of_profile);
  by.how = {};
  by.how.time_limit = {60};
  CHECK(changed(usual, keys_of(config, by)) == of_profile);
  by.how = {};
  by.who.name = "replay";
  CHECK(changed(usual, keys_of(config, by)) == of_profile);
}
