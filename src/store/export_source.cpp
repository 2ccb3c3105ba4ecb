// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Gathering what exports write. In: a database, a device, a format, and one group or all. Out: the groups that were
// measured, under each protocol that was used, with every kernel that was tried and how it ended. Called by exported()
// for the functions of the formats.
//
// A kernel with a measurement goes to the groups of the plans that were lowered to it, to the modules that brought it,
// or else into a group of its own. Then plans of the database are added that never came so far: those whose text did
// not compile, and those that were refuted before they were measured, since a tuner that learns from a file must see
// failures too.
//
// A tuner wants equal parameters in all rows. The parameters of a group are the skeleton and every axis that any of
// its plans has; a plan without one of them gets that axis' empty value. Words that name nodes are left out, because
// they mean something in their group only; plans that then agree in everything are told apart by their ids. The first
// protocol gives the plain file name, others a suffix that says what differs.
#include "store/export_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "store/store.h"

namespace tailor::store {

namespace {

struct EndingRow {
  ir::Outcome outcome;
  Ending ending;
};

// Outcomes that say nothing of the kernel (no GPU, interrupted) are in no row: such a plan was not tried.
constexpr auto ending_table = std::to_array<EndingRow>({
    {ir::Outcome::ok, {"", "correct"}},
    {ir::Outcome::wrong, {"RuntimeFailedConfig", "correctness"}},
    {ir::Outcome::overrun, {"RuntimeFailedConfig", "correctness"}},
    {ir::Outcome::unloadable, {"RuntimeFailedConfig", "runtime"}},
    {ir::Outcome::refused, {"RuntimeFailedConfig", "runtime"}},
    {ir::Outcome::no_memory, {"RuntimeFailedConfig", "runtime"}},
    {ir::Outcome::illegal_access, {"RuntimeFailedConfig", "runtime"}},
    {ir::Outcome::trapped, {"RuntimeFailedConfig", "runtime"}},
    {ir::Outcome::timed_out, {"RuntimeFailedConfig", "timeout"}},
    {ir::Outcome::crashed, {"RuntimeFailedConfig", "runtime"}},
});
constexpr Ending compilation_failed{"CompilationFailedConfig", "compile"};
constexpr Ending rejected{"RuntimeFailedConfig", "correctness"};

std::optional<Ending> ending_of(const MeasurementRow& row) {
  const std::optional<ir::Outcome> outcome = ir::outcome_named(row.outcome);
  for (const EndingRow& entry : ending_table)
    if (outcome == entry.outcome && (entry.outcome != ir::Outcome::ok || row.median)) return entry.ending;
  return std::nullopt;
}

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '_';
  }
  return out.empty() ? "unnamed" : out;
}

ParameterValue to_value(std::string_view word) {
  if (word == "on" || word == "off") return word == "on";
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (fault == std::errc{} && end == word.data() + word.size()) return number;
  return std::string(word);
}

/// The skeleton and every "axis=value" of a plan's text, but for those that name a node (%5) as the one that others
/// follow from. Homes name nodes too; what they say is where values of the group wait.
std::vector<Parameter> parameters_of(const PlanRow& plan) {
  std::vector<Parameter> parameters = {{"skeleton", plan.skeleton}};
  for (const std::string_view word : split(plan.text, ' ')) {
    const std::size_t at = word.find('=');
    if (at == word.npos || (word.find('%') != word.npos && !word.starts_with("homes="))) continue;
    parameters.push_back({std::string(word.substr(0, at)), to_value(word.substr(at + 1))});
  }
  return parameters;
}

