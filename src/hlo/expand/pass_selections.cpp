// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a maximum over windows: each window selects one element, and what the window is worth goes to it. In:
// a select-and-scatter that compares and combines by one operation. Out: elementwise operations, slices and pads, so
// that no element is scattered and every part has a kernel. Called by the walk (graph_builder.cpp).
//
// First each window says by a number which of its taps it selects. Taps are compared in their order with the one that
// is kept so far, which are as many strided slices of the array:
//
//   kept = x[s w], chosen[w] = 0;   for t = 1, 2, ...: keep or take x[s w + t], chosen[w] = t
//
// Then each element asks the windows that it lies in. Element i of a dimension with windows of `size` at each `stride`
// is i = stride q + r, and tap r + j stride of window q - j: size / stride windows, rounded up, and none asks more than
// that. So the element takes what is worth window q - j where chosen[q - j] = r + j stride; for all i together these
// are `chosen` and what it is worth, moved by j and each spread over the `stride` elements of its q:
//
//   y[q, r] = init + ... + (chosen[q - 1] = r + stride ? worth[q - 1] : 0) + (chosen[q] = r ? worth[q] : 0)
//
// Windows add in their order, as the instruction says. Of several dimensions numbers are those of a grid of taps that
// is a multiple of the stride in each, so that none stands for two. In front of the array and behind it no tap is ever
// taken: where windows reach there, each tap has a mask.
#include <fmt/format.h>

#include <limits>

#include "hlo/expand/expansion.h"
#include "ir/graph/attribute_text.h"

namespace tailor::hlo {

namespace {

/// One dimension of the array and its windows.
struct Along {
  std::int64_t length = 0, windows = 0;
  std::int64_t size = 1, stride = 1, pad_low = 0, pad_high = 0;
  std::int64_t shared = 1;  ///< windows that an element may lie in
  std::int64_t steps = 0;   ///< strides from the first padded element to the last of the array, begun ones count
  std::int64_t weight = 1;  ///< of one tap along the dimension in a tap's number

  bool is_reached_over() const { return pad_low > 0 || pad_high > 0; }
};

struct SelectionForm {
  std::vector<Along> along;
  std::int64_t taps = 1, numbers = 1;  ///< of a window; of the grid of taps
  RegionComparison keeps;
  ir::Reducer combine = ir::Reducer::custom;
};

std::optional<Along> along_of(const ir::WindowDim& window, std::int64_t length, std::int64_t windows) {
  if (window.base_dilation != 1 || window.window_dilation != 1 || window.reversed) return std::nullopt;
  if (window.pad_low < 0 || window.pad_high < 0 || window.stride < 1 || window.size < 1) return std::nullopt;
  const std::int64_t room = length + window.pad_low + window.pad_high - window.size;
  if (length < 1 || room < 0 || windows != room / window.stride + 1) return std::nullopt;
  return Along{.length = length,
               .windows = windows,
               .size = window.size,
               .stride = window.stride,
               .pad_low = window.pad_low,
               .pad_high = window.pad_high,
               .shared = (window.size + window.stride - 1) / window.stride,
               .steps = (window.pad_low + length + window.stride - 1) / window.stride};
}

/// Nothing where it is malformed, which verify() says, or has windows or regions that are not spelled out here.
std::optional<SelectionForm> selection_form_of(const GraphBuilder& builder, const HloInstruction& instruction,
                                               const ir::Shape& array, const ir::Shape& worth) {
  SelectionForm form;
  const auto windows =
      ir::parse_window(fmt::format("window={}", builder.module().attribute(instruction, "window")), array.rank());
  if (std::ssize(windows) != array.rank() || worth.rank() != array.rank() || worth.dtype != array.dtype)
    return std::nullopt;
  int split = 0;
  for (int d = array.rank() - 1; d >= 0; --d) {
    std::optional<Along> one = along_of(windows[d], array.dims[d], worth.dims[d]);
    if (!one) return std::nullopt;
    form.taps *= one->size;
    if (form.taps > most_taps) return std::nullopt;
    one->weight = form.numbers;
    if (__builtin_mul_overflow(form.numbers, one->shared * one->stride, &form.numbers)) return std::nullopt;
    split += one->stride > 1 ? 1 : 0;
    form.along.insert(form.along.begin(), *one);
  }
  if (form.numbers > std::numeric_limits<std::int32_t>::max() || array.rank() + split > ir::max_rank)
    return std::nullopt;
  form.combine = find_reducer(builder.module(), builder.find_computation(instruction, "scatter"), array.dtype);
  const auto keeps = find_comparison(builder, builder.find_computation(instruction, "select"), array.dtype);
  if (!keeps || !has_neutral(form.combine, array.dtype)) return std::nullopt;
  form.keeps = *keeps;
  return form;
}

class Selection : Expansion {
 public:
  Selection(GraphBuilder& builder, const HloInstruction& instruction, std::string name,
            std::span<const ir::NodeId> operands, SelectionForm form)
      : Expansion(builder, instruction, std::move(name)),
        array_(operands[0]),
        worth_(operands[1]),
        init_(operands[2]),
        form_(std::move(form)),
        // The last number is no tap's: that of a window that selects nothing.
        number_type_(form_.numbers < 255 ? ir::DType::u8 : ir::DType::s32),
        nothing_(form_.numbers) {}

