// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types and shapes, the nouns that every room shares. The dtype table has one row per type (dtypes.def). Shapes
// are static: dimensions are known numbers, and the layout says which dimension is fastest in memory. A value with
// several results has dtype tuple.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/indexed.h"

namespace tailor::ir {

enum class DType : std::uint8_t {
#define X(name, bits, kind, cuda, compute) name,
#include "ir/graph/dtypes.def"
#undef X
};

enum class DTypeKind : std::uint8_t { predicate, signed_integer, unsigned_integer, floating, complex, none };

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bits;
  DTypeKind kind;
  std::string_view cuda;
  DType compute;
};

inline constexpr std::array dtype_table = std::to_array<DTypeRow>({
#define X(name, bits, kind, cuda, compute) {DType::name, #name, bits, DTypeKind::kind, cuda, DType::compute},
#include "ir/graph/dtypes.def"
#undef X
});

constexpr const DTypeRow& row(DType dtype) { return row_for(dtype_table, dtype); }
constexpr std::string_view name(DType dtype) { return row(dtype).name; }
constexpr bool is_floating(DType d) { return row(d).kind == DTypeKind::floating; }
constexpr bool is_signed(DType d) { return row(d).kind == DTypeKind::signed_integer; }
constexpr bool is_unsigned(DType d) { return row(d).kind == DTypeKind::unsigned_integer; }
constexpr bool is_integer(DType d) { return is_signed(d) || is_unsigned(d); }
/// A floating type that kernels hold as its bits and compute on in another one.
constexpr bool is_held_as_bits(DType d) { return is_floating(d) && row(d).compute != d; }
/// An integer of up to 16 bits: kernels make a float of it by two additions (float_of_narrow(),
/// codegen/cuda/prelude.cpp).
constexpr bool is_narrow_integer(DType d) { return is_integer(d) && row(d).bits <= 16; }
/// The type called `name`, or nullptr.
const DTypeRow* find_dtype(std::string_view name);

/// More dimensions than any dump seen (8); an import error beyond.
inline constexpr int max_rank = 12;

/// A short list of numbers, one per dimension, stored in place.
struct Dims {
  IndexedArray<std::int64_t, max_rank> values{};
  std::int32_t count = 0;

  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<std::int64_t> list) {
    for (const std::int64_t value : list) push_back(value);
  }
  constexpr int size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr std::int64_t operator[](int i) const { return values[i]; }
  constexpr std::int64_t& operator[](int i) { return values[i]; }
  constexpr const std::int64_t* begin() const { return values.data(); }
  constexpr const std::int64_t* end() const { return values.data() + count; }
  constexpr std::int64_t* begin() { return values.data(); }
  constexpr std::int64_t* end() { return values.data() + count; }
  constexpr void push_back(std::int64_t value) { values[count++] = value; }
  constexpr bool contains(std::int64_t value) const { return std::find(begin(), end(), value) != end(); }
  bool operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }
};

/// One array. `minor_to_major` always holds a permutation of 0..rank-1; row-major is rank-1, ..., 0.
struct Shape {
  DType dtype = DType::f32;
  Dims dims;
  IndexedArray<std::int8_t, max_rank> minor_to_major{};
  bool operator==(const Shape& other) const { return dtype == other.dtype && dims == other.dims && same_layout(other); }
  bool same_layout(const Shape& other) const {
    return std::equal(minor_to_major.begin(), minor_to_major.begin() + dims.size(), other.minor_to_major.begin());
  }
  int rank() const { return dims.size(); }
};

/// A row-major shape.
Shape make_shape(DType dtype, const Dims& dims);
bool is_row_major(const Shape& shape);
/// Product of the dimensions; 1 for a scalar. Import has refused shapes whose bytes overflow 64 bits.
std::int64_t elements(const Shape& shape);
/// The same as the length of an array of them.
std::size_t element_count(const Shape& shape);
/// Bytes of the array, sub-byte types packed.
std::int64_t bytes(const Shape& shape);
/// Distance in elements between neighbours along each dimension, by the layout.
Dims strides(const Shape& shape);
/// "f32[4096,768]", with "{0,1}" appended when the layout is not row-major.
std::string text(const Shape& shape);

}  // namespace tailor::ir
