// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A scatter of one window. In: a scatter whose indices name a single place, as JAX writes `x.at[i].set(v)`,
// `x.at[:, 5].add(v)` and the update of a cache. Out: the slice there, what the region makes of it, and its update in
// place, so that it is lowered like all others. Called by the walk (graph_builder.cpp).
//
//   old = dynamic-slice(x, start)
//   new = region(old, window)
//   y = dynamic-update-slice(x, inside ? new : old, start)
//
// A scatter drops a window that does not lie inside as a whole, where a dynamic slice moves it there: then what was
// there is written again. Known indices decide that at import.
#include <fmt/format.h>

#include "hlo/expand/expansion.h"
#include "hlo/expand/scatter_choices.h"
#include "ir/graph/attribute_text.h"

namespace tailor::hlo {

namespace {

/// Where the dimensions of a scatter's window come from.
struct WindowForm {
  ir::Dims window;   ///< lengths, one for each dimension of the array
  ir::Dims indexed;  ///< the array's dimension that each index is of
};

/// Nothing where it is malformed, which verify() says, has batches, or several windows.
std::optional<WindowForm> window_form_of(std::string_view text, const ir::Shape& array, const ir::Shape& indices,
                                         const ir::Shape& updates) {
  WindowForm form;
  const ir::Dims inserted = ir::attribute_numbers(text, "inserted_window_dims"),
                 from = ir::attribute_numbers(text, "update_window_dims");
  form.indexed = ir::attribute_numbers(text, "scatter_dims_to_operand_dims");
  if (ir::attribute_numbers(text, "input_batching_dims").size() > 0) return std::nullopt;
  if (form.indexed.size() == 0 || elements(indices) != form.indexed.size()) return std::nullopt;
  if (inserted.size() + from.size() != array.rank()) return std::nullopt;
  std::int64_t all = 1;
  int next = 0;
  for (int d = 0; d < array.rank(); ++d) {
    if (!inserted.contains(d) && (from[next] < 0 || from[next] >= updates.rank())) return std::nullopt;
    form.window.push_back(inserted.contains(d) ? 1 : updates.dims[static_cast<int>(from[next++])]);
    if (form.window[d] > array.dims[d]) return std::nullopt;
    all *= form.window[d];
  }
  for (const std::int64_t d : form.indexed)
    if (d < 0 || d >= array.rank()) return std::nullopt;
  const bool is_plain =
      all == elements(updates) && all > 0 && is_integer(indices.dtype) && row(indices.dtype).bits >= 8;
  return is_plain ? std::optional(form) : std::nullopt;
}

/// Whether the region gives its second parameter: the window takes the place of what was there.
bool overwrites(const HloModule& module, const HloComputation& region) {
  if (region.parameters != 2) return false;
  const HloInstruction& root = module.instructions_of(region)[region.root];
  return root.op == ir::Op::parameter && trim(root.payload) == "1";
}

class WindowUpdate : Expansion {
 public:
  WindowUpdate(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& node, const WindowForm& form)
      : Expansion(builder, instruction, node.name),
        array_(node.operands[0]),
        indices_(node.operands[1]),
        updates_(node.operands[2]),
        form_(form) {}

  /// `combine`: none where the window takes the place of what was there.
  HloValue finish(const ir::Node& node, std::optional<ir::Op> combine) {
    ir::Shape shape = ir::make_shape(node.shape.dtype, form_.window);
    const ir::NodeId window = add(ir::Op::reshape, "window", shape, {updates_});
    find_starts();
    const ir::NodeId old = add_at_starts(ir::Op::dynamic_slice, "old", shape, {array_});
    const ir::NodeId made = combine ? add(*combine, "new", shape, {old, window}) : window;
    shape.dtype = ir::DType::pred;
    const ir::NodeId inside = everywhere("inside", inside_, shape);
    shape.dtype = node.shape.dtype;
    const ir::NodeId kept = add(ir::Op::select, "kept", shape, {inside, made, old});
    const ir::NodeId result = add_at_starts(ir::Op::dynamic_update_slice, "", node.shape, {array_, kept});
    return Expansion::finish(Pass::scatters, {&result, 1});
  }

