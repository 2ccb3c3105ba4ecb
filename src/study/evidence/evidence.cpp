// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading evidence and making samples of it. Paths come in; each is opened as what its first bytes say it is. Out:
// observations in the order of their ids, so that no result depends on the order of files. A kernel of ours is lowered
// for the device that measured it and counted, as the search did: one lowering, here too. Called by the commands that
// fit and validate.
#include "study/evidence/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/compressed.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "calibrate/read_csv.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "ir/fusion.h"
#include "ir/graph/graph.h"
#include "store/observations.h"
#include "store/store.h"

namespace tailor::study {

namespace {

namespace fs = std::filesystem;

bool is_database(const fs::path& path) {
  const std::string begin = read_file(path).substr(0, 16);
  return begin.starts_with("SQLite format 3");
}

void add_rows(Evidence& evidence, const store::RecordedRows& rows) {
  for (const store::ObservationRow& row : rows.observations) evidence.observations.push_back(to_observation(row));
  for (ir::Observation& one : store::make_observations(rows)) evidence.observations.push_back(std::move(one));
  for (const store::GroupRow& row : rows.groups) evidence.groups.try_emplace(row.id, row);
  for (const store::PlanRow& row : rows.plans) evidence.plans.try_emplace(row.id, row);
}

/// Whether it is a row of a table that says what an earlier one says; `seen` gets what it says.
bool is_copy(const ir::Observation& one, std::set<Id>& seen) {
  if (!std::holds_alternative<ir::ForeignKernel>(one.subject)) return false;
  ir::Observation said = one;
  said.source.clear();
  said.id = {};
  return !seen.insert(id_of(std::string_view(text(said)))).second;
}

/// Sorts, drops repeats and copies, and refuses two times of one source.
void settle(Evidence& evidence) {
  std::vector<ir::Observation>& all = evidence.observations;
  std::stable_sort(all.begin(), all.end(),
                   [](const ir::Observation& a, const ir::Observation& b) { return a.id < b.id; });
  const auto end = std::unique(all.begin(), all.end(),
                               [](const ir::Observation& a, const ir::Observation& b) { return a.id == b.id; });
  evidence.repeats = all.end() - end;
  all.erase(end, all.end());
  std::map<std::pair<std::string, std::string>, const ir::Observation*> by_source;
  for (const ir::Observation& one : all) {
    const auto [first, fresh] = by_source.try_emplace({one.device, one.source}, &one);
    if (!fresh)
      throw Error(Fault::failed,
                  fmt::format("'{}' says {} and {} of the same kernel", one.source,
                              humane_seconds(first->second->time.value), humane_seconds(one.time.value)),
                  "one of the files was changed, or two files have one name: keep one of them");
  }
  std::set<Id> seen;
  const auto copies =
      std::stable_partition(all.begin(), all.end(), [&](const ir::Observation& one) { return !is_copy(one, seen); });
  for (auto copy = copies; copy != all.end(); ++copy) ++evidence.copies[copy->device];
  all.erase(copies, all.end());
}

/// Whether the plan was written with fields that plans no longer have.
bool is_older(const Evidence& evidence, const ir::OwnKernel& own) {
  const auto plan = evidence.plans.find(own.plan);
  return plan != evidence.plans.end() && !ir::older_field_in(plan->second.text).empty();
}

std::optional<calibrate::Sample> own_sample(const Evidence& evidence, const ir::Observation& observation,
                                            const ir::Device& device) {
  const auto& own = std::get<ir::OwnKernel>(observation.subject);
  const auto group_row = evidence.groups.find(own.group);
  const auto plan_row = evidence.plans.find(own.plan);
  if (group_row == evidence.groups.end() || plan_row == evidence.plans.end() || group_row->second.text.empty())
    return std::nullopt;
  const ir::Group group{ir::parse_graph(group_row->second.text, group_row->second.title), own.group};
  const codegen::Lowered lowered = codegen::lower(group, ir::parse_plan(plan_row->second.text), limits(device));
  const auto* kernel = std::get_if<ir::Kernel>(&lowered);
  if (kernel == nullptr) return std::nullopt;
  calibrate::Sample sample;
  sample.of = observation;
  sample.work = costmodel::count(*kernel, costmodel::Mode::fast);
  sample.group = costmodel::group_work(group);
  sample.operation = group_row->second.title;
  sample.bytes = static_cast<double>(costmodel::compulsory_bytes(sample.work));
  return sample;
}

}  // namespace

std::vector<ir::Device> known_devices(const fs::path& data) {
  std::vector<ir::Device> devices;
  const std::string folder = (data / "devices").string();
  for (const std::string& name : ir::device_names(folder)) devices.push_back(ir::find_device(name, folder));
  return devices;
}

std::vector<ir::Device> known_devices(const fs::path& data, const ir::Device& own) {
  std::vector<ir::Device> devices = known_devices(data);
  if (std::none_of(devices.begin(), devices.end(), [&](const ir::Device& one) { return one.name == own.name; }))
    devices.push_back(own);
  return devices;
}

std::optional<store::RecordedRows> read_csv_rows(const fs::path& path, const fs::path& data, const Watch& watch) {
  if (fs::is_regular_file(path) && is_database(path)) return std::nullopt;
  const std::string text = read_unpacked(path.string());
  if (trim(text).empty()) throw Error(Fault::failed, Position{path.string(), 0, 0}, "the file is empty");
  if (!calibrate::is_csv(text)) {
    if (path.extension() != ".csv") return std::nullopt;
    throw Error(Fault::failed, Position{path.string(), 1, 0}, "found one column, expected several between commas",
                "columns stand apart by ',' alone, not by ';' or tabs");
  }
  store::RecordedRows rows;
  std::set<Id> known;
  for (const ir::Observation& one : calibrate::read_measurements(path, known_devices(data), watch.stop))
    if (known.insert(one.id).second) rows.observations.push_back(store::observation_row(one));
  return rows;
}

Evidence read_evidence(const std::vector<std::string>& sources, const fs::path& data, const Watch& watch) {
  Evidence evidence;
  for (const std::string& source : sources) {
    stop_if_asked(watch.stop);
    if (!fs::exists(source)) throw Error(Fault::missing, fmt::format("there is no file '{}'", source));
    if (is_database(source)) {
      add_rows(evidence, store::recorded_rows(store::Store::open_read_only(source, {.stop = watch.stop})));
    } else if (std::optional<store::RecordedRows> rows = read_csv_rows(source, data, watch)) {
      add_rows(evidence, *rows);
    } else {
      add_rows(evidence, store::read_recorded_or_observations(source, watch.stop));
    }
  }
  settle(evidence);
  return evidence;
}

std::vector<std::string> left_out(const Samples& samples) {
  std::vector<std::string> said;
  if (samples.without_device > 0)
    said.push_back(fmt::format("{} of GPUs that no device file describes: {}",
                               counted(samples.without_device, "observation", "is", "are"),
                               fmt::join(samples.unknown_devices, ", ")));
  if (samples.without_kernel > 0)
    said.push_back(fmt::format("{} of plans that are not there or cannot be lowered",
                               counted(samples.without_kernel, "observation", "is", "are")));
  if (samples.of_older_plans > 0)
    said.push_back(fmt::format("{} of plans of an older version, whose words no kernel is made of today",
                               counted(samples.of_older_plans, "observation", "is", "are")));
  if (samples.undescribed > 0)
    said.push_back(fmt::format("{} neither launch nor traffic of the kernel",
                               counted(samples.undescribed, "observation", "says", "say")));
  if (samples.copies > 0)
    said.push_back(fmt::format("{} what another row says, to the last digit: copies count once",
                               counted(samples.copies, "row", "says", "say")));
  return said;
}

Samples samples_of(const Evidence& evidence, const std::vector<ir::Device>& devices, const std::string& device,
                   const Watch& watch) {
  Samples result;
  std::set<std::string> unknown;
  for (const ir::Observation& one : evidence.observations) {
    stop_if_asked(watch.stop);
    if (!device.empty() && one.device != device) continue;
    const auto on =
        std::find_if(devices.begin(), devices.end(), [&](const ir::Device& known) { return known.name == one.device; });
    if (on == devices.end()) {
      ++result.without_device;
      unknown.insert(one.device);
      continue;
    }
    if (std::holds_alternative<ir::OwnKernel>(one.subject)) {
      if (is_older(evidence, std::get<ir::OwnKernel>(one.subject))) {
        ++result.of_older_plans;
        continue;
      }
      std::optional<calibrate::Sample> sample = own_sample(evidence, one, *on);
      if (sample)
        result.samples.push_back(std::move(*sample));
      else
        ++result.without_kernel;
      continue;
    }
    const auto& foreign = std::get<ir::ForeignKernel>(one.subject);
    if (foreign.blocks <= 0 || foreign.threads <= 0 || foreign.read + foreign.written <= 0) {
      ++result.undescribed;
      continue;
    }
    if (static_cast<double>(foreign.threads) > on->threads_per_block.value)
      throw Error(Fault::failed, fmt::format("{} says {} threads for each block, of which '{}' runs {} at most",
                                             one.source, foreign.threads, on->name, on->threads_per_block.value));
    result.samples.push_back(calibrate::foreign_sample(one));
  }
  result.unknown_devices.assign(unknown.begin(), unknown.end());
  for (const auto& [of, copies] : evidence.copies)
    if (device.empty() || device == of) result.copies += copies;
  calibrate::refuse_contradictions(result.samples);
  return result;
}

}  // namespace tailor::study
