// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes: sizes, strides, text. In: a shape. Out: how many elements it has, how far its dimensions lie
// apart, its text. Called from every room that knows a graph. Sizes are checked where shapes are read,
// so nothing here can overflow.
#include "ir/graph/types.h"

#include <fmt/format.h>

namespace tailor::ir {

const DTypeRow* find_dtype(std::string_view name) {
  for (const DTypeRow& row : dtype_table)
    if (row.name == name) return &row;
  return nullptr;
}

Shape make_shape(DType dtype, const Dims& dims) {
  Shape shape{dtype, dims, {}};
  for (int i = 0; i < dims.size(); ++i) shape.minor_to_major[i] = static_cast<std::int8_t>(dims.size() - 1 - i);
  return shape;
}

bool is_row_major(const Shape& shape) {
  for (int i = 0; i < shape.rank(); ++i)
    if (shape.minor_to_major[i] != shape.rank() - 1 - i) return false;
  return true;
}

std::int64_t elements(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape.dims) product *= dim;
  return product;
}

std::size_t element_count(const Shape& shape) { return static_cast<std::size_t>(elements(shape)); }

std::int64_t bytes(const Shape& shape) { return (elements(shape) * row(shape.dtype).bits + 7) / 8; }

Dims strides(const Shape& shape) {
  Dims result = shape.dims;
  std::int64_t stride = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    result[dim] = stride;
    stride *= shape.dims[dim];
  }
  return result;
}

namespace {

/// Texts of shapes are most of the text that a group's identity is made of, so no pattern is read for each of them.
template <class Numbers>
void append_list(std::string& out, char open, const Numbers& numbers, int count, char close) {
  out += open;
  for (int i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    const fmt::format_int number(numbers[i]);
    out.append(number.data(), number.size());
  }
  out += close;
}

}  // namespace

std::string text(const Shape& shape) {
  std::string out(name(shape.dtype));
  append_list(out, '[', shape.dims, shape.rank(), ']');
  if (!is_row_major(shape)) append_list(out, '{', shape.minor_to_major, shape.rank(), '}');
  return out;
}

}  // namespace tailor::ir