const Parameter* find_parameter(const std::vector<Parameter>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Parameter& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// What an axis is where a plan does not have it.
ParameterValue absent_like(const ParameterValue& value) {
  if (std::holds_alternative<std::int64_t>(value)) return std::int64_t{0};
  if (std::holds_alternative<bool>(value)) return false;
  return std::string("none");
}

std::vector<ParameterValue> values_of(const std::vector<Parameter>& parameters) {
  std::vector<ParameterValue> values;
  for (const Parameter& one : parameters) values.push_back(one.value);
  return values;
}

/// Gives all plans the same parameters. Plans that agree in all of them (they differ in what names nodes) are told
/// apart by their ids.
void configure(std::vector<Tried>& tried) {
  std::vector<Parameter> axes;  // with the value of a plan that lacks them
  for (const Tried& one : tried)
    if (one.plan)
      for (const Parameter& parameter : parameters_of(*one.plan))
        if (find_parameter(axes, parameter.name) == nullptr)
          axes.push_back({parameter.name, absent_like(parameter.value)});
  std::set<std::vector<ParameterValue>> seen;
  bool alike = false;
  for (Tried& one : tried)
    if (one.plan) {
      const std::vector<Parameter> own = parameters_of(*one.plan);
      for (const Parameter& axis : axes) {
        const Parameter* found = find_parameter(own, axis.name);
        one.configuration.push_back(found == nullptr ? axis : *found);
      }
      alike |= !seen.insert(values_of(one.configuration)).second;
    }
  if (!alike) return;
  for (Tried& one : tried)
    if (one.plan) one.configuration.push_back({"plan", short_hex(one.plan->id)});
}

/// Protocols that were used, without their stop rules, the main one first.
std::vector<ir::Protocol> protocols_of(const RecordedRows& rows) {
  constexpr auto preference = std::to_array<ir::CacheState>(
      {ir::CacheState::cold, ir::CacheState::produced, ir::CacheState::warm, ir::CacheState::dirty});
  const auto rank = [&](const ir::Protocol& one) {
    const auto cache = std::find(preference.begin(), preference.end(), one.cache) - preference.begin();
    return std::make_tuple(cache, one.timed_by, one.launch);
  };
  std::vector<ir::Protocol> all;
  for (const MeasurementRow& row : rows.measurements)
    if (row.timing) all.push_back({row.timing->cache, row.timing->timed_by, row.timing->launch, "standard"});
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Gathers one protocol after the other.
class Gathering {
 public:
  Gathering(const Store& store, const Recorded& recorded, Id device)
      : store_(store), recorded_(recorded), device_(device) {
    for (const BinaryRow& row : recorded.rows().binaries) binaries_[row.id] = &row;
    for (const PlanRow& row : recorded.rows().plans) plans_[row.id] = &row;
    for (const LoweringRow& row : recorded.rows().lowerings) lowerings_[row.kernel].push_back(&row);
    for (const GivenKernelRow& row : recorded.rows().given) given_[row.kernel].push_back(&row);
  }

  void add(const ir::Protocol& protocol, std::vector<TriedGroup>& to) const {
    std::map<Id, TriedGroup> groups;
    for (const GroupRow& row : recorded_.rows().groups) {
      TriedGroup& group = groups[row.id];
      group.group = row;
      group.name = fmt::format("{}-{}", plain(row.title), short_hex(row.id));
    }
    for (const KernelRow& kernel : recorded_.rows().kernels) {
      const MeasurementRow* row = recorded_.row(kernel.id, protocol);
      const std::optional<Ending> ending = row == nullptr ? std::nullopt : ending_of(*row);
      if (!ending) continue;
      Tried one{{}, "", kernel, *binaries_.at(row->binary), row->outcome, row->reason, *ending, *row, {}};
      place(one, groups);
    }
    for (auto& [id, group] : groups) {
      if (group.tried.empty()) continue;
      if (group.group) add_failures(group.tried, id);
      std::sort(group.tried.begin(), group.tried.end(), [](const Tried& a, const Tried& b) {
        const auto key = [](const Tried& t) { return std::make_pair(!t.plan, t.plan ? t.plan->id : t.kernel.id); };
        return key(a) < key(b);
      });
      configure(group.tried);
      group.protocol = protocol;
      to.push_back(std::move(group));
    }
  }

 private:
  /// Into the groups of the plans that became this kernel, or of the modules it came from, or one of its own.
  void place(const Tried& one, std::map<Id, TriedGroup>& groups) const {
    bool placed = false;
    std::set<Id> seen;
    for (const LoweringRow* lowering : rows_of(lowerings_, one.kernel.id))
      if (seen.insert(lowering->plan).second) {
        Tried& ours = groups[plans_.at(lowering->plan)->group].tried.emplace_back(one);
        ours.plan = *plans_.at(lowering->plan);
        ours.origin = "Tailor";
        placed = true;
      }
    for (const GivenKernelRow* given : rows_of(given_, one.kernel.id))
      if (seen.insert(given->group).second) {
        groups[given->group].tried.emplace_back(one).origin = given->origin;
        placed = true;
      }
    if (placed) return;
    TriedGroup& own = groups[one.kernel.id];
    own.name = fmt::format("{}-{}", plain(one.kernel.name), short_hex(one.kernel.id));
    own.tried.push_back(one);
  }

  template <class Row>
  using ByKernel = std::map<Id, std::vector<const Row*>>;

  /// In the order of the records.
  template <class Row>
  static std::span<const Row* const> rows_of(const ByKernel<Row>& all, Id kernel) {
    const auto found = all.find(kernel);
    return found == all.end() ? std::span<const Row* const>() : found->second;
  }

  /// Plans of the group that did not compile, or that were refuted before they were measured.
  void add_failures(std::vector<Tried>& tried, Id group) const {
    std::set<Id> known;
    for (const Tried& one : tried)
      if (one.plan) known.insert(one.plan->id);
    for (const PlanRow& plan : store_.plans(group)) {
      const std::optional<Id> kernel = known.contains(plan.id) ? std::nullopt : store_.lowering(plan.id, device_);
      if (!kernel) continue;
      const std::vector<BinaryRow> binaries = store_.binaries(*kernel);
      const std::vector<PlanRejectionRow> rejections = store_.plan_rejections(plan.id, device_);
      const bool failed = !binaries.empty() && std::none_of(binaries.begin(), binaries.end(),
                                                            [](const BinaryRow& binary) { return binary.ok; });
      if (!failed && rejections.empty()) continue;
      Tried one{plan, "Tailor", store_.kernel(*kernel).value(), {}, "", "", failed ? compilation_failed : rejected,
                {},   {}};
      if (!binaries.empty()) one.binary = binaries.front();
      one.outcome = failed ? "compilation failed" : "rejected";
      one.reason = failed ? one.binary.log : rejections.front().reason;
      tried.push_back(std::move(one));
    }
  }

  const Store& store_;
  const Recorded& recorded_;
  Id device_;
  std::map<Id, const BinaryRow*> binaries_;
  std::map<Id, const PlanRow*> plans_;
  ByKernel<LoweringRow> lowerings_;
  ByKernel<GivenKernelRow> given_;
};

/// Keeps one group and the kernels that belong to it.
void keep_group(RecordedRows& rows, std::string_view beginning) {
  std::vector<std::string> fitting;
  for (const GroupRow& row : rows.groups)
    if (hex(row.id).starts_with(beginning)) fitting.push_back(fmt::format("{} ({})", short_hex(row.id), row.title));
  if (fitting.size() != 1)
    throw Error(Fault::usage,
                fitting.empty() ? fmt::format("--group: no measured group has an id that begins with '{}'", beginning)
                                : fmt::format("--group: {} measured groups have ids that begin with '{}': {}, {}, ...",
                                              fitting.size(), beginning, fitting[0], fitting[1]),
                "tailor db export --format csv lists the groups that were measured");
  std::erase_if(rows.groups, [&](const GroupRow& row) { return !hex(row.id).starts_with(beginning); });
  const Id group = rows.groups.front().id;
  std::set<Id> plans, kernels, binaries;
  std::erase_if(rows.plans, [&](const PlanRow& row) { return row.group != group; });
  std::erase_if(rows.given, [&](const GivenKernelRow& row) { return row.group != group; });
  for (const PlanRow& row : rows.plans) plans.insert(row.id);
  std::erase_if(rows.lowerings, [&](const LoweringRow& row) { return !plans.contains(row.plan); });
  for (const LoweringRow& row : rows.lowerings) kernels.insert(row.kernel);
  for (const GivenKernelRow& row : rows.given) kernels.insert(row.kernel);
  std::erase_if(rows.kernels, [&](const KernelRow& row) { return !kernels.contains(row.id); });
  std::erase_if(rows.binaries, [&](const BinaryRow& row) { return !kernels.contains(row.kernel); });
  for (const BinaryRow& row : rows.binaries) binaries.insert(row.id);
  std::erase_if(rows.measurements, [&](const MeasurementRow& row) { return !binaries.contains(row.binary); });
  rows.module_times.clear();
}

constexpr auto format_table = std::to_array<ExportFormat>({
    {"kernel-tuner", "Kernel Tuner cache files, one per group", kernel_tuner_files},
    {"t4", "results and metadata in the T4 schema", t4_files},
    {"nvbench", "one NVBench JSON file", nvbench_files},
    {"csv", "tables of measurements, samples, counters and times of models", csv_files},
});

}  // namespace

std::string suffix(const ir::Protocol& protocol, const ir::Protocol& main) {
  std::string out;
  if (protocol.cache != main.cache) out += fmt::format("-{}", name(protocol.cache));
  if (protocol.timed_by != main.timed_by) out += fmt::format("-{}", name(protocol.timed_by));
  if (protocol.launch != main.launch) out += fmt::format("-{}", name(protocol.launch));
  return out;
}

std::span<const ExportFormat> export_formats() { return format_table; }

const ExportFormat& find_export_format(std::string_view name) {
  std::vector<std::string_view> known;
  for (const ExportFormat& format : format_table) {
    if (format.name == name) return format;
    known.push_back(format.name);
  }
  throw Error(Fault::usage, fmt::format("--format: found '{}', expected kernel-tuner, t4, nvbench or csv", name),
              suggestion(name, known));
}

std::vector<ExportFile> exported(const Store& store, const ExportFormat& format, std::string_view device,
                                 std::string_view group) {
  RecordedRows rows = recorded_rows(store, device);
  if (rows.devices.empty()) return {};
  if (!group.empty()) keep_group(rows, group);
  const DeviceRow of = rows.devices.front();
  ExportSource source{of, Recorded(std::move(rows)), {}, {}};
  const std::vector<ir::Protocol> protocols = protocols_of(source.recorded.rows());
  if (!protocols.empty()) source.main = protocols.front();
  const Gathering gathering(store, source.recorded, of.id);
  for (const ir::Protocol& protocol : protocols) gathering.add(protocol, source.groups);
  return format.files(source);
}

}  // namespace tailor::store
