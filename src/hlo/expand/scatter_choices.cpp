// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A scatter that puts a few updates into each row of an array. In: a scatter whose rows are numbered one by one. Out:
// for each element the choice between what it was and the updates that may reach it, all elementwise. Called by
// resolve_scatter() (pass_scatters.cpp).
//
// The gradient of picking one logit a row, a row's mark at the expert that it was sent to, `p.at[arange(n),
// label].add(-1)`:
//
//   y[r, c] = x[r, c];   for k = 0, 1, ...:  y[r, c] = at[r, k] = c ? region(y[r, c], update[r, k]) : y[r, c]
//
// As a scatter it is a launch of its own that needs its array in memory, and nobody can read the result before the
// launch ends: a pass over [tokens, vocabulary] for one number a row. As a choice it is an index, a comparison and a
// selection in whatever kernel makes the row. A place outside of the array is no element's, so its update is dropped,
// which is what a scatter does. Where several updates reach one element they come in their order; HLO promises none.
//
// Which dimensions number the rows: those that the scatter calls batching, and those whose index is the number of the
// row itself, as an iota, an arange that was folded, and either of them behind the test for negative indices that
// numpy's indexing brings, or between bounds that it does not leave. Each element is compared with the updates of its
// own row alone. A window has all elements of the dimensions that it is long in.
//
// Where the array may be changed where it lies (a parameter that the module gives away, what a loop carries, an update
// in place, what a library made), a scatter writes its few elements and no others, so it stays one; so does one inside
// a fusion, which is a kernel that somebody made. A parameter that stays as it was is copied in any case.
#include "hlo/expand/scatter_choices.h"

#include <fmt/format.h>

#include "hlo/expand/expansion.h"
#include "ir/graph/gather_numbers.h"
#include "reference/evaluate.h"

