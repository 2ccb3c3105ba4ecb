// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations that move elements to places known before the data. In: an operand. Out: the moved array. Called through
// the table of evaluate.cpp, and by the error bounds on arrays of bounds. Each sets up strides for one copy. Tensors
// are row-major whatever the layout, so only bitcast, which reinterprets memory, looks at layouts.
#include <algorithm>
#include <cstring>

#include "ir/graph/number.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_memory.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

struct Wide {
  std::uint64_t low, high;
};

template <class Stored>
void copy_typed(const WriteView& to, const ReadView& from, const ir::Dims& dims, const std::stop_token& stop) {
  const int rank = dims.size();
  const std::int64_t inner = rank == 0 ? 1 : dims[rank - 1];
  const std::int64_t to_step = rank == 0 ? 0 : to.strides[rank - 1];
  const std::int64_t from_step = rank == 0 ? 0 : from.strides[rank - 1];
  ir::Dims outer = dims;
  if (rank > 0) --outer.count;
  ir::Dims index = zero_index(outer.size());
  constexpr auto size = static_cast<std::int64_t>(sizeof(Stored));
  do {
    stop_if_asked(stop);
    std::byte* target = to.first + linear_offset(index, to.strides) * size;
    const std::byte* source = from.first + linear_offset(index, from.strides) * size;
    if (to_step == 1 && from_step == 1) {
      std::memcpy(target, source, static_cast<std::size_t>(inner * size));
      continue;
    }
    for (std::int64_t i = 0; i < inner; ++i)
      std::memcpy(target + i * to_step * size, source + i * from_step * size, sizeof(Stored));
  } while (next_index(index, outer));
}

Tensor reshaped(const Tensor& from, const ir::Shape& shape) { return copied(shape, from.bytes); }

Tensor broadcast(const Call& call) {
  const Tensor& operand = call.operand(0);
  Tensor result = unwritten(call.node.shape);
  const ir::Dims from = row_major(operand.shape.dims);
  ir::Dims strides = zero_index(result.shape.rank());
  for (int i = 0; i < operand.shape.rank(); ++i)
    if (operand.shape.dims[i] != 1) strides[static_cast<int>(axes(call.node)[i])] = from[i];
  copy_strided({result.bytes.data(), row_major(result.shape.dims)}, {operand.bytes.data(), strides}, result.shape.dims,
               element_bytes(result.shape.dtype), call.stop);
  return result;
}

Tensor transpose(const Call& call) {
  const Tensor& operand = call.operand(0);
  Tensor result = unwritten(call.node.shape);
  const ir::Dims from = row_major(operand.shape.dims);
  ir::Dims strides = from;
  for (int i = 0; i < result.shape.rank(); ++i) strides[i] = from[static_cast<int>(axes(call.node)[i])];
  copy_strided({result.bytes.data(), row_major(result.shape.dims)}, {operand.bytes.data(), strides}, result.shape.dims,
               element_bytes(result.shape.dtype), call.stop);
  return result;
}

Tensor slice(const Call& call) {
  const Tensor& operand = call.operand(0);
  Tensor result = unwritten(call.node.shape);
  const int size = element_bytes(result.shape.dtype);
  const ir::Dims from = row_major(operand.shape.dims);
  ir::Dims strides = from;
  std::int64_t first = 0;
  for (int i = 0; i < result.shape.rank(); ++i) {
    const ir::SliceRange& range = slice_range(call.node, i);
    first += range.start * from[i];
    strides[i] = range.stride * from[i];
  }
  if (elements(result.shape) == 0) return result;
  copy_strided({result.bytes.data(), row_major(result.shape.dims)}, {operand.bytes.data() + first * size, strides},
               result.shape.dims, size, call.stop);
  return result;
}

