// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports say what the database says, in the words of each format: files are parsed again and compared with the rows
// of the made-up campaign (campaign.h). Whether the formats' own readers agree is asked by readers.py. Part of the
// suite `store`.
#include "store/exports.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "campaign.h"
#include "sample.h"
#include "store/observations.h"
#include "store/recorded.h"
#include "support/approx.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::store;
using Json = nlohmann::ordered_json;

namespace {

/// The files of a format, by path.
std::map<std::string, std::string> files(const Store& store, std::string_view format, std::string_view group = {}) {
  std::map<std::string, std::string> all;
  for (const ExportFile& file : exported(store, find_export_format(format), "h200", group))
    CHECK(all.emplace(file.path, file.text).second);
  return all;
}

Store campaign(const std::filesystem::path& path) {
  Store store = Store::open(path);
  save_campaign(store, read_file(std::filesystem::path(source_folder()) / "data" / "devices" / "h200.json"));
  return store;
}

std::string group_name() { return "add_rsqrt-" + short_hex(a_group(1).id); }

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> all;
  for (const auto& [key, value] : object.items()) all.push_back(key);
  return all;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (const std::string_view line : split(text, '\n')) all.emplace_back(line);
  CHECK(all.back().empty());
  all.pop_back();
  return all;
}

}  // namespace

TEST_CASE("a Kernel Tuner file holds every plan that was tried, failures with their class and our reason") {
  const Folder folder;
  const auto all = files(campaign(folder / "a.db"), "kernel-tuner");
  REQUIRE(all.size() == 2);
  const std::string& text = all.at(group_name() + "/h200.json");
  CHECK(text.ends_with("}\n}"));
  const Json file = Json::parse(text);
  CHECK(keys(file).back() == "cache");
  CHECK(file["device_name"] == "NVIDIA H200");
  CHECK(file["objective"] == "time");
  CHECK(file["tune_params"]["threads"] == Json({64, 128, 256}));
  CHECK(file["tune_params"]["value_cache"] == Json({false, true}));
  REQUIRE(file["cache"].size() == 18);
  std::map<std::string, int> ended;
  for (const auto& [key, entry] : file["cache"].items()) {
    for (const char* time : {"compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"})
      CHECK(entry[time].is_number());
    if (entry["time"].is_number()) {
      CHECK(entry["times"].size() == 11);
      CHECK_FALSE(entry.contains("__error__"));
    } else {
      CHECK(entry["__error__"] == entry["time"]);
    }
    ended[entry["time"].is_number() ? "ok"
                                    : entry["time"].get<std::string>() + ", " + entry["outcome"].get<std::string>()]++;
  }
  CHECK(ended == std::map<std::string, int>{{"ok", 14},
                                            {"CompilationFailedConfig, compilation failed", 1},
                                            {"RuntimeFailedConfig, wrong", 1},
                                            {"RuntimeFailedConfig, timed out", 1},
                                            {"RuntimeFailedConfig, rejected", 1}});
  const Json& best = file["cache"]["row,128,32,4,1,%0@register,tile,True,True"];
  CHECK(best["time"].get<double>() == approx(campaign_best * 1e3));
  CHECK(best["GB/s"].get<double>() == approx(12e6 / campaign_best * 1e-9));
  const Json warm = Json::parse(all.at(group_name() + "/h200-warm.json"));
  CHECK(warm["protocol"] == "warm, activity, stream");
  CHECK(warm["cache"]["row,128,32,4,1,%0@register,tile,True,True"]["time"].get<double>() ==
        approx(campaign_best * 0.5e3));
}

TEST_CASE("a tuner's parameters are the axes of the plans' texts; a plan without an axis has its nothing") {
  const Folder folder;
  Store store = campaign(folder / "a.db");
  const auto save = [&](const std::string& text) {
    const PlanRow plan{named(text), a_group(1).id, text, "row"};
    const Id device = store.devices().front().id;
    store.save(plan);
    store.save(a_kernel(plan));
    store.save(LoweringRow{plan.id, device, a_kernel(plan).id});
    store.save(a_binary(a_kernel(plan), true));
    MeasurementRow row = a_timing(a_binary(a_kernel(plan), true), 7e-6);
    row.device = device;
    row.id = measurement_id(row);
    store.save(row);
  };
  save("row threads=512 new_axis=5 other=fast");
  const Json file = Json::parse(files(store, "kernel-tuner").at(group_name() + "/h200.json"));
  std::set<std::string> names;
  for (const Json& name : file["tune_params_keys"]) names.insert(name);
  CHECK(names == std::set<std::string>{"skeleton", "threads", "threads_per_row", "vector", "in_flight", "homes", "grid",
                                       "index_cache", "value_cache", "new_axis", "other"});
  CHECK(file["tune_params"]["new_axis"] == Json({0, 5}));
  CHECK(file["tune_params"]["other"] == Json({"fast", "none"}));
  CHECK(file["tune_params"]["homes"] == Json({"%0@register", "none"}));
}

