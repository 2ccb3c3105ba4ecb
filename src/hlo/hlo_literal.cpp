// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Literals: numbers, true and false, complex pairs, in nested braces. The braces only group, so the numbers are read in
// the order they stand and their count must be the shape's. Floats narrower than 32 bits are encoded from a table of
// their fields: exponent, mantissa, bias, and what stands in for infinity.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/stop.h"
#include "hlo/hlo_lexer.h"
#include "hlo/hlo_module.h"

namespace tailor::hlo {

namespace {

/// ieee: infinity and NaNs. nan_only: all ones is NaN, no infinity. unsigned_zero: minus zero's code is the only NaN.
/// finite: neither.
enum class Specials : std::uint8_t { ieee, nan_only, unsigned_zero, finite };

struct SmallFloat {
  ir::DType dtype;
  int exponent, mantissa, bias;
  Specials specials;
};

constexpr auto small_floats = std::to_array<SmallFloat>({
    {ir::DType::f16, 5, 10, 15, Specials::ieee},
    {ir::DType::bf16, 8, 7, 127, Specials::ieee},
    {ir::DType::f8e5m2, 5, 2, 15, Specials::ieee},
    {ir::DType::f8e4m3, 4, 3, 7, Specials::ieee},
    {ir::DType::f8e4m3fn, 4, 3, 7, Specials::nan_only},
    {ir::DType::f8e4m3b11fnuz, 4, 3, 11, Specials::unsigned_zero},
    {ir::DType::f8e3m4, 3, 4, 3, Specials::ieee},
    {ir::DType::f8e5m2fnuz, 5, 2, 16, Specials::unsigned_zero},
    {ir::DType::f8e4m3fnuz, 4, 3, 8, Specials::unsigned_zero},
    {ir::DType::f4e2m1fn, 2, 1, 1, Specials::finite},
    {ir::DType::f6e3m2fn, 3, 2, 3, Specials::finite},
    {ir::DType::f6e2m3fn, 2, 3, 1, Specials::finite},
});

std::uint32_t encoded(const SmallFloat& format, double value) {
  const std::uint32_t sign = std::signbit(value) ? 1U << (format.exponent + format.mantissa) : 0;
  const std::uint32_t all_ones = (1U << (format.exponent + format.mantissa)) - 1;
  const std::uint32_t infinity = all_ones >> format.mantissa << format.mantissa;
  const bool ieee = format.specials == Specials::ieee;
  const std::uint32_t nan = format.specials == Specials::unsigned_zero ? all_ones + 1
                            : ieee                                     ? infinity | 1U << (format.mantissa - 1)
                                                                       : sign | all_ones;
  if (std::isnan(value)) return ieee ? sign | nan : nan;
  const double size = std::abs(value);
  std::uint32_t code = all_ones + 1;  // too large
  if (size == 0) {
    code = 0;
  } else if (std::isfinite(size)) {
    const int exponent = std::max(std::ilogb(size), 1 - format.bias);
    const double scaled = std::nearbyint(std::ldexp(size, format.mantissa - exponent));
    if (exponent <= (1 << format.exponent))
      code = (static_cast<std::uint32_t>(exponent + format.bias - 1) << format.mantissa) +
             static_cast<std::uint32_t>(scaled);
  }
  if (format.specials == Specials::unsigned_zero) return code == 0 ? 0 : code > all_ones ? nan : sign | code;
  if (ieee) return sign | std::min(code, infinity);
  if (format.specials == Specials::nan_only) return code >= all_ones ? nan : sign | code;
  return sign | std::min(code, all_ones);
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void append_real(std::vector<std::byte>& bytes, ir::DType dtype, double value) {
  if (dtype == ir::DType::f64 || dtype == ir::DType::c128) return append(bytes, value);
  if (dtype == ir::DType::f32 || dtype == ir::DType::c64) return append(bytes, static_cast<float>(value));
  if (dtype == ir::DType::f8e8m0fnu) {  // an exponent and nothing else
    const bool real = std::isfinite(value) && value > 0;
    return append(bytes, static_cast<std::uint8_t>(real ? std::clamp(std::ilogb(value) + 127, 0, 254) : 255));
  }
  for (const SmallFloat& format : small_floats) {
    if (format.dtype != dtype) continue;
    const std::uint32_t code = encoded(format, value);
    if (row(dtype).bits == 16) return append(bytes, static_cast<std::uint16_t>(code));
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
