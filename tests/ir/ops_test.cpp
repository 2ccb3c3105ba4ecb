// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers and the operation table against oracles written apart from them: every value of the narrow types, every pair
// of bytes, all roundings between neighbours; and random graphs with fixed seeds through text, verify() and the
// evaluator. Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "ir/graph/number.h"
#include "reference/evaluate.h"
#include "support/cells.h"
#include "support/random_graph.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

std::vector<DType> narrow_floats() {
  std::vector<DType> all;
  for (const DTypeRow& entry : dtype_table)
    if (entry.kind == DTypeKind::floating && entry.bits <= 16) all.push_back(entry.dtype);
  return all;
}

/// The finite values of a type with their bits, ascending.
std::vector<std::pair<double, std::uint64_t>> finite_values(DType dtype) {
  std::vector<std::pair<double, std::uint64_t>> all;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << row(dtype).bits); ++bits) {
    const double value = decode(dtype, bits);
    if (std::isfinite(value) && !(value == 0 && std::signbit(value))) all.emplace_back(value, bits);
  }
  std::sort(all.begin(), all.end());
  return all;
}

Tensor all_pairs(DType dtype, bool first) {
  Tensor tensor = zeros(make_shape(dtype, {256, 256}));
  const int low = is_signed(dtype) ? -128 : 0;
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) store_integer(tensor, a * 256 + b, low + (first ? a : b));
  return tensor;
}

/// What HLO says, on plain ints; the caller wraps to a byte.
int expected(Op op, int a, int b, bool with_sign) {
  const int unsigned_b = b & 255, unsigned_a = a & 255;
  if (op == Op::add) return a + b;
  if (op == Op::subtract) return a - b;
  if (op == Op::multiply) return a * b;
  if (op == Op::divide) return b == 0 ? -1 : a / b;
  if (op == Op::remainder) return b == 0 ? a : a % b;
  if (op == Op::maximum) return a > b ? a : b;
  if (op == Op::minimum) return a < b ? a : b;
  if (op == Op::bit_and) return a & b;
  if (op == Op::bit_or) return a | b;
  if (op == Op::bit_xor) return a ^ b;
  if (op == Op::shift_left) return unsigned_b >= 8 ? 0 : unsigned_a << unsigned_b;
  if (op == Op::shift_right_logical) return unsigned_b >= 8 ? 0 : unsigned_a >> unsigned_b;
  if (op == Op::shift_right_arithmetic)
    return static_cast<signed char>(unsigned_a) >> (unsigned_b >= 8 ? 7 : unsigned_b);
  if (op == Op::mulhi) return (a * b) >> 8;
  if (op == Op::power) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    int result = 1;
    for (int i = 0; i < b; ++i) result = (result * a) & 255;
    return result;
  }
  (void)with_sign;
  return 0;
}

/// sign, exponent, mantissa spelt out: an oracle for IEEE-like 16-bit types.
double spelt_out(std::uint64_t bits, int exponent_bits, int mantissa_bits) {
  const auto mantissa = static_cast<double>(bits & ((1U << mantissa_bits) - 1)) / std::pow(2.0, mantissa_bits);
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits >> (exponent_bits + mantissa_bits)) != 0 ? -1 : 1;
  if (exponent == 0) return sign * mantissa * std::pow(2.0, 1 - bias);
  return sign * (1 + mantissa) * std::pow(2.0, exponent - bias);
}

}  // namespace

TEST_CASE("every value of every narrow floating type survives decoding and encoding") {
  for (const DType dtype : narrow_floats()) {
    CAPTURE(name(dtype));
    std::uint64_t wrong = 0;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << row(dtype).bits); ++bits) {
      const double value = decode(dtype, bits);
      if (std::isnan(value) ? !std::isnan(decode(dtype, encode(dtype, value))) : encode(dtype, value) != bits) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an operation reads and writes every value of every narrow floating type in its own place") {
  for (const DType dtype : narrow_floats()) {
    CAPTURE(name(dtype));
    const auto count = std::int64_t{1} << row(dtype).bits;
    Tensor every = zeros(make_shape(dtype, {count}));
    for (std::int64_t i = 0; i < count; ++i) store(every, i, decode(dtype, static_cast<std::uint64_t>(i)));
    const Graph graph = parse_graph(
        fmt::format("graph g {{ %a = parameter 0 : {0}[{1}] %r = abs %a : {0}[{1}] output %r }}", name(dtype), count));
    const Tensor result = evaluate(graph, std::vector{every})[0];
    CHECK(result.bytes.size() == every.bytes.size());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = decode(dtype, static_cast<std::uint64_t>(i)), found = as_double(result, i);
      if (std::isnan(value) ? !std::isnan(found) : found != std::fabs(value)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("known landmarks of the types") {
  CHECK(decode(DType::f16, 0x7bff) == 65504);
  CHECK(decode(DType::f16, 1) == 0x1p-24);
  CHECK(decode(DType::f8e4m3fn, 0x7e) == 448);
  CHECK(std::isnan(decode(DType::f8e4m3fn, 0xff)));
  CHECK(decode(DType::f8e5m2, 0x7b) == 57344);
  CHECK(std::isinf(decode(DType::f8e5m2, 0x7c)));
  CHECK(decode(DType::f8e4m3fnuz, 0x7f) == 240);
  CHECK(decode(DType::f8e5m2fnuz, 0x7f) == 57344);
  CHECK(decode(DType::f8e4m3b11fnuz, 0x7f) == 30);
  CHECK(decode(DType::f8e3m4, 0x6f) == 15.5);
  CHECK(std::isnan(decode(DType::f8e4m3fnuz, 0x80)));
  CHECK(decode(DType::f8e8m0fnu, 127) == 1);
  CHECK(decode(DType::f4e2m1fn, 7) == 6);
  CHECK(decode(DType::f6e3m2fn, 31) == 28);
  CHECK(decode(DType::f6e2m3fn, 31) == 7.5);
  CHECK(decode(DType::f8e8m0fnu, 254) == 0x1p127);
  CHECK(decode(DType::f8e8m0fnu, 0) == 0x1p-127);
  CHECK(std::isnan(decode(DType::f8e8m0fnu, 255)));
  CHECK(encode(DType::f8e4m3fn, 465) == 0x7f);
  CHECK(encode(DType::f8e4m3fn, 464) == 0x7e);
  CHECK(encode(DType::f4e2m1fn, 100) == 7);
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    const double half = decode(DType::f16, bits), brain = decode(DType::bf16, bits);
    if (std::isfinite(half)) REQUIRE(half == spelt_out(bits, 5, 10));
    if (std::isfinite(brain)) REQUIRE(brain == spelt_out(bits, 8, 7));
    if (!std::isnan(brain))
      REQUIRE(brain == static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16)));
  }
}

