// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph: typed tensor operations in HLO's semantics, after import has normalised them. Nodes stand in topological order
// (operands before users) and each has one array value, but for operations with several results (a variadic reduce, a
// while loop, a sort): those have dtype tuple, list their shapes in `attributes.results`, and get_tuple_element nodes
// pick from them. Tuples that only group values are gone: `outputs` is the flattened root. Calls are inlined. A while
// or conditional holds its bodies as graphs in `bodies`; so do reductions whose region is not one known operation,
// sorts and scatters.
//
// XLA's fusion instructions are inlined too, and what they grouped is remembered in `given`: the partition that the
// file itself carries (strategy "imported").
//
// Evaluation: evaluate.h. Import: import.h. Text form: text() and parse_graph(); they round-trip.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "ir/graph/op.h"
#include "ir/graph/types.h"

namespace tailor::ir {

/// Index into Graph::nodes.
using NodeId = std::int32_t;
inline constexpr NodeId no_node = -1;
/// As an index into an array with one element per node. Precondition: not no_node.
constexpr std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

enum class Comparison : std::uint8_t { eq, ne, ge, gt, le, lt };

/// What a reduce's region computes. `custom`: see attributes.bodies[0].
enum class Reducer : std::uint8_t { none, add, multiply, maximum, minimum, bit_and, bit_or, bit_xor, custom };

/// The contents of a constant, row-major in logical order, each element in its own bytes (sub-byte types use one byte).
/// A constant whose contents the dump left out ("{...}") is not known.
struct Literal {
  bool known = true;
  std::vector<std::byte> bytes;
  bool operator==(const Literal&) const = default;
};

/// slice: start, limit, stride. pad: low, high, interior. One per dimension.
struct Range {
  std::int64_t first = 0, second = 0, third = 0;
  bool operator==(const Range&) const = default;
};

/// What distinguishes two nodes of the same operation. Only the fields an operation uses are set.
struct Attributes {
  /// broadcast: operand dimension i is result dimension axes[i]. transpose: result dimension i is operand dimension
  /// axes[i]. reduce, reverse: the dimensions. concatenate, iota, sort: one dimension.
  Dims axes;
  std::vector<Range> ranges;
  Comparison comparison = Comparison::eq;
  bool total_order = false;          ///< compare: type=TOTALORDER
  Reducer reducer = Reducer::none;   ///< reduce, all-reduce, scatter: the recognised region
  std::int64_t number = 0;           ///< parameter number; get_tuple_element index; while: trip count, 0 = unknown
  std::optional<Literal> literal;    ///< constant
  std::string target;                ///< custom-call target; an opaque node's opcode
  std::string text;                  ///< library, look-up, window, opaque: the remaining attributes as HLO prints them
  std::vector<std::int32_t> bodies;  ///< indices into Graph::bodies; while: condition, body
  std::vector<Shape> results;        ///< shapes of a node with several results
  double flops = 0;                  ///< library nodes: floating operations (2 per multiply-add)
  bool operator==(const Attributes&) const = default;
};

struct Node {
  Op op = Op::opaque;
  Shape shape;
  std::vector<NodeId> operands;
  Attributes attributes;
  std::string name;  ///< unique in its graph; from the dump
  bool operator==(const Node&) const = default;
};

/// A fusion instruction of the dump: the nodes that came from its body.
struct GivenGroup {
  std::string name;
  std::string kind;           ///< HLO's fusion kind: kLoop, kInput, kOutput, kCustom; "__triton" and such appended
  std::vector<NodeId> nodes;  ///< ascending; a node may be in several groups (recomputed)
  bool operator==(const GivenGroup&) const = default;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<NodeId> outputs;  ///< may repeat a node, may name a parameter
  std::vector<GivenGroup> given;
  std::vector<Graph> bodies;

  /// The node of an id. Precondition: the graph has it.
  const Node& operator[](NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
  Node& operator[](NodeId id) { return nodes[static_cast<std::size_t>(id)]; }
  bool operator==(const Graph&) const = default;
};

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

/// Bytes a node reads and writes when it runs alone: operands and results once. An operand that is free is read where
/// its source lies (a broadcast scalar is one scalar). slice, dynamic-slice and gather read what they produce;
/// dynamic-update-slice reads and writes the update; scatter reads indices and updates and reads and writes as many
/// elements in place. 0 for free nodes, while and conditional.
double bytes_touched(const Graph& graph, NodeId node);

/// The text form. parse_graph(text(g)) == g. Errors carry line and column.
std::string text(const Graph& graph);
Graph parse_graph(std::string_view text, std::string_view file = "graph");

/// The canonical text: no names, nodes numbered in the order of a depth-first walk from the outputs (operands first, in
/// operand order), parameters renumbered as they are met, bodies in place. Equal structure, equal text. Linear in the
/// graph. Precondition: operands, outputs and bodies are in range.
std::string canonical_text(const Graph& graph);

std::string_view name(Comparison comparison);
std::string_view name(Reducer reducer);
/// The elementwise operation a reducer applies. Precondition: neither none nor custom.
Op op_of(Reducer reducer);

}  // namespace tailor::ir
