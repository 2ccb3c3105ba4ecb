// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants as text. In: the bytes of a literal, or its text. Out: the other. Called by the text form of graphs. It
// goes one element at a time, and writes a decimal only after reading it back to the same bits; else it writes the
// bits.
#include "ir/graph/literal_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "ir/graph/graph_attributes.h"
#include "ir/graph/number.h"

namespace tailor::ir {

namespace {

/// More elements than this are written as bytes: nobody reads them, and it is faster.
constexpr std::size_t longest_list = 64;

bool has_decimal_form(DType dtype) { return dtype == DType::pred || is_integer(dtype) || is_floating(dtype); }

std::uint64_t element_bits(std::span<const std::byte> bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = [&] {
    if constexpr (std::is_floating_point_v<Number>)
      return std::from_chars(text.data(), text.data() + text.size(), value);
    else
      return std::from_chars(text.data(), text.data() + text.size(), value, base);
  }();
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The bits an element's text stands for; nothing when it is not a number of the type.
std::optional<std::uint64_t> parse_bits(std::string_view text, DType dtype) {
  if (text.starts_with("0x")) {
    const auto bits = parse_number<std::uint64_t>(text.substr(2), 16);
    const int width = 8 * element_bytes(dtype);
    if (bits && width < 64 && (*bits >> width) != 0) return std::nullopt;
    return bits;
  }
  if (dtype == DType::pred) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
    return std::nullopt;
  }
  if (is_floating(dtype)) {
    if (dtype == DType::f32)
      if (const auto value = parse_number<float>(text)) return encode(dtype, static_cast<double>(*value));
    const auto value = parse_number<double>(text);
    return value ? std::optional(encode(dtype, *value)) : std::nullopt;
  }
  std::optional<std::int64_t> value = parse_number<std::int64_t>(text);
  if (!value && dtype == DType::u64)
    if (const auto large = parse_number<std::uint64_t>(text)) return *large;
  if (!value || wrap_to(dtype, *value) != *value || (dtype == DType::u64 && *value < 0)) return std::nullopt;
  const int width = 8 * element_bytes(dtype);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  return static_cast<std::uint64_t>(*value) & mask;
}

std::string element_text(std::uint64_t bits, DType dtype) {
  std::string decimal;
  if (dtype == DType::pred)
    decimal = bits == 1 ? "true" : "false";
  else if (dtype == DType::u64)
    decimal = fmt::format("{}", bits);
  else if (is_integer(dtype))
    decimal = fmt::format("{}", wrap_to(dtype, static_cast<std::int64_t>(bits)));
  else if (dtype == DType::f64)
    decimal = fmt::format("{}", decode(dtype, bits));
  else
    decimal = fmt::format("{}", static_cast<float>(decode(dtype, bits)));
  if (parse_bits(decimal, dtype) == bits) return decimal;
  return fmt::format("0x{:0{}x}", bits, 2 * element_bytes(dtype));
}

std::optional<Literal> parse_hex(std::string_view digits, std::string& reason) {
  Literal literal;
  literal.bytes.resize(digits.size() / 2);
  if (digits.size() % 2 != 0) return reason = "odd number of hexadecimal digits in a constant", std::nullopt;
  for (std::size_t i = 0; i < literal.bytes.size(); ++i) {
    const std::string_view pair = digits.substr(2 * i, 2);
    const auto byte = parse_number<std::uint8_t>(pair, 16);
    if (!byte) return reason = fmt::format("found '{}', expected two hexadecimal digits", pair), std::nullopt;
    literal.bytes[i] = std::byte{*byte};
  }
  return literal;
}

}  // namespace

std::string literal_text(const Literal& literal, const Shape& shape) {
  if (!literal.known) return "{...}";
  const auto size = static_cast<std::size_t>(element_bytes(shape.dtype));
  const std::size_t count = size == 0 ? 0 : literal.bytes.size() / size;
  const bool fits = has_decimal_form(shape.dtype) && static_cast<std::int64_t>(count) == elements(shape) &&
                    literal.bytes.size() == count * size;
  std::string out;
  if (!fits || count > longest_list) {
    out = "hex\"";
    append_hex(out, literal.bytes);
    return out + '"';
  }
  if (shape.rank() > 0) out += '{';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    out += element_text(element_bits(std::span(literal.bytes).subspan(i * size, size)), shape.dtype);
  }
  if (shape.rank() > 0) out += '}';
  return out;
}

std::optional<Literal> parse_literal(std::string_view text, const Shape& shape, std::string& reason) {
  Literal literal;
  if (text == "{...}") {
    literal.known = false;
    return literal;
  }
  if (text.starts_with("hex\"") && text.ends_with('"') && text.size() >= 5)
    return parse_hex(text.substr(4, text.size() - 5), reason);
  reason = fmt::format("found '{}', expected hex\"...\" for a constant of type {}", text, name(shape.dtype));
  if (!has_decimal_form(shape.dtype)) return std::nullopt;
  const auto size = static_cast<std::size_t>(element_bytes(shape.dtype));
  const bool braced = text.starts_with('{') && text.ends_with('}') && text.size() >= 2;
  const std::string_view inside = trim(braced ? text.substr(1, text.size() - 2) : text);
  std::vector<std::string_view> fields;
  if (!inside.empty()) fields = split(inside, ',');
  reason = fmt::format("found {} values, expected {} for {}", fields.size(), elements(shape), ir::text(shape));
  if (static_cast<std::int64_t>(fields.size()) != elements(shape)) return std::nullopt;
  literal.bytes.resize(fields.size() * size);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::optional<std::uint64_t> bits = parse_bits(trim(fields[i]), shape.dtype);
    reason = fmt::format("found '{}', expected a {}", trim(fields[i]), name(shape.dtype));
    if (!bits) return std::nullopt;
    std::memcpy(literal.bytes.data() + i * size, &*bits, size);
  }
  return literal;
}

}  // namespace tailor::ir
