// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The sweep file: what is accepted means what it says, every key arrives, the canonical text reads back, and what is
// refused is named with line, column and hint. Inputs are texts written here, damaged ones, and the files of
// experiments/. Part of the suite `study`.
#include "study/sweep/config.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "study/sweep/effective.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::study;

namespace {

const std::filesystem::path beside = std::filesystem::path(source_folder()) / "experiments" / "test.json";
const std::string model_path = "../data/models/softmax_fwd_f32_4096x1024.hlo";

std::string with(const std::string& members) {
  return fmt::format("{{\"models\": [\"{}\"],\n \"devices\": [\"h200\"]{}{}}}", model_path,
                     members.empty() ? "" : ",\n ", members);
}

/// "LINE:COLUMN MESSAGE / HINT" of the Error a text causes, empty when it is accepted.
std::string complaint(const std::string& text) {
  try {
    parse_config(text, beside);
  } catch (const Error& error) {
    CHECK(error.at.file == beside.string());
    return fmt::format("{}:{} {} / {}", error.at.line, error.at.column, error.message, error.hint);
  }
  return "";
}

}  // namespace

TEST_CASE("a sweep file with models and devices has defaults for everything else") {
  const SweepConfig config = parse_config(with(""), beside);
  CHECK(config.models.at(0) == (beside.parent_path() / model_path).lexically_normal());
  CHECK(config.devices == std::vector<std::string>{"h200"});
  CHECK(config.baseline == "unfused");
  CHECK(config.shortlist == 4);
  CHECK(config.check == CheckConfig{4, 1, {}});
  CHECK_FALSE(config.max_plans_per_group.has_value());
  CHECK(config.database.filename() == "test.db");
  CHECK(config.report.empty());
}

TEST_CASE("every key of a sweep file arrives") {
  const SweepConfig config = parse_config(
      with(R"("question": "q?", "claim": {"text": "t", "metric": "launch_reduction_of_kernels", "threshold": 1.5},
 "strategies": ["imported", "unfused"], "baseline": "unfused", "cost_model": "sol", "calibration": "fits/mine.json",
 "plans": {"max_per_group": 9, "axes": {"vector": [4], "homes": ["registers"], "index_cache": [true]}},
 "shortlist": 2.0, "compile": false, "check": {"top": 1, "seeds": 3, "blocks": 64, "shape": "small"},
 "profile": {"top": 2, "random": 16, "cache": ["warm"]}, "arch": "sm_80", "seed": 7, "database": "x/../y.db", "report": "/r")"),
      beside);
  CHECK(config.question == "q?");
  CHECK(config.claim == Claim{"t", "launch_reduction_of_kernels", 1.5});
  CHECK(config.strategies == std::vector<std::string>{"imported", "unfused"});
  CHECK(config.baseline == "unfused");
  CHECK(config.cost_model == "sol");
  CHECK(config.calibration == "fits/mine.json");
  CHECK(config.max_plans_per_group == 9);
  CHECK(config.axes ==
        std::vector<AxisRestriction>{{"homes", {"registers"}}, {"index_cache", {"on"}}, {"vector", {"4"}}});
  CHECK(config.shortlist == 2);
  CHECK_FALSE(config.compile);
  CHECK(config.check == CheckConfig{1, 3, 64, true});
  CHECK(config.profile == ProfileConfig{2, 16, {"warm"}});
  CHECK(config.arch == "sm_80");
  CHECK(config.seed == 7);
  CHECK(config.database == beside.parent_path() / "y.db");
  CHECK(config.report == "/r");
}

TEST_CASE("the canonical text reads back as the same config") {
  for (
      const char* members :
      {"", R"("calibration": "h200_fit")", R"("plans": {"axes": {"threads": [128, 256]}}, "seed": 9223372036854775807)",
       R"("claim": {"metric": "launch_reduction_of_kernels", "threshold": 1e-3}, "report": "out", "question": "\u00e4\"")"}) {
    const SweepConfig config = parse_config(with(members), beside);
    SweepConfig back = parse_config(canonical_text(config), beside);
    CHECK(back.axes == config.axes);
    CHECK(back == config);
    CHECK(canonical_text(back) == canonical_text(config));
  }
}

namespace {

SweepConfig with_grid(const std::string& grid) {
  return parse_config(fmt::format(R"({{"models": ["{}"], {}}})", model_path, grid), beside);
}

}  // namespace