TEST_CASE("plans that differ in nodes alone are told apart by their ids") {
  const Folder folder;
  Store store = campaign(folder / "a.db");
  PlanRow twin = a_plan(1, 0);
  twin.text =
      "row dominant=%9 threads=128 threads_per_row=32 vector=4 in_flight=1 homes=%0@register grid=tile "
      "index_cache=on value_cache=on";
  twin.id = named(twin.text);
  store.save(twin);
  store.save(a_kernel(twin));
  const Id device = store.devices().front().id;
  store.save(LoweringRow{twin.id, device, a_kernel(twin).id});
  store.save(a_binary(a_kernel(twin), true));
  MeasurementRow row = a_timing(a_binary(a_kernel(twin), true), 7e-6);
  row.device = device;
  row.id = measurement_id(row);
  store.save(row);
  const Json file = Json::parse(files(store, "kernel-tuner").at(group_name() + "/h200.json"));
  CHECK(file["cache"].size() == 19);
  CHECK(file["tune_params_keys"].back() == "plan");
  CHECK(file["tune_params"]["plan"].size() == 19);
  CHECK(file["cache"].contains("row,128,32,4,1,%0@register,tile,True,True," + short_hex(twin.id)));
}

TEST_CASE("T4 results use the whole vocabulary, milliseconds, and runtimes even on failures") {
  const Folder folder;
  const auto all = files(campaign(folder / "a.db"), "t4");
  REQUIRE(all.size() == 3);
  const Json file = Json::parse(all.at(group_name() + "/h200-results.json"));
  CHECK(file["schema_version"] == "1.0.0");
  CHECK(file["metadata"]["timeunit"] == "milliseconds");
  CHECK(file["results"][0]["invalidity"] == "correct");  // readers look at the first
  std::map<std::string, int> ended;
  for (const Json& result : file["results"]) {
    ended[result["invalidity"].get<std::string>()]++;
    const bool good = result["invalidity"] == "correct";
    CHECK(result["correctness"] == (good ? 1 : 0));
    CHECK(result["times"]["runtimes"].size() == (good ? 11 : 0));
    CHECK(result["objectives"] == Json::array({"time"}));
    for (const Json& measured : result["measurements"]) CHECK(measured["value"].is_number());
  }
  CHECK(ended == std::map<std::string, int>{{"correct", 14}, {"compile", 1}, {"correctness", 2}, {"timeout", 1}});
  const Json metadata = Json::parse(all.at("h200-metadata.json"));
  CHECK(metadata["metadata"]["environment"]["device_query"]["gpus"] == Json::array({"NVIDIA H200, GPU-0001"}));
  CHECK(metadata["metadata"]["environment"]["requirements"] == Json::array({"NVRTC 13.0", "tailor 0.1.0"}));
}

