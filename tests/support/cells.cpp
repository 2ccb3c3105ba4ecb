// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of single elements, written from HLO's rules and from nothing else in the project: rounding by
// significand digits and quantum, integers wrapped in their width, saturating conversions, comparisons with NaN and
// signed zeros. So the interpreter that uses it is an oracle of its own beside the reference evaluator.
#include "support/cells.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tailor::ir {

namespace {

/// Nearest value with `digits` significand bits and smallest quantum 2^lowest, ties to even; `over` and beyond:
/// infinity.
double rounded(double x, int digits, int lowest, double over) {
  if (!std::isfinite(x) || x == 0) return x;
  const double quantum = std::ldexp(1.0, std::max(std::ilogb(x) + 1 - digits, lowest));
  const double y = std::nearbyint(x / quantum) * quantum;
  return std::fabs(y) >= over ? std::copysign(INFINITY, x) : y;
}

/// The number that 8 bits stand for.
double value_of(DType dtype, int code) {
  const FloatFormat f = float_format(dtype);
  const int size = code & 127, exponent = size >> f.mantissa_bits, mantissa = size & ((1 << f.mantissa_bits) - 1);
  const int top = 127 >> f.mantissa_bits;
  const double sign = code >= 128 ? -1 : 1;
  if (f.specials == Specials::fnuz && code == 128) return NAN;
  if (f.specials == Specials::nan_only && size == 127) return std::copysign(NAN, sign);
  if (f.specials == Specials::ieee && exponent == top) return std::copysign(mantissa == 0 ? INFINITY : NAN, sign);
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << f.mantissa_bits), exponent - f.bias - f.mantissa_bits);
}

/// The 8 bits that stand for the nearest number: of two that are equally near, the even ones. Numbers rise with their
/// bits, so the nearest is looked for among them.
int code_of(DType dtype, double x) {
  const FloatFormat f = float_format(dtype);
  const int sign = std::signbit(x) ? 128 : 0, top = 127 >> f.mantissa_bits << f.mantissa_bits;
  const int nan = f.specials == Specials::fnuz ? 128 : sign | 127;
  if (std::isnan(x)) return nan;
  const int largest = f.specials == Specials::ieee ? top - 1 : f.specials == Specials::nan_only ? 126 : 127;
  const int beyond = f.specials == Specials::ieee ? sign | top : nan;
  const double size = std::fabs(x);
  int below = 0;
  for (int step = 64; step > 0; step /= 2)
    if (below + step <= largest && value_of(dtype, below + step) <= size) below += step;
  const double low = value_of(dtype, below);
  const double high = below < largest ? value_of(dtype, below + 1) : 2 * low - value_of(dtype, below - 1);
  const bool up = size - low > high - size || (size - low == high - size && below % 2 == 1);
  const int code = below + (up ? 1 : 0);
  if (code > largest || std::isinf(x)) return beyond;
  return f.specials == Specials::fnuz && code == 0 ? 0 : sign | code;
}

std::int64_t wrapped(DType dtype, std::int64_t x) {
  const int unused = 64 - row(dtype).bits;
  const auto up = static_cast<std::uint64_t>(x) << unused;
  if (is_signed(dtype)) return static_cast<std::int64_t>(up) >> unused;
  return static_cast<std::int64_t>(up >> unused);
}

