// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The canonical text: what a graph computes, without its accidents. Nodes are numbered in the order of a depth-first
// walk from the outputs, operands first and in operand order, so neither names nor the order of independent nodes
// show; nodes no output needs are absent. Parameters are renumbered as the walk meets them: two groups that read the
// same things in another order are one group. Inside bodies a parameter's number is its meaning and stays.
//
// The walk keeps its own stack: graphs are deeper than a thread's.
#include <fmt/format.h>

#include <iterator>

#include "base/indexed.h"
#include "base/stop.h"
#include "ir/graph/graph.h"
#include "ir/graph/graph_attributes.h"

namespace tailor::ir {

namespace {

/// Nodes that the outputs need, operands before users.
std::vector<NodeId> walk(const Graph& graph) {
  std::vector<NodeId> order;
  IndexedVector<char> seen(graph.nodes.size(), 0);
  std::vector<std::pair<NodeId, std::size_t>> stack;
  for (const NodeId output : graph.outputs) {
    if (seen[output]) continue;
    seen[output] = 1;
    stack.emplace_back(output, 0);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const std::vector<NodeId>& operands = graph[id].operands;
      if (next == operands.size()) {
        order.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId operand = operands[next++];
      if (seen[operand]) continue;
      seen[operand] = 1;
      stack.emplace_back(operand, 0);
    }
  }
  return order;
}

/// Numbers of nodes are most of the text, which is written for every group that a search looks at.
void append_number(std::string& out, std::int64_t number) {
  const fmt::format_int digits(number);
  out.append(digits.data(), digits.size());
}

void append_literal(std::string& out, const Literal& literal) {
  // Long contents are stood for by their hash: the text is an identity, not an archive.
  constexpr std::size_t longest = 64;
  if (!literal.known) {
    out += " ?";
  } else if (literal.bytes.size() > longest) {
    fmt::format_to(std::back_inserter(out), " #{}", hex(tailor::id_of(std::span<const std::byte>(literal.bytes))));
  } else {
    append_hex(out += ' ', literal.bytes);
  }
}

void append_graph(std::string& out, const Graph& graph, bool renumber, const std::stop_token& stop) {
  const std::vector<NodeId> order = walk(graph);
  IndexedVector<std::int32_t> number(graph.nodes.size(), -1);
  std::int64_t parameters_met = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    stop_if_asked(stop);
    const Node& node = graph[order[i]];
    number[order[i]] = static_cast<std::int32_t>(i);
    out += name(node.op);
    if (renumber && node.op == Op::parameter)
      append_number(out += ' ', parameters_met++);
    else
      append_word(out, node);
    for (const NodeId operand : node.operands) append_number(out += ' ', number[operand]);
    if (const auto* literal = std::get_if<Literal>(&node.attributes)) append_literal(out, *literal);
    append_attributes(out, node);
    for (const std::int32_t body : node.bodies) {
      out += " {\n";
      append_graph(out, graph.bodies[index(body)], false, stop);
      out += '}';
    }
    ((out += " : ") += text(node.shape)) += '\n';
  }
  out += "output";
  for (const NodeId output : graph.outputs) append_number(out += ' ', number[output]);
  out += '\n';
  const std::vector<NodeId> sources = graph.in_place.empty() ? std::vector<NodeId>{} : parameters(graph);
  for (const InPlace& pair : graph.in_place)
    fmt::format_to(std::back_inserter(out), "in_place {} {}\n", pair.output, number[sources[index(pair.parameter)]]);
}

}  // namespace

std::string canonical_text(const Graph& graph, const std::stop_token& stop) {
  std::string out;
  append_graph(out, graph, true, stop);
  return out;
}

}  // namespace tailor::ir
