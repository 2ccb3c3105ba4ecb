// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Between bytes and cells. In: a tensor and a range of its elements. Out: a block of 64-bit cells, or the tensor with
// the block written back, rounded to its type. Called by all elementwise semantics. There is one loop per storage type,
// chosen once per block; narrow floating types are decoded through a table of all their values.
#include "reference/evaluate_cells.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/indexed.h"
#include "ir/graph/number.h"

namespace tailor::reference {

namespace {

template <class Stored>
Stored stored(const std::byte* bytes, std::int64_t i) {
  Stored value;
  std::memcpy(&value, bytes + i * static_cast<std::int64_t>(sizeof(Stored)), sizeof(Stored));
  return value;
}

template <class Stored>
void put(std::byte* bytes, std::int64_t i, Stored value) {
  std::memcpy(bytes + i * static_cast<std::int64_t>(sizeof(Stored)), &value, sizeof(Stored));
}

/// All values of a floating type of at most 16 bits.
const std::vector<double>& decoded(ir::DType dtype) {
  static const std::vector<std::vector<double>> tables = [] {
    std::vector<std::vector<double>> all(ir::dtype_table.size());
    for (const ir::DTypeRow& entry : ir::dtype_table) {
      if (entry.kind != ir::DTypeKind::floating || entry.bits > 16) continue;
      std::vector<double>& values = row_for(all, entry.dtype);
      values.resize(element_bytes(entry.dtype) == 1 ? 256 : 65536);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = decode(entry.dtype, i);
    }
    return all;
  }();
  return row_for(tables, dtype);
}

template <class Stored, class Widen>
void load_as(const std::byte* bytes, std::int64_t first, std::int64_t step, std::span<Cell> cells, Widen&& widen) {
  const auto count = static_cast<std::int64_t>(cells.size());
  if (step == 0) {
    const Cell cell = widen(stored<Stored>(bytes, first));
    for (std::int64_t i = 0; i < count; ++i) cells[static_cast<std::size_t>(i)] = cell;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) cells[static_cast<std::size_t>(i)] = widen(stored<Stored>(bytes, first + i));
}

Cell integer_cell(std::int64_t value) { return Cell{.integer = value}; }

template <class Stored>
void load_integer(const std::byte* bytes, std::int64_t first, std::int64_t step, std::span<Cell> cells) {
  load_as<Stored>(bytes, first, step, cells, [](Stored v) { return integer_cell(static_cast<std::int64_t>(v)); });
}

template <class Stored>
void store_integer_cells(std::byte* bytes, std::int64_t first, std::span<const Cell> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    put(bytes, first + static_cast<std::int64_t>(i), static_cast<Stored>(cells[i].integer));
}

template <class Stored>
void store_encoded(ir::DType dtype, std::byte* bytes, std::int64_t first, std::span<const Cell> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    put(bytes, first + static_cast<std::int64_t>(i), static_cast<Stored>(encode(dtype, cells[i].real)));
}

/// encode() of a type with infinities and at most 16 bits, in line for what is no NaN and no infinity. The cut's carry
/// may reach the exponent's top value: that is the infinity. Below the normal numbers adding 2^52 rounds to an integer.
class NarrowEncoder {
 public:
  explicit NarrowEncoder(ir::DType dtype)
      : dtype_(dtype),
        format_(float_format(dtype)),
        cut_(52 - format_.mantissa_bits),
        least_(1023 + 1 - format_.bias),
        most_(1023 + format_.bias),
        rebase_(static_cast<std::uint64_t>(1023 - format_.bias) << format_.mantissa_bits),
        per_quantum_(std::ldexp(1.0, format_.bias - 1 + format_.mantissa_bits)) {}

  std::uint64_t operator()(double value) const {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
    const std::uint64_t sign = (bits >> 63) << (format_.exponent_bits + format_.mantissa_bits);
    if (exponent > most_) return encode(dtype_, value);
    if (exponent < least_)
      return sign | static_cast<std::uint64_t>((std::fabs(value) * per_quantum_ + 0x1p52) - 0x1p52);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    const std::uint64_t odd = (magnitude >> cut_) & 1;
    return sign | (((magnitude + (std::uint64_t{1} << (cut_ - 1)) - 1 + odd) >> cut_) - rebase_);
  }

