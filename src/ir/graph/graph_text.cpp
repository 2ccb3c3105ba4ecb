// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Printing a graph, one node per line:
//
//   graph softmax {
//     %x = parameter 0 : f32[64,1000]
//     %lowest = constant -inf : f32[]
//     %m = reduce max %x, %lowest, axes={1} : f32[64]
//     %b = broadcast %m, axes={0} : f32[64,1000]
//     %y = subtract %x, %b : f32[64,1000]
//     given fusion.1 kLoop { %b, %y }
//     output %y
//     in_place 0 of 0
//   }
//
// The last kind of line is rare: output 0 may be written over parameter 0.
//
// Bodies are graphs inside the graph, before the nodes, and are referred to by position: bodies={0}. A name with other
// characters than letters, digits, '_', '.' and '-' stands in double quotes. The reader is graph_parse.cpp.
#include <fmt/format.h>

#include "base/stop.h"
#include "ir/graph/graph.h"
#include "ir/graph/graph_attributes.h"
#include "ir/graph/literal_text.h"

namespace tailor::ir {

namespace {

void append_references(std::string& out, const Graph& graph, const std::vector<NodeId>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += i == 0 ? " %" : ", %";
    append_name(out, graph[ids[i]].name);
  }
}

void append_node(std::string& out, const Graph& graph, const Node& node) {
  append_name(out += '%', node.name);
  out += " = ";
  out += name(node.op);
  if (const auto* literal = std::get_if<Literal>(&node.attributes)) out += ' ' + literal_text(*literal, node.shape);
  append_word(out, node);
  append_references(out, graph, node.operands);
  append_attributes(out, node);
  if (!node.bodies.empty()) out += fmt::format(", bodies={{{}}}", fmt::join(node.bodies, ","));
  out += " : " + text(node.shape);
}

void append_graph(std::string& out, const Graph& graph, int depth, const std::stop_token& stop) {
  const std::string margin(static_cast<std::size_t>(2 * depth), ' ');
  append_name(out += margin + "graph ", graph.name);
  out += " {\n";
  for (const Graph& body : graph.bodies) append_graph(out, body, depth + 1, stop);
  for (const Node& node : graph.nodes) {
    stop_if_asked(stop);
    append_node(out += margin + "  ", graph, node);
    out += '\n';
  }
  for (const GivenGroup& group : graph.given) {
    append_name(out += margin + "  given ", group.name);
    append_name(out += ' ', group.kind);
    append_references(out += " {", graph, group.nodes);
    out += " }\n";
  }
  append_references(out += margin + "  output", graph, graph.outputs);
  out += '\n';
  for (const InPlace& pair : graph.in_place)
    out += fmt::format("{}  in_place {} of {}\n", margin, pair.output, pair.parameter);
  out += margin + "}\n";
}

}  // namespace

std::string text(const Graph& graph, const std::stop_token& stop) {
  std::string out;
  append_graph(out, graph, 0, stop);
  return out;
}

}  // namespace tailor::ir
