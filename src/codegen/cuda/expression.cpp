// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Printing expressions. How an operation is written stands in its row of the operation table; only the operations
// whose text depends on types (compare, convert, bit casts) are written here. Parentheses stand around every
// operation, so no table of precedence is needed; bare() takes the outermost ones off.
#include "codegen/cuda/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/indexed.h"
#include "codegen/cuda/prelude.h"

namespace tailor::codegen {

using namespace ir;

namespace {

constexpr std::array comparison_signs = std::to_array<std::string_view>({"==", "!=", ">=", ">", "<=", "<"});

std::string cast(std::string_view type, const std::string& value) {
  return fmt::format("static_cast<{}>({})", type, bare(value));
}

std::string to_float(DType from, const std::string& value) {
  return is_narrow_integer(from) ? fmt::format("float_of_narrow({})", bare(value)) : cast("float", value);
}

std::string converted(DType to, DType from, const std::string& value) {
  if (to == from) return value;
  if (is_held_as_bits(from)) {
    const std::string widened = fmt::format("float_of({})", bare(value));
    return to == DType::f32 ? widened : converted(to, DType::f32, widened);
  }
  if (is_held_as_bits(to)) {
    const bool direct = from == DType::f32 || (from == DType::f64 && to == DType::f16);
    return fmt::format("{}_of({})", name(to), direct ? bare(value) : to_float(from, value));
  }
  if (to == DType::pred) return fmt::format("({} != {})", value, constant_text(from, 0, 0));
  if (is_floating(from) && is_integer(to)) {
    if (from == DType::f32 && row(to).bits <= 32) return fmt::format("{}_of({})", name(to), bare(value));
    return fmt::format("saturated<{}>({})", register_type(to), bare(value));
  }
  return to == DType::f32 ? to_float(from, value) : cast(register_type(to), value);
}

std::string real_constant(DType dtype, double value) {
  if (dtype == DType::f64) {
    if (std::isnan(value)) return "__longlong_as_double(0x7ff8000000000000ll)";
    if (std::isinf(value))
      return fmt::format("__longlong_as_double(0x{}ll)", value > 0 ? "7ff0000000000000" : "fff0000000000000");
    const std::string digits = fmt::format("{}", value);
    return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
  }
  const float single = static_cast<float>(value);
  if (std::isnan(single)) return "__int_as_float(0x7fffffff)";
  if (std::isinf(single)) return fmt::format("__int_as_float({})", single > 0 ? "0x7f800000" : "0xff800000");
  const std::string digits = fmt::format("{}", single);
  return digits + (digits.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

/// In how many turns of a loop, from the first on, a < b whatever the other variables are.
std::int64_t turns_that_hold(const IndexPool& pool, const Condition& c, VarId turn) {
  const std::int64_t step = coefficient(pool, c.a, turn);
  if (c.equal || step <= 0 || is_nested(pool, c.a, turn) || pool[c.b].vars.has(turn)) return 0;
  std::int64_t others = pool[c.a].constant;
  for (const Linear& part : pool.linear(c.a)) {
    const Term& term = pool.terms[part.term];
    if (term.kind == TermKind::var && term.var == turn) continue;
    others += part.coefficient * (part.coefficient > 0 ? term.range.high : term.range.low);
  }
  const std::int64_t room = pool[c.b].range.low - 1 - others;
  return room < 0 ? 0 : std::min(room / step + 1, pool.vars[turn].extent);
}

}  // namespace

std::string constant_text(DType dtype, double real, std::int64_t integer) {
  if (is_held_as_bits(dtype)) return fmt::format("{}_of({})", name(dtype), real_constant(DType::f32, real));
  if (is_floating(dtype)) {
    const std::string digits = real_constant(dtype, real);
    return digits[0] == '-' ? "(" + digits + ")" : digits;
  }
  if (dtype == DType::pred) return integer != 0 ? "true" : "false";
  if (dtype == DType::s32)
    return integer == std::numeric_limits<std::int32_t>::min() ? "(-2147483647 - 1)"
           : integer < 0                                       ? fmt::format("({})", integer)
                                                               : fmt::format("{}", integer);
  if (dtype == DType::u32) return fmt::format("{}u", static_cast<std::uint32_t>(integer));
  if (dtype == DType::u64) return fmt::format("{}ull", static_cast<std::uint64_t>(integer));
  if (dtype == DType::s64) {
    if (integer == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
    return integer < 0 ? fmt::format("({}ll)", integer) : fmt::format("{}ll", integer);
  }
  return cast(register_type(dtype), fmt::format("{}", integer));
}

std::string bare(const std::string& full) {
  if (full.size() < 2 || full[0] != '(' || full.back() != ')') return full;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < full.size(); ++i) {
    depth += full[i] == '(' ? 1 : full[i] == ')' ? -1 : 0;
    if (depth == 0) return full;
  }
  return full.substr(1, full.size() - 2);
}

std::string operation_text(Op op, DType dtype, Arithmetic arithmetic, const std::string& a, const std::string& b,
                           const std::string& c) {
  const std::string_view pattern = is_floating(dtype) ? computed(op, dtype, arithmetic).real : row(op).integer;
  if (pattern.empty()) throw std::logic_error(fmt::format("no CUDA text for {} on {}", name(op), name(dtype)));
  if (pattern[0] == '(' || pattern[0] == '{') return fmt::format(fmt::runtime(pattern), a, b, c);
  return fmt::format(fmt::runtime(pattern), bare(a), bare(b), bare(c));
}

std::string index_text(const Spelling& spelling, ExprId expr) {
  return text(spelling.indices, expr, is_wide(spelling.kernel.indices, expr));
}

std::string ref_text(const Spelling& spelling, const Ref& ref) {
  std::string out = spelling.names.arrays[ref.array];
  for (const ExprId sub : ref.subs)
    if (sub != no_expr) out += fmt::format("[{}]", index_text(spelling, sub));
  if (spelling.kernel.arrays[ref.array].vector == 1) return out;
  return out + fmt::format(".v[{}]", ref.lane == no_expr ? "0" : index_text(spelling, ref.lane));
}

std::string value_text(const Spelling& spelling, ValueId id) {
  const Kernel& kernel = spelling.kernel;
  const Value& v = kernel.values[id];
  switch (v.kind) {
    case ValueKind::constant:
      return constant_text(v.dtype, v.real, v.integer);
    case ValueKind::let:
      return spelling.names.lets[v.let];
    case ValueKind::element:
      return ref_text(spelling, v.element);
    case ValueKind::convert:
      if (spelling.roundings.is_rounding(id))
        return fmt::format("rounded_bf16({})", bare(value_text(spelling, v.operands[0])));
      return converted(v.dtype, kernel.values[v.operands[0]].dtype, value_text(spelling, v.operands[0]));
    case ValueKind::index: {
      const DType from = is_wide(kernel.indices, v.index) ? DType::s64 : DType::s32;
      const std::string number = "(" + index_text(spelling, v.index) + ")";
      return is_integer(v.dtype) ? cast(register_type(v.dtype), number) : converted(v.dtype, from, number);
    }
    case ValueKind::op:
      break;
  }
  std::array<std::string, 3> operands;
  for (std::size_t i = 0; i < 3; ++i)
    if (v.operands[i] != no_value) operands[i] = value_text(spelling, v.operands[i]);
  if (v.op == Op::compare)
    return fmt::format("({} {} {})", operands[0], row_for(comparison_signs, v.comparison), operands[1]);
  if (v.op == Op::bitcast_convert) return fmt::format("bits_as<{}>({})", register_type(v.dtype), bare(operands[0]));
  if (v.op == Op::reduce_precision)
    return fmt::format("reduced<{}, {}>({})", v.digits.exponent, v.digits.mantissa, bare(operands[0]));
  const DType type = v.op == Op::is_finite ? kernel.values[v.operands[0]].dtype : v.dtype;
  return operation_text(v.op, type, kernel.arithmetic, operands[0], operands[1], operands[2]);
}

std::string condition_text(const Spelling& spelling, const Condition& condition, std::span<const VarId> turns,
                           bool has_others) {
  const std::string_view sign = condition.equal ? "==" : "<";
  const std::string text =
      fmt::format("{} {} {}", index_text(spelling, condition.a), sign, index_text(spelling, condition.b));
  for (const VarId turn : turns)
    if (const std::int64_t whole = turns_that_hold(spelling.kernel.indices, condition, turn); whole > 0)
      return fmt::format(fmt::runtime(has_others ? "({} < {} || {})" : "{} < {} || {}"), spelling.names.vars[turn],
                         whole, text);
  return text;
}

std::string exchange_text(const Spelling& spelling, const Stmt& exchange) {
  const DType dtype = spelling.kernel.lets[exchange.let].dtype;
  const std::string_view type = register_type(dtype);
  const std::string_view mask = spelling.kernel.threads % 32 == 0 ? "0xffffffffu" : "__activemask()";
  const bool small = row(dtype).bits < 32;
  const std::string value = value_text(spelling, exchange.value);
  const std::string own = small ? cast("int", value) : bare(value);
  std::string other = exchange.stride == 0 ? fmt::format("__shfl_sync({}, {}, 0, {})", mask, own, exchange.lanes)
                                           : fmt::format("__shfl_xor_sync({}, {}, {})", mask, own, exchange.stride);
  if (dtype == DType::pred)
    other += " != 0";
  else if (small)
    other = cast(type, other);
  return fmt::format("const {} {} = {};", type, spelling.names.lets[exchange.let], other);
}

}  // namespace tailor::codegen
