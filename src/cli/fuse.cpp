// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor fuse: how a strategy cuts a model into kernels, what that moves and the least it could take, edge by edge
// why, or all strategies side by side, with the times of plans. In: a model, strategies, devices. Out: tables and, when
// asked, the fused graph as files.
#include <fmt/format.h>

#include "base/error.h"
#include "base/stop.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "costmodel/calibration.h"
#include "explore/partition.h"
#include "explore/strategy.h"
#include "study/module/fusion_files.h"
#include "study/pipeline/question.h"
#include "study/tables/partition_tables.h"
#include "study/tables/strategy_table.h"

namespace tailor::cli {

namespace {

bool is_for_programs(const Context& context) { return context.format == Format::json || context.format == Format::csv; }

void mention(const Context& context, const explore::Partition& partition) {
  for (const std::string& words : study::caveats(partition)) context.console->note(words);
}

/// Where there is nothing to fuse a person reads that, and no tables of zeros.
void show_fused(const Context& context, CommandOutput answer, const explore::Partition& partition) {
  answer.verdict = study::nothing_to_fuse(partition);
  if (!answer.verdict.empty())
    for (Section& section : answer.sections) section.for_programs = true;
  show(context, std::move(answer));
}

/// Why edges were decided so. A person reads what holds for many edges first; a program finds the edges under results.
std::vector<Section> why_sections(const FuseOptions& options, const Context& context, const ir::Graph& graph,
                                  const ir::Fusion& fusion, const costmodel::CalibratedDevice* device,
                                  std::int64_t top) {
  const bool for_person = context.format == Format::table;
  std::vector<Section> sections;
  sections.push_back(
      {"edges", study::edge_table(graph, fusion, options.node, device, top, for_person, context.stop())});
  if (!options.node.empty()) return sections;
  sections.insert(for_person ? sections.begin() : sections.end(),
                  {"reasons", study::reason_table(graph, fusion, context.stop())});
  return sections;
}

}  // namespace

void run_fuse(const FuseOptions& options, const Context& context) {
  std::vector<std::string> files = options.to;
  if (!options.write_partition.empty()) files.push_back(options.write_partition);
  context.interrupts->holds_nothing();
  const std::vector<costmodel::CalibratedDevice> devices =
      study::load_devices(context.data, options.devices, load_calibration(context, options.calibration));
  const explore::ChosenStrategy strategy = explore::find_strategy(
      options.strategy.empty() ? explore::default_strategy_for(devices.size()) : std::string_view(options.strategy));
  if (!options.write_partition.empty()) study::check_partition_path(options.write_partition);
  for (const std::string& path : files) study::check_fusion_file(path, options.model);
  // A program adds rows up: it gets all of them, or the number it asked for.
  const bool for_program = is_for_programs(context);
  const std::int64_t top = options.top >= 0 ? options.top : for_program ? 0 : 20;
  const hlo::Imported imported = load_model(context, options.model);

  CommandOutput answer{"tailor.fuse/1", "", {}, ""};
  for (const costmodel::CalibratedDevice& device : devices)
    answer.device += (answer.device.empty() ? "" : ", ") + device.name;
  if (options.compare) {
    std::vector<std::string> left_out;
    const auto strategies = study::all_strategies(imported.graph, devices, left_out, context.watch());
    context.console->finish();
    for (const std::string& words : left_out) context.console->note(words);
    mention(context, strategies.front().partition);
    for (const std::string& words : study::decided_by_plans(strategies, devices)) context.console->note(words);
    answer.sections = {{"strategies", study::strategy_table(strategies, devices)},
                       {"agreement", study::agreement_table(imported.graph, strategies, devices, context.data)}};
    return show_fused(context, answer, strategies.front().partition);
  }
  if (options.strategy.empty() && strategy.name != explore::default_strategy)
    context.console->note(fmt::format("strategy {}, because {} decides for one GPU and found {} with --device",
                                      strategy.name, explore::default_strategy, devices.size()));
  if (strategy.needs().device && devices.size() > 1)
    throw Error(Fault::usage,
                fmt::format("strategy '{}' decides for one GPU, found {} with --device", strategy.name, devices.size()),
                "name one, or compare with --compare");
  const explore::FusionSetting setting =
      study::fusion_setting(devices.empty() ? nullptr : &devices.front(), context.watch());
  const ir::Fusion fusion = explore::fuse(strategy, imported.graph, setting);
  context.console->finish();
  stop_if_asked(context.stop());  // a search that was stopped answers with half of its work
  for (const std::string& path : files)
    write_whole(context, path, study::fusion_file_text(path, imported.graph, fusion, setting.device, context.stop()));
  const explore::Partition partition = explore::partition(imported.graph, fusion, context.stop());
  if (options.why || !options.node.empty()) {
    answer.sections = why_sections(options, context, imported.graph, fusion, setting.device, top);
    return show_fused(context, answer, partition);
  }
  mention(context, partition);
  answer.sections.push_back(
      {"groups", study::group_table(partition, devices, top, is_for_programs(context) || context.verbose)});
  const study::StrategyFigures figures =
      study::strategy_figures(imported.graph, fusion, partition, devices, nullptr, context.stop());
  answer.sections.push_back({"totals", study::strategy_table({&figures, 1}, devices)});
  answer.sections.push_back(
      {"agreement", study::agreement_table(imported.graph, {&figures, 1}, devices, context.data)});
  show_fused(context, answer, partition);
}

}  // namespace tailor::cli
