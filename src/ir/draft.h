// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Draft: the walk that turns a parsed module into a graph. What HLO writes around its operations (calls, fusions,
// tuples, asynchronous wrappers, markers) is resolved while walking and leaves no node: an instruction's value is a
// list of leaves, the nodes that hold its arrays. Every instruction the walk makes, copies or drops is entered in the
// ledger, so that instructions in the text + added - removed = nodes in the graph.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/hlo_module.h"
#include "ir/normalise.h"

namespace tailor::ir {

/// The value of an instruction: a range of Draft's leaves and the type they form.
struct HloValue {
  std::int32_t first = 0, count = -1;  ///< count -1: not made yet
  const HloType* type = nullptr;
};

/// One computation being walked: where its names hang and what its instructions were found to be.
struct Frame {
  const HloComputation* computation = nullptr;
  std::string prefix;
  std::span<const HloValue> arguments;  ///< of an inlined computation; empty when it is a graph of its own
  bool inlined = false;
  std::vector<HloValue> values;
};

/// What all drafts of one import share.
struct DraftContext {
  explicit DraftContext(const HloModule& parsed) : module(parsed), active(parsed.computations.size(), 0) {}

  const HloModule& module;
  Ledger ledger;
  std::vector<std::uint8_t> active;  ///< computations being walked: meeting one again is a cycle
  std::int64_t instances = 0;        ///< instructions walked so far, copies counted
  std::vector<std::pair<std::string, std::int64_t>> opaque;
};

class Draft {
 public:
  Draft(DraftContext& context, std::string_view name) : context_(context) { graph_.name = name; }

  /// Walks a computation as a graph of its own: parameters become nodes, flattened.
  void walk_graph(const HloComputation& computation);
  Graph&& graph() && { return std::move(graph_); }
  const std::vector<std::uint32_t>& offsets() const { return offsets_; }

  // What the resolvers (pass_*.cpp) work with.
  const HloModule& module() const { return context_.module; }
  Ledger& ledger() { return context_.ledger; }
  const HloComputation& computation_of(const HloInstruction& instruction, std::string_view attribute) const;
  const HloComputation& computation_called(const HloInstruction& instruction, std::string_view name) const;
  /// Walks a computation in place; the value of its root.
  HloValue inline_computation(const HloInstruction& caller, const HloComputation& callee, const Frame& frame,
                              Pass counted);
  /// The computation as a graph of Graph::bodies; made once per draft.
  std::int32_t body_of(const HloComputation& computation);
  Graph& body(std::int32_t index) { return graph_.bodies[static_cast<std::size_t>(index)]; }
  Node& node(NodeId id) { return graph_.nodes[static_cast<std::size_t>(id)]; }
  NodeId add_node(Node&& node, const HloInstruction& from);
  HloValue operand(const HloInstruction& instruction, std::int32_t index, const Frame& frame) const;
  std::span<const NodeId> leaves(const HloValue& value) const {
    return {leaves_.data() + value.first, static_cast<std::size_t>(value.count)};
  }
  /// Throws unless the value has the shapes that the instruction printed.
  const HloValue& checked(const HloInstruction& instruction, const HloValue& value) const;
  /// A value made of these leaves.
  HloValue value_of(std::span<const NodeId> nodes, const HloType& type);
  HloValue part(const HloInstruction& instruction, const HloValue& whole, std::int64_t index) const;
  /// Adds the node and, when its type has several arrays, the get_tuple_element nodes that pick them.
  HloValue add_result(Node&& node, const HloType& type, const HloInstruction& from);
  /// An ordinary instruction becomes a node.
  HloValue add_plain(const HloInstruction& instruction, const Frame& frame, Op op, const HloType& type);
  std::string full_name(const HloInstruction& instruction, const Frame& frame) const;
  std::vector<NodeId> flat_operands(const HloInstruction& instruction, const Frame& frame, std::int32_t from = 0) const;
  void note_opaque(std::string_view what);
  [[noreturn]] void fail(const HloInstruction& instruction, std::string message, std::string hint = {}) const;
  void open_group(const HloInstruction& fusion, const Frame& frame);
  void close_group();

 private:
  void walk(Frame& frame);
  void walk_instruction(Frame& frame, std::int32_t index);
  std::vector<std::int32_t> sorted_order(const Frame& frame) const;
  void check(const Node& node, const HloInstruction& from) const;
  HloValue parameter_value(const HloInstruction& instruction, const Frame& frame);
  void number_parameters(const Frame& frame);
  std::int64_t parameter_number(const HloInstruction& instruction, const Frame& frame) const;

  DraftContext& context_;
  Graph graph_;
  std::vector<std::uint32_t> offsets_;  ///< of each node's instruction in the text
  std::vector<NodeId> leaves_;
  std::vector<std::int64_t> parameter_starts_;  ///< flattened number of each parameter's first leaf
  std::map<std::int32_t, std::int32_t> bodies_;
  int group_depth_ = 0;
  NodeId group_start_ = 0;
};

/// Resolves one instruction. The table in draft.cpp says which operations have one.
using Resolver = HloValue (*)(Draft& draft, const Frame& frame, const HloInstruction& instruction);

HloValue resolve_call(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_fusion(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_async_start(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_async_done(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_wrapped_start(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_copy_start(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_tuple(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_tuple_element(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_marker(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_custom_call(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_dimension_size(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_while(Draft& draft, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_conditional(Draft& draft, const Frame& frame, const HloInstruction& instruction);

/// Fills the attributes of an ordinary node from what the text says (node_attributes.cpp).
void fill_attributes(Draft& draft, const HloInstruction& instruction, Node& node);
/// What a region computes, when it is one operation of its two parameters (pass_regions.cpp).
Reducer reducer_of(const HloModule& module, const HloComputation& region);
/// Floating operations of a library node with these results, 0 when its text does not tell (library_flops.cpp).
double library_flops(const Graph& graph, const Node& node, std::span<const Shape> results);

/// Numbers in braces or brackets ("{0,2}", "[1,8]").
std::vector<std::int64_t> numbers_in(std::string_view text);

}  // namespace tailor::ir
