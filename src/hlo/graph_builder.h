// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// GraphBuilder: the walk that turns a parsed module into a graph. What HLO writes around its operations (calls,
// fusions, tuples, asynchronous wrappers, markers) is resolved while walking and leaves no node: an instruction's value
// is a list of leaves, the nodes that hold its arrays. Every instruction the walk makes, copies or drops is entered in
// the ledger, so that instructions in the text + added - removed = nodes in the graph.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/indexed.h"
#include "hlo/hlo_module.h"
#include "hlo/normalise.h"
#include "ir/graph/graph.h"

namespace tailor::hlo {

/// The value of an instruction: a range of GraphBuilder's leaves and the type they form.
struct HloValue {
  std::int32_t first = 0, count = -1;  ///< count -1: not made yet
  const HloType* type = nullptr;
};

/// One computation being walked: where its names hang and what its instructions were found to be.
struct Frame {
  const HloComputation* computation = nullptr;
  std::string prefix;
  IndexedSpan<const HloValue> arguments;  ///< of an inlined computation; empty when it is a graph of its own
  bool inlined = false;
  IndexedVector<HloValue> values;
};

/// What all builders of one import share.
struct GraphBuilderContext {
  explicit GraphBuilderContext(const HloModule& parsed) : module(parsed), active(parsed.computations.size(), 0) {}

  const HloModule& module;
  Ledger ledger;
  IndexedVector<std::uint8_t> active;  ///< computations being walked: meeting one again is a cycle
  bool keep_async = false;             ///< what a start wraps is a given group of kind "async"
  std::int64_t instances = 0;          ///< instructions walked so far, copies counted
  std::optional<std::vector<std::string>>
      rounded_rows;  ///< of sums (pass_short_reductions.cpp), once they are asked for
  std::vector<std::pair<std::string, std::int64_t>> opaque;
  std::vector<std::pair<std::string, std::int64_t>> unknown_calls;  ///< targets of custom calls with their number
};

class GraphBuilder {
 public:
  GraphBuilder(GraphBuilderContext& context, std::string_view name) : context_(context) { graph_.name = name; }

  /// Walks a computation as a graph of its own: parameters become nodes, flattened.
  void walk_graph(const HloComputation& computation);
  ir::Graph&& graph() && { return std::move(graph_); }
  const ir::Graph& so_far() const { return graph_; }
  /// The module's own, not one that a loop, a branch or a region has.
  bool is_entry() const { return is_entry_; }
  /// Inside a fusion of the text, whose instructions are one kernel already.
  bool is_in_group() const { return group_depth_ > 0; }
  const std::vector<std::uint32_t>& offsets() const { return offsets_; }

  // What the resolvers (pass_*.cpp) work with.
  const HloModule& module() const { return context_.module; }
  Ledger& ledger() { return context_.ledger; }
  std::optional<std::vector<std::string>>& rounded_rows() { return context_.rounded_rows; }
  bool keeps_async() const { return context_.keep_async; }
  const HloComputation& find_computation(const HloInstruction& instruction, std::string_view attribute) const;
  const HloComputation& computation_called(const HloInstruction& instruction, std::string_view name) const;
  /// Walks a computation in place; the value of its root.
  HloValue inline_computation(const HloInstruction& caller, const HloComputation& callee, const Frame& frame,
                              Pass counted);
  /// The same with these arguments; `prefix` stands before the names of what is made.
  HloValue inline_with(const HloComputation& callee, std::span<const HloValue> arguments, std::string prefix,
                       Pass counted);
  /// The computation as a graph of Graph::bodies; made once per builder.
  std::int32_t find_or_add_body(const HloComputation& computation);
  /// A graph that no computation of the text stands for, and whether it was not there yet.
  std::pair<std::int32_t, bool> find_or_add_body(ir::Graph&& body);
  ir::Graph& body(std::int32_t index) { return graph_.bodies[ir::index(index)]; }
  ir::Node& node(ir::NodeId id) { return graph_[id]; }
  ir::NodeId add_node(ir::Node&& node, const HloInstruction& from);
  HloValue operand(const HloInstruction& instruction, std::int32_t index, const Frame& frame) const;
  std::span<const ir::NodeId> leaves(const HloValue& value) const {
    return {leaves_.data() + value.first, static_cast<std::size_t>(value.count)};
  }
  /// Throws unless the value has the shapes that the instruction printed.
  const HloValue& checked(const HloInstruction& instruction, const HloValue& value) const;
  /// A value made of these leaves.
  HloValue add_value(std::span<const ir::NodeId> nodes, const HloType& type);
  HloValue part(const HloInstruction& instruction, const HloValue& whole, std::int64_t index) const;
  /// Adds the node and, when its type has several arrays, the get_tuple_element nodes that pick them.
  HloValue add_result(ir::Node&& node, const HloType& type, const HloInstruction& from);
  /// Throws where the node breaks a rule of verify(), while the place is still known.
  void check(const ir::Node& node, const HloInstruction& from) const;
  /// What an ordinary instruction would be as a node.
  ir::Node plain_node(const HloInstruction& instruction, const Frame& frame, ir::Op op, const HloType& type);
  /// An ordinary instruction becomes a node.
  HloValue add_plain(const HloInstruction& instruction, const Frame& frame, ir::Op op, const HloType& type);
  std::string full_name(const HloInstruction& instruction, const Frame& frame) const;
  std::vector<ir::NodeId> flat_operands(const HloInstruction& instruction, const Frame& frame,
                                        std::int32_t from = 0) const;
  void note_opaque(std::string_view what);
  void note_unknown_call(std::string_view target);
  [[noreturn]] void fail(const HloInstruction& instruction, std::string message, std::string hint = {}) const;
  void open_group(const HloInstruction& fusion, const Frame& frame);
  void close_group();

