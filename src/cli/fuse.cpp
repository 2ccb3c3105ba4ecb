// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor fuse: how a strategy cuts a model into kernels, what that moves and the least it could take, edge by edge
// why, or all strategies side by side. Times are bounds (level sol), so nothing here depends on a plan. In: a model,
// strategies, devices for the bounds. Out: tables and, when asked, a partition file.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/stop.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/strategy.h"
#include "study/module/fusion_files.h"
#include "study/tables/partition_tables.h"

namespace tailor::cli {

namespace {

using Devices = std::span<const costmodel::CalibratedDevice>;

/// One partition per strategy; for a strategy that decides for a GPU, one per device.
std::vector<explore::Partition> all_partitions(const ir::Graph& graph, Devices devices, const Context& context) {
  std::vector<explore::Partition> partitions;
  for (const explore::Strategy& row : explore::strategies()) {
    if (!row.needs.device && !row.needs.price) {
      explore::FusionSetting setting;
      setting.stop = context.stop();
      partitions.push_back(explore::partition(graph, explore::fuse(row, graph, setting), context.stop()));
      continue;
    }
    if (devices.empty()) context.console->note(fmt::format("{} is left out: it needs a device", row.name));
    for (const costmodel::CalibratedDevice& device : devices) {
      explore::FusionSetting setting;
      setting.device = &device;
      setting.price = costmodel::find_model("group");
      setting.stop = context.stop();
      partitions.push_back(explore::partition(graph, explore::fuse(row, graph, setting), context.stop()));
      partitions.back().strategy += " on " + device.name;
    }
  }
  return partitions;
}

std::vector<costmodel::CalibratedDevice> asked_devices(const FuseOptions& options, const Context& context) {
  std::vector<costmodel::CalibratedDevice> devices;
  const ir::Calibration calibration = load_calibration(context, options.calibration);
  for (const std::string& name : options.devices) {
    devices.push_back(costmodel::calibrated(load_device(context, name), calibration));
    if (std::count(devices.begin(), devices.end(), devices.back()) > 1)
      throw Error(Fault::usage, fmt::format("--device: found {} twice, expected different GPUs", devices.back().name));
  }
  return devices;
}

void mention(const Context& context, const explore::Partition& partition) {
  if (partition.unknown_trips > 0)
    context.console->note(
        fmt::format("{} loop(s) of unknown trip count are counted as one trip", partition.unknown_trips));
  if (partition.branches > 0)
    context.console->note(fmt::format("{} branch(es) of conditionals are all counted as taken", partition.branches));
}

}  // namespace

void run_fuse(const FuseOptions& options, const Context& context) {
  std::vector<std::string> files = options.to;
  if (!options.write_partition.empty()) files.push_back(options.write_partition);
  if (context.output.empty() && files.empty()) context.interrupts->holds_nothing();
  const std::vector<costmodel::CalibratedDevice> devices = asked_devices(options, context);
  const explore::ChosenStrategy strategy = explore::find_strategy(
      options.strategy.empty() ? explore::default_strategy_for(devices.size()) : std::string_view(options.strategy));
  if (!options.write_partition.empty() && !options.write_partition.ends_with(explore::partition_file_ending))
    throw Error(Fault::usage,
                fmt::format("--write-partition: found '{}', expected a name that ends in {}", options.write_partition,
                            explore::partition_file_ending),
                "--strategy knows such a file by its ending");
  for (const std::string& path : files) study::check_fusion_file(path, options.model);
  // A program adds rows up: it gets all of them, or the number it asked for.
  const bool for_program = context.format == Format::json || context.format == Format::csv;
  const std::int64_t top = options.top >= 0 ? options.top : for_program ? 0 : 20;
  const hlo::Imported imported = load_model(context, options.model);

  CommandOutput answer{"tailor.fuse/1", "", {}, ""};
  for (const costmodel::CalibratedDevice& device : devices)
    answer.device += (answer.device.empty() ? "" : ", ") + device.name;
  if (options.compare) {
    const std::vector<explore::Partition> partitions = all_partitions(imported.graph, devices, context);
    mention(context, partitions.front());
    answer.sections.push_back({"strategies", study::strategy_table(partitions, devices)});
    return show(context, answer);
  }
  if (options.strategy.empty() && strategy.name != explore::default_strategy)
    context.console->note(fmt::format("strategy {}, because {} decides for one GPU and found {} with --device",
                                      strategy.name, explore::default_strategy, devices.size()));
  if (strategy.needs().device && devices.size() > 1)
    throw Error(Fault::usage,
                fmt::format("strategy '{}' decides for one GPU, found {} with --device", strategy.name, devices.size()),
                "name one, or compare with --compare");
  explore::FusionSetting setting;
  if (!devices.empty()) setting.device = &devices.front();
  setting.price = costmodel::find_model("group");
  setting.stop = context.stop();
  const ir::Fusion fusion = explore::fuse(strategy, imported.graph, setting);
  stop_if_asked(context.stop());  // a search that was stopped answers with half of its work
  for (const std::string& path : files) {
    study::write_fusion_file(path, imported.graph, fusion, setting.device, context.stop());
    context.console->note(fmt::format("wrote {}", path));
  }
  if (options.why || !options.node.empty()) {
    answer.sections.push_back({"edges", study::edge_table(imported.graph, fusion, options.node, top,
                                                          context.format == Format::table, context.stop())});
    return show(context, answer);
  }
  const explore::Partition partition = explore::partition(imported.graph, fusion, context.stop());
  mention(context, partition);
  answer.sections.push_back(
      {"groups", study::group_table(partition, devices, top, context.format == Format::json || context.verbose)});
  answer.sections.push_back({"totals", study::strategy_table({&partition, 1}, devices)});
  show(context, answer);
}

}  // namespace tailor::cli
