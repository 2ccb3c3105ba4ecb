// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting a model: what its fusion means in kernels. In: a graph and its fusion. Out: distinct groups with the places
// they stand at and the times they run, library calls, sums of bytes. Called by whoever fused, before anything is
// planned.
//
// The walk descends into bodies. A loop's body counts by its trips; a loop of unknown trips counts once and is
// flagged; every branch of a conditional counts. Each set of nodes becomes a Group with its border, and groups whose
// canonical text is equal are one distinct group with several occurrences.
//
// The border. In a cover several groups may compute a value. It belongs to the first of them, and is written only if
// something reads it that does not compute it itself: another group, a library call, the graph's result. Free nodes
// (reshapes, broadcasts, constants) belong to whoever reads them and are never borders.
//
// Bytes of a group are those that must move once (costmodel/needed.h): of an input what the outputs need, an output by
// what is written, where an update in place of a parameter writes the update alone.
// least_kernels() is a bound that no fusion beats: the most kernels that must follow one another because library calls
// or control flow stand between them.
#include "explore/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/stop.h"
#include "explore/borders.h"

namespace tailor::explore {

using namespace ir;

namespace {

std::string library_call_target(const Node& node) {
  return std::string(target(node).empty() ? name(node.op) : target(node));
}

std::string library_call_shape(const Graph& graph, const Node& node) {
  if (node.op != Op::dot && node.op != Op::convolution) return text(node.shape);
  return fmt::format("{} x {}", text(graph[node.operands[0]].shape), text(graph[node.operands[1]].shape));
}

class Counting {
 public:
  Counting(Partition& into, const std::stop_token& stop) : into_(into), stop_(stop) {}

  void graph(const Graph& graph, const Fusion& fusion, const std::string& where, double times) {
    const DefUse wires = def_use(graph);
    const Borders borders(graph, wires, fusion.groups);
    for (std::size_t g = 0; g < fusion.groups.size(); ++g) {
      stop_if_asked(stop_);
      Boundary border = borders.of(g);
      Group group = outline(graph, border);
      add(std::move(group), {where, fusion.groups[g], times, std::move(border.reads), std::move(border.writes)});
    }
    const std::int64_t least = least_kernels(graph, wires);
    into_.least_kernels += least;
    into_.least_launches += static_cast<double>(least) * times;
    stop_if_asked(stop_);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (wires.roles[i] == Role::outside && !borders.grouped(static_cast<NodeId>(i)))
        outside(graph, fusion, static_cast<NodeId>(i), where, times);
  }

 private:
  void add(Group group, Occurrence occurrence) {
    const auto [known, fresh] = known_.try_emplace(group.id, into_.groups.size());
    if (fresh) {
      codegen::Classified needs = codegen::classify(group);
      const double bytes = bytes_once(group.graph);
      into_.groups.push_back({std::move(group), std::move(needs), {}, 0, bytes});
    }
    DistinctGroup& distinct = into_.groups[known->second];
    distinct.times += occurrence.times;
    into_.kernels += 1;
    into_.launches += occurrence.times;
    into_.bytes += occurrence.times * distinct.bytes;
    distinct.occurrences.push_back(std::move(occurrence));
  }

  void outside(const Graph& graph, const Fusion& fusion, NodeId id, const std::string& where, double times) {
    const Node& node = graph[id];
    if (class_of(node.op) == OpClass::control) return control(graph, fusion, node, where, times);
    if (class_of(node.op) == OpClass::structure) return;
    const LibraryCall call{node.name,
                           library_call_target(node),
                           where,
                           library_call_shape(graph, node),
                           bytes_touched(graph, id),
                           flops(node),
                           times};
    into_.library_launches += times;
    into_.library_bytes += times * call.bytes;
    into_.library.push_back(call);
  }

  void control(const Graph& graph, const Fusion& fusion, const Node& node, const std::string& where, double times) {
    const bool loop = node.op == Op::while_loop;
    const std::int64_t known_trips = loop ? trip_count(node) : 0;
    const auto trips = static_cast<double>(std::max<std::int64_t>(1, known_trips));
    if (loop && known_trips <= 0) ++into_.unknown_trips;
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      // A known trip count needs no kernel to find out whether to go on.
      if (i == 0 && known_trips > 0) continue;
      const std::size_t body = index(node.bodies[i]);
      if (!loop) ++into_.branches;
      this->graph(graph.bodies[body], fusion.bodies[body], body_path(where, node, i), loop ? times * trips : times);
    }
  }

  Partition& into_;
  const std::stop_token& stop_;
  std::map<Id, std::size_t> known_;
};

}  // namespace

double bytes_once(const Graph& group) {
  const costmodel::GroupWork work = costmodel::group_work({group, {}});
  return work.bytes_read + work.bytes_written;
}

std::int64_t least_kernels(const Graph& graph, const DefUse& def_use) {
  // Per node: kernels that must have started when its value exists.
  std::vector<std::int64_t> after(graph.nodes.size(), 0);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool work = def_use.roles[i] == Role::work;
    if (!work && def_use.roles[i] != Role::outside) continue;
    std::int64_t level = work ? 1 : 0;
    for (const NodeId producer : suppliers(graph, def_use, static_cast<NodeId>(i))) {
      const bool crosses = work && def_use.roles[index(producer)] == Role::outside;
      level = std::max(level, after[index(producer)] + (crosses ? 1 : 0));
    }
    after[i] = level;
    most = std::max(most, level);
  }
  return most;
}

std::string body_path(const std::string& where, const Node& node, std::size_t i) {
  if (node.op != Op::while_loop) return fmt::format("{}/{}.branch{}", where, node.name, i);
  return fmt::format("{}/{}.{}", where, node.name, i == 0 ? "condition" : "body");
}

Partition partition(const Graph& graph, const Fusion& fusion, const std::stop_token& stop) {
  Partition result;
  result.strategy = fusion.strategy;
  Counting(result, stop).graph(graph, fusion, graph.name, 1);
  return result;
}

costmodel::GroupWork needed_work(const DistinctGroup& group) { return costmodel::group_work(group.group); }

}  // namespace tailor::explore
