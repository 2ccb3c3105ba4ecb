// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Literals: numbers, true and false, complex pairs, in nested braces. The braces only group, so the numbers are read in
// the order they stand and their count must be the shape's. Floats become bits as everywhere (ir/graph/number.h).
// In: the text between the parentheses of a constant, and its shape. Out: its bytes. Called when a graph is built.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/stop.h"
#include "hlo/hlo_lexer.h"
#include "hlo/hlo_module.h"
#include "ir/graph/number.h"

namespace tailor::hlo {

namespace {

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void append_real(std::vector<std::byte>& bytes, ir::DType dtype, double value) {
  const ir::DType part = dtype == ir::DType::c128 ? ir::DType::f64 : dtype == ir::DType::c64 ? ir::DType::f32 : dtype;
  const std::uint64_t code = ir::encode(part, value);
  switch (ir::element_bytes(part)) {
    case 8:
      return append(bytes, code);
    case 4:
      return append(bytes, static_cast<std::uint32_t>(code));
    case 2:
      return append(bytes, static_cast<std::uint16_t>(code));
    default:
      return append(bytes, static_cast<std::uint8_t>(code));
  }
}

class LiteralReader {
 public:
  LiteralReader(const HloModule& module, std::string_view literal, ir::DType dtype)
      : lexer_(module.text, module.file), dtype_(dtype) {
    lexer_.seek(static_cast<std::size_t>(literal.data() - module.text.data()));
    end_ = lexer_.offset() + literal.size();
  }

  bool done() { return lexer_.at_end() || lexer_.offset() >= end_; }
  HloLexer& lexer() { return lexer_; }

  void element(std::vector<std::byte>& bytes) {
    const ir::DTypeKind kind = row(dtype_).kind;
    if (kind == ir::DTypeKind::predicate) return append(bytes, static_cast<std::uint8_t>(truth() ? 1 : 0));
    if (is_integer(dtype_)) return integer(bytes);
    if (kind == ir::DTypeKind::floating) return append_real(bytes, dtype_, real());
    lexer_.expect('(', "of a complex number");
    append_real(bytes, dtype_, real());
    lexer_.expect(',', "between real and imaginary part");
    append_real(bytes, dtype_, real());
    lexer_.expect(')', "after a complex number");
  }

 private:
  bool truth() {
    if (lexer_.accept_word("true") || lexer_.accept_word("1")) return true;
    if (lexer_.accept_word("false") || lexer_.accept_word("0")) return false;
    lexer_.fail("'true' or 'false'");
  }

  double real() {
    const bool negative = lexer_.peek() == '-';
    if (negative) lexer_.expect('-', "");
    double value = 0;
    if (lexer_.accept_word("nan")) {
      if (lexer_.here() == '(') lexer_.skip_bracketed();
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (lexer_.accept_word("inf")) {
      value = std::numeric_limits<double>::infinity();
    } else {
      value = number();
    }
    return negative ? -value : value;
  }

  double number() {
    const std::string_view rest = lexer_.text().substr(std::min(lexer_.offset(), lexer_.text().size()));
    double value = 0;
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (fault == std::errc::invalid_argument) lexer_.fail("a number");
    if (fault == std::errc::result_out_of_range) {  // 1e400 is infinite, 1e-400 is nothing
      const std::string digits(rest.data(), end);
      value = std::strtod(digits.c_str(), nullptr);
    }
    if (dtype_ == ir::DType::f32 && fault == std::errc{}) {  // straight to float: rounded once
      float narrow = 0;
      if (std::from_chars(rest.data(), rest.data() + rest.size(), narrow).ec == std::errc{}) value = narrow;
    }
    lexer_.seek(lexer_.offset() + static_cast<std::size_t>(end - rest.data()));
    return value;
  }

  void integer(std::vector<std::byte>& bytes) {
    const int bits = row(dtype_).bits;
    lexer_.peek();
    const std::size_t start = lexer_.offset();
    std::int64_t value = 0;
    if (dtype_ == ir::DType::u64) {
      std::uint64_t wide = 0;
      const char* begin = lexer_.text().data() + start;
      const auto [end, fault] = std::from_chars(begin, lexer_.text().data() + lexer_.text().size(), wide);
      if (fault != std::errc{}) lexer_.fail("an unsigned number of 64 bits");
      lexer_.seek(start + static_cast<std::size_t>(end - begin));
      return append(bytes, wide);
    }
    value = lexer_.integer(fmt::format("a number of type {}", name(dtype_)));
    const std::int64_t low = is_signed(dtype_) ? -(std::int64_t{1} << (std::min(bits, 63) - 1)) : 0;
    const std::int64_t high = is_signed(dtype_) ? -(low + 1) : (std::int64_t{1} << bits) - 1;
    if (bits < 64 && (value < low || value > high))
      lexer_.fail_at(start,
                     fmt::format("found {}, expected a number from {} to {} ({})", value, low, high, name(dtype_)));
    if (bits == 64) return append(bytes, value);
    if (bits == 32) return append(bytes, static_cast<std::uint32_t>(value));
    if (bits == 16) return append(bytes, static_cast<std::uint16_t>(value));
    append(bytes, static_cast<std::uint8_t>(value));
  }

  HloLexer lexer_;
  ir::DType dtype_;
  std::size_t end_ = 0;
};

}  // namespace

bool parse_literal(const HloModule& module, std::string_view literal, const ir::Shape& shape,
                   std::vector<std::byte>& bytes) {
  static_assert(std::endian::native == std::endian::little);
  LiteralReader reader(module, literal, shape.dtype);
  HloLexer& lexer = reader.lexer();
  const std::int64_t wanted = elements(shape);
  std::int64_t found = 0;
  int depth = 0;
  while (!reader.done()) {
    if (lexer.accept_mark("...")) {
      bytes.clear();
      return false;
    }
    if (lexer.accept('{')) {
      if (++depth > shape.rank()) lexer.fail(fmt::format("braces nested at most {} deep", shape.rank()));
    } else if (lexer.accept('}')) {
      if (--depth < 0) lexer.fail("braces that match");
    } else if (!lexer.accept(',')) {
      if (++found > wanted) lexer.fail(fmt::format("the end of a literal of {} elements", wanted));
      if (found % 1024 == 0) stop_if_asked(module.stop);
      reader.element(bytes);
    }
  }
  if (depth != 0) lexer.fail("'}' of the literal");
  if (found != wanted) lexer.fail(fmt::format("{} elements, {} stand here", wanted, found));
  return true;
}

}  // namespace tailor::hlo