 private:
  /// The place of the window in each dimension, and whether it lies inside.
  void find_starts() {
    const ir::DType dtype = shape_of(indices_).dtype;
    const ir::Shape number = ir::make_shape(dtype, {}), truth = ir::make_shape(ir::DType::pred, {});
    const ir::NodeId zero = constant("zero", dtype, 0);
    starts_.assign(static_cast<std::size_t>(shape_of(array_).rank()), zero);
    const ir::NodeId flat = add(ir::Op::reshape, "indices", ir::make_shape(dtype, {form_.indexed.size()}), {indices_});
    for (int k = 0; k < form_.indexed.size(); ++k) {
      const auto dimension = static_cast<int>(form_.indexed[k]);
      const std::string word = fmt::format("{}", dimension);
      const ir::NodeId one = add(ir::Op::slice, "index" + word, ir::make_shape(dtype, {1}), {flat},
                                 ir::SliceRanges{{ir::SliceRange{k, k + 1, 1}}});
      const ir::NodeId start = add(ir::Op::reshape, "start" + word, number, {one});
      starts_[static_cast<std::size_t>(dimension)] = start;
      const std::int64_t most = shape_of(array_).dims[dimension] - form_.window[dimension];
      also(add(ir::Op::compare, "low" + word, truth, {start, zero}, ir::CompareOptions{ir::Comparison::ge}), truth);
      // An index type that cannot reach beyond the array needs no other test.
      const int bits = row(dtype).bits - (is_signed(dtype) ? 1 : 0);
      if (bits < 63 && most >= std::int64_t{1} << bits) continue;
      const ir::NodeId last = constant("last" + word, dtype, static_cast<std::uint64_t>(most));
      also(add(ir::Op::compare, "high" + word, truth, {start, last}, ir::CompareOptions{ir::Comparison::le}), truth);
    }
  }

  void also(ir::NodeId condition, const ir::Shape& truth) {
    inside_ = inside_ == ir::no_node
                  ? condition
                  : add(ir::Op::bit_and, fmt::format("and{}", condition), truth, {inside_, condition});
  }

  ir::NodeId add_at_starts(ir::Op op, std::string_view word, const ir::Shape& shape,
                           std::initializer_list<ir::NodeId> operands) {
    ir::Node node;
    node.op = op;
    node.shape = shape;
    node.operands.assign(operands.begin(), operands.end());
    node.operands.insert(node.operands.end(), starts_.begin(), starts_.end());
    node.attributes = ir::make_attributes(op);
    return add(std::move(node), word);
  }

  using Expansion::add;
  ir::NodeId array_, indices_, updates_, inside_ = ir::no_node;
  const WindowForm& form_;
  std::vector<ir::NodeId> starts_;
};

/// A scatter writes into its array, so that lies as its result does: a copy of it where the text lays them out apart.
ir::NodeId laid_out_alike(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& scatter) {
  const ir::NodeId array = scatter.operands[0];
  const ir::Shape& shape = builder.node(array).shape;
  if (shape.dims != scatter.shape.dims || shape.same_layout(scatter.shape)) return array;
  ir::Node copy;
  copy.op = ir::Op::copy;
  copy.name = scatter.name + "/array";
  copy.operands = {array};
  copy.shape = scatter.shape;
  copy.shape.dtype = shape.dtype;
  builder.ledger().add(Pass::scatters, 1, 1, 0);
  return builder.add_node(std::move(copy), instruction);
}

}  // namespace

HloValue resolve_scatter(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType& type = builder.module().type_of(instruction);
  if (type.children < 0 && instruction.operands == 3) {
    const ir::Node node = node_with_region(builder, frame, instruction);
    const ir::Reducer reducer = ir::reducer(node);
    const bool is_known = reducer != ir::Reducer::none && reducer != ir::Reducer::custom;
    const ir::Shape& array = builder.node(node.operands[0]).shape;
    const auto combine = is_known ? std::optional(ir::op_of(reducer)) : std::nullopt;
    const auto form = window_form_of(ir::hlo_text(node), array, builder.node(node.operands[1]).shape,
                                     builder.node(node.operands[2]).shape);
    const bool keeps = array.dims == node.shape.dims && array.dtype == node.shape.dtype &&
                       builder.node(node.operands[2]).shape.dtype == array.dtype;
    if (keeps && (is_known || overwrites(builder.module(), builder.find_computation(instruction, "to_apply")))) {
      if (form) return WindowUpdate(builder, instruction, node, *form).finish(node, combine);
      if (const auto chosen = choose_updates(builder, instruction, node, combine)) return *chosen;
    }
  }
  ir::Node node = builder.plain_node(instruction, frame, instruction.op, type);
  if (type.children < 0 && instruction.operands == 3) node.operands[0] = laid_out_alike(builder, instruction, node);
  return builder.add_result(std::move(node), type, instruction);
}

}  // namespace tailor::hlo
