// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the names of a partition file meet a graph. Every graph that a strategy would partition gets its section: names
// become nodes, then the groups must hold all work and must be able to run. What does not fit is an error with the line
// it stands on. A section that is missing counts as one without groups.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "explore/edge_notes.h"
#include "explore/partition_file.h"
#include "explore/runnable.h"

namespace tailor::explore {

using namespace ir;

namespace {

constexpr std::size_t most_listed = 5;  ///< names in one message

std::string label(const Graph& graph, NodeId id) { return "%" + graph[id].name; }

class FileReader {
 public:
  explicit FileReader(const PartitionFile& file) : file_(file) {}

  Fusion whole(const Graph& graph) {
    check_graph(graph);
    Fusion fusion = section(graph, "", nullptr);
    for (const PartitionFile::Section& section : file_.sections)
      if (!used_.contains(section.body))
        fail(section.line, 1, fmt::format("body {} is no body of a loop or branch of {}", section.body, graph.name),
             used_.size() == 1 ? "this graph has none: remove the line and its groups"
                               : fmt::format("there are: {}", fmt::join(std::next(used_.begin()), used_.end(), ", ")));
    return fusion;
  }

 private:
  [[noreturn]] void fail(std::int64_t line, std::int64_t column, std::string message, std::string hint) const {
    throw Error(Fault::failed, Position{file_.path, line, column}, std::move(message), std::move(hint));
  }

  void check_graph(const Graph& graph) const {
    if (!file_.graph) return;
    const Id found = id_of(std::string_view(text(graph)));
    if (found == *file_.graph) return;
    fail(file_.sections.front().line, 1,
         fmt::format("the file was written for graph {}, this one is {} ({})", short_hex(*file_.graph),
                     short_hex(found), graph.name),
         "write it again with tailor fuse MODEL --write-partition FILE; if the names of the nodes are meant to be the "
         "same, remove graph= from the line");
  }

  /// `outer` is the section that stands for this one in messages when the file has none.
  Fusion section(const Graph& graph, const std::string& body, const PartitionFile::Section* outer) {
    used_.insert(body);
    const auto found = std::find_if(file_.sections.begin(), file_.sections.end(),
                                    [&](const PartitionFile::Section& s) { return s.body == body; });
    const bool missing = found == file_.sections.end();
    const PartitionFile::Section& opened = missing ? *outer : *found;
    const DefUse facts = def_use(graph);
    Fusion fusion;
    fusion.strategy = file_.path;
    if (!missing) fusion.groups = groups(graph, facts, *found);
    check_whole(graph, facts, fusion.groups, body, opened);
    if (!missing) {
      check_circle(graph, facts, fusion.groups, *found);
      fusion.edges = edge_notes(graph, facts, fusion.groups);
      for (EdgeNote& note : fusion.edges) {
        const std::int64_t line = found->groups[static_cast<std::size_t>(note.group)].line;
        note.reason = note.decision == EdgeDecision::cut ? fmt::format("file: not in the group of line {}", line)
                                                         : fmt::format("file: both in the group of line {}", line);
      }
    }
    fusion.bodies.resize(graph.bodies.size());
    for (const Node& node : graph.nodes) {
      if (class_of(node.op) != OpClass::control) continue;
      for (const std::int32_t at : node.bodies)
        fusion.bodies[index(at)] = section(graph.bodies[index(at)],
                                           body.empty() ? std::to_string(at) : fmt::format("{}/{}", body, at), &opened);
    }
    return fusion;
  }