 private:
  void walk(Frame& frame);
  void walk_instruction(Frame& frame, std::int32_t index);
  std::vector<std::int32_t> sorted_order(const Frame& frame) const;
  HloValue parameter_value(const HloInstruction& instruction, const Frame& frame);
  void number_parameters(const Frame& frame);
  std::int64_t parameter_number(const HloInstruction& instruction, const Frame& frame) const;

  GraphBuilderContext& context_;
  ir::Graph graph_;
  std::vector<std::uint32_t> offsets_;  ///< of each node's instruction in the text
  std::vector<ir::NodeId> leaves_;
  IndexedVector<std::int64_t> parameter_starts_;  ///< flattened number of each parameter's first leaf
  std::map<std::int32_t, std::int32_t> bodies_;
  bool is_entry_ = false;
  int group_depth_ = 0;
  ir::NodeId group_start_ = 0;
};

/// Resolves one instruction. The table in graph_builder.cpp says which operations have one.
using Resolver = HloValue (*)(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);

HloValue resolve_call(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_fusion(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_async_start(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_async_done(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_wrapped_start(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_copy_start(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_tuple(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_tuple_element(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_marker(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_custom_call(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_dimension_size(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_batch_norm_inference(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_batch_norm_training(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_batch_norm_grad(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_bitcast_convert(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_reduce(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_reduce_window(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_select_and_scatter(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_topk(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_scatter(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_while(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);
HloValue resolve_conditional(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction);

/// Fills the attributes of an ordinary node from what the text says (node_attributes.cpp).
void fill_attributes(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node);
/// What a region computes, when it is one operation of its two parameters, and these are of `dtype`, if one is given
/// (pass_regions.cpp).
ir::Reducer find_reducer(const HloModule& module, const HloComputation& region,
                         std::optional<ir::DType> dtype = std::nullopt);
/// The direction and order of a compare; an Error where the text names none that exists (node_attributes.cpp).
ir::CompareOptions read_comparison(const GraphBuilder& builder, const HloInstruction& compare);
struct RegionComparison {
  ir::CompareOptions options;
  bool swapped = false;  ///< the second parameter is compared with the first
};
/// What a region asks of its two parameters, of type `dtype`, when that is one comparison (pass_regions.cpp).
std::optional<RegionComparison> find_comparison(const GraphBuilder& builder, const HloComputation& region,
                                                ir::DType dtype);
/// Floating operations of a library node with these results, 0 when its text does not tell (library_flops.cpp).
double library_flops(const ir::Graph& graph, const ir::Node& node, std::span<const ir::Shape> results);
/// Whether operations of a custom call with this target can be counted (library_flops.cpp).
bool is_known_call(std::string_view target);

/// Numbers in braces or brackets ("{0,2}", "[1,8]").
std::vector<std::int64_t> numbers_in(std::string_view text);

}  // namespace tailor::hlo
