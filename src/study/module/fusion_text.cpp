// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From a fusion to what the writer of HLO is told. In: a graph, its groups, those of its bodies. Out: borders, names
// and kinds. Called by fusion_text() and its tests.
//
// XLA names a fusion's kind after what decides its kernel: kInput where something is reduced, kOutput where a library
// call takes an epilogue along, kLoop for the rest. Readers of the text that generate code go by it; Tailor does not.
#include "study/module/fusion_text.h"

#include <algorithm>
#include <map>

#include "base/stop.h"
#include "codegen/lower/prepare.h"
#include "explore/borders.h"

namespace tailor::study {

using namespace ir;

namespace {

std::string_view kind_of(const Graph& graph, const std::vector<NodeId>& inside) {
  std::string_view kind = "kLoop";
  for (const NodeId id : inside) {
    const OpClass what = class_of(graph[id].op);
    if (what == OpClass::library) return "kOutput";
    if (what == OpClass::reduction) kind = "kInput";
  }
  return kind;
}

}  // namespace

hlo::WrittenGroups written_groups(const Graph& graph, const Fusion& fusion, const std::stop_token& stop) {
  hlo::WrittenGroups written;
  const DefUse wires = def_use(graph);
  const explore::Borders borders(graph, wires, fusion.groups);
  std::map<std::vector<NodeId>, const GivenGroup*> given;
  for (const GivenGroup& group : graph.given) given.try_emplace(group.nodes, &group);
  for (std::size_t g = 0; g < fusion.groups.size(); ++g) {
    stop_if_asked(stop);
    hlo::WrittenFusion& one = written.fusions.emplace_back();
    one.border = borders.of(g);
    if (const auto known = given.find(fusion.groups[g]); known != given.end()) {
      one.name = known->second->name;
      one.kind = known->second->kind.substr(0, known->second->kind.find("__"));
    } else {
      one.name = codegen::title_of(outline(graph, one.border).graph) + "_fusion";
      one.kind = kind_of(graph, one.border.inside);
    }
  }
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    written.bodies.push_back(written_groups(graph.bodies[i], fusion.bodies[i], stop));
  return written;
}

std::string fusion_text(const Graph& graph, const Fusion& fusion, const std::stop_token& stop) {
  return hlo::hlo_text(graph, written_groups(graph, fusion, stop), stop);
}

}  // namespace tailor::study
