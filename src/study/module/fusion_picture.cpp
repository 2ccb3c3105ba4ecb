// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From a fusion to boxes and lines. In: a graph with its bodies, groups and notes on edges, the partition. Out: one
// panel per graph that runs. Called for pictures.
//
// Inside a kernel the notes on edges say the level; between boxes a value goes from the first group that computes it to
// everyone who reads it and does not. Free operations are no boxes: they belong to whoever reads them. What a person
// could not look at is summed up and left out afterwards (picture_limits.h).
#include "study/module/fusion_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/counted.h"
#include "base/stop.h"
#include "base/text.h"
#include "codegen/lower/prepare.h"
#include "explore/borders.h"
#include "explore/price.h"
#include "study/module/picture_limits.h"

namespace tailor::study {

using namespace ir;

namespace {

constexpr std::size_t absent = static_cast<std::size_t>(-1);

/// One graph that runs.
struct Place {
  const Graph* graph = nullptr;
  const Fusion* fusion = nullptr;
  std::string where;
  double times = 1;
};

void collect_places(const Graph& graph, const Fusion& fusion, const std::string& where, double times,
                    std::vector<Place>& places) {
  places.push_back({&graph, &fusion, where, times});
  for (const Node& node : graph.nodes) {
    if (class_of(node.op) != OpClass::control) continue;
    const bool loop = node.op == Op::while_loop;
    const std::int64_t trips = loop ? trip_count(node) : 0;
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      if (i == 0 && trips > 0) continue;  // as partitions count: a known number of trips needs no condition
      const std::size_t body = index(node.bodies[i]);
      if (body >= fusion.bodies.size()) continue;
      collect_places(graph.bodies[body], fusion.bodies[body], explore::body_path(where, node, i),
                     loop ? times * static_cast<double>(std::max<std::int64_t>(1, trips)) : times, places);
    }
  }
}

/// What one occurrence of a group is in the whole.
struct Kernel {
  std::size_t number = 0;  ///< in the listing of groups, from 0
  double cost = 0;         ///< of one run of the model
};
using KernelsHere = std::map<std::vector<NodeId>, Kernel>;

struct Listing {
  std::map<std::string, KernelsHere> kernels;  ///< by where
  std::map<std::pair<std::string, std::string>, const explore::LibraryCall*> calls;
  double total = 0;
};

Listing list_boxes(const explore::Partition& partition, const costmodel::CalibratedDevice* device,
                   const std::stop_token& stop) {
  Listing listing;
  for (std::size_t g = 0; g < partition.groups.size(); ++g) {
    stop_if_asked(stop);
    const explore::DistinctGroup& group = partition.groups[g];
    const double once = device != nullptr ? explore::group_price(group.group.graph, *device) : group.bytes;
    for (const explore::Occurrence& at : group.occurrences) {
      listing.kernels[at.where][at.nodes] = {g, once * at.times};
      listing.total += once * at.times;
    }
  }
  for (const explore::LibraryCall& call : partition.library) listing.calls[{call.where, call.name}] = &call;
  return listing;
}

class PanelOf {
 public:
  PanelOf(const Place& place, const Listing& listing, const std::stop_token& stop)
      : place_(place),
        graph_(*place.graph),
        fusion_(*place.fusion),
        listing_(listing),
        stop_(stop),
        wires_(def_use(graph_)),
        borders_(graph_, wires_, fusion_.groups),
        owner_(graph_.nodes.size(), absent) {}

  CostedPanel run() {
    panel_.title = place_.where;
    if (place_.times != 1) panel_.title += fmt::format(", {:.0f} times in a run", place_.times);
    add_kernels();
    add_others();
    add_lines();
    return {std::move(panel_), std::move(costs_)};
  }

 private:
  bool works(NodeId id) const { return wires_.roles[id] == Role::work || wires_.roles[id] == Role::outside; }

  void add_kernels() {
    const auto here = listing_.kernels.find(place_.where);
    for (std::size_t g = 0; g < fusion_.groups.size(); ++g) {
      stop_if_asked(stop_);
      const auto kernel = here->second.find(fusion_.groups[g]);
      box_of_.push_back(panel_.boxes.size());
      add_kernel(g, kernel->second);
    }
  }

  void add_kernel(std::size_t g, const Kernel& kernel) {
    const Boundary border = borders_.of(g);
    report::PictureBox box;
    std::unordered_map<NodeId, std::size_t> places;
    for (const NodeId id : border.inside) {
      if (!works(id)) continue;
      places.emplace(id, places.size());
      claim(id, panel_.boxes.size());
      box.nodes.push_back({graph_[id].name, fmt::format("{} {}", name(graph_[id].op), type_of(graph_[id]))});
    }
    box.operations = static_cast<std::int64_t>(box.nodes.size());
    box.name = fmt::format("{} {}", kernel.number + 1, codegen::title_of(outline(graph_, border).graph));
    box.detail = fmt::format("{}, reads {}, writes {}", counted(box.operations, "operation"), border.reads.size(),
                             border.writes.size());
    box.share = listing_.total > 0 ? kernel.cost / listing_.total : -1;
    panel_.boxes.push_back(std::move(box));
    places_.push_back(std::move(places));
    costs_.push_back({kernel.cost, static_cast<std::int64_t>(kernel.number)});
  }

  static std::string type_of(const Node& node) {
    return node.shape.dtype == DType::tuple ? fmt::format("({})", counted(node.results.size(), "result"))
                                            : text(node.shape);
  }