namespace tailor::hlo {

namespace {

constexpr std::int64_t most_updates = 8;       ///< that an element is compared with
constexpr std::int64_t most_long_updates = 2;  ///< where each is a window, of which every element reads its own part

/// Whether the array is written as a whole in any case: it has to be computed, or is a parameter that the module keeps.
bool is_made(const GraphBuilder& builder, ir::NodeId id) {
  const ir::Node& node = builder.so_far()[id];
  switch (node.op) {
    case ir::Op::reshape:
    case ir::Op::bitcast:
      return is_made(builder, node.operands[0]);
    case ir::Op::parameter:
      return builder.is_entry() && builder.module().input_output_alias.empty();
    case ir::Op::iota:
    case ir::Op::constant:
    case ir::Op::dynamic_slice:
    case ir::Op::gather:
    case ir::Op::reduce_window:
      return true;
    default:
      break;
  }
  const ir::OpClass kind = ir::class_of(node.op);
  return ir::is_elementwise(node.op) || kind == ir::OpClass::index || kind == ir::OpClass::reduction;
}

// ---- numbers that count

/// Whether all elements of a known array of integers are its coordinate along `d`.
bool counts(const ir::Node& constant, int d) {
  const ir::Shape& shape = constant.shape;
  const ir::Literal* literal = ir::known_literal(constant);
  if (literal == nullptr || !ir::is_integer(shape.dtype)) return false;
  const reference::Tensor numbers{shape, literal->bytes};
  std::int64_t inner = 1;  // elements of the dimensions behind it
  for (int i = d + 1; i < shape.rank(); ++i) inner *= shape.dims[i];
  for (std::int64_t at = 0; at < elements(shape); ++at)
    if (reference::as_integer(numbers, at) != at / inner % shape.dims[d]) return false;
  return true;
}

bool is_zero(const ir::Graph& graph, ir::NodeId id) {
  while (graph[id].op == ir::Op::broadcast || graph[id].op == ir::Op::convert) id = graph[id].operands[0];
  const ir::Literal* literal = ir::known_literal(graph[id]);
  return literal != nullptr && ir::is_integer(graph[id].shape.dtype) &&
         std::all_of(literal->bytes.begin(), literal->bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// Dimension `d` of `to` where the array has the same one, with dimensions of one element left out of either; -1: none.
int same_dimension(const ir::Shape& to, int d, const ir::Shape& from) {
  int next = 0, found = -1;
  for (int i = 0; i < to.rank(); ++i) {
    if (to.dims[i] == 1) continue;
    while (next < from.rank() && from.dims[next] == 1) ++next;
    if (next == from.rank() || from.dims[next] != to.dims[i]) return -1;
    if (i == d) found = next;
    ++next;
  }
  return found;
}

/// Whether each element of an array of integers is its own coordinate along `d`, a dimension of more than one.
bool is_counter(const ir::Graph& graph, ir::NodeId id, int d) {
  const ir::Node& node = graph[id];
  switch (node.op) {
    case ir::Op::iota: {  // of few bits it may begin again
      const int bits = ir::row(node.shape.dtype).bits - (ir::is_signed(node.shape.dtype) ? 1 : 0);
      return std::get<ir::OneAxis>(node.attributes).axis == d && ir::is_integer(node.shape.dtype) &&
             (bits > 62 || node.shape.dims[d] <= std::int64_t{1} << bits);
    }
    case ir::Op::constant:
      return counts(node, d);
    case ir::Op::convert:
      return ir::is_integer(node.shape.dtype) && ir::row(node.shape.dtype).bits >= 32 &&
             ir::is_integer(graph[node.operands[0]].shape.dtype) && is_counter(graph, node.operands[0], d);
    case ir::Op::reshape:
    case ir::Op::bitcast: {
      const int from = same_dimension(node.shape, d, graph[node.operands[0]].shape);
      return from >= 0 && is_counter(graph, node.operands[0], from);
    }
    case ir::Op::broadcast: {
      const ir::Dims& axes = std::get<ir::AxisList>(node.attributes).axes;
      for (int i = 0; i < axes.size(); ++i)
        if (axes[i] == d && graph[node.operands[0]].shape.dims[i] == node.shape.dims[d])
          return is_counter(graph, node.operands[0], i);
      return false;
    }
    case ir::Op::select: {  // of numbers below 0 something else is taken
      const ir::Node& asked = graph[node.operands[0]];
      return asked.op == ir::Op::compare &&
             std::get<ir::CompareOptions>(asked.attributes).comparison == ir::Comparison::lt &&
             is_zero(graph, asked.operands[1]) && is_counter(graph, asked.operands[0], d) &&
             is_counter(graph, node.operands[2], d);
    }
    default:
      return false;
  }
}

/// The known number that all places have as index `k`, of bounds that indices are moved to.
std::optional<std::int64_t> number_of_index(const ir::Graph& graph, ir::NodeId id, int vector_dim, std::int64_t k) {
  bool is_alone = true;  // one number for all indices
  if (graph[id].op == ir::Op::broadcast) {
    const ir::Dims& axes = std::get<ir::AxisList>(graph[id].attributes).axes;
    if (axes.size() > 1 || (axes.size() == 1 && axes[0] != vector_dim)) return std::nullopt;
    is_alone = axes.size() == 0;
    id = graph[id].operands[0];
  }
  const ir::Literal* literal = ir::known_literal(graph[id]);
  if (literal == nullptr || !ir::is_integer(graph[id].shape.dtype)) return std::nullopt;
  const std::int64_t at = is_alone ? 0 : k;
  if (at >= elements(graph[id].shape) || (is_alone && elements(graph[id].shape) != 1)) return std::nullopt;
  return reference::as_integer(reference::Tensor{graph[id].shape, literal->bytes}, at);
}

/// The indices as they were before they were moved between bounds that numbers from 0 to `last` lie within.
ir::NodeId before_bounds(const ir::Graph& graph, ir::NodeId indices, int vector_dim, std::int64_t k,
                         std::int64_t last) {
  const ir::Node& node = graph[indices];
  if (node.op != ir::Op::clamp) return indices;
  const std::optional<std::int64_t> low = number_of_index(graph, node.operands[0], vector_dim, k),
                                    high = number_of_index(graph, node.operands[2], vector_dim, k);
  return low && high && *low <= 0 && *high >= last ? node.operands[1] : indices;
}

/// The array that holds index `k` of all places, and has the indices' dimensions.
ir::NodeId part_of_indices(const ir::Graph& graph, ir::NodeId indices, int vector_dim, std::int64_t k) {
  const ir::Node& node = graph[indices];
  if (node.op != ir::Op::concatenate || std::get<ir::OneAxis>(node.attributes).axis != vector_dim) {
    const bool is_alone = vector_dim == node.shape.rank() || node.shape.dims[vector_dim] == 1;
    return is_alone ? indices : ir::no_node;
  }
  for (const ir::NodeId part : node.operands) {
    const std::int64_t held = graph[part].shape.dims[vector_dim];
    if (k < held) return held == 1 ? part : ir::no_node;
    k -= held;
  }
  return ir::no_node;
}

// ---- the form

/// Dimensions of the updates, and what they say of the array.
struct ChoiceForm {
  ir::GatherNumbers numbers;
  ir::Dims of_update;                      ///< the array's dimension that each goes along; -1: counts updates
  std::vector<std::pair<int, int>> asked;  ///< dimensions of the array, and which index each is compared with
  std::vector<std::int64_t> turns;         ///< dimensions of the updates that count those of one row
  std::int64_t updates = 1;                ///< of one row
  bool is_long = false;                    ///< windows of more than one element
};

/// The dimension of the indices that stands for dimension `place` of the updates.
int index_dimension(const ir::GatherNumbers& numbers, int place) {
  for (int i = 0; i < numbers.places.size(); ++i)
    if (numbers.places[i] == place) return i + (i >= numbers.vector_dim ? 1 : 0);
  return -1;
}

/// The dimension of the updates that dimension `d` of the array is numbered by, through its index; -1: none.
int counted_by(const ir::Graph& graph, const ir::Node& scatter, const ir::GatherNumbers& numbers, int d) {
  const ir::Shape &array = graph[scatter.operands[0]].shape, &updates = graph[scatter.operands[2]].shape;
  const std::int64_t index = numbers.along[d].index;
  const ir::NodeId indices = before_bounds(graph, scatter.operands[1], numbers.vector_dim, index, array.dims[d] - 1);
  const ir::NodeId part = part_of_indices(graph, indices, numbers.vector_dim, index);
  if (part == ir::no_node || array.dims[d] < 2) return -1;
  for (const std::int64_t place : numbers.places)
    if (updates.dims[static_cast<int>(place)] == array.dims[d] &&
        is_counter(graph, part, index_dimension(numbers, static_cast<int>(place))))
      return static_cast<int>(place);
  return -1;
}

/// Says of dimension `d` of the array which of the updates it goes along, or that it is asked for. False: neither.
bool read_dimension(const ir::Graph& graph, const ir::Node& scatter, const ir::GatherNumbers& numbers, int d,
                    ChoiceForm& form) {
  const ir::GatherNumbers::Along& along = numbers.along[d];
  const std::int64_t length = graph[scatter.operands[0]].shape.dims[d];
  int from = along.place;
  if (along.offset >= 0 && along.last == 0 && along.index < 0) {
    from = along.offset;
    form.is_long = form.is_long || length > 1;
  }
  const bool is_one = along.last == length - 1;  // a window of one element may be asked for
  if (from < 0 && along.offset < 0 && along.index >= 0) from = counted_by(graph, scatter, numbers, d);
  if (from >= 0 && form.of_update[from] < 0) {
    form.of_update[from] = d;
    return true;
  }
  if (along.index < 0) return from < 0 && along.offset < 0 && along.last == 0;
  form.asked.emplace_back(d, along.index);
  return is_one;
}

std::optional<ChoiceForm> choice_form_of(const ir::Graph& graph, const ir::Node& scatter) {
  const auto read = ir::read_scatter(graph, scatter);
  const auto* numbers = std::get_if<ir::GatherNumbers>(&read);
  const ir::Shape &array = graph[scatter.operands[0]].shape, &indices = graph[scatter.operands[1]].shape,
                  &updates = graph[scatter.operands[2]].shape;
  if (numbers == nullptr || !ir::is_integer(indices.dtype) || ir::row(indices.dtype).bits < 8) return std::nullopt;
  if (elements(array) == 0 || elements(updates) == 0) return std::nullopt;
  ChoiceForm form;
  form.numbers = *numbers;
  for (int i = 0; i < updates.rank(); ++i) form.of_update.push_back(-1);
  for (int d = 0; d < array.rank(); ++d)
    if (!read_dimension(graph, scatter, *numbers, d, form)) return std::nullopt;
  std::int64_t last = -1, rows = 1;
  for (int i = 0; i < updates.rank(); ++i) {
    const std::int64_t along = form.of_update[i];
    if (along < 0) {
      form.turns.push_back(i);
      form.updates *= updates.dims[i];
      continue;
    }
    if (along < last) return std::nullopt;  // a broadcast does not turn dimensions round
    last = along;
    if (index_dimension(*numbers, i) >= 0) rows *= updates.dims[i];
  }
  if (form.asked.empty() || rows < 2) return std::nullopt;
  return form.updates <= (form.is_long ? most_long_updates : most_updates) ? std::optional(form) : std::nullopt;
}

// ---- the choice

class Choice : Expansion {
 public:
  Choice(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& scatter, ChoiceForm form)
      : Expansion(builder, instruction, scatter.name), scatter_(scatter), form_(std::move(form)) {}

  HloValue finish(std::optional<ir::Op> combine) {
    ir::NodeId made = scatter_.operands[0];
    for (std::int64_t k = 0; k < form_.updates; ++k) {
      const std::string turn = form_.updates == 1 ? "" : fmt::format("{}", k);
      ir::NodeId reached = ir::no_node;
      for (const auto& [d, index] : form_.asked) {
        const ir::NodeId is =
            is_at(fmt::format("{}{}", turn, form_.asked.size() == 1 ? "" : fmt::format("_{}", d)), d, index, k);
        reached = reached == ir::no_node ? is
                                         : add(ir::Op::bit_and, fmt::format("reached{}_{}", turn, d),
                                               shaped(ir::DType::pred), {reached, is});
      }
      const ir::NodeId update = over_the_array("update" + turn, update_of(turn, k), {});
      const ir::NodeId taken = combine ? add(*combine, "new" + turn, scatter_.shape, {made, update}) : update;
      made = add(ir::Op::select, k + 1 == form_.updates ? "" : "chosen" + turn, scatter_.shape, {reached, taken, made});
    }
    return Expansion::finish(Pass::choices, {&made, 1});
  }

 private:
  ir::Shape shaped(ir::DType dtype) const {
    ir::Shape shape = scatter_.shape;
    shape.dtype = dtype;
    return shape;
  }

  /// Which of the updates of a row, along a dimension that counts them.
  std::int64_t turn_along(std::int64_t dimension, std::int64_t k) const {
    for (std::size_t i = form_.turns.size(); i-- > 0;) {
      const std::int64_t length = shape_of(scatter_.operands[2]).dims[static_cast<int>(form_.turns[i])];
      if (form_.turns[i] == dimension) return k % length;
      k /= length;
    }
    return 0;
  }

  /// Update `k` of all rows: the updates' dimensions without those that count.
  ir::NodeId update_of(const std::string& turn, std::int64_t k) {
    const ir::NodeId updates = scatter_.operands[2];
    ir::SliceRanges ranges;
    ir::Dims kept;
    for (int i = 0; i < shape_of(updates).rank(); ++i) {
      const std::int64_t length = shape_of(updates).dims[i];
      const bool is_turn = form_.of_update[i] < 0;
      const std::int64_t at = is_turn ? turn_along(i, k) : 0;
      ranges.ranges.push_back({at, is_turn ? at + 1 : length, 1});
      if (!is_turn) kept.push_back(length);
    }
    return reshaped("updates" + turn, slice("part" + turn, updates, std::move(ranges)), kept);
  }

  /// Whether an element's coordinate along `d` is number `index` of the place of update `k`.
  ir::NodeId is_at(const std::string& word, int d, int index, std::int64_t k) {
    const ir::NodeId indices = scatter_.operands[1];
    ir::SliceRanges ranges;
    ir::Dims kept;
    std::vector<bool> missing(static_cast<std::size_t>(form_.of_update.size()), true);
    for (int i = 0; i < shape_of(indices).rank(); ++i) {
      if (i == form_.numbers.vector_dim) {
        ranges.ranges.push_back({index, index + 1, 1});
        continue;
      }
      const auto place = static_cast<int>(form_.numbers.places[i - (i > form_.numbers.vector_dim ? 1 : 0)]);
      const bool is_turn = form_.of_update[place] < 0;
      const std::int64_t at = is_turn ? turn_along(place, k) : 0;
      ranges.ranges.push_back({at, is_turn ? at + 1 : shape_of(indices).dims[i], 1});
      if (is_turn) continue;
      kept.push_back(shape_of(indices).dims[i]);
      missing[static_cast<std::size_t>(place)] = false;
    }
    ir::NodeId at = reshaped("indices" + word, slice("index" + word, indices, std::move(ranges)), kept);
    ir::DType dtype = shape_of(indices).dtype;
    if (ir::row(dtype).bits < 32) {  // a coordinate may be greater than numbers of its type
      dtype = ir::DType::s32;
      at = add(ir::Op::convert, "wide" + word, ir::make_shape(dtype, kept), {at});
    }
    const ir::NodeId asked = over_the_array("place" + word, at, missing);
    const ir::NodeId own = add(ir::Op::iota, "own" + word, shaped(dtype), {}, ir::OneAxis{d});
    return add(ir::Op::compare, "is" + word, shaped(ir::DType::pred), {asked, own},
               ir::CompareOptions{ir::Comparison::eq});
  }

  ir::NodeId reshaped(std::string_view word, ir::NodeId x, const ir::Dims& dims) {
    if (shape_of(x).dims == dims) return x;
    return add(ir::Op::reshape, word, ir::make_shape(shape_of(x).dtype, dims), {x});
  }

  /// Numbers of rows, or of rows and windows, for each element. `missing`: dimensions of the updates that `x` lacks.
  ir::NodeId over_the_array(std::string_view word, ir::NodeId x, const std::vector<bool>& missing) {
    ir::Dims axes;
    for (int i = 0; i < form_.of_update.size(); ++i)
      if (form_.of_update[i] >= 0 && (missing.empty() || !missing[static_cast<std::size_t>(i)]))
        axes.push_back(form_.of_update[i]);
    return add(ir::Op::broadcast, word, shaped(shape_of(x).dtype), {x}, ir::AxisList{axes});
  }

  using Expansion::add;
  const ir::Node& scatter_;
  const ChoiceForm form_;
};

}  // namespace

std::optional<HloValue> choose_updates(GraphBuilder& builder, const HloInstruction& instruction,
                                       const ir::Node& scatter, std::optional<ir::Op> combine) {
  if (builder.is_in_group() || !is_made(builder, scatter.operands[0])) return std::nullopt;
  std::optional<ChoiceForm> form = choice_form_of(builder.so_far(), scatter);
  if (!form) return std::nullopt;
  return Choice(builder, instruction, scatter, *std::move(form)).finish(combine);
}

}  // namespace tailor::hlo
