// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bits as numbers of another width. In: a bitcast-convert whose result has a dimension more, or one less, than its
// operand: f32[n] and u8[n,4]. Out: what it stands for in shifts of whole numbers, so that it is grouped, priced and
// lowered like all others. Called by the walk (graph_builder.cpp).
//
// Low bits come first. A number is taken apart by a shift of it for each of its parts, r of b bits; it is put together
// of slices, each shifted to its place:
//
//   parts[..., k] = bits(x[...]) >> k b, cut to b bits          whole[...] = or over k of bits(x[..., k]) << k b
//
// XLA expands it in the same way before it fuses.
#include <fmt/format.h>

#include "hlo/expand/expansion.h"

namespace tailor::hlo {

namespace {

/// The unsigned type as wide as `dtype`; `none` where there is none.
ir::DType unsigned_as_wide(ir::DType dtype) {
  for (const ir::DTypeRow& one : ir::dtype_table)
    if (one.kind == ir::DTypeKind::unsigned_integer && one.bits == row(dtype).bits) return one.dtype;
  return ir::DType::opaque;
}

bool has_dims_of(const ir::Shape& few, const ir::Shape& more, std::int64_t parts) {
  if (more.rank() != few.rank() + 1 || more.dims[few.rank()] != parts) return false;
  return std::equal(few.dims.begin(), few.dims.end(), more.dims.begin());
}

/// How many numbers of the narrower type are one of the wider; 0 where it is no such bitcast-convert.
std::int64_t parts_of(const ir::Shape& from, const ir::Shape& to) {
  const auto has_whole_bytes = [](ir::DType dtype) {
    return row(dtype).bits >= 8 && dtype != ir::DType::pred && unsigned_as_wide(dtype) != ir::DType::opaque;
  };
  if (!has_whole_bytes(from.dtype) || !has_whole_bytes(to.dtype)) return 0;
  const int wide = std::max(row(from.dtype).bits, row(to.dtype).bits);
  const std::int64_t parts = wide / std::min(row(from.dtype).bits, row(to.dtype).bits);
  if (parts == 1 || from.rank() == ir::max_rank || to.rank() == ir::max_rank) return 0;
  const bool fits =
      row(from.dtype).bits > row(to.dtype).bits ? has_dims_of(from, to, parts) : has_dims_of(to, from, parts);
  return fits ? parts : 0;
}

class WidthChange : Expansion {
 public:
  WidthChange(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction, ir::NodeId operand,
              const ir::Shape& to, std::int64_t parts)
      : Expansion(builder, instruction, builder.full_name(instruction, frame)),
        operand_(operand),
        to_(to),
        parts_(parts) {}

  HloValue taken_apart() {
    const ir::NodeId whole = as_bits("bits", operand_);
    const ir::DType wide = shape_of(whole).dtype;
    ir::Shape all = to_;
    all.dtype = wide;
    ir::Dims kept;
    for (int i = 0; i + 1 < to_.rank(); ++i) kept.push_back(i);
    const ir::NodeId spread = add(ir::Op::broadcast, "spread", all, {whole}, ir::AxisList{kept});
    const ir::NodeId place = add(ir::Op::iota, "place", all, {}, ir::OneAxis{to_.rank() - 1});
    const ir::NodeId shift =
        add(ir::Op::multiply, "shift", all, {place, everywhere("width", row(to_.dtype).bits, all)});
    const ir::NodeId shifted = add(ir::Op::shift_right_logical, "shifted", all, {spread, shift});
    all.dtype = unsigned_as_wide(to_.dtype);
    return finish(add(ir::Op::convert, "cut", all, {shifted}));
  }

  HloValue put_together() {
    const ir::NodeId parts = as_bits("bits", operand_);
    ir::Shape one = shape_of(parts), whole = to_;
    const int last = one.rank() - 1;
    one.dims[last] = 1;
    ir::NodeId sum = ir::no_node;
    for (std::int64_t k = 0; k < parts_; ++k) {
      ir::SliceRanges ranges;
      for (int i = 0; i <= last; ++i) ranges.ranges.push_back({i == last ? k : 0, i == last ? k + 1 : one.dims[i], 1});
      const ir::NodeId slice = add(ir::Op::slice, fmt::format("part{}", k), one, {parts}, std::move(ranges));
      whole.dtype = one.dtype;
      const ir::NodeId part = add(ir::Op::reshape, fmt::format("flat{}", k), whole, {slice});
      whole.dtype = unsigned_as_wide(to_.dtype);
      ir::NodeId wide = add(ir::Op::convert, fmt::format("wide{}", k), whole, {part});
      if (k > 0) {
        const ir::NodeId by = everywhere(fmt::format("by{}", k), k * row(one.dtype).bits, whole);
        wide = add(ir::Op::shift_left, fmt::format("shifted{}", k), whole, {wide, by});
      }
      sum = k == 0 ? wide : add(ir::Op::bit_or, fmt::format("joined{}", k), whole, {sum, wide});
    }
    return finish(sum);
  }

 private:
  /// The same bits as whole numbers without sign.
  ir::NodeId as_bits(std::string_view word, ir::NodeId value) {
    ir::Shape shape = shape_of(value);
    const ir::DType bits = unsigned_as_wide(shape.dtype);
    if (shape.dtype == bits) return value;
    shape.dtype = bits;
    return add(ir::Op::bitcast_convert, word, shape, {value});
  }

  ir::NodeId everywhere(std::string_view word, std::int64_t value, const ir::Shape& shape) {
    return Expansion::everywhere(fmt::format("{}_spread", word),
                                 constant(word, shape.dtype, static_cast<std::uint64_t>(value)), shape);
  }

  /// Under the name of what was read; where the type is that already, a later pass drops the conversion.
  HloValue finish(ir::NodeId bits) {
    const ir::NodeId result =
        add(shape_of(bits).dtype == to_.dtype ? ir::Op::convert : ir::Op::bitcast_convert, "", to_, {bits});
    return Expansion::finish(Pass::widths, {&result, 1});
  }

  ir::NodeId operand_;
  const ir::Shape& to_;
  std::int64_t parts_;
};

}  // namespace

HloValue resolve_bitcast_convert(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType& type = builder.module().type_of(instruction);
  if (type.children < 0 && instruction.operands == 1) {
    const HloValue value = builder.operand(instruction, 0, frame);
    const ir::Shape& to = builder.module().shapes_of(type)[0];
    if (value.count == 1) {
      const ir::NodeId operand = builder.leaves(value)[0];
      const ir::Shape& from = builder.node(operand).shape;
      if (const std::int64_t parts = parts_of(from, to); parts > 0) {
        WidthChange change(builder, frame, instruction, operand, to, parts);
        return row(from.dtype).bits > row(to.dtype).bits ? change.taken_apart() : change.put_together();
      }
    }
  }
  return builder.add_plain(instruction, frame, instruction.op, type);
}

}  // namespace tailor::hlo
