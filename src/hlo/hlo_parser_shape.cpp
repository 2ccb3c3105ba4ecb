// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Types: arrays with layouts, tuples. Sizes are checked here so that nothing later can overflow. An element type
// that HLO does not have is an error, for nothing could be said of its bytes; layouts keep their order of dimensions
// and lose what belongs to other machines (tiles, memory spaces).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "hlo/hlo_parser.h"

namespace tailor::hlo {

namespace {

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (const ir::DTypeRow& row : ir::dtype_table) names.push_back(row.name);
  return names;
}

bool starts_number(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::int32_t HloParser::parse_type(int depth) {
  if (lexer_.peek() == '(') return parse_tuple_type(depth);
  return parse_array_type();
}

std::int32_t HloParser::parse_tuple_type(int depth) {
  if (depth > max_nesting) lexer_.fail(fmt::format("at most {} nested tuples", max_nesting));
  lexer_.expect('(', "of a tuple type");
  HloType type;
  type.first_shape = static_cast<std::int32_t>(module_.shapes.size());
  std::vector<std::int32_t> children;
  while (lexer_.peek() != ')') {
    children.push_back(parse_type(depth + 1));
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect(')', "at the end of a tuple type");
  type.shapes = static_cast<std::int32_t>(module_.shapes.size()) - type.first_shape;
  type.first_child = static_cast<std::int32_t>(module_.children.size());
  type.children = static_cast<std::int32_t>(children.size());
  module_.children.insert(module_.children.end(), children.begin(), children.end());
  module_.types.push_back(type);
  return static_cast<std::int32_t>(module_.types.size()) - 1;
}

std::int32_t HloParser::parse_array_type() {
  lexer_.peek();
  const std::size_t start = lexer_.offset();
  const std::string_view word = lexer_.word();
  const bool buffer = word == "b" && lexer_.here() == '(';  // b(f32[4]): a buffer, used as the array it holds
  if (buffer) {
    lexer_.expect('(', "of a buffer type");
    const std::int32_t inner = parse_array_type();
    lexer_.expect(')', "at the end of a buffer type");
    return inner;
  }
  if (word.empty() || lexer_.here() != '[') {
    lexer_.seek(start);
    lexer_.fail("a shape such as f32[4,8]", "every instruction's result needs its shape written out");
  }
  const ir::DTypeRow& dtype = parse_dtype(word, start);
  HloType type;
  type.first_shape = static_cast<std::int32_t>(module_.shapes.size());
  type.shapes = 1;
  module_.shapes.push_back(parse_shape(dtype));
  module_.types.push_back(type);
  return static_cast<std::int32_t>(module_.types.size()) - 1;
}

const ir::DTypeRow& HloParser::parse_dtype(std::string_view word, std::size_t offset) {
  if (const ir::DTypeRow* known = ir::find_dtype(word); known != nullptr && known->dtype != ir::DType::tuple)
    return *known;
  lexer_.fail_at(offset, fmt::format("found '{}', expected an element type", word), suggestion(word, dtype_names()));
}

ir::Shape HloParser::parse_shape(const ir::DTypeRow& dtype) {
  ir::Shape shape;
  shape.dtype = dtype.dtype;
  lexer_.expect('[', "of a shape");
  const std::size_t start = lexer_.offset();
  std::int64_t bits = std::max(dtype.bits, 8);
  bool overflow = false;
  bool empty = false;
  while (lexer_.peek() != ']') {
    lexer_.accept_mark("<=");  // a bound: the array is at most this large
    if (lexer_.here() == '?')
      lexer_.fail("a dimension that is a number", "shapes must be static: compile the model for fixed sizes");
    const std::size_t offset = lexer_.offset();
    const std::int64_t dim = lexer_.integer("a dimension");
    if (dim < 0) lexer_.fail_at(offset, fmt::format("found dimension {}, expected 0 or more", dim));
    if (shape.rank() == ir::max_rank)
      lexer_.fail_at(offset, fmt::format("found a shape of more than {} dimensions, expected at most {}", ir::max_rank,
                                         ir::max_rank));
    shape.minor_to_major[static_cast<std::size_t>(shape.rank())] = 0;
    shape.dims.push_back(dim);
    empty = empty || dim == 0;
    overflow = __builtin_mul_overflow(bits, std::max<std::int64_t>(dim, 1), &bits) || overflow;
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect(']', "at the end of a shape");
  if (overflow && !empty) lexer_.fail_at(start, "found a shape whose size does not fit 64 bits, expected a real array");
  if (overflow) lexer_.fail_at(start, "found dimensions whose product does not fit 64 bits, expected a real array");
  const int rank = shape.rank();
  for (int i = 0; i < rank; ++i)
    shape.minor_to_major[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(rank - 1 - i);
  if (at_layout()) parse_layout(shape);
  return shape;
}

/// A '{' after a shape opens a layout only when a number or ':' follows; else it opens a computation.
bool HloParser::at_layout() {
  if (lexer_.here() != '{') return false;
  const std::string_view rest = module_.text.substr(lexer_.offset() + 1);
  const std::size_t next = rest.find_first_not_of(" \t\r\n");
  return next != rest.npos && (starts_number(rest[next]) || rest[next] == ':' || (rest[next] == '}' && next == 0));
}

void HloParser::parse_layout(ir::Shape& shape) {
  const std::size_t start = lexer_.offset();
  lexer_.expect('{', "of a layout");
  unsigned seen = 0;
  int count = 0;
  while (starts_number(lexer_.peek())) {
    const std::int64_t dim = lexer_.integer("a dimension number");
    if (dim >= shape.rank() || (seen >> dim & 1U) != 0 || count >= shape.rank())
      lexer_.fail_at(start, fmt::format("found a layout that does not fit, expected a permutation of the {} dimensions",
                                        shape.rank()));
    seen |= 1U << dim;
    shape.minor_to_major[static_cast<std::size_t>(count++)] = static_cast<std::int8_t>(dim);
    if (!lexer_.accept(',')) break;
  }
  if (count != 0 && count != shape.rank())
    lexer_.fail_at(start, fmt::format("found a layout of {} dimensions, expected {}", count, shape.rank()));
  if (lexer_.peek() == ':') {  // tiles, memory space, element size: nothing a fusion decision uses
    lexer_.seek(start);
    lexer_.skip_bracketed();
    return;
  }
  lexer_.expect('}', "at the end of a layout");
}

void HloParser::skip_type(int depth) {
  if (lexer_.peek() == '(') {
    if (depth > max_nesting) lexer_.fail("a type with less nesting");
    lexer_.skip_bracketed();
    return;
  }
  if (lexer_.word().empty() || lexer_.here() != '[') lexer_.fail("a shape such as f32[4,8]");
  skip_array_rest();
}

void HloParser::skip_array_rest() {
  lexer_.skip_bracketed();
  if (at_layout()) lexer_.skip_bracketed();
}

}  // namespace tailor::hlo
