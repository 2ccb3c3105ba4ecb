// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Putting a Summary together. In: a database, a model and a device, and which strategies are wanted. Out: everything
// that a report shows. Called by tailor report and at the end of tailor sweep; the rule for a strategy's time is told
// in load_summary.h.
//
// The strategy that is shown is the one with the least time at the most precise level that any group was looked at
// with, or the one with fewest kernels when nothing has a time. It is compared with the baseline that was named, else
// with the one of the sweep's file, else with the file's own partition, else with strategy unfused. Only the shown
// strategy's groups get a section of their own.
//
// Before a reader believes a number he must know what it rests on, so the warnings are gathered here: no plan was
// scored and every time is a bound; no calibration is in the database; the file's own partition fuses nothing;
// operations were kept as opaque; what each strategy's totals leave out. A fact about the model that every strategy
// repeats is said once.
#include "study/summary/load_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "ir/device.h"
#include "ir/graph/graph.h"
#include "study/pipeline/import_summary.h"
#include "study/summary/summary_rows.h"

namespace tailor::study {

namespace {

/// A time as the database writes it, "2026-01-02T03:04:05Z", in seconds; absent for anything else.
std::optional<double> seconds_since_epoch(std::string_view text) {
  std::array<int, 6> fields{};
  constexpr std::array<std::size_t, 6> starts{0, 5, 8, 11, 14, 17};
  if (text.size() < 20) return std::nullopt;
  for (std::size_t field = 0; field < fields.size(); ++field)
    for (std::size_t i = 0; i < (field == 0 ? 4U : 2U); ++i) {
      const char digit = text[starts[field] + i];
      if (digit < '0' || digit > '9') return std::nullopt;
      fields[field] = fields[field] * 10 + (digit - '0');
    }
  double fraction = 0, digit_value = 0.1;
  for (std::size_t i = 20; text[19] == '.' && i < text.size() && text[i] >= '0' && text[i] <= '9';
       ++i, digit_value /= 10)
    fraction += (text[i] - '0') * digit_value;
  const std::chrono::sys_days day = std::chrono::year(fields[0]) / fields[1] / fields[2];
  return static_cast<double>(day.time_since_epoch().count()) * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5] +
         fraction;
}

std::optional<store::RunRow> newest_run(const store::Store& store) {
  const std::vector<store::RunRow> runs = store.runs();
  if (runs.empty()) return std::nullopt;
  return runs.back();
}

}  // namespace

std::optional<store::RunRow> newest_sweep(const store::Store& store) {
  std::vector<store::RunRow> runs = store.runs();
  const auto found = std::find_if(runs.rbegin(), runs.rend(), [](const auto& run) { return !run.config.empty(); });
  return found == runs.rend() ? std::nullopt : std::optional(std::move(*found));
}

namespace {

report::Manifest load_manifest(const store::Store& store, const Subject& subject) {
  report::Manifest manifest;
  manifest.model = subject.graph.name;
  manifest.model_file = subject.graph.source;
  manifest.graph_id = hex(subject.graph.id);
  manifest.device = subject.device.name;
  manifest.device_title = subject.device.title;
  const auto add = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) manifest.more.emplace_back(what, value);
  };
  if (const auto run = newest_run(store)) {
    manifest.tool = run->tool;
    manifest.command = run->command;
    manifest.started = run->started_at;
    const auto from = seconds_since_epoch(run->started_at), to = seconds_since_epoch(run->finished_at);
    if (from && to && *to >= *from) manifest.elapsed = Seconds{*to - *from};
    if (run->config_id) manifest.config_id = hex(*run->config_id);
    manifest.toolchain = run->toolchain;
    manifest.seed = static_cast<std::uint64_t>(run->seed);
    add("question", sweep_words(run->config).question);
    if (run->outcome != "done") add("outcome", run->outcome);
    add("GPU of the machine", run->device);
    add("driver", run->driver);
    add("clocks", run->clocks);
    add("host", run->host.empty() ? "" : fmt::format("{}, {} cores", run->host, run->host_cores));
    if (const std::size_t runs = store.runs().size(); runs > 1)
      add("runs in the database", fmt::format("{}; the newest is named here", runs));
  }
  add("kernels compiled for", subject.device.arch);
  return manifest;
}

/// The strategy whose time at the most precise level is least; with no times, the one of fewest kernels.
std::string least_time(const std::vector<report::StrategyTotals>& strategies) {
  const auto better = [](const report::StrategyTotals& a, const report::StrategyTotals& b) {
    if (a.time.empty() != b.time.empty()) return b.time.empty();
    if (!a.time.empty() && a.time.back().time != b.time.back().time) return a.time.back().time < b.time.back().time;
    return a.kernels < b.kernels;
  };
  const auto found = std::min_element(strategies.begin(), strategies.end(), better);
  return found == strategies.end() ? std::string() : found->name;
}

