// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The chosen strategy's partition as a map: which groups hand values to which, and why no kernel holds both ends. In: a
// graph's text and what was noted of each of its edges. Out: boxes, links and refused edges of a Summary. Called by
// load_summary().
//
// The database has no list of the nodes of each group. An edge that was not cut has both its ends in the group that it
// names, a cut one its consumer, and a working node that no edge names is a group of its own, mostly: parts of a pack
// and results that share nothing with the rest of their kernel have no edge to it. A group so found is known by the id
// of its outline. Of groups of the fusion that are not found so the text is read, whose names are those of its first
// place: what bears them there is one group. Equal groups are one box, and so are equal library calls, for a model of
// many equal layers is understood by one of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "explore/borders.h"
#include "ir/edge_reason.h"
#include "ir/fusion.h"
#include "ir/graph/graph.h"
#include "study/summary/summary_rows.h"

namespace tailor::study {

namespace {

using ir::NodeId;

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

/// A graph that runs: the model, or the body of a loop or branch.
struct Place {
  const ir::Graph* graph = nullptr;
  std::string path;  ///< as of store::EdgeRow
  double times = 1;  ///< in a run of the model
};

void collect(const ir::Graph& graph, const std::string& path, double times, std::vector<Place>& places) {
  places.push_back({&graph, path, times});
  for (const ir::Node& node : graph.nodes) {
    if (class_of(node.op) != ir::OpClass::control) continue;
    const std::int64_t trips = node.op == ir::Op::while_loop ? trip_count(node) : 0;
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      if (i == 0 && trips > 0) continue;  // as partitions count: a known number of trips needs no condition
      const std::size_t body = ir::index(node.bodies[i]);
      if (body < graph.bodies.size())
        collect(graph.bodies[body], path.empty() ? std::to_string(body) : fmt::format("{}/{}", path, body),
                times * static_cast<double>(std::max<std::int64_t>(1, trips)), places);
    }
  }
}

/// What stands in front says that the edge was cut, which all edges of the map were.
std::string reason_of_cut(std::string_view reason) {
  for (const std::string_view lead : {"refused: ", "cut: "})
    if (reason.starts_with(lead)) reason.remove_prefix(lead.size());
  return ir::general_reason(reason);
}

class Mapped {
 public:
  Mapped(const Gathered& gathered, const store::FusionRow& fusion) : gathered_(gathered), fusion_(fusion) {}

  void add(const Place& place, const std::vector<const store::EdgeRow*>& edges);
  report::FusionMap result();

 private:
  /// What is known of a place while it is added.
  struct Here {
    const Place& place;
    ir::DefUse wires;
    std::unordered_map<std::string_view, NodeId> named;
    std::map<std::int64_t, std::size_t> box_of_part;
    std::vector<std::size_t> owner;  ///< per node: the box that makes its value
  };
  using Tally = std::map<std::string, report::RefusedEdges>;
  struct Way {
    report::FusionLink link;
    Tally why;
  };

  /// The nodes of each part, by its number.
  using Parts = std::map<std::int64_t, std::set<NodeId>>;
  static Parts parts_by_edges(const Here& here, const std::vector<const store::EdgeRow*>& edges);
  static std::map<std::int64_t, Id> ids_of(const Here& here, const Parts& parts);
  std::map<std::int64_t, std::int64_t> join_by_text(const Here& here, const std::map<std::int64_t, Id>& ids,
                                                    Parts& parts) const;
  void add_groups(Here& here, const std::vector<const store::EdgeRow*>& edges);
  void add_others(Here& here);
  void add_cut(const Here& here, const store::EdgeRow& edge);
  void add_around(const Here& here);
  void claim(Here& here, NodeId id, std::size_t box) {
    if (here.owner[ir::index(id)] == nobody) here.owner[ir::index(id)] = box;
  }
  std::size_t box(const std::string& key, const report::FusionBox& box, NodeId last);
  Way& way(std::size_t from, std::size_t to);
  void sort_boxes();
  static Bytes bytes_of(const Here& here, NodeId id) {
    const ir::Node& node = (*here.place.graph)[id];
    std::int64_t sum = node.shape.dtype == ir::DType::tuple ? 0 : bytes(node.shape);
    for (const ir::Shape& result : node.results) sum += bytes(result);
    return Bytes{static_cast<double>(sum) * here.place.times};
  }