  std::vector<std::vector<NodeId>> groups(const Graph& graph, const DefUse& facts,
                                          const PartitionFile::Section& section) const {
    std::unordered_map<std::string_view, NodeId> ids;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) ids.emplace(graph.nodes[i].name, static_cast<NodeId>(i));
    std::vector<std::vector<NodeId>> result;
    for (const PartitionFile::Group& group : section.groups) {
      std::vector<NodeId>& nodes = result.emplace_back();
      bool works = false;
      std::set<NodeId> seen;
      for (const PartitionFile::Name& name : group.nodes) {
        const auto found = ids.find(name.name);
        if (found == ids.end()) unknown(graph, group, name);
        const NodeId id = found->second;
        if (!seen.insert(id).second)
          fail(group.line, name.column, fmt::format("{} stands twice in this group", label(graph, id)),
               "name it once; it may stand in other groups too");
        const Op op = graph[id].op;
        if (op == Op::parameter || class_of(op) == OpClass::control)
          fail(group.line, name.column,
               fmt::format("{} is a {}: no kernel can hold it", label(graph, id), ir::name(op)), "leave it out");
        works = works || facts.roles[index(id)] == Role::work || facts.roles[index(id)] == Role::outside;
        nodes.push_back(id);
      }
      if (!works)
        fail(group.line, 1, fmt::format("{} and its group need no kernel", label(graph, nodes.front())),
             "constants, reshapes and broadcasts are computed by whoever needs them: remove the line");
      std::sort(nodes.begin(), nodes.end());
    }
    return result;
  }

  [[noreturn]] void unknown(const Graph& graph, const PartitionFile::Group& group,
                            const PartitionFile::Name& name) const {
    std::vector<std::string_view> known;
    for (const Node& node : graph.nodes) known.push_back(node.name);
    const std::string_view near = nearest(name.name, known);
    fail(group.line, name.column, fmt::format("{} has no node '{}'", graph.name, name.name),
         near.empty() ? std::string("tailor import MODEL --text prints all names")
                      : fmt::format("did you mean '{}'?", near));
  }

  void check_whole(const Graph& graph, const DefUse& facts, const std::vector<std::vector<NodeId>>& groups,
                   const std::string& body, const PartitionFile::Section& section) const {
    const std::vector<NodeId> left_out = find_left_out(facts, groups);
    if (left_out.empty()) return;
    std::string names;
    for (std::size_t i = 0; i < std::min(most_listed, left_out.size()); ++i)
      names += (i == 0 ? "" : ", ") + label(graph, left_out[i]);
    if (left_out.size() > most_listed) names += fmt::format(" and {} more", left_out.size() - most_listed);
    const std::string hint =
        fmt::format("each needs a kernel: add them to groups, or a line 'group {}'", label(graph, left_out.front()));
    fail(section.line, 1,
         fmt::format("{} working {} of {} in no group: {}", left_out.size(), left_out.size() == 1 ? "node" : "nodes",
                     (body.empty() ? graph.name : fmt::format("body {} ({})", body, graph.name)) +
                         (left_out.size() == 1 ? " is" : " are"),
                     names),
         section.body == body ? hint : fmt::format("{}, under a line 'body {}'", hint, body));
  }

  void check_circle(const Graph& graph, const DefUse& facts, const std::vector<std::vector<NodeId>>& groups,
                    const PartitionFile::Section& section) const {
    const std::vector<Wait> circle = find_circle(graph, facts, groups);
    if (circle.empty()) return;
    const auto line_of = [&](const Wait& wait) { return section.groups[static_cast<std::size_t>(wait.group)].line; };
    const auto station = [&](const Wait& wait) {
      if (wait.group >= 0) return fmt::format("the group of line {}", line_of(wait));
      return fmt::format("{} ({})", label(graph, wait.node), ir::name(graph[wait.node].op));
    };
    std::string way;
    for (std::size_t i = 0; i < circle.size(); ++i)
      way += fmt::format("{}{} waits for {} of {}", i == 0 ? "" : ", ", station(circle[i]),
                         label(graph, circle[i].value), station(circle[(i + 1) % circle.size()]));
    const auto group = std::find_if(circle.begin(), circle.end(), [](const Wait& wait) { return wait.group >= 0; });
    fail(line_of(*group), 1, fmt::format("groups wait for each other in a circle: {}", way),
         "split one of these groups, or put the values into the group that waits for them");
  }

  const PartitionFile& file_;
  std::set<std::string> used_;  ///< sections that a graph stands behind; "" is the first
};

}  // namespace

Fusion read_fusion(const PartitionFile& file, const Graph& graph) { return FileReader(file).whole(graph); }

}  // namespace tailor::explore