  /// The last node has the name, and the layout that the text gives it.
  HloValue finish(const ir::Shape& shape) {
    const ir::NodeId result = gathered(chosen());
    builder_.node(result).name = name();
    builder_.node(result).shape = shape;
    return Expansion::finish(Pass::selections, {&result, 1});
  }

 private:
  int rank() const { return static_cast<int>(form_.along.size()); }

  ir::Shape windows_of(ir::DType dtype) {
    ir::Dims dims;
    for (const Along& one : form_.along) dims.push_back(one.windows);
    return ir::make_shape(dtype, dims);
  }

  // ---- which tap each window selects

  /// Of what stands around the array as well, `outside` there.
  ir::NodeId surrounded(std::string_view word, ir::NodeId x, ir::NodeId outside) {
    ir::PadRanges ranges;
    for (const Along& one : form_.along) ranges.ranges.push_back({one.pad_low, one.pad_high, 0});
    return pad(word, x, outside, std::move(ranges));
  }

  /// What all windows see at one tap.
  ir::NodeId tap_of(std::string_view word, ir::NodeId around, const ir::Dims& tap) {
    ir::SliceRanges ranges;
    for (int d = 0; d < rank(); ++d) {
      const Along& one = form_.along[static_cast<std::size_t>(d)];
      ranges.ranges.push_back({tap[d], tap[d] + (one.windows - 1) * one.stride + 1, one.stride});
    }
    return slice(word, around, std::move(ranges));
  }

  ir::NodeId number(std::string_view word, std::int64_t value, const ir::Shape& shape) {
    return everywhere(word, constant(fmt::format("{}/number", word), shape.dtype, static_cast<std::uint64_t>(value)),
                      shape);
  }

  std::int64_t number_of(const ir::Dims& tap) const {
    std::int64_t sum = 0;
    for (int d = 0; d < rank(); ++d) sum += tap[d] * form_.along[static_cast<std::size_t>(d)].weight;
    return sum;
  }

  /// Goes through the taps in the order of the text, the last dimension first.
  bool next_tap(ir::Dims& tap) const {
    for (int d = rank() - 1; d >= 0; --d) {
      if (++tap[d] < form_.along[static_cast<std::size_t>(d)].size) return true;
      tap[d] = 0;
    }
    return false;
  }