TEST_CASE("a grid is the product of its values, the last key turns fastest, each point as a file of its own has it") {
  const SweepConfig config = with_grid(
      R"("grid": {"devices": [["h200"], ["t4", "l4"]], "plans.axes.threads": [[128], [256], [512]], "check.top": [0, 3]},
 "plans": {"axes": {"vector": [4]}}, "database": "g.db")");
  REQUIRE(config.points.size() == 12);
  std::size_t i = 0;
  std::set<std::string> ids, labels;
  for (const char* devices : {R"(["h200"])", R"(["t4", "l4"])"})
    for (const int threads : {128, 256, 512})
      for (const int top : {0, 3}) {
        const SweepConfig& point = config.points[i++];
        SweepConfig alone = parse_config(fmt::format(R"({{"models": ["{}"], "devices": {}, "check": {{"top": {}}},
 "plans": {{"axes": {{"threads": [{}], "vector": [4]}}}}, "database": "g.db"}})",
                                                     model_path, devices, top, threads),
                                         beside);
        CHECK(id_of(point) == id_of(alone));
        alone.setting = point.setting;
        CHECK(point == alone);
        CHECK(point.setting.size() == 3);
        ids.insert(hex(id_of(point)));
        labels.insert(label(point));
      }
  CHECK(ids.size() == 12);
  CHECK(labels.contains("devices=t4+l4, threads=256, top=3"));
  CHECK(ids.count(hex(id_of(config))) == 0);
  CHECK(id_of(with_grid(R"("devices": ["h200"], "grid": {"seed": [1, 2]})")) !=
        id_of(with_grid(R"("devices": ["h200"], "grid": {"seed": [1, 3]})")));
}

TEST_CASE("a grid's mistakes are refused where they stand") {
  for (const auto& [grid, message] : std::vector<std::pair<std::string, std::string>>{
           {R"("grid": {})", "3:10 'grid' is empty / name a key, with its values"},
           {R"("grid": {"sed": [1]})", "3:11 'grid.sed' is no key that a grid can turn / did you mean 'seed'?"},
           {R"("grid": {"database": ["a"]})", "3:11 'grid.database' is no key that a grid can turn / "},
           {R"("grid": {"seed": []})", "3:19 'grid.seed' is an empty list / name at least one"},
           {R"("grid": {"seed": 1})", "3:19 'grid.seed' is a number, a list was expected / "},
           {R"("grid": {"seed": [1, 1]})", "3:23 'grid.seed[1]' repeats 1 / remove one"},
           {R"("grid": {"seed": [1, "x"]})", "3:23 'seed' is a string, a whole number was expected / "},
           {R"("grid": {"check.seeds": [0]})",
            "3:27 'check.seeds' is 0, a whole number from 1 to 1000 was expected / "},
           {R"("seed": 2, "grid": {"seed": [1, 3]})", "3:10 'seed' stands here and in 'grid' / remove one"},
           {R"("check": {"top": 1}, "grid": {"check.top": [1]})",
            "3:19 'check.top' stands here and in 'grid' / remove one"},
           {R"("check": 1, "grid": {"check.top": [1]})", "3:11 'check' is a number"}}) {
    INFO(grid);
    CHECK(complaint(with(grid)).starts_with(message));
  }
  std::string many = "0";
  for (int i = 1; i < 40; ++i) many += fmt::format(", {}", i);
  CHECK(complaint(with(fmt::format(R"("grid": {{"seed": [{0}], "shortlist": [{0}]}})", many)))
            .find("'grid' has more than 1,000 points") != std::string::npos);
}