/// Calls act(what the operation makes of three numbers), so that who has many of them asks once which it is.
template <class Act>
decltype(auto) with_real(Op op, Act&& act) {
  const auto larger = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  const auto smaller = [](double a, double b) { return std::isnan(a) || a < b ? a : b; };
  switch (op) {
    case Op::add:
      return act([](double a, double b, double) { return a + b; });
    case Op::subtract:
      return act([](double a, double b, double) { return a - b; });
    case Op::multiply:
      return act([](double a, double b, double) { return a * b; });
    case Op::divide:
      return act([](double a, double b, double) { return a / b; });
    case Op::remainder:
      return act([](double a, double b, double) { return std::fmod(a, b); });
    case Op::power:
      return act([](double a, double b, double) { return std::pow(a, b); });
    case Op::atan2:
      return act([](double a, double b, double) { return std::atan2(a, b); });
    case Op::maximum:
      return act([=](double a, double b, double) { return larger(a, b); });
    case Op::minimum:
      return act([=](double a, double b, double) { return smaller(a, b); });
    case Op::clamp:
      return act([=](double a, double b, double c) { return smaller(larger(a, b), c); });
    case Op::copy:
      return act([](double a, double, double) { return a; });
    case Op::abs:
      return act([](double a, double, double) { return std::fabs(a); });
    case Op::negate:
      return act([](double a, double, double) { return -a; });
    case Op::sign:
      return act([](double a, double, double) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; });
    case Op::ceil:
      return act([](double a, double, double) { return std::ceil(a); });
    case Op::floor:
      return act([](double a, double, double) { return std::floor(a); });
    case Op::round_even:
      return act([](double a, double, double) { return std::nearbyint(a); });
    case Op::round_away:
      return act([](double a, double, double) { return std::round(a); });
    case Op::exp:
      return act([](double a, double, double) { return std::exp(a); });
    case Op::expm1:
      return act([](double a, double, double) { return std::expm1(a); });
    case Op::log:
      return act([](double a, double, double) { return std::log(a); });
    case Op::log1p:
      return act([](double a, double, double) { return std::log1p(a); });
    case Op::sqrt:
      return act([](double a, double, double) { return std::sqrt(a); });
    case Op::rsqrt:
      return act([](double a, double, double) { return 1 / std::sqrt(a); });
    case Op::cbrt:
      return act([](double a, double, double) { return std::cbrt(a); });
    case Op::tanh:
      return act([](double a, double, double) { return std::tanh(a); });
    case Op::logistic:
      return act([](double a, double, double) { return 1 / (1 + std::exp(-a)); });
    case Op::erf:
      return act([](double a, double, double) { return std::erf(a); });
    case Op::sin:
      return act([](double a, double, double) { return std::sin(a); });
    case Op::cos:
      return act([](double a, double, double) { return std::cos(a); });
    case Op::tan:
      return act([](double a, double, double) { return std::tan(a); });
    case Op::asin:
      return act([](double a, double, double) { return std::asin(a); });
    case Op::acos:
      return act([](double a, double, double) { return std::acos(a); });
    case Op::asinh:
      return act([](double a, double, double) { return std::asinh(a); });
    case Op::acosh:
      return act([](double a, double, double) { return std::acosh(a); });
    case Op::atanh:
      return act([](double a, double, double) { return std::atanh(a); });
    case Op::sinh:
      return act([](double a, double, double) { return std::sinh(a); });
    case Op::cosh:
      return act([](double a, double, double) { return std::cosh(a); });
    default:
      throw std::logic_error("no arithmetic on reals for " + std::string(name(op)));
  }
}

std::int64_t power(std::int64_t a, std::int64_t b, bool is_signed_type) {
  if (is_signed_type && b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1, base = static_cast<std::uint64_t>(a);
  for (auto rest = static_cast<std::uint64_t>(b); rest != 0; rest /= 2, base *= base)
    if (rest % 2 != 0) result *= base;
  return static_cast<std::int64_t>(result);
}

std::int64_t divided(DType dtype, std::int64_t a, std::int64_t b, bool remainder) {
  if (b == 0) return remainder ? a : -1;
  if (!is_signed(dtype)) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<std::int64_t>(remainder ? x % y : x / y);
  }
  if (b == -1) return remainder ? 0 : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  return remainder ? a % b : a / b;
}

std::int64_t shifted(Op op, DType dtype, std::int64_t a, std::int64_t b) {
  const int bits = row(dtype).bits;
  const bool all = b < 0 || b >= bits;
  const auto low = static_cast<std::uint64_t>(a) & (~std::uint64_t{0} >> (64 - bits));
  if (op == Op::shift_left) return all ? 0 : static_cast<std::int64_t>(low << b);
  if (op == Op::shift_right_logical) return all ? 0 : static_cast<std::int64_t>(low >> b);
  const auto extended = static_cast<std::int64_t>(low << (64 - bits)) >> (64 - bits);
  return extended >> (all ? 63 : b);
}

bool below(DType dtype, std::int64_t a, std::int64_t b) {
  return is_signed(dtype) ? a < b : static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
}