  ir::NodeId chosen() {
    const ir::Shape values = windows_of(shape_of(array_).dtype), truths = windows_of(ir::DType::pred),
                    numbers = windows_of(number_type_);
    bool is_masked = false;
    for (const Along& one : form_.along) is_masked = is_masked || one.is_reached_over();
    ir::NodeId around = array_, inside = ir::no_node;
    if (is_masked) {
      around = surrounded("around", array_, constant("zero", values.dtype, 0));
      const ir::NodeId all = everywhere("all", constant("true", ir::DType::pred, 1),
                                        ir::make_shape(ir::DType::pred, shape_of(array_).dims));
      inside = surrounded("inside", all, constant("false", ir::DType::pred, 0));
    }
    ir::Dims tap;
    for (int d = 0; d < rank(); ++d) tap.push_back(0);
    ir::NodeId kept = tap_of("tap0", around, tap), chosen = number("chosen0", 0, numbers), found = ir::no_node;
    if (is_masked) {
      found = tap_of("inside0", inside, tap);
      chosen = add(ir::Op::select, "found0", numbers, {found, chosen, number("nothing", nothing_, numbers)});
    }
    for (int t = 1; next_tap(tap); ++t) {
      const ir::NodeId candidate = tap_of(fmt::format("tap{}", t), around, tap);
      const ir::NodeId first = form_.keeps.swapped ? candidate : kept, second = form_.keeps.swapped ? kept : candidate;
      ir::NodeId keeps = add(ir::Op::compare, fmt::format("keeps{}", t), truths, {first, second}, form_.keeps.options);
      if (is_masked) {
        const ir::NodeId there = tap_of(fmt::format("inside{}", t), inside, tap);
        const ir::NodeId absent = add(ir::Op::bit_not, fmt::format("outside{}", t), truths, {there});
        keeps = add(ir::Op::bit_and, fmt::format("finds{}", t), truths, {found, keeps});
        keeps = add(ir::Op::bit_or, fmt::format("stays{}", t), truths, {absent, keeps});
        found = add(ir::Op::bit_or, fmt::format("found{}", t), truths, {found, there});
      }
      kept = add(ir::Op::select, fmt::format("kept{}", t), values, {keeps, kept, candidate});
      chosen = add(ir::Op::select, fmt::format("chosen{}", t), numbers,
                   {keeps, chosen, number(fmt::format("number{}", t), number_of(tap), numbers)});
    }
    return chosen;
  }

  // ---- what each element takes

  /// The elements of the array by stride and place in it, [q, r] for each dimension whose stride is not 1, begun
  /// strides whole; and which dimension q is.
  ir::Shape split(ir::DType dtype, ir::Dims& steps) {
    ir::Dims dims;
    for (const Along& one : form_.along) {
      steps.push_back(dims.size());
      dims.push_back(one.steps);
      if (one.stride > 1) dims.push_back(one.stride);
    }
    return ir::make_shape(dtype, dims);
  }

  /// For each stride and those before it, as far as windows that begin there reach.
  ir::NodeId by_strides(std::string_view word, ir::NodeId x, ir::NodeId fill) {
    ir::PadRanges ranges;
    for (const Along& one : form_.along) ranges.ranges.push_back({one.shared - 1, one.steps - one.windows, 0});
    return pad(word, x, fill, std::move(ranges));
  }

  /// Of the window `back` strides before, in all places of a stride.
  ir::NodeId before(const std::string& word, ir::NodeId strides, const ir::Dims& back) {
    ir::SliceRanges ranges;
    for (int d = 0; d < rank(); ++d) {
      const Along& one = form_.along[static_cast<std::size_t>(d)];
      ranges.ranges.push_back({one.shared - 1 - back[d], one.shared - 1 - back[d] + one.steps, 1});
    }
    const ir::NodeId moved = slice(word, strides, std::move(ranges));
    ir::Dims steps;
    const ir::Shape shape = split(shape_of(strides).dtype, steps);
    return shape.rank() == rank() ? moved
                                  : add(ir::Op::broadcast, word + "/spread", shape, {moved}, ir::AxisList{steps});
  }

  /// The number of the tap that an element is of the window of its own stride.
  ir::NodeId own_numbers() {
    ir::Dims steps;
    const ir::Shape shape = split(ir::DType::s32, steps);
    ir::NodeId sum = ir::no_node;
    for (int d = 0; d < rank(); ++d) {
      const Along& one = form_.along[static_cast<std::size_t>(d)];
      if (one.stride == 1) continue;
      ir::NodeId place = add(ir::Op::iota, fmt::format("place{}", d), shape, {}, ir::OneAxis{steps[d] + 1});
      if (one.weight != 1)
        place = add(ir::Op::multiply, fmt::format("weighed{}", d), shape,
                    {place, number(fmt::format("weight{}", d), one.weight, shape)});
      sum = sum == ir::no_node ? place : add(ir::Op::add, fmt::format("own{}", d), shape, {sum, place});
    }
    return sum == ir::no_node ? number("own", 0, shape) : sum;
  }

