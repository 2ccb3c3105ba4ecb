// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph: typed tensor operations in HLO's semantics, after import has normalised them. Nodes stand in topological order
// (operands before users) and each has one array value, but for operations with several results (a variadic reduce, a
// while loop, a sort): those have dtype tuple, list their shapes in `results`, and get_tuple_element nodes
// pick from them. Tuples that only group values are gone: `outputs` is the flattened root. Calls are inlined. A while
// or conditional holds its bodies as graphs in `bodies`; so do reductions whose region is not one known operation,
// sorts and scatters.
//
// XLA's fusion instructions are inlined too, and what they grouped is remembered in `given`: the partition that the
// file itself carries (strategy "imported").
//
// Evaluation: evaluate.h. Import: import.h. Text form: text() and parse_graph(); they round-trip.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "base/indexed.h"
#include "ir/graph/attributes.h"
#include "ir/graph/op.h"
#include "ir/graph/types.h"

namespace tailor::ir {

/// Index into Graph::nodes.
using NodeId = std::int32_t;
inline constexpr NodeId no_node = -1;
/// As an index into an array with one element per node. Precondition: not no_node.
constexpr std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

struct Node {
  Op op = Op::opaque;
  Shape shape;
  IndexedVector<NodeId> operands;
  Attributes attributes;                  ///< the struct that the operation takes: ops.def, attributes.h
  std::string name;                       ///< unique in its graph; from the dump
  std::vector<std::int32_t> bodies = {};  ///< indices into Graph::bodies; while: condition, body
  std::vector<Shape> results = {};        ///< shapes of a node with several results, whose own dtype is tuple
  bool operator==(const Node&) const = default;
};

/// A fusion instruction of the dump: the nodes that came from its body.
struct GivenGroup {
  std::string name;
  std::string kind;           ///< HLO's fusion kind: kLoop, kInput, kOutput, kCustom; "__triton" and such appended
  std::vector<NodeId> nodes;  ///< ascending; a node may be in several groups (recomputed)
  bool operator==(const GivenGroup&) const = default;
};

/// Output number `output` may be written into the memory of parameter number `parameter`, whose old contents nobody
/// needs any more. Both have the same shape.
struct InPlace {
  std::int32_t output = 0;
  std::int32_t parameter = 0;
  bool operator==(const InPlace&) const = default;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  IndexedVector<NodeId> outputs;  ///< may repeat a node, may name a parameter
  std::vector<GivenGroup> given;
  std::vector<InPlace> in_place;  ///< ascending by output; each output and each parameter at most once
  std::vector<Graph> bodies;

  /// The node of an id. Precondition: the graph has it.
  const Node& operator[](NodeId id) const { return nodes[index(id)]; }
  Node& operator[](NodeId id) { return nodes[index(id)]; }
  bool operator==(const Graph&) const = default;
};

/// The attributes of a node whose operation takes T. Precondition: it does.
template <class T>
const T& attributes_as(const Node& node) {
  const T* const found = std::get_if<T>(&node.attributes);
  assert(found != nullptr && "the operation takes other attributes");
  return *found;
}
template <class T>
T& attributes_as(Node& node) {
  return const_cast<T&>(attributes_as<T>(std::as_const(node)));
}

/// Of a parameter.
inline std::int64_t parameter_number(const Node& node) { return attributes_as<ParameterNumber>(node).number; }
/// Which result a get_tuple_element picks; verify() has seen that there is one.
inline std::size_t tuple_index(const Node& node) {
  return static_cast<std::size_t>(attributes_as<TupleIndex>(node).index);
}
/// How often a while's body runs; 0: unknown.
inline std::int64_t trip_count(const Node& node) { return attributes_as<TripCount>(node).trips; }
/// Dimensions that a broadcast, transpose, reverse or reduce names. Precondition: the node is one of these.
const Dims& axes(const Node& node);
/// The dimension of an iota, a concatenate or a sort; -1: none. Precondition: the node is one of these.
int axis(const Node& node);
/// What a slice or a pad says of one dimension. Precondition: it has a range for it.
const SliceRange& slice_range(const Node& node, int dim);
const PadRange& pad_range(const Node& node, int dim);
/// The region's meaning; none for operations without one.
Reducer reducer(const Node& node);
/// The contents of a constant; nullptr when they are not known, and for every other node.
const Literal* known_literal(const Node& node);
/// Attributes that are kept as HLO prints them; empty for operations that keep none.
std::string_view hlo_text(const Node& node);
/// A custom-call's target, an unknown operation's opcode; empty for the others.
std::string_view target(const Node& node);
/// Floating operations of a library call; 0 for the others.
double flops(const Node& node);
/// The i-th body of a node. Precondition: it has one.
const Graph& body(const Graph& graph, const Node& node, std::size_t i);

/// Calls field(key, member) for everything the text form writes after the operands, but the bodies, in its order. `Any`
/// is Node or const Node.
template <class Field, class Any>
void walk_attributes(Field&& field, Any& node) {
  std::visit([&field](auto& held) { held.walk(field, held); }, node.attributes);
  field("results", node.results);
  if (auto* const call = std::get_if<LibraryOptions>(&node.attributes)) field("flops", call->flops);
}

/// Users of each node, ascending, once per user.
std::vector<std::vector<NodeId>> users(const Graph& graph);

/// Parameters in order of their number.
std::vector<NodeId> parameters(const Graph& graph);

/// Whether a kernel absorbs the node without a stored value: a leaf (parameter, constant, iota: computed from the
/// index), reshape, bitcast, broadcast, get_tuple_element and the other structure operations. A copy is a copy: not
/// free.
bool is_free(const Graph& graph, NodeId node);

/// Checks every invariant of the head comment and the shape rules of each operation. Throws Error(failed) naming the
/// first node that breaks one: found, expected.
void verify(const Graph& graph);
/// Nodes of this operation, those of bodies too.
std::int64_t count_nodes(const Graph& graph, Op op);

/// Bytes a node reads and writes when it runs alone: operands and results once. An operand that is free is read where
/// its source lies (a broadcast scalar is one scalar). slice, dynamic-slice and gather read what they produce;
/// dynamic-update-slice reads and writes the update; scatter reads indices and updates and reads and writes as many
/// elements in place. 0 for free nodes, while and conditional.
double bytes_touched(const Graph& graph, NodeId node);

/// The text form. parse_graph(text(g)) == g. Errors carry line and column. A stop ends the printing with
/// Error(interrupted): a model has hundreds of thousands of lines.
std::string text(const Graph& graph, const std::stop_token& stop = {});
Graph parse_graph(std::string_view text, std::string_view file = "graph");

/// The canonical text: no names, nodes numbered in the order of a depth-first walk from the outputs (operands first, in
/// operand order), parameters renumbered as they are met, bodies in place. Equal structure, equal text. Linear in the
/// graph; stopped like text(). Precondition: operands, outputs and bodies are in range.
std::string canonical_text(const Graph& graph, const std::stop_token& stop = {});

}  // namespace tailor::ir
