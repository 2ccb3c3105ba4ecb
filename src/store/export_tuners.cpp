// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of autotuners: Kernel Tuner's cache file, from which its strategies, dashboard and statistics replay a search,
// and the T4 schema of results. Both count in milliseconds. Kernel Tuner appends to its files by cutting off the last
// two brackets, so `cache` is the last key and the file ends with "}\n}".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"
#include "store/export_source.h"

namespace tailor::store {

namespace {

Json to_json(const ParameterValue& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

/// As Python writes it.
std::string python(const ParameterValue& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

std::vector<double> times_ms(const Tried& tried) {
  std::vector<double> times;
  if (tried.row)
    for (const ir::Sample& sample : tried.row->samples) times.push_back(milliseconds(sample.duration));
  return times;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

bool went_well(const Tried& tried) { return tried.ending.kernel_tuner.empty(); }

/// Our plans of a group; other compilers' kernels have no configuration. Those that went well come first: readers take
/// the number of samples, and whether there are times at all, from the first entry.
std::vector<const Tried*> plans_of(const TriedGroup& group) {
  std::vector<const Tried*> plans;
  for (const Tried& one : group.tried)
    if (one.plan) plans.push_back(&one);
  std::stable_partition(plans.begin(), plans.end(), [](const Tried* one) { return went_well(*one); });
  return plans;
}

Json cache_entry(const Tried& tried, const GroupRow& group) {
  Json entry;
  for (const Parameter& parameter : tried.configuration) entry[parameter.name] = to_json(parameter.value);
  const std::vector<double> times = times_ms(tried);
  if (went_well(tried)) {
    entry["time"] = milliseconds(*tried.row->median);
    entry["times"] = times;
    entry["GB/s"] = (group.read.value + group.written.value) / tried.row->median->value * 1e-9;
  } else {
    entry["time"] = tried.ending.kernel_tuner;
    entry["__error__"] = tried.ending.kernel_tuner;
    entry["outcome"] = tried.outcome;
    entry["reason"] = tried.reason;
  }
  entry["registers"] = tried.binary.registers;
  entry["compile_time"] = milliseconds(tried.binary.compile_time);
  entry["verification_time"] = 0.0;
  entry["benchmark_time"] = sum(times);
  entry["strategy_time"] = 0.0;
  entry["framework_time"] = 0.0;
  if (tried.row) entry["timestamp"] = tried.row->measured_at;
  return entry;
}

ExportFile cache_file(const ExportSource& source, const TriedGroup& group, const std::vector<const Tried*>& plans) {
  std::vector<std::string> keys;
  Json values = Json::Object(), cache = Json::Object();
  for (const Parameter& parameter : plans.front()->configuration) {
    keys.push_back(parameter.name);
    std::vector<ParameterValue> all;
    for (const Tried* one : plans) all.push_back(one->configuration[keys.size() - 1].value);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const ParameterValue& value : all) values[parameter.name].push_back(to_json(value));
  }
  for (const Tried* one : plans) {
    std::vector<std::string> words;
    for (const Parameter& parameter : one->configuration) words.push_back(python(parameter.value));
    cache[fmt::format("{}", fmt::join(words, ","))] = cache_entry(*one, *group.group);
  }
  const Json file = {
      {"device_name", source.device.title},
      {"kernel_name", group.name},
      {"problem_size", Json::Array{static_cast<std::int64_t>(group.group->read.value + group.group->written.value)}},
      {"tune_params_keys", keys},
      {"tune_params", values},
      {"objective", "time"},
      {"protocol", fmt::format("{}, {}, {}", name(group.protocol.cache), name(group.protocol.timed_by),
                               name(group.protocol.launch))},
      {"cache", cache}};
  return {fmt::format("{}/{}{}.json", group.name, source.device.name, suffix(group.protocol, source.main)),
          json_text(file, 1)};
}

Json quantity(std::string_view name, Json value, std::string_view unit) {
  return {{"name", name}, {"value", std::move(value)}, {"unit", unit}};
}

Json t4_result(const Tried& tried, const GroupRow& group) {
  Json configuration = Json::Object(), measurements = Json::Array();
  for (const Parameter& parameter : tried.configuration) configuration[parameter.name] = to_json(parameter.value);
  const std::vector<double> times = times_ms(tried);
  if (went_well(tried)) {
    const MeasurementRow& row = *tried.row;
    measurements.push_back(quantity("time", milliseconds(*row.median), "ms"));
    if (row.low) measurements.push_back(quantity("time_low", milliseconds(*row.low), "ms"));
    if (row.high) measurements.push_back(quantity("time_high", milliseconds(*row.high), "ms"));
    const double bytes = group.read.value + group.written.value;
    measurements.push_back(quantity("useful_bandwidth", bytes / row.median->value * 1e-9, "GB/s"));
    for (const ir::CounterValue& count : row.counts)
      measurements.push_back(quantity(count.name, count.value, count.unit));
  }
  if (tried.binary.ok) measurements.push_back(quantity("registers", tried.binary.registers, "1"));
  const double compilation = milliseconds(tried.binary.compile_time);
  Json result = {{"timestamp", tried.row ? tried.row->measured_at : std::string()},
                 {"configuration", std::move(configuration)},
                 {"objectives", Json::Array{"time"}},
                 {"times",
                  {{"compilation", compilation},
                   {"compilation_time", compilation},
                   {"benchmark", sum(times)},
                   {"framework", 0.0},
                   {"search_algorithm", 0.0},
                   {"validation", 0.0},
                   {"runtimes", times}}},
                 {"invalidity", tried.ending.t4},
                 {"correctness", went_well(tried) ? 1 : 0},
                 {"measurements", std::move(measurements)}};
  if (!went_well(tried)) result["reason"] = fmt::format("{}: {}", tried.outcome, tried.reason);
  return result;
}

/// What the results of a device have in common.
Json t4_metadata(const ExportSource& source) {
  std::vector<std::string> gpus, drivers, tools;
  for (const MeasurementRow& row : source.recorded.rows().measurements) {
    gpus.push_back(row.gpu);
    drivers.push_back(row.driver);
  }
  for (const RunRow& row : source.recorded.rows().runs) {
    tools.push_back(row.tool);
    if (!row.toolchain.empty()) tools.push_back(row.toolchain);
  }
  for (std::vector<std::string>* words : {&gpus, &drivers, &tools}) {
    std::sort(words->begin(), words->end());
    words->erase(std::unique(words->begin(), words->end()), words->end());
  }
  const Json query = {{"gpus", gpus}, {"drivers", drivers}};
  return {
      {"schema_version", "1.0.0"},
      {"metadata",
       {{"zenodo", Json::Object()},
        {"hardware",
         {{"hardware_description", Json::Array{Json{{"device", source.device.name}, {"title", source.device.title}}}},
          {"operating_system", "Linux"}}},
        {"environment", {{"device_query", query}, {"requirements", tools}}}}}};
}

}  // namespace

std::vector<ExportFile> kernel_tuner_files(const ExportSource& source) {
  std::vector<ExportFile> files;
  for (const TriedGroup& group : source.groups)
    if (const std::vector<const Tried*> plans = plans_of(group); !plans.empty())
      files.push_back(cache_file(source, group, plans));
  return files;
}

std::vector<ExportFile> t4_files(const ExportSource& source) {
  std::vector<ExportFile> files;
  for (const TriedGroup& group : source.groups) {
    Json::Array results;
    for (const Tried* one : plans_of(group)) results.push_back(t4_result(*one, *group.group));
    if (results.empty()) continue;
    const Json file = {
        {"schema_version", "1.0.0"}, {"metadata", {{"timeunit", "milliseconds"}}}, {"results", std::move(results)}};
    files.push_back(
        {fmt::format("{}/{}{}-results.json", group.name, source.device.name, suffix(group.protocol, source.main)),
         json_text(file, 1) + "\n"});
  }
  if (!files.empty())
    files.push_back({fmt::format("{}-metadata.json", source.device.name), json_text(t4_metadata(source), 1) + "\n"});
  return files;
}

}  // namespace tailor::store