  /// Windows in their order: those that begin first are most strides back.
  bool next_window(ir::Dims& back) const {
    for (int d = rank() - 1; d >= 0; --d) {
      if (--back[d] >= 0) return true;
      back[d] = form_.along[static_cast<std::size_t>(d)].shared - 1;
    }
    return false;
  }

  ir::NodeId gathered(ir::NodeId chosen) {
    ir::Dims steps, back;
    const ir::Shape values = split(shape_of(worth_).dtype, steps);
    const ir::Shape truths = ir::make_shape(ir::DType::pred, values.dims),
                    numbers = ir::make_shape(ir::DType::s32, values.dims);
    const ir::NodeId idle = neutral(form_.combine, values.dtype);
    const ir::NodeId none = everywhere("none", idle, values);
    const ir::NodeId strides =
        by_strides("strides", chosen, constant("outside", number_type_, static_cast<std::uint64_t>(nothing_)));
    const ir::NodeId worths = by_strides("worths", worth_, idle);
    const ir::NodeId own = own_numbers();
    for (const Along& one : form_.along) back.push_back(one.shared - 1);
    ir::NodeId sum = everywhere("init", init_, values);
    int k = 0;
    do {
      std::int64_t offset = 0;
      for (int d = 0; d < rank(); ++d) {
        const Along& one = form_.along[static_cast<std::size_t>(d)];
        offset += back[d] * one.stride * one.weight;
      }
      const std::string word = fmt::format("window{}", k++);
      ir::NodeId taken = add(ir::Op::convert, word + "/wide", numbers, {before(word + "/chosen", strides, back)});
      const ir::NodeId asked =
          offset == 0 ? own
                      : add(ir::Op::add, word + "/own", numbers, {own, number(word + "/offset", offset, numbers)});
      taken = add(ir::Op::compare, word + "/is", truths, {taken, asked}, ir::CompareOptions{ir::Comparison::eq});
      taken = add(ir::Op::select, word + "/takes", values, {taken, before(word + "/worth", worths, back), none});
      sum = add(ir::op_of(form_.combine), word, values, {sum, taken});
    } while (next_window(back));
    return joined(sum);
  }

  /// Strides behind one another again, without what stood around the array.
  ir::NodeId joined(ir::NodeId by_strides) {
    ir::Dims dims;
    ir::SliceRanges ranges;
    for (const Along& one : form_.along) {
      dims.push_back(one.steps * one.stride);
      ranges.ranges.push_back({one.pad_low, one.pad_low + one.length, 1});
    }
    const ir::Shape whole = ir::make_shape(shape_of(by_strides).dtype, dims);
    if (whole.dims != shape_of(by_strides).dims) by_strides = add(ir::Op::reshape, "joined", whole, {by_strides});
    return slice("cut", by_strides, std::move(ranges));
  }

  using Expansion::add;
  ir::NodeId array_, worth_, init_;
  SelectionForm form_;
  ir::DType number_type_;
  std::int64_t nothing_;
};

}  // namespace

HloValue resolve_select_and_scatter(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType& type = builder.module().type_of(instruction);
  if (type.children < 0 && instruction.operands == 3) {
    const std::vector<ir::NodeId> operands = builder.flat_operands(instruction, frame);
    const ir::Shape &array = builder.node(operands[0]).shape, &worth = builder.node(operands[1]).shape;
    const ir::Shape& shape = builder.module().shapes_of(type)[0];
    const bool keeps = shape.dims == array.dims && shape.dtype == array.dtype && array.rank() > 0 &&
                       builder.node(operands[2]).shape == ir::make_shape(array.dtype, {});
    if (keeps)
      if (auto form = selection_form_of(builder, instruction, array, worth))
        return Selection(builder, instruction, builder.full_name(instruction, frame), operands, *std::move(form))
            .finish(shape);
  }
  return builder.add_plain(instruction, frame, instruction.op, type);
}

}  // namespace tailor::hlo