TEST_CASE(
    "the effective text has every key, says where each is from, and reads back as the same sweep from any folder") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("effective-{}.json", ::getpid());
  for (
      const char* members :
      {"",
       R"("seed": 3, "claim": {"metric": "launch_reduction_of_kernels", "threshold": 2}, "check": {"blocks": 8, "shape": "small"})",
       R"("profile": {"random": 4, "graph": true}, "plans": {"max_per_group": 9, "axes": {"index_cache": [true]}})",
       R"("grid": {"shortlist": [1, 2], "plans.axes.threads": [[128, 256], [512]]})",
       R"("grid": {"strategies": [["unfused"], ["imported", "tailor"]]}, "report": "pages")"}) {
    INFO(members);
    SweepConfig config = parse_config(with(members), beside);
    write_file(file, with(members));
    const std::vector<std::string> given = given_keys(file);
    const std::string text = effective_text(config, given, {"database"});
    const SweepConfig back = parse_config(text, "/elsewhere/x.json");
    CHECK(id_of(back) == id_of(config));
    CHECK(back.points.size() == config.points.size());
    CHECK(back.database == std::filesystem::absolute(config.database).lexically_normal());
    CHECK(effective_text(back, given, {"database"}) == text);
    const Json json = parse_json(text, "text");
    for (const std::string& key : config_keys()) {
      INFO(key);
      const Json* found = &json;
      if (key == "$schema" || key == "$from" || (key.starts_with("claim.") && !config.claim)) continue;
      for (const std::string_view name : split(key, '.')) found = found == nullptr ? nullptr : found->find(name);
      const bool turns = std::any_of(config.grid.begin(), config.grid.end(), [&](const GridKey& one) {
        return one.key == key || key == "baseline" || key == "check.top" || key == "profile.top";
      });
      CHECK((found != nullptr || turns || key == "claim.text"));
      if (const Json* from = json.find("$from")->find(key)) {
        const bool is_given = std::find(given.begin(), given.end(), key) != given.end();
        CHECK((*from->string() == "default") == (!is_given && key != "database" &&
                                                 std::none_of(config.grid.begin(), config.grid.end(),
                                                              [&](const GridKey& one) { return one.key == key; })));
      }
    }
  }
  std::filesystem::remove(file);
}

TEST_CASE("the config's id follows what decides the rows and nothing else") {
  const SweepConfig config = parse_config(with(""), beside);
  CHECK(id_of(config) == id_of(parse_config(with(R"("database": "else.db", "report": "r", "shortlist": 4)"), beside)));
  CHECK(id_of(config) != id_of(parse_config(with(R"("seed": 2)"), beside)));
  CHECK(id_of(config) != id_of(parse_config(with(R"("calibration": "h200_fit")"), beside)));
  CHECK(plan_space_id(config) == plan_space_id(parse_config(with(R"("seed": 2)"), beside)));
  CHECK(plan_space_id(config) != plan_space_id(parse_config(with(R"("plans": {"max_per_group": 5})"), beside)));
}