 private:
  ir::DType dtype_;
  ir::FloatFormat format_;
  int cut_, least_, most_;
  std::uint64_t rebase_;
  double per_quantum_;
};

bool is_narrow_float(ir::DType dtype) { return is_floating(dtype) && row(dtype).bits <= 16; }

}  // namespace

void load_cells(const Tensor& tensor, std::int64_t first, std::int64_t step, std::span<Cell> cells) {
  load_cells(tensor.shape.dtype, tensor.bytes.data(), first, step, cells);
}

void load_cells(ir::DType dtype, const std::byte* bytes, std::int64_t first, std::int64_t step, std::span<Cell> cells) {
  if (dtype == ir::DType::f32)
    return load_as<float>(bytes, first, step, cells, [](float v) { return Cell{.real = static_cast<double>(v)}; });
  if (dtype == ir::DType::f64)
    return load_as<double>(bytes, first, step, cells, [](double v) { return Cell{.real = v}; });
  if (is_narrow_float(dtype)) {
    const double* table = decoded(dtype).data();
    if (element_bytes(dtype) == 1)
      return load_as<std::uint8_t>(bytes, first, step, cells,
                                   [table](std::uint8_t v) { return Cell{.real = table[v]}; });
    return load_as<std::uint16_t>(bytes, first, step, cells,
                                  [table](std::uint16_t v) { return Cell{.real = table[v]}; });
  }
  if (row(dtype).bits < 8)
    return load_as<std::int8_t>(bytes, first, step, cells,
                                [dtype](std::int8_t v) { return integer_cell(wrap_to(dtype, v)); });
  const bool with_sign = is_signed(dtype);
  switch (element_bytes(dtype)) {
    case 1:
      return with_sign ? load_integer<std::int8_t>(bytes, first, step, cells)
                       : load_integer<std::uint8_t>(bytes, first, step, cells);
    case 2:
      return with_sign ? load_integer<std::int16_t>(bytes, first, step, cells)
                       : load_integer<std::uint16_t>(bytes, first, step, cells);
    case 4:
      return with_sign ? load_integer<std::int32_t>(bytes, first, step, cells)
                       : load_integer<std::uint32_t>(bytes, first, step, cells);
    default:
      return load_integer<std::int64_t>(bytes, first, step, cells);
  }
}

void store_cells(Tensor& tensor, std::int64_t first, std::span<const Cell> cells) {
  const ir::DType dtype = tensor.shape.dtype;
  std::byte* bytes = tensor.bytes.data();
  if (dtype == ir::DType::f32) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      put(bytes, first + static_cast<std::int64_t>(i), static_cast<float>(cells[i].real));
    return;
  }
  if (is_floating(dtype)) {
    if (element_bytes(dtype) == 1) return store_encoded<std::uint8_t>(dtype, bytes, first, cells);
    if (element_bytes(dtype) == 2 && ir::float_format(dtype).specials != ir::Specials::ieee)
      return store_encoded<std::uint16_t>(dtype, bytes, first, cells);
    if (element_bytes(dtype) == 2) {
      // Made once: their figures are constants of the program, not of the call.
      static const NarrowEncoder f16(ir::DType::f16), bf16(ir::DType::bf16);
      const NarrowEncoder& encoded = dtype == ir::DType::f16 ? f16 : bf16;
      for (std::size_t i = 0; i < cells.size(); ++i)
        put(bytes, first + static_cast<std::int64_t>(i), static_cast<std::uint16_t>(encoded(cells[i].real)));
      return;
    }
    return store_encoded<std::uint64_t>(dtype, bytes, first, cells);
  }
  if (row(dtype).bits < 8 || dtype == ir::DType::pred) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      put(bytes, first + static_cast<std::int64_t>(i), static_cast<std::int8_t>(wrap_to(dtype, cells[i].integer)));
    return;
  }
  switch (element_bytes(dtype)) {
    case 1:
      return store_integer_cells<std::uint8_t>(bytes, first, cells);
    case 2:
      return store_integer_cells<std::uint16_t>(bytes, first, cells);
    case 4:
      return store_integer_cells<std::uint32_t>(bytes, first, cells);
    default:
      return store_integer_cells<std::uint64_t>(bytes, first, cells);
  }
}

void round_cells(ir::DType dtype, std::span<Cell> cells) {
  if (is_floating(dtype)) {
    for (Cell& cell : cells) cell.real = ir::round_to(dtype, cell.real);
  } else {
    for (Cell& cell : cells) cell.integer = wrap_to(dtype, cell.integer);
  }
}

Tensor taken(const Call& call, std::size_t k, std::size_t first, std::size_t end) {
  bool moves = k < call.spent.size() && call.spent[k] != nullptr;
  for (std::size_t other = first; other < end; ++other) moves &= other == k || call.operands[other] != call.operands[k];
  return moves ? std::move(*call.spent[k]) : call.operand(k);
}

const ir::Graph& body(const Call& call, std::size_t i) {
  if (i >= call.node.bodies.size()) fail(call, "a body is missing");
  return ir::body(call.graph, call.node, i);
}

void fail(const Call& call, std::string_view what) {
  throw Error(Fault::failed, fmt::format("node %{} ({}): {}", call.node.name, name(call.node.op), what));
}

std::vector<ir::Shape> result_shapes(const ir::Node& node) {
  if (node.shape.dtype == ir::DType::tuple) return node.results;
  return {node.shape};
}

}  // namespace tailor::reference