TEST_CASE("NVBench's file has a benchmark per group, a state per kernel and protocol, and values as strings") {
  const Folder folder;
  const auto all = files(campaign(folder / "a.db"), "nvbench");
  REQUIRE(all.size() == 1);
  const Json file = Json::parse(all.at("h200.json"));
  CHECK(file["meta"]["version"]["json"]["string"] == "1.0.0");
  CHECK(file["devices"][0]["number_of_sms"] == 132);
  CHECK(file["devices"][0]["sm_version"] == 900);
  REQUIRE(file["benchmarks"].size() == 2);
  const Json& ours = file["benchmarks"][0];
  CHECK(ours["name"] == group_name());
  // What failed before it ran, failed for warm times too.
  CHECK(ours["states"].size() == 18 + 1 + 4 + 2);
  int skipped = 0;
  bool seen = false;
  const std::string best_state =
      "Device=0 Kernel=row threads=128 threads_per_row=32 vector=4 in_flight=1 homes=%0@register grid=tile "
      "index_cache=on value_cache=on Cache=cold Timer=activity Launch=stream";
  for (const Json& state : ours["states"]) {
    skipped += state["is_skipped"].get<bool>() ? 1 : 0;
    CHECK(state.contains("skip_reason") == state["is_skipped"].get<bool>());
    for (const Json& axis : state["axis_values"]) CHECK(axis["value"].is_string());
    if (state["name"] != best_state) continue;
    seen = true;
    for (const Json& summary : state["summaries"]) {
      REQUIRE(summary["data"][0]["value"].is_string());
      const double value = std::stod(summary["data"][0]["value"].get<std::string>());
      if (summary["tag"] == "nv/cold/time/gpu/median") CHECK(value == approx(campaign_best));
      if (summary["tag"] == "nv/cold/time/gpu/min") CHECK(value == approx(campaign_best * 0.998).epsilon(1e-9));
      if (summary["tag"] == "nv/cold/time/gpu/q3") CHECK(value == approx(campaign_best * 1.001).epsilon(1e-9));
      if (summary["tag"] == "nv/cold/sm_clock_rate/mean") CHECK(value == approx(1.95e9));
    }
  }
  CHECK(seen);
  CHECK(skipped == 4 + 2);
  CHECK(file["benchmarks"][1]["name"] == "copy_16b-" + short_hex(named("copy")));
}

TEST_CASE("tables hold every measurement, with units in the heads and as many cells in every line") {
  const Folder folder;
  const auto all = files(campaign(folder / "a.db"), "csv");
  REQUIRE(all.size() == 6);
  CHECK(lines(all.at("h200-twins.csv")).size() == 1 + 16 + 4 + 2);
  CHECK(lines(all.at("h200-measurements.csv")).size() == 1 + 16 + 4 + 2);
  CHECK(lines(all.at("h200-samples.csv")).size() == 1 + 11 * (14 + 4 + 2));
  CHECK(lines(all.at("h200-counters.csv")).size() == 1 + 2 * (16 + 4 + 2));
  CHECK(lines(all.at("h200-module_times.csv")).size() == 1 + 2);
  CHECK(lines(all.at("h200-module_samples.csv")).size() == 1 + 6);
  for (const auto& [path, text] : all) {
    INFO(path);
    const std::vector<std::string> every = lines(text);
    const auto cells = [](const std::string& line) {
      bool quoted = false;
      int count = 1;
      for (const char c : line) {
        quoted ^= c == '"';
        count += c == ',' && !quoted;
      }
      return count;
    };
    for (const std::string& line : every) CHECK(cells(line) == cells(every.front()));
  }
  CHECK(all.at("h200-measurements.csv").find("\"no answer for 10 s, \"\"killed\"\"\"") != std::string::npos);
  CHECK(all.at("h200-samples.csv").find("power cap") != std::string::npos);
}

TEST_CASE("a group is chosen by the beginning of its id; none or several is an error") {
  const Folder folder;
  const Store store = campaign(folder / "a.db");
  const auto all = files(store, "nvbench", hex(a_group(1).id).substr(0, 6));
  CHECK(Json::parse(all.at("h200.json"))["benchmarks"].size() == 1);
  CHECK(lines(files(store, "csv", short_hex(a_group(1).id)).at("h200-module_times.csv")).size() == 1);
  CHECK_THROWS_AS(files(store, "csv", "nobody"), Error);
  CHECK_THROWS_AS(find_export_format("kernel-tunre"), Error);
}

TEST_CASE("equal databases give equal files, and importing a recorded file gives all that was measured") {
  const Folder folder;
  const Store store = campaign(folder / "a.db");
  Store other = Store::open(folder / "b.db");
  save_recorded(other, recorded_rows(store));
  for (const ExportFormat& format : export_formats()) {
    CHECK(files(store, format.name) == files(store, format.name));
    if (format.name == "csv") CHECK(files(store, format.name) == files(other, format.name));
  }
}

TEST_CASE("observations are a table of their own where there are any") {
  const Folder folder;
  Store store = campaign(folder / "a.db");
  CHECK(add_observations(store) > 15);
  const auto all = files(store, "csv");
  CHECK(all.size() == 7);
  const std::vector<std::string> every = lines(all.at("h200-observations.csv"));
  CHECK(every.size() == 1 + store.observations("h200").size());
  CHECK(every.front().starts_with("observation_id,split,device,regime,time_s,low_s,high_s,source,"));
}