std::string choose_baseline(const store::Store& store, const Gathered& gathered, const std::string& chosen) {
  std::vector<std::string> wishes;
  if (const auto run = newest_run(store)) wishes.push_back(sweep_words(run->config).baseline);
  wishes.insert(wishes.end(), {"imported", "unfused"});
  for (const std::string& wish : wishes)
    if (wish != chosen && std::any_of(gathered.fusions.begin(), gathered.fusions.end(),
                                      [&](const store::FusionRow& fusion) { return fusion.strategy == wish; }))
      return wish;
  return {};
}

/// Throws for a strategy that nobody ran.
void require(const Gathered& gathered, const std::string& strategy, const Subject& subject) {
  std::vector<std::string_view> known;
  for (const store::FusionRow& fusion : gathered.fusions) known.push_back(fusion.strategy);
  if (strategy.empty() || std::find(known.begin(), known.end(), strategy) != known.end()) return;
  throw Error(Fault::usage,
              fmt::format("strategy '{}' was not run on {}, the database has {}", strategy, subject.graph.name,
                          known.empty() ? "none" : counted(known.size(), "other")),
              suggestion(strategy, known));
}

std::vector<std::string> warnings(const store::Store& store, const Gathered& gathered, const Subject& subject,
                                  const report::Summary& summary) {
  std::vector<std::string> out;
  if (gathered.levels.back() == "sol" && !summary.groups.empty())
    out.push_back("No plan was scored yet: every time is a bound, and no kernel can be as fast as all of them.");
  const std::vector<store::TableSize> sizes = store.sizes();
  if (std::any_of(sizes.begin(), sizes.end(),
                  [](const store::TableSize& size) { return size.table == "calibrations" && size.rows == 0; }))
    out.push_back(
        "No calibration is in the database: the models' constants are data-sheet values and assumptions, and so are "
        "their intervals.");
  const store::FusionRow* unfused = nullptr;
  const store::FusionRow* imported = nullptr;
  for (const store::FusionRow& fusion : gathered.fusions) {
    if (fusion.strategy == "unfused") unfused = &fusion;
    if (fusion.strategy == "imported") imported = &fusion;
  }
  if (unfused != nullptr && imported != nullptr && !unfused->groups.empty() && same_groups(*unfused, *imported))
    out.push_back(
        "The HLO file fuses nothing by itself: strategy imported is the same as unfused. For the compiler's own "
        "partition, import a dump taken after its optimisations.");
  if (subject.graph.opaque_nodes > 0)
    out.push_back(fmt::format("{} kept as opaque: what is opaque runs as it is and is not fused.",
                              counted(subject.graph.opaque_nodes, "operation", "was", "were")));
  if (summary.import.passes.empty()) out.push_back("What import said of this model is not in the database.");
  std::set<std::string> told;  // facts about the model stand in every strategy's row
  for (const store::FusionRow& fusion : gathered.fusions)
    for (std::string& line : make_warnings(gathered, fusion))
      if (told.insert(line.substr(line.find(':') + 1)).second) out.push_back(std::move(line));
  return out;
}

/// Whether a model was swept on a device: whoever does bounds all groups there before anything else. Groups that other
/// models of the device have too do not make it so.
bool was_swept(const store::Store& store, const Subject& subject) {
  const auto is_bounded = [&](const store::FusionGroupRow& row) {
    return !store.group_bounds(row.group, subject.device.id).empty() ||
           !store.best_plans(row.group, subject.device.id, 1).empty();
  };
  const std::vector<store::FusionRow> fusions = store.fusions(subject.graph.id, subject.device.name);
  return std::any_of(fusions.begin(), fusions.end(), [&](const store::FusionRow& fusion) {
    return std::all_of(fusion.groups.begin(), fusion.groups.end(), is_bounded);
  });
}

}  // namespace

std::vector<Subject> subjects(const store::Store& store, const std::string& model, const std::string& device) {
  const std::vector<store::GraphRow> graphs = store.graphs();
  const std::vector<store::DeviceRow> devices = store.devices();
  const auto model_fits = [&](const store::GraphRow& graph) {
    return model.empty() || graph.name == model || (model.size() >= 6 && hex(graph.id).starts_with(model));
  };
  const auto device_fits = [&](const store::DeviceRow& row) { return device.empty() || row.name == device; };
  if (!graphs.empty() && std::none_of(graphs.begin(), graphs.end(), model_fits)) {
    std::vector<std::string_view> known;
    for (const store::GraphRow& graph : graphs) known.push_back(graph.name);
    throw Error(Fault::usage, fmt::format("the database has no model '{}'", model), suggestion(model, known));
  }
  if (!devices.empty() && std::none_of(devices.begin(), devices.end(), device_fits)) {
    std::vector<std::string_view> known;
    for (const store::DeviceRow& row : devices) known.push_back(row.name);
    throw Error(Fault::usage, fmt::format("the database has no device '{}'", device), suggestion(device, known));
  }
  std::vector<Subject> out;
  for (const store::GraphRow& graph : graphs)
    for (const store::DeviceRow& row : devices)
      if (model_fits(graph) && device_fits(row) && was_swept(store, {graph, row})) out.push_back({graph, row});
  if (out.empty())
    throw Error(Fault::failed, "the database holds no model with fused groups on a device: there is nothing to report",
                "run 'tailor sweep CONFIG.json', or leave out --model and --device");
  return out;
}