  const Gathered& gathered_;
  const store::FusionRow& fusion_;
  std::map<std::string, std::size_t> known_;
  std::map<std::pair<std::size_t, std::size_t>, Way> ways_;
  Tally refused_;
  report::FusionMap map_;
  std::vector<std::size_t> ends_;  ///< per box: where its first place ends, in the order of all nodes
  std::size_t nodes_before_ = 0;   ///< of the places that were added
};

std::size_t Mapped::box(const std::string& key, const report::FusionBox& box, NodeId last) {
  const auto [found, fresh] = known_.try_emplace(key, map_.boxes.size());
  if (fresh) {
    map_.boxes.push_back(box);
    ends_.push_back(nodes_before_ + ir::index(last));
  } else {
    map_.boxes[found->second].places += box.places;
  }
  return found->second;
}

Mapped::Way& Mapped::way(std::size_t from, std::size_t to) {
  Way& one = ways_[{from, to}];
  one.link.from = from;
  one.link.to = to;
  return one;
}

Mapped::Parts Mapped::parts_by_edges(const Here& here, const std::vector<const store::EdgeRow*>& edges) {
  const ir::Graph& graph = *here.place.graph;
  Parts parts;
  std::vector<bool> in_part(graph.nodes.size(), false);
  for (const store::EdgeRow* edge : edges)
    for (const std::string* name : {&edge->consumer, edge->decision == "cut" ? nullptr : &edge->producer})
      if (name != nullptr)
        if (const auto node = here.named.find(*name); node != here.named.end()) {
          parts[edge->part].insert(node->second);
          in_part[ir::index(node->second)] = true;
        }
  std::int64_t alone = parts.empty() ? 0 : parts.rbegin()->first + 1;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!in_part[i] && here.wires.roles[static_cast<NodeId>(i)] == ir::Role::work)
      parts[alone++].insert(static_cast<NodeId>(i));
  return parts;
}

std::map<std::int64_t, Id> Mapped::ids_of(const Here& here, const Parts& parts) {
  const ir::Graph& graph = *here.place.graph;
  std::vector<std::vector<NodeId>> groups;
  for (const auto& [part, nodes] : parts) groups.emplace_back(nodes.begin(), nodes.end());
  const explore::Borders borders(graph, here.wires, groups);
  std::map<std::int64_t, Id> ids;
  std::size_t at = 0;
  for (const auto& [part, nodes] : parts) ids.emplace(part, outline(graph, borders.of(at++)).id);
  return ids;
}

/// Joins parts that are one group by its text. Returns into which part each of these went, the one that stays too.
std::map<std::int64_t, std::int64_t> Mapped::join_by_text(const Here& here, const std::map<std::int64_t, Id>& ids,
                                                          Parts& parts) const {
  std::map<std::int64_t, std::int64_t> went;
  std::set<Id> found;
  for (const auto& [part, id] : ids) found.insert(id);
  for (const store::FusionGroupRow& row : fusion_.groups) {
    const auto stored = gathered_.groups.find(row.group);
    if (found.contains(row.group) || stored == gathered_.groups.end()) continue;
    const ir::Graph text = ir::parse_graph(stored->second.text, stored->second.title);
    std::set<NodeId> members;
    bool here_all = true;
    for (const ir::Node& node : text.nodes) {
      if (class_of(node.op) == ir::OpClass::leaf) continue;
      const auto at = here.named.find(node.name);
      here_all = here_all && at != here.named.end();
      if (at != here.named.end() && here.wires.roles[at->second] == ir::Role::work) members.insert(at->second);
    }
    std::vector<std::int64_t> among;  // what several groups compute may be in others too
    for (const auto& [part, of_it] : parts)
      if (std::includes(members.begin(), members.end(), of_it.begin(), of_it.end())) among.push_back(part);
    if (!here_all || among.empty()) continue;
    for (const std::int64_t part : among) {
      went[part] = among[0];
      parts.erase(part);
    }
    parts[among[0]] = members;
  }
  return went;
}

void Mapped::add_groups(Here& here, const std::vector<const store::EdgeRow*>& edges) {
  const ir::Graph& graph = *here.place.graph;
  Parts parts = parts_by_edges(here, edges);
  std::map<std::int64_t, Id> ids = ids_of(here, parts);
  const std::map<std::int64_t, std::int64_t> went = join_by_text(here, ids, parts);
  if (!went.empty()) ids = ids_of(here, parts);
  for (const auto& [part, nodes] : parts) {
    const Id id = ids.at(part);
    const auto stored = gathered_.groups.find(id);
    const bool known = stored != gathered_.groups.end();
    const bool titled = known && !stored->second.title.empty();
    const std::string name = titled ? stored->second.title : graph[*nodes.rbegin()].name;
    here.box_of_part[part] = box(hex(id), {known ? hex(id) : "", name, here.place.times}, *nodes.rbegin());
    for (const NodeId node : nodes) claim(here, node, here.box_of_part[part]);
  }
  for (const auto& [part, to] : went) here.box_of_part[part] = here.box_of_part.at(to);
}

