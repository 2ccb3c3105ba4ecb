// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for every graph: order, names, ranges, literals. In: a graph. Out: the first thing that is wrong, or
// nothing. Called after every import and by tests after every pass. The cheap checks come first, so that a rule of a
// shape may rely on them.
#include "ir/graph/graph_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "ir/graph/number.h"

namespace tailor::ir {

namespace {

void check_shape(const Checked& c, const Shape& shape) {
  IndexedArray<bool, max_rank> seen{};
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dims[i] < 0) refuse(c, fmt::format("dimension {} of {}", shape.dims[i], text(shape)), "no negative one");
    const int dim = shape.minor_to_major[i];
    if (dim < 0 || dim >= shape.rank() || seen[dim])
      refuse(c, "a layout that names a dimension twice or beyond the rank", "a permutation of the dimensions");
    seen[dim] = true;
  }
}

void check_operands(const Checked& c, NodeId self) {
  const int arity = row(c.node.op).arity;
  const auto count = static_cast<int>(c.count());
  if (arity >= 0 && count != arity) refuse(c, fmt::format("{} operands", count), fmt::format("{}", arity));
  for (const NodeId operand : c.node.operands)
    if (operand < 0 || operand >= self) refuse(c, fmt::format("operand {}", operand), "a node that stands before it");
}

/// The struct that the operation's row names.
void check_attributes(const Checked& c) {
  const Attributes expected = make_attributes(c.node.op);
  if (c.node.attributes.index() != expected.index()) refuse(c, struct_name(c.node.attributes), struct_name(expected));
}

void check_literal(const Checked& c) {
  const auto* literal = std::get_if<Literal>(&c.node.attributes);
  if (literal == nullptr) return;
  const std::int64_t expected = literal->known ? elements(c.node.shape) * element_bytes(c.node.shape.dtype) : 0;
  if (static_cast<std::int64_t>(literal->bytes.size()) != expected)
    refuse(c, fmt::format("{} bytes of contents", literal->bytes.size()),
           fmt::format("{} for {}", expected, text(c.node.shape)));
}

void check_results(const Checked& c) {
  const std::vector<Shape>& results = c.node.results;
  if (c.node.shape.dtype != DType::tuple && !results.empty())
    refuse(c, fmt::format("{} results beside {}", results.size(), text(c.node.shape)), "a list only for tuples");
  for (const Shape& shape : results) check_shape(c, shape);
}

void check_bodies(const Checked& c) {
  const OpClass kind = class_of(c.node.op);
  const bool calls = kind == OpClass::mapped || kind == OpClass::control || kind == OpClass::window ||
                     kind == OpClass::reduction || std::holds_alternative<RegionCall>(c.node.attributes);
  if (!calls && !c.node.bodies.empty()) refuse(c, fmt::format("{} bodies", c.node.bodies.size()), "none");
  for (const std::int32_t body : c.node.bodies)
    if (body < 0 || index(body) >= c.graph.bodies.size())
      refuse(c, fmt::format("body {}", body), fmt::format("one of {}", c.graph.bodies.size()));
}

/// Numbers 0 .. count-1, each once.
void check_parameters(const Graph& graph) {
  const std::vector<NodeId> ids = parameters(graph);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Node& node = graph[ids[i]];
    if (parameter_number(node) != static_cast<std::int64_t>(i))
      refuse({graph, node}, fmt::format("parameter {}", parameter_number(node)), fmt::format("number {}", i));
  }
}

[[noreturn]] void refuse_graph(const Graph& graph, const std::string& what) {
  throw Error(Fault::failed, fmt::format("graph {}: {}", graph.name, what));
}

void check_lists(const Graph& graph) {
  const auto count = static_cast<NodeId>(graph.nodes.size());
  const auto in_range = [count](NodeId id) { return id >= 0 && id < count; };
  for (const NodeId output : graph.outputs)
    if (!in_range(output)) refuse_graph(graph, fmt::format("found output {}, expected one of {} nodes", output, count));
  for (const GivenGroup& group : graph.given) {
    if (!std::all_of(group.nodes.begin(), group.nodes.end(), in_range))
      refuse_graph(graph, fmt::format("found a node out of range in group {}, expected one of {}", group.name, count));
    if (std::adjacent_find(group.nodes.begin(), group.nodes.end(), std::greater_equal<>()) != group.nodes.end())
      refuse_graph(graph, fmt::format("found group {} out of order, expected ascending nodes", group.name));
  }
}

/// Each output and each parameter at most once, and of equal shape.
void check_in_place(const Graph& graph) {
  const std::vector<NodeId> ids = parameters(graph);
  std::vector<bool> taken(ids.size());
  std::int32_t after = -1;
  for (const InPlace& pair : graph.in_place) {
    const bool there = pair.output > after && index(pair.output) < graph.outputs.size() && pair.parameter >= 0 &&
                       index(pair.parameter) < ids.size();
    if (!there || taken[index(pair.parameter)])
      refuse_graph(graph, fmt::format("found output {} in place of parameter {}, expected ascending outputs and each "
                                      "parameter once",
                                      pair.output, pair.parameter));
    taken[index(pair.parameter)] = true;
    after = pair.output;
    const Shape &to = graph[graph.outputs[index(pair.output)]].shape, &from = graph[ids[index(pair.parameter)]].shape;
    if (to != from)
      refuse_graph(graph, fmt::format("found output {} {} in place of parameter {} {}, expected equal shapes",
                                      pair.output, text(to), pair.parameter, text(from)));
  }
}

}  // namespace

void refuse(const Checked& checked, std::string_view found, std::string_view expected) {
  throw Error(Fault::failed, fmt::format("node %{} ({}): found {}, expected {}", checked.node.name,
                                         name(checked.node.op), found, expected));
}

std::int64_t count_nodes(const Graph& graph, Op op) {
  std::int64_t count = std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.op == op; });
  for (const Graph& body : graph.bodies) count += count_nodes(body, op);
  return count;
}

void verify(const Graph& graph) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Checked checked{graph, graph.nodes[i]};
    if (checked.node.name.empty()) refuse(checked, "no name", "one");
    if (!names.insert(checked.node.name).second) refuse(checked, "a name that another node has", "unique names");
    check_shape(checked, checked.node.shape);
    check_operands(checked, static_cast<NodeId>(i));
    check_attributes(checked);
    check_literal(checked);
    check_results(checked);
    check_bodies(checked);
    verify_shapes(checked);
  }
  check_parameters(graph);
  check_lists(graph);
  check_in_place(graph);
  for (const Graph& body : graph.bodies)
    doing(fmt::format("checking body {} of {}", body.name, graph.name), [&body] { verify(body); });
}

}  // namespace tailor::ir