Tensor reverse(const Call& call) {
  const Tensor& operand = call.operand(0);
  Tensor result = unwritten(call.node.shape);
  if (elements(result.shape) == 0) return result;
  const int size = element_bytes(result.shape.dtype);
  ir::Dims strides = row_major(operand.shape.dims);
  const ir::Dims forward = strides;
  std::int64_t first = 0;
  for (const std::int64_t axis : axes(call.node)) {
    const int i = static_cast<int>(axis);
    first += (operand.shape.dims[i] - 1) * strides[i];
    strides[i] = -strides[i];
  }
  copy_strided({result.bytes.data(), forward}, {operand.bytes.data() + first * size, strides}, result.shape.dims, size,
               call.stop);
  return result;
}

/// The value everywhere, then the operand's elements that stay inside at low + i * (interior + 1).
Tensor pad(const Call& call) {
  const Tensor& operand = call.operand(0);
  Tensor result = unwritten(call.node.shape);
  const int size = element_bytes(result.shape.dtype);
  const ir::Dims to = row_major(result.shape.dims);
  const ir::Dims from = row_major(operand.shape.dims);
  copy_strided({result.bytes.data(), to}, {call.operand(1).bytes.data(), zero_index(result.shape.rank())},
               result.shape.dims, size, call.stop);
  ir::Dims counts, to_strides;
  std::int64_t to_first = 0, from_first = 0;
  for (int i = 0; i < result.shape.rank(); ++i) {
    const ir::PadRange& range = pad_range(call.node, i);
    const std::int64_t step = range.interior + 1;
    const std::int64_t skipped = range.low >= 0 ? 0 : (-range.low + step - 1) / step;
    const std::int64_t start = range.low + skipped * step;
    const std::int64_t room = result.shape.dims[i] - start;
    const std::int64_t inside = room <= 0 ? 0 : (room + step - 1) / step;
    counts.push_back(std::clamp<std::int64_t>(operand.shape.dims[i] - skipped, 0, inside));
    to_strides.push_back(step * to[i]);
    to_first += start * to[i];
    from_first += skipped * from[i];
  }
  if (elements(make_shape(ir::DType::s8, counts)) == 0) return result;
  copy_strided({result.bytes.data() + to_first * size, to_strides}, {operand.bytes.data() + from_first * size, from},
               counts, size, call.stop);
  return result;
}

Tensor concatenate(const Call& call) {
  Tensor result = unwritten(call.node.shape);
  const int size = element_bytes(result.shape.dtype);
  const int axis = ir::axis(call.node);
  const ir::Dims to = row_major(result.shape.dims);
  std::int64_t start = 0;
  for (const Tensor* operand : call.operands) {
    copy_strided({result.bytes.data() + start * to[axis] * size, to},
                 {operand->bytes.data(), row_major(operand->shape.dims)}, operand->shape.dims, size, call.stop);
    start += operand->shape.dims[axis];
  }
  return result;
}

/// The same memory seen through another shape and layout.
Tensor bitcast(const Call& call) {
  const Tensor& operand = call.operand(0);
  // The node's layout counts: an input may come with another one, its elements are row-major either way.
  const ir::Shape& source = call.graph[call.node.operands[0]].shape;
  const int size = element_bytes(operand.shape.dtype);
  const bool plain =
      strides(source) == row_major(source.dims) && strides(call.node.shape) == row_major(call.node.shape.dims);
  if (plain && size == element_bytes(call.node.shape.dtype)) return copied(call.node.shape, operand.bytes);
  std::vector<std::byte> memory(operand.bytes.size());
  copy_strided({memory.data(), strides(source)}, {operand.bytes.data(), row_major(operand.shape.dims)},
               operand.shape.dims, size, call.stop);
  Tensor result = unwritten(call.node.shape);
  if (result.bytes.size() != memory.size()) fail(call, "a bitcast between types of other widths has no semantics here");
  copy_strided({result.bytes.data(), row_major(result.shape.dims)}, {memory.data(), strides(result.shape)},
               result.shape.dims, element_bytes(result.shape.dtype), call.stop);
  return result;
}