void Mapped::add_others(Here& here) {
  const ir::Graph& graph = *here.place.graph;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const ir::Node& node = graph[id];
    if (here.wires.roles[id] != ir::Role::outside || here.owner[i] != nobody ||
        class_of(node.op) == ir::OpClass::structure)
      continue;
    const bool control = class_of(node.op) == ir::OpClass::control;
    const std::string what = std::string(name(node.op)) + (control ? " " + node.name : "");
    const std::string shape = node.shape.dtype == ir::DType::tuple ? "" : " " + text(node.shape);
    here.owner[i] = box("outside " + what + shape, {"", what + shape, here.place.times}, id);
  }
}

void Mapped::add_cut(const Here& here, const store::EdgeRow& edge) {
  const auto producer = here.named.find(edge.producer);
  const auto part = here.box_of_part.find(edge.part);
  if (producer == here.named.end() || part == here.box_of_part.end()) return;
  const Bytes bytes = bytes_of(here, producer->second);
  const std::string reason = reason_of_cut(edge.reason);
  const std::size_t from = here.owner[ir::index(producer->second)];
  const auto count = [&](report::RefusedEdges& sum) {
    if (sum.edges++ == 0) sum = {reason, fmt::format("{} -> {}", edge.producer, edge.consumer), 1, {}};
    sum.bytes += bytes;
  };
  count(refused_[reason]);
  if (from == nobody) return;
  Way& one = way(from, part->second);
  ++one.link.edges;
  one.link.bytes += bytes;
  count(one.why[reason]);
}

/// Values that go into what runs outside groups, or come from there: nobody decided about these edges.
void Mapped::add_around(const Here& here) {
  const ir::Graph& graph = *here.place.graph;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const std::size_t to = here.owner[i];
    if (to == nobody) continue;
    for (const NodeId producer : suppliers(graph, here.wires, id)) {
      const std::size_t from = here.owner[ir::index(producer)];
      const bool outside = here.wires.roles[id] == ir::Role::outside || here.wires.roles[producer] == ir::Role::outside;
      if (!outside || from == nobody || from == to) continue;
      Way& one = way(from, to);
      ++one.link.edges;
      one.link.bytes += bytes_of(here, producer);
    }
  }
}

void Mapped::add(const Place& place, const std::vector<const store::EdgeRow*>& edges) {
  Here here{place, def_use(*place.graph), {}, {}, std::vector<std::size_t>(place.graph->nodes.size(), nobody)};
  for (std::size_t i = 0; i < place.graph->nodes.size(); ++i)
    here.named.emplace(place.graph->nodes[i].name, static_cast<NodeId>(i));
  add_groups(here, edges);
  add_others(here);
  for (const store::EdgeRow* edge : edges)
    if (edge->decision == "cut") add_cut(here, *edge);
  add_around(here);
  nodes_before_ += place.graph->nodes.size();
}

/// Boxes in the order in which a run first comes to their ends.
void Mapped::sort_boxes() {
  std::vector<std::size_t> order(map_.boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ends_[a] < ends_[b]; });
  std::vector<report::FusionBox> sorted;
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(map_.boxes[order[i]]));
  }
  map_.boxes = std::move(sorted);
  for (report::FusionLink& link : map_.links) {
    link.from = place[link.from];
    link.to = place[link.to];
  }
}

report::FusionMap Mapped::result() {
  const auto heavier = [](const auto& a, const auto& b) { return a.bytes > b.bytes; };
  for (auto& [reason, sum] : refused_) map_.refused.push_back(std::move(sum));
  std::stable_sort(map_.refused.begin(), map_.refused.end(), heavier);
  std::map<std::string_view, std::size_t> place_of;
  for (std::size_t i = 0; i < map_.refused.size(); ++i) place_of[map_.refused[i].reason] = i;
  for (auto& [ends, one] : ways_) {
    const auto most = std::max_element(one.why.begin(), one.why.end(),
                                       [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    if (most != one.why.end()) one.link.reason = place_of.at(most->first);
    map_.links.push_back(one.link);
  }
  sort_boxes();
  return std::move(map_);
}

}  // namespace

report::FusionMap make_map(const ir::Graph& graph, const Gathered& gathered, const store::FusionRow& fusion) {
  std::vector<Place> places;
  collect(graph, "", 1, places);
  std::map<std::string_view, std::vector<const store::EdgeRow*>> edges;
  for (const store::EdgeRow& edge : fusion.edges) edges[edge.body].push_back(&edge);
  Mapped mapped(gathered, fusion);
  for (const Place& place : places) mapped.add(place, edges[place.path]);
  return mapped.result();
}

}  // namespace tailor::study