TEST_CASE("rounding goes to the nearest neighbour, ties to the even one, between all neighbours") {
  for (const DType dtype : narrow_floats()) {
    CAPTURE(name(dtype));
    const auto values = finite_values(dtype);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const auto [low, low_bits] = values[i];
      const auto [high, high_bits] = values[i + 1];
      const double middle = low + (high - low) / 2;
      const double even = (low_bits & 1) == 0 ? low : high;
      if (round_to(dtype, std::nextafter(middle, low)) != low) ++wrong;
      if (round_to(dtype, std::nextafter(middle, high)) != high) ++wrong;
      if (round_to(dtype, middle) != even) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("numbers that round to zero keep their sign where the type has a negative zero, and are zero where not") {
  for (const DType dtype : narrow_floats()) {
    if (dtype == DType::f8e8m0fnu) continue;  // it has no zero
    CAPTURE(name(dtype));
    const bool one_zero = name(dtype).ends_with("fnuz");
    for (const double tiny : {0.0, -0.0, 1e-60, -1e-60}) {
      const double rounded = round_to(dtype, tiny), read = decode(dtype, encode(dtype, tiny));
      CHECK((rounded == 0 && read == 0));
      CHECK(std::signbit(rounded) == (std::signbit(tiny) && !one_zero));
      CHECK(std::signbit(read) == (std::signbit(tiny) && !one_zero));
    }
  }
}

TEST_CASE("integers of 64 bits are rounded once to every floating type") {
  // f32 keeps 24 bits: the compiler's own conversion is the oracle there.
  std::uint64_t state = 88172645463325252U;
  for (int i = 0; i < 100000; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const auto value = static_cast<std::int64_t>(state) >> (i % 60);
    REQUIRE(round_integer_to(DType::f32, value) == static_cast<double>(static_cast<float>(value)));
    REQUIRE(round_integer_to(DType::f32, state) == static_cast<double>(static_cast<float>(state)));
  }
}

TEST_CASE("integer operations agree with plain arithmetic on every pair of bytes") {
  for (const DType dtype : {DType::s8, DType::u8}) {
    const Tensor a = all_pairs(dtype, true), b = all_pairs(dtype, false);
    for (const Op op : {Op::add, Op::subtract, Op::multiply, Op::divide, Op::remainder, Op::maximum, Op::minimum,
                        Op::bit_and, Op::bit_or, Op::bit_xor, Op::shift_left, Op::shift_right_logical,
                        Op::shift_right_arithmetic, Op::mulhi, Op::power}) {
      const Graph graph = parse_graph(fmt::format(
          "graph g {{ %a = parameter 0 : {0}[256,256] %b = parameter 1 : {0}[256,256] %r = {1} %a, %b : {0}[256,256] "
          "output %r }}",
          name(dtype), name(op)));
      const Tensor result = evaluate(graph, std::vector{a, b})[0];
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < 65536; ++i) {
        const auto wanted = static_cast<std::uint8_t>(
            expected(op, static_cast<int>(as_integer(a, i)), static_cast<int>(as_integer(b, i)), is_signed(dtype)));
        if (static_cast<std::uint8_t>(as_integer(result, i)) != wanted) ++wrong;
      }
      CAPTURE(name(dtype));
      CAPTURE(name(op));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE(
    "the interpreter of the tests knows every operation that kernels print, and computes what the evaluator does") {
  int compared = 0;
  for (const OpRow& entry : op_table)
    for (const DType dtype : {DType::f32, DType::s32, DType::u8}) {
      if (entry.kind != OpClass::elementwise || (is_floating(dtype) ? entry.real : entry.integer).empty()) continue;
      const DType first = entry.op == Op::select ? DType::pred : dtype;
      const DType result = entry.op == Op::is_finite ? DType::pred : dtype;
      std::string text = "graph g { ", operands;
      std::vector<Tensor> inputs;
      for (int k = 0; k < entry.arity; ++k) {
        const Shape shape = make_shape(k == 0 ? first : dtype, {97});
        text += fmt::format("%p{} = parameter {} : {} ", k, k, ir::text(shape));
        operands += fmt::format("{}%p{}", k == 0 ? "" : ", ", k);
        inputs.push_back(random_tensor(shape, static_cast<std::uint64_t>(k) + 1));
      }
      text += fmt::format("%r = {} {} : {}[97] output %r }}", name(entry.op), operands, name(result));
      CAPTURE(text);
      const Tensor wanted = evaluate(parse_graph(text), inputs)[0];
      for (std::int64_t i = 0; i < 97; ++i) {
        std::array<LaneValue, 3> cells;
        for (std::size_t k = 0; k < inputs.size(); ++k)
          cells[k] =
              read_cell(inputs[k].shape.dtype, inputs[k].bytes.data() + i * element_bytes(inputs[k].shape.dtype));
        const LaneValue found = applied(entry.op, Comparison::eq, dtype, cells[0], cells[1], cells[2]);
        if (!is_floating(result)) {
          REQUIRE(fitted(result, found).integer == as_integer(wanted, i));
        } else if (std::isfinite(found.real)) {
          REQUIRE(std::fabs(found.real - as_double(wanted, i)) <= 1e-6 * std::fabs(found.real));
        } else {
          REQUIRE((std::isnan(found.real) ? std::isnan(as_double(wanted, i)) : found.real == as_double(wanted, i)));
        }
      }
      ++compared;
    }
  CHECK(compared > 80);
}

TEST_CASE("arithmetic in f16 equals rounding the exact result once, on a grid of all exponents") {
  const Graph graph = parse_graph(R"(graph g { %a = parameter 0 : f16[256,256] %b = parameter 1 : f16[256,256]
    %s = add %a, %b : f16[256,256] %p = multiply %a, %b : f16[256,256] output %s, %p })");
  Tensor a = zeros(make_shape(DType::f16, {256, 256})), b = a;
  for (std::int64_t i = 0; i < 65536; ++i) {
    store(a, i, decode(DType::f16, static_cast<std::uint64_t>(i / 256 * 251 % 65536)));
    store(b, i, decode(DType::f16, static_cast<std::uint64_t>(i % 256 * 257 % 65536)));
  }
  const std::vector<Tensor> out = evaluate(graph, std::vector{a, b});
  for (std::int64_t i = 0; i < 65536; ++i) {
    const double x = as_double(a, i), y = as_double(b, i);
    const double sum = round_to(DType::f16, x + y), product = round_to(DType::f16, x * y);
    REQUIRE((std::isnan(sum) ? std::isnan(as_double(out[0], i)) : as_double(out[0], i) == sum));
    REQUIRE((std::isnan(product) ? std::isnan(as_double(out[1], i)) : as_double(out[1], i) == product));
  }
}

TEST_CASE("every row has a pattern exactly where the evaluator has a function") {
  for (const OpRow& entry : op_table) {
    CAPTURE(entry.id);
    CHECK(find_op(entry.id) == &entry);
    for (int k = 0; k < 3; ++k) {
      const std::string hole = fmt::format("{{{}}}", k);
      for (const std::string_view pattern : {entry.real, entry.integer})
        if (!pattern.empty()) CHECK((pattern.find(hole) != pattern.npos) == (k < entry.arity));
    }
    if (entry.kind != OpClass::elementwise) CHECK((entry.real.empty() && entry.integer.empty()));
  }
}

TEST_CASE("random graphs with every operation and attribute survive their text") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Graph graph = any_text_graph(seed);
    const std::string written = text(graph);
    REQUIRE_NOTHROW(parse_graph(written));
    const Graph read = parse_graph(written);
    CHECK(read == graph);
    CHECK(text(read) == written);
  }
}

TEST_CASE("random well-formed graphs verify, evaluate, and mean the same after a text round trip") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = well_formed_graph(seed, 40);
    REQUIRE_NOTHROW(verify(graph));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) CHECK(can_evaluate(graph, static_cast<NodeId>(i)));
    std::vector<Tensor> inputs;
    for (const NodeId id : parameters(graph)) inputs.push_back(random_tensor(graph[id].shape, seed + inputs.size()));
    const std::vector<Tensor> out = evaluate(graph, inputs);
    const std::vector<Tensor> again = evaluate(parse_graph(text(graph)), inputs);
    REQUIRE(out.size() == again.size());
    for (std::size_t k = 0; k < out.size(); ++k) CHECK(out[k].bytes == again[k].bytes);
    CHECK(canonical_text(parse_graph(text(graph))) == canonical_text(graph));
  }
}