/// bitcast-convert to another width: the minor dimension is split or joined, low bits first.
Tensor bits_regrouped(const Call& call) {
  const Tensor& operand = call.operand(0);
  Tensor result = zeros(call.node.shape);
  const auto from = static_cast<std::size_t>(row(operand.shape.dtype).bits);
  const auto to = static_cast<std::size_t>(row(result.shape.dtype).bits);
  const std::size_t total = to * element_count(result.shape);
  const auto bit_place = [](std::size_t bit, std::size_t width) {
    return std::pair((bit / width) * ((width + 7) / 8) + (bit % width) / 8, (bit % width) % 8);
  };
  for (std::size_t bit = 0; bit < total; ++bit) {
    const auto [read_byte, read_bit] = bit_place(bit, from);
    const auto [write_byte, write_bit] = bit_place(bit, to);
    if (((operand.bytes[read_byte] >> read_bit) & std::byte{1}) != std::byte{0})
      result.bytes[write_byte] |= std::byte{1} << write_bit;
  }
  return result;
}

}  // namespace

namespace {

void copy_part(const WriteView& to, const ReadView& from, const ir::Dims& dims, int size, const std::stop_token& stop) {
  switch (size) {
    case 1:
      return copy_typed<std::uint8_t>(to, from, dims, stop);
    case 2:
      return copy_typed<std::uint16_t>(to, from, dims, stop);
    case 4:
      return copy_typed<std::uint32_t>(to, from, dims, stop);
    case 8:
      return copy_typed<std::uint64_t>(to, from, dims, stop);
    default:
      return copy_typed<Wide>(to, from, dims, stop);
  }
}

}  // namespace

void copy_strided(const WriteView& to, const ReadView& from, const ir::Dims& dims, int size,
                  const std::stop_token& stop) {
  std::int64_t total = 1;
  int widest = -1;  // threads share its steps; not of the last, whose elements are neighbours
  for (int d = 0; d < dims.size(); ++d) {
    total *= dims[d];
    if (d + 1 < dims.size() && (widest < 0 || dims[d] > dims[widest])) widest = d;
  }
  if (total == 0) return;
  if (widest < 0) return copy_part(to, from, dims, size, stop);
  const std::int64_t of_step = total / dims[widest];
  in_parallel(dims[widest], (parallel_cells + of_step - 1) / of_step, [&](std::int64_t first, std::int64_t last) {
    ir::Dims part = dims;
    part[widest] = last - first;
    copy_part({to.first + first * to.strides[widest] * size, to.strides},
              {from.first + first * from.strides[widest] * size, from.strides}, part, size, stop);
  });
}

ir::Dims row_major(const ir::Dims& dims) {
  ir::Dims result = dims;
  std::int64_t stride = 1;
  for (int i = dims.size() - 1; i >= 0; --i) {
    result[i] = stride;
    stride *= dims[i];
  }
  return result;
}

bool next_index(ir::Dims& index, const ir::Dims& dims) {
  for (int i = dims.size() - 1; i >= 0; --i) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

ir::Dims zero_index(int rank) {
  ir::Dims index;
  for (int i = 0; i < rank; ++i) index.push_back(0);
  return index;
}

std::int64_t linear_offset(const ir::Dims& index, const ir::Dims& strides) {
  std::int64_t offset = 0;
  for (int i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

std::vector<Tensor> evaluate_index(const Call& call) {
  switch (static_cast<int>(call.node.op)) {
    case static_cast<int>(ir::Op::broadcast):
      return results_of(broadcast(call));
    case static_cast<int>(ir::Op::transpose):
      return results_of(transpose(call));
    case static_cast<int>(ir::Op::slice):
      return results_of(slice(call));
    case static_cast<int>(ir::Op::reverse):
      return results_of(reverse(call));
    case static_cast<int>(ir::Op::pad):
      return results_of(pad(call));
    case static_cast<int>(ir::Op::concatenate):
      return results_of(concatenate(call));
    case static_cast<int>(ir::Op::bitcast):
      return results_of(bitcast(call));
    case static_cast<int>(ir::Op::bitcast_convert):
      return results_of(bits_regrouped(call));
    default:
      return results_of(reshaped(call.operand(0), call.node.shape));
  }
}

}  // namespace tailor::reference