std::int64_t integer_applied(Op op, DType dtype, std::int64_t a, std::int64_t b, std::int64_t c) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const int bits = row(dtype).bits;
  const std::uint64_t own = ua & (~std::uint64_t{0} >> (64 - bits));
  switch (op) {
    case Op::add:
      return dtype == DType::pred ? a | b : static_cast<std::int64_t>(ua + ub);
    case Op::subtract:
      return static_cast<std::int64_t>(ua - ub);
    case Op::multiply:
      return static_cast<std::int64_t>(ua * ub);
    case Op::divide:
      return divided(dtype, a, b, false);
    case Op::remainder:
      return divided(dtype, a, b, true);
    case Op::power:
      return power(a, b, is_signed(dtype));
    case Op::maximum:
      return below(dtype, a, b) ? b : a;
    case Op::minimum:
      return below(dtype, a, b) ? a : b;
    case Op::clamp:
      return integer_applied(Op::minimum, dtype, integer_applied(Op::maximum, dtype, a, b, 0), c, 0);
    case Op::copy:
      return a;
    case Op::abs:
      return is_signed(dtype) && a < 0 ? static_cast<std::int64_t>(0 - ua) : a;
    case Op::negate:
      return static_cast<std::int64_t>(0 - ua);
    case Op::sign:
      return a == 0 ? 0 : is_signed(dtype) && a < 0 ? -1 : 1;
    case Op::bit_and:
      return a & b;
    case Op::bit_or:
      return a | b;
    case Op::bit_xor:
      return a ^ b;
    case Op::bit_not:
      return dtype == DType::pred ? a ^ 1 : ~a;
    case Op::shift_left:
    case Op::shift_right_logical:
    case Op::shift_right_arithmetic:
      return shifted(op, dtype, a, b);
    case Op::popcnt:
      return std::popcount(own);
    case Op::clz:
      return std::countl_zero(own) - (64 - bits);
    case Op::mulhi: {
      __extension__ using Wide = __int128;
      const Wide product = is_signed(dtype) ? static_cast<Wide>(a) * b : static_cast<Wide>(ua) * static_cast<Wide>(ub);
      return static_cast<std::int64_t>(product >> bits);
    }
    default:
      throw std::logic_error("no arithmetic on integers for " + std::string(name(op)));
  }
}

template <class T>
bool compared(Comparison comparison, T a, T b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::ge:
      return a >= b;
    case Comparison::gt:
      return a > b;
    case Comparison::le:
      return a <= b;
    case Comparison::lt:
      return a < b;
  }
  return false;
}

bool truth(Comparison comparison, DType dtype, const LaneValue& a, const LaneValue& b) {
  if (is_floating(dtype)) return compared(comparison, a.real, b.real);
  if (is_signed(dtype)) return compared(comparison, a.integer, b.integer);
  return compared(comparison, static_cast<std::uint64_t>(a.integer), static_cast<std::uint64_t>(b.integer));
}

}  // namespace

LaneValue fitted_to_narrow(DType dtype, LaneValue value) {
  switch (dtype) {
    case DType::f16:
      value.real = rounded(value.real, 11, -24, 65536);
      break;
    case DType::bf16:
      value.real = rounded(value.real, 8, -133, std::ldexp(1.0, 128));
      break;
    case DType::pred:
      value.integer = value.integer != 0 ? 1 : 0;
      break;
    case DType::f8e5m2:
    case DType::f8e4m3:
    case DType::f8e4m3fn:
    case DType::f8e4m3b11fnuz:
    case DType::f8e3m4:
    case DType::f8e5m2fnuz:
    case DType::f8e4m3fnuz:
      value.real = value_of(dtype, code_of(dtype, value.real));
      break;
    default:
      value.integer = wrapped(dtype, value.integer);
  }
  return value;
}

LaneValue converted_cell(DType to, DType from, LaneValue v) {
  const bool real = is_floating(from);
  if (to == DType::pred) return {{.integer = (real ? v.real != 0 : v.integer != 0) ? 1 : 0}, v.set};
  if (is_floating(to)) {
    if (real) return fitted(to, v);
    const std::int64_t whole = v.integer;
    if (to == DType::f32)  // one rounding, not two
      v.real = static_cast<double>(from == DType::u64 ? static_cast<float>(static_cast<std::uint64_t>(whole))
                                                      : static_cast<float>(whole));
    else
      v.real = from == DType::u64 ? static_cast<double>(static_cast<std::uint64_t>(whole)) : static_cast<double>(whole);
    return fitted(to, v);
  }
  if (!real) return fitted(to, v);
  const int digits = row(to).bits - (is_signed(to) ? 1 : 0);
  const double above = std::ldexp(1.0, digits);
  const std::int64_t most = static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - digits));
  if (std::isnan(v.real))
    v.integer = 0;
  else if (v.real >= above)
    v.integer = most;
  else if (v.real <= (is_signed(to) ? -above : 0))
    v.integer = is_signed(to) ? -most - 1 : 0;
  else
    v.integer = is_signed(to) ? static_cast<std::int64_t>(v.real)
                              : static_cast<std::int64_t>(static_cast<std::uint64_t>(v.real));
  return v;
}

LaneValue applied(Op op, Comparison comparison, DType dtype, const LaneValue& a, const LaneValue& b,
                  const LaneValue& c) {
  LaneValue result;
  result.set = 1;
  if (op == Op::compare)
    result.integer = truth(comparison, dtype, a, b) ? 1 : 0;
  else if (op == Op::is_finite)
    result.integer = std::isfinite(a.real) ? 1 : 0;
  else if (op == Op::select)
    result = a.integer != 0 ? b : c;
  else if (is_floating(dtype))
    result = fitted(dtype, real_cell(with_real(op, [&](auto&& of) { return of(a.real, b.real, c.real); })));
  else
    result = fitted(dtype, integer_cell(integer_applied(op, dtype, a.integer, b.integer, c.integer)));
  return result;
}