TEST_CASE("what does not fit is refused with line, column, path and hint") {
  const auto refused = std::to_array<std::pair<std::string, std::string>>({
      {with("\"shortlst\": 4"), "3:2 unknown key 'shortlst' / did you mean 'shortlist'?"},
      {with("\"plans\": {\"axis\": {}}"), "3:12 unknown key 'plans.axis' / did you mean 'axes'?"},
      {with("\"shortlist\": \"4\""), "3:15 'shortlist' is a string, a whole number was expected / "},
      {with("\"shortlist\": 4.5"),
       "3:15 'shortlist' is 4.5, a whole number from 1 to 10000 was expected / \"compile\": false compiles none"},
      {with("\"shortlist\": -1"),
       "3:15 'shortlist' is -1, a whole number from 1 to 10000 was expected / \"compile\": false compiles none"},
      {with("\"shortlist\": 0"),
       "3:15 'shortlist' is 0, a whole number from 1 to 10000 was expected / \"compile\": false compiles none"},
      {with("\"shortlist\":12345678,\n  \"seed\": 1"),
       "3:14 'shortlist' is 12345678, a whole number from 1 to 10000 was expected / \"compile\": false compiles none"},
      {with("\"check\": {\"tip\": 1}"), "3:12 unknown key 'check.tip' / did you mean 'top'?"},
      {with("\"check\": false"), "3:11 'check' is true or false, an object was expected / "},
      {with("\"compile\": 1"), "3:13 'compile' is a number, true or false was expected / "},
      {with("\"strategies\": []"), "3:16 'strategies' is an empty list / name at least one"},
      {with("\"strategies\": [\"a\", 1]"), "3:22 'strategies[1]' is a number, a string was expected / "},
      {with("\"strategies\": [\"a\", \"a\"]"), "3:22 'strategies[1]' repeats 'a' / remove one"},
      {with("\"strategies\": [\"unfused\", \"tailr\"]"),
       "3:28 no fusion strategy is called 'tailr' / did you mean 'tailor'?"},
      {with("\"grid\": {\"strategies\": [[\"unfused\"], [\"unfused\", \"tailr\"]]}"),
       "3:51 no fusion strategy is called 'tailr' / did you mean 'tailor'?"},
      {with("\"claim\": {\"metric\": \"launch_reduction\", \"threshold\": 2}"),
       "3:22 found claim metric 'launch_reduction', expected one that says what it looks at: fused kernels alone, or "
       "library calls too / say which: launch_reduction_of_kernels or launch_reduction_with_library"},
      {with("\"baseline\": \"tvm\""),
       "3:14 'baseline' is 'tvm', which is not among 'strategies' / strategies: unfused, imported, tailor"},
      {with("\"seed\": 1, \"seed\": 2"), "3:13 'seed' is given twice / remove one"},
      {with("\"plans\": {\"axes\": {\"threads\": [128, {}]}}"),
       "3:38 'plans.axes.threads[1]' is an object, a number, a word, or true or false was expected / "},
      {with("\"question\": \"\""), "3:14 'question' is empty / "},
      {with("\"claim\": {\"threshold\": 2}"), "3:11 'claim.metric' is missing / say what the threshold is of"},
      {with("\"claim\": {\"metric\": \"launch_reduction_of_kernels\"}"),
       "3:11 'claim.threshold' is missing, a number above 0 was expected / say how many times better than the baseline "
       "the best strategy must be, 2 for one"},
      {with("\"claim\": {\"metric\": \"launch_reduction_of_kernels\", \"threshold\": 0}"),
       "3:66 'claim.threshold' is 0, a number above 0 was expected / it is a proportion, which is never below 0: such "
       "a "
       "claim always holds"},
      {with("\"strategies\": [\"unfused\"],\n \"claim\": {\"metric\": \"launch_reduction_of_kernels\", \"threshold\": "
            "2}"),
       "4:11 'claim' is over the strategy 'unfused' alone, at least two were expected in 'strategies' / a claim "
       "compares "
       "the baseline with another strategy"},
      {"{\"models\": [\"no.hlo\"], \"devices\": [\"h200\"]}",
       fmt::format("1:13 'models[0]': there is no file '{}' / paths start at the folder of the sweep file",
                   (beside.parent_path() / "no.hlo").string())},
      {"{\"devices\": [\"h200\"]}", "1:1 'models' is missing / list HLO files"},
      {"\n  [1]", "2:3 a sweep file is an object, this is a list / see experiments/README.md"},
      {"7", "1:1 a sweep file is an object, this is a number / see experiments/README.md"},
  });
  for (const auto& [text, message] : refused) {
    INFO(text);
    CHECK(complaint(text) == message);
  }
}

TEST_CASE("a text that is not JSON is refused where it breaks") {
  for (const auto& [text, place] : {std::pair<std::string, std::string>{"{\"models\": [\"a\",]}", "1:17 not JSON"},
                                    {"{\n\"models\" 1}", "2:10 not JSON"},
                                    {"", "1:1 not JSON"},
                                    {"{\"a\": 'x'}", "1:7 not JSON"},
                                    {"{} {}", "1:4 not JSON"},
                                    {"{\"seed\": 1e999}", "1:14 not JSON"},
                                    {std::string(40, '['), "1:33 nested deeper than 32"}}) {
    INFO(text, " -> ", complaint(text));
    CHECK(complaint(text).substr(0, place.size()) == place);
  }
}

TEST_CASE("no truncated, damaged or random text does more than throw an Error") {
  constexpr int seed = 11;
  INFO("seed ", seed);
  std::mt19937 random(seed);
  const std::string good =
      with(R"("plans": {"max_per_group": 9, "axes": {"vector": [4]}}, "question": "\u00e4 \ud83d\ude00")");
  int refused = 0;
  for (std::size_t length = 0; length < good.size(); ++length) refused += !complaint(good.substr(0, length)).empty();
  CHECK(refused == static_cast<int>(good.size()));
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (int changes = 0; changes < 3; ++changes) text[random() % text.size()] = static_cast<char>(random() % 256);
    static_cast<void>(complaint(text));
  }
}

TEST_CASE("the experiments that ship are valid") {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(beside.parent_path())) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().string());
    ++found;
    CHECK_NOTHROW(read_config(entry.path()));
  }
  CHECK(found > 0);
}
