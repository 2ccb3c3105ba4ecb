// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of strategies and the common part of every fusion. In: the name of a row or the path of a partition file,
// a graph, what may be used (a device, a price) and a budget. Out: a Fusion with a note for every edge. Called by
// commands that fuse and by sweeps.
//
// A row sees one graph at a time. Here the def-use facts of each graph are computed once, what the row needs is
// demanded with a clear message, the budget of the model is shared out to its graphs by their numbers of nodes, and
// bodies of loops and branches are fused likewise, each under its own share. A fusion bears the names of strategy,
// device and price, which are part of its key in a database.
#include "explore/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tailor::explore {

namespace {

constexpr auto strategy_table = std::to_array<Strategy>({
    {"unfused", {}, "every working node is a kernel of its own", "what eager execution launches", &fuse_unfused},
    {"imported",
     {},
     "the fusion instructions the file itself carries",
     "the dump: XLA's own partition",
     &fuse_imported},
    {"stitch-v1",
     {},
     "stitches rows through shared memory while more than one block remains",
     "FusionStitching, arXiv 1811.05213; PAI's article on memory-bound operations",
     &fuse_stitch_v1},
    {"tailor",
     {true, true},
     "searches by price among the groups that can be lowered today",
     "FusionStitching V2, arXiv 2009.10924, and AStitch, ASPLOS 2022; docs/decisions/0022-price-of-a-group.md",
     &fuse_tailor},
    {"tailor-any",
     {true, true},
     "the same among all groups, grid barriers included: what the lowering may still gain",
     "as tailor",
     &fuse_tailor_any},
    {"xla-2020",
     {},
     "what XLA's rules of 2020 fused, the baseline of FusionStitching",
     "openxla/xla 5dcf678a (2020-07-01, about TensorFlow 2.3); docs/xla_eras.md",
     &fuse_xla_2020},
    {"xla-2022",
     {},
     "what XLA's rules fused at their end, before its cost model",
     "openxla/xla d294f67d (2021-12-30, about TensorFlow 2.8); docs/xla_eras.md",
     &fuse_xla_2022},
    {"xla-priority",
     {true, false, true},
     "what XLA's GPU compiler fuses: the most gain first by its own model, then several results per kernel",
     "openxla/xla 5a9e73cb, priority_fusion.cc and multi_output_fusion.cc; docs/xla.md",
     &fuse_xla_priority},
});

/// Throws for what the row needs and the setting lacks.
void check_needs(const Strategy& row, const FusionSetting& setting) {
  if (row.needs.device && setting.device == nullptr)
    throw Error(Fault::usage, fmt::format("strategy '{}' decides for one GPU and none was named", row.name),
                "name one with --device; tailor devices lists them");
  if (row.needs.xla && setting.device->xla == nullptr)
    throw Error(Fault::missing,
                fmt::format("strategy '{}' decides as XLA does and has no description of '{}' as XLA sees it", row.name,
                            setting.device->name),
                "data/xla holds one file per GPU that has one");
  if (!row.needs.price || setting.price != nullptr) return;
  std::vector<std::string_view> known;
  for (const costmodel::Model& model : costmodel::models()) known.push_back(model.name);
  throw Error(Fault::usage, fmt::format("strategy '{}' decides by a price and no cost model was named", row.name),
              fmt::format("cost models: {}", fmt::join(known, ", ")));
}

/// Nodes of a graph and of all bodies that fuse() descends into, each as often as it is entered.
double count_nodes(const ir::Graph& graph) {
  auto sum = static_cast<double>(graph.nodes.size());
  for (const ir::Node& node : graph.nodes)
    if (ir::class_of(node.op) == ir::OpClass::control)
      for (const std::int32_t body : node.bodies) sum += count_nodes(graph.bodies[ir::index(body)]);
  return sum;
}

class Descent {
 public:
  Descent(const Strategy& row, const ir::Graph& graph, const FusionSetting& setting)
      : row_(row), setting_(setting), all_nodes_(std::max(1.0, count_nodes(graph))) {}

  ir::Fusion fuse(const ir::Graph& graph, bool is_body = false) const {
    const ir::DefUse def_use = ir::def_use(graph);
    FusionTask task{setting_, graph, def_use, is_body};
    const double share = static_cast<double>(graph.nodes.size()) / all_nodes_;
    task.budget.seconds *= share;
    if (task.budget.evaluations > 0)
      task.budget.evaluations =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(task.budget.evaluations) * share));
    ir::Fusion fusion = row_.partition(task);
    fusion.strategy = row_.name;
    if (row_.needs.device) fusion.device = setting_.device->name;
    if (row_.needs.price) fusion.price = setting_.price->name;
    fusion.bodies.resize(graph.bodies.size());
    for (const ir::Node& node : graph.nodes) {
      if (ir::class_of(node.op) != ir::OpClass::control) continue;
      for (const std::int32_t body : node.bodies)
        fusion.bodies[ir::index(body)] = fuse(graph.bodies[ir::index(body)], true);
    }
    return fusion;
  }

 private:
  const Strategy& row_;
  const FusionSetting& setting_;
  double all_nodes_;
};

/// The groups that a file describes, which has to be there.
std::shared_ptr<const PartitionFile> partition_in(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown) && !unknown)
    throw Error(Fault::missing, Position{path}, "cannot read: No such file or directory",
                "tailor fuse MODEL --write-partition FILE.partition makes one");
  return std::make_shared<const PartitionFile>(parse_partition(read_file(path), path));
}

}  // namespace

std::span<const Strategy> strategies() { return strategy_table; }

std::string_view default_strategy_for(std::size_t devices) { return devices == 1 ? default_strategy : "stitch-v1"; }

std::string text(const StrategyNeeds& needs) {
  if (needs.xla) return "device, XLA's description of it";
  if (needs.device && needs.price) return "device, price";
  return needs.device ? "device" : needs.price ? "price" : "nothing";
}

ChosenStrategy::ChosenStrategy(const Strategy& chosen) : name(chosen.name), row(&chosen) {}

ChosenStrategy::ChosenStrategy(std::shared_ptr<const PartitionFile> read) : name(read->path), file(std::move(read)) {}

ChosenStrategy find_strategy(std::string_view name) {
  if (name.ends_with(partition_file_ending)) return ChosenStrategy(partition_in(std::string(name)));
  for (const Strategy& strategy : strategy_table)
    if (strategy.name == name) return strategy;
  std::vector<std::string_view> known;
  for (const Strategy& strategy : strategy_table) known.push_back(strategy.name);
  throw Error(Fault::usage, "no fusion strategy is called '" + std::string(name) + "'", suggestion(name, known));
}

ir::Fusion fuse(const ChosenStrategy& strategy, const ir::Graph& graph, const FusionSetting& setting) {
  if (strategy.file) return read_fusion(*strategy.file, graph);
  check_needs(*strategy.row, setting);
  return Descent(*strategy.row, graph, setting).fuse(graph);
}

std::size_t reductions_of(const ir::Graph& graph, std::span<const ir::NodeId> nodes) {
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](ir::NodeId id) { return graph[id].op == ir::Op::reduce; }));
}

}  // namespace tailor::explore