void apply(Op op, Comparison comparison, DType dtype, const std::array<const LaneValue*, 3>& operands,
           const Lanes& lanes, LaneValue* out) {
  const auto [a, b, c] = operands;
  if (!is_floating(dtype) || op == Op::compare || op == Op::is_finite || op == Op::select)
    return lanes.each([&](int lane) { out[lane] = applied(op, comparison, dtype, a[lane], b[lane], c[lane]); });
  with_real(op, [&](auto&& of) {
    lanes.each([&](int lane) { out[lane] = fitted(dtype, real_cell(of(a[lane].real, b[lane].real, c[lane].real))); });
  });
}

LaneValue reduced_cell(DType dtype, Digits digits, LaneValue value) {
  const double x = value.real;
  if (!std::isfinite(x) || x == 0) return value;
  // Numbers from 2^least on; below, the type's own digits end.
  const Digits own = digits_of(dtype);
  const int least = 2 - (1 << (own.exponent - 1)), reach = (1 << (digits.exponent - 1)) - 1;
  const int kept = std::min(digits.mantissa, own.mantissa), exponent = std::max(std::ilogb(x), least);
  const double quantum = std::ldexp(1.0, exponent - kept);
  // Without a digit of the mantissa the last bit of the exponent says which of two is even.
  const bool by_exponent = kept == 0 && std::fabs(x) == 1.5 * quantum;
  const bool is_odd = ((exponent - least + 1) & 1) != 0;
  value.real = by_exponent ? std::copysign(is_odd ? 2 * quantum : quantum, x) : std::nearbyint(x / quantum) * quantum;
  if (digits.exponent >= own.exponent)
    value.real = std::fabs(value.real) >= std::ldexp(1.0, 2 - least) ? std::copysign(INFINITY, x) : value.real;
  else if (std::fabs(value.real) >= std::ldexp(1.0, reach + 1))
    value.real = std::copysign(INFINITY, x);
  else if (std::fabs(value.real) < std::ldexp(1.0, 1 - reach))
    value.real = std::copysign(0.0, x);
  return value;
}

LaneValue read_cell(DType dtype, const std::byte* from) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<std::size_t>(row(dtype).bits / 8));
  LaneValue cell;
  cell.set = true;
  if (dtype == DType::f64)
    cell.real = std::bit_cast<double>(bits);
  else if (dtype == DType::f32)
    cell.real = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if (dtype == DType::bf16)
    cell.real = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  else if (dtype == DType::f16) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = static_cast<double>(bits & 1023);
    cell.real = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                : exponent == 0 ? std::ldexp(fraction, -24)
                                : std::ldexp(fraction + 1024, exponent - 25);
    if ((bits >> 15) != 0) cell.real = -cell.real;
  } else if (is_floating(dtype))
    cell.real = value_of(dtype, static_cast<int>(bits));
  else
    cell = fitted(dtype, integer_cell(static_cast<std::int64_t>(bits)));
  return cell;
}

void write_cell(DType dtype, std::byte* to, LaneValue value) {
  std::uint64_t bits = static_cast<std::uint64_t>(value.integer);
  if (dtype == DType::f64) bits = std::bit_cast<std::uint64_t>(value.real);
  if (dtype == DType::f32) bits = std::bit_cast<std::uint32_t>(static_cast<float>(value.real));
  if (dtype == DType::bf16) bits = std::bit_cast<std::uint32_t>(static_cast<float>(value.real)) >> 16;
  if (dtype == DType::f16) {
    const double x = std::fabs(value.real);
    bits = std::signbit(value.real) ? 0x8000 : 0;
    if (std::isnan(x))
      bits |= 0x7e00;
    else if (std::isinf(x))
      bits |= 0x7c00;
    else if (x < std::ldexp(1.0, -14))
      bits |= static_cast<std::uint64_t>(std::ldexp(x, 24));
    else
      bits |= static_cast<std::uint64_t>(std::ilogb(x) + 14) * 1024 +
              static_cast<std::uint64_t>(std::ldexp(x, 10 - std::ilogb(x)));
  }
  if (is_floating(dtype) && row(dtype).bits == 8) bits = static_cast<std::uint64_t>(code_of(dtype, value.real));
  std::memcpy(to, &bits, static_cast<std::size_t>(row(dtype).bits / 8));
}

}  // namespace tailor::ir