  /// Library calls, control flow and the like that no group holds.
  void add_others() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      stop_if_asked(stop_);
      const auto id = static_cast<NodeId>(i);
      const Node& node = graph_[id];
      if (wires_.roles[id] != Role::outside || borders_.grouped(id) || class_of(node.op) == OpClass::structure)
        continue;
      const bool control = class_of(node.op) == OpClass::control;
      const auto call = listing_.calls.find({place_.where, node.name});
      report::PictureBox box;
      box.name = node.name;
      box.kind = control ? report::PictureKind::control : report::PictureKind::library;
      box.detail = control                        ? control_words(node)
                   : call != listing_.calls.end() ? fmt::format("{} {}", call->second->what, call->second->shape)
                                                  : std::string(name(node.op));
      claim(id, panel_.boxes.size());
      panel_.boxes.push_back(std::move(box));
      places_.emplace_back();
      costs_.push_back({call == listing_.calls.end() ? 0 : call->second->bytes * call->second->times, -1});
    }
  }

  static std::string control_words(const Node& node) {
    if (node.op != Op::while_loop)
      return fmt::format("conditional, {}: see below", counted(node.bodies.size(), "branch"));
    const std::int64_t trips = trip_count(node);
    return trips > 0 ? fmt::format("loop, {} trips: see below", trips) : "loop, unknown trips: see below";
  }

  void claim(NodeId id, std::size_t box) {
    if (owner_[index(id)] == absent) owner_[index(id)] = box;
  }

  std::int64_t place_in(std::size_t box, NodeId id) const {
    const auto found = places_[box].find(id);
    return found == places_[box].end() ? -1 : static_cast<std::int64_t>(found->second);
  }

  void between(NodeId producer, NodeId consumer, std::size_t to) {
    const std::size_t from = owner_[index(producer)];
    if (from == absent || from == to) return;
    const std::int64_t from_node = place_in(from, producer), to_node = place_in(to, consumer);
    if (known_.insert({from, to, producer, to_node}).second)
      panel_.lines.push_back({from, to, "memory", 1, from_node, to_node});
  }

  void add_lines() {
    for (const EdgeNote& note : fusion_.edges) {
      stop_if_asked(stop_);
      const std::size_t box = box_of_[static_cast<std::size_t>(note.group)];
      if (note.decision == EdgeDecision::cut) {
        between(note.producer, note.consumer, box);
        continue;
      }
      const std::int64_t from = place_in(box, note.producer), to = place_in(box, note.consumer);
      if (from < 0 || to < 0) continue;
      const bool again = note.decision == EdgeDecision::recomputed;
      panel_.boxes[box].lines.push_back(
          {static_cast<std::size_t>(from), static_cast<std::size_t>(to),
           again ? "again" : std::string(name(note.level.value_or(StitchLevel::registers)))});
    }
    // Notes are about edges between working nodes: the others go to or come from what runs by itself.
    for (std::size_t g = 0; g < fusion_.groups.size(); ++g) {
      stop_if_asked(stop_);
      for (const NodeId member : fusion_.groups[g])
        if (works(member))
          for (const NodeId producer : suppliers(graph_, wires_, member))
            if (wires_.roles[producer] == Role::outside) between(producer, member, box_of_[g]);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (wires_.roles[id] != Role::outside || borders_.grouped(id) || owner_[i] == absent) continue;
      stop_if_asked(stop_);
      for (const NodeId producer : suppliers(graph_, wires_, id)) between(producer, id, owner_[i]);
    }
  }

  const Place& place_;
  const Graph& graph_;
  const Fusion& fusion_;
  const Listing& listing_;
  const std::stop_token& stop_;
  DefUse wires_;
  explore::Borders borders_;
  std::vector<std::size_t> owner_;                               ///< per node: the box that makes its value
  std::vector<std::size_t> box_of_;                              ///< per group
  std::vector<std::unordered_map<NodeId, std::size_t>> places_;  ///< per box: its nodes
  std::set<std::tuple<std::size_t, std::size_t, NodeId, std::int64_t>> known_;
  report::PicturePanel panel_;
  std::vector<BoxCost> costs_;
};

}  // namespace

report::Picture fusion_picture(const Graph& graph, const Fusion& fusion, const explore::Partition& partition,
                               const costmodel::CalibratedDevice* device, const PictureLimits& limits,
                               const std::stop_token& stop) {
  std::vector<Place> places;
  collect_places(graph, fusion, graph.name, 1, places);
  const Listing listing = list_boxes(partition, device, stop);
  report::Picture picture;
  const auto count = [](double number, std::string_view what) {
    return counted(static_cast<std::int64_t>(number), what);
  };
  picture.title = fmt::format("{} by {}: {}, {} and {} in a run", graph.name, fusion.strategy,
                              count(static_cast<double>(partition.kernels), "kernel"),
                              count(partition.launches, "launch"), count(partition.library_launches, "library call"));
  picture.share_of = device != nullptr
                         ? fmt::format("the time of all kernels in a run, by the price 'group' on {}", device->name)
                         : "the bytes that all kernels of a run move";
  std::vector<CostedPanel> panels;
  for (const Place& place : places) panels.push_back(PanelOf(place, listing, stop).run());
  limit_panels(panels, limits, stop);
  for (CostedPanel& panel : panels) picture.panels.push_back(std::move(panel.panel));
  return picture;
}

}  // namespace tailor::study