namespace {

/// What is told of the model's own text: the chosen fusion on it, and what XLA's passes have left of it.
void read_text(const Subject& subject, const Gathered& gathered, report::Summary& summary) {
  if (subject.graph.text.empty()) {
    summary.map.absent = "The database does not have the text of this model, so there is no picture of its fusion.";
    return;
  }
  const ir::Graph graph = doing("reading the text of " + subject.graph.name,
                                [&] { return ir::parse_graph(subject.graph.text, subject.graph.name); });
  summary.reshapes = ir::count_nodes(graph, ir::Op::reshape);
  for (const store::FusionRow& fusion : gathered.fusions)
    if (fusion.strategy == summary.chosen) summary.map = make_map(graph, gathered, fusion);
}

/// Whose plans are shown where they are not one sweep's: a sweep comes to what its own plans do.
std::string scope_of(const store::Store& store, const Subject& subject, const Gathered& gathered) {
  const std::vector<store::PointRow> points = store.points();
  const auto is_here = [&](const store::PointRow& point) {
    const std::vector<store::PointResultRow> results = store.point_results(point.id);
    return std::any_of(results.begin(), results.end(), [&](const store::PointResultRow& one) {
      return one.graph == subject.graph.id && one.device == subject.device.id;
    });
  };
  if (const auto here = std::count_if(points.begin(), points.end(), is_here); here > 0)
    return fmt::format(
        "A grid of {} was swept into this database. Shown are the best plans of all points together; tailor report "
        "--by KEY,... says what each point came to.",
        counted(here, "point"));
  std::set<std::string> spaces;
  for (const auto& [id, group] : gathered.groups)
    for (const store::ProgressRow& row : store.progress_of(id, subject.device.id))
      if (row.stage.starts_with("score")) spaces.insert(row.space);
  if (spaces.size() < 2) return {};
  return fmt::format(
      "{} looked for plans of these groups in ways of their own. Shown are the best plans of all together, and the "
      "claim is judged by these; each sweep says at its end what its own plans came to.",
      counted(spaces.size(), "sweep"));
}

}  // namespace

report::Summary load_summary(const store::Store& store, const Subject& subject, const SummaryOptions& options) {
  const Gathered gathered = gather(store, subject);
  require(gathered, options.strategy, subject);
  require(gathered, options.baseline, subject);
  report::Summary summary;
  summary.manifest = load_manifest(store, subject);
  if (const auto sweep = newest_sweep(store)) summary.asked = sweep_words(sweep->config).question;
  summary.claim = load_claim(store);
  summary.scope = scope_of(store, subject, gathered);
  summary.question = fmt::format("How should {} be fused on {}?", subject.graph.name,
                                 subject.device.title.empty() ? subject.device.name : subject.device.title);
  for (const store::FusionRow& fusion : gathered.fusions) summary.strategies.push_back(make_totals(gathered, fusion));
  std::stable_sort(summary.strategies.begin(), summary.strategies.end(),
                   [](const auto& a, const auto& b) { return a.kernels > b.kernels; });
  summary.chosen = options.strategy.empty() ? least_time(summary.strategies) : options.strategy;
  summary.baseline = options.baseline.empty() ? choose_baseline(store, gathered, summary.chosen) : options.baseline;
  for (const store::FusionRow& fusion : gathered.fusions)
    if (fusion.strategy == summary.chosen)
      for (const store::FusionGroupRow& row : fusion.groups)
        summary.groups.push_back(load_group(store, subject, gathered, row, options.plans));
  read_text(subject, gathered, summary);
  summary.library = gathered.library;
  if (!subject.device.file.empty()) {
    const ir::Device device = ir::parse_device(subject.device.file, "device " + subject.device.name);
    // A multiply-add is two operations of one lane.
    const double peak = 2 * device.fma_rate.value * device.sms.value * device.clock.value;
    summary.roofs.push_back({device.name, BytesPerSecond{device.dram_bandwidth.value}, peak});
  }
  add_measured(store, subject, gathered, summary);
  if (auto import = import_summary(subject.graph.summary)) summary.import = std::move(*import);
  summary.warnings = warnings(store, gathered, subject, summary);
  if (!options.data.empty()) summary.xla_scores = report::read_xla_scores(options.data / "agreement.json");
  return summary;
}

}  // namespace tailor::study
