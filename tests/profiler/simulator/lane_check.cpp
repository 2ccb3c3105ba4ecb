// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a row is judged. Operands are all tuples of special values (zeros, ones, extremes, ties, subnormals, infinities,
// NaN) and random ones. Results of the fastest instruction set are compared with the oracle; those of the other sets
// are compared with the fastest's, bit by bit, because the oracle is slow and the sets must agree anyway. The first
// wrong tuple is reported with all its values.
#include "profiler/simulator/lane_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <random>

#include "doctest/doctest.h"

namespace tailor::simulator {
namespace {

/// Values where things change: zeros, ones, extremes, ties, subnormals, infinities, NaN.
std::vector<std::uint64_t> special_values(LaneType type) {
  switch (type) {
    case LaneType::pred:
      return {0, 0xffffffffu};
    case LaneType::f16:
      return {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
              0x3c01, 0x4248, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
    case LaneType::bf16:
      return {0,      0x8000, 1,      0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80,
              0x3f81, 0x4049, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0};
    case LaneType::f16x2:
      return {0, 0x80000001, 0x04003c00, 0xbc007bff, 0x7c00fc00, 0x7e000001, 0x42483555};
    case LaneType::bf16x2:
      return {0, 0x80000001, 0x00803f80, 0xbf807f7f, 0x7f80ff80, 0x7fc00001, 0x40493eab};
    case LaneType::f32:
      return {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3f7fffff,
              0x3f000000, 0x40200000, 0x4b000001, 0xc2fc0000, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001,
              0x38800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x7f7fffff,
              0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7e800001};
    case LaneType::f64:
      return {0,
              0x8000000000000000u,
              1,
              0x000fffffffffffffu,
              0x0010000000000000u,
              0x3ff0000000000000u,
              0xbff0000000000000u,
              0x3fe0000000000000u,
              0x4004000000000000u,
              0x3ff0000000000001u,
              0x36a0000000000000u,
              0x380fffffffffffffu,
              0x47efffffe0000000u,
              0x47effffff0000000u,
              0x41dfffffffc00000u,
              0x41f0000000000000u,
              0xc1e0000000000001u,
              0x43e0000000000000u,
              0xc3e0000000000000u,
              0x43f0000000000000u,
              0x7fefffffffffffffu,
              0xffefffffffffffffu,
              0x7ff0000000000000u,
              0xfff0000000000000u,
              0x7ff8000000000000u,
              0x3ff0000008000000u};
    default:
      return {0,
              1,
              2,
              5,
              31,
              32,
              33,
              63,
              64,
              0x7f,
              0x80,
              0xff,
              0x7654,
              0x7fff,
              0x8000,
              0xffff,
              0x7fffffff,
              0x80000000,
              0xffffffff,
              0x0123456789abcdefu,
              0x7fffffffffffffffu,
              0x8000000000000000u,
              0xffffffffffffffffu,
              0xffffffff80000000u};
  }
}

/// Halfway between two numbers of each narrower format, the lower one even and odd, and what lies just above and below:
/// 1 + 2^-k and 1 + 3 * 2^-k for all k of the fraction.
std::vector<std::uint64_t> ties(LaneType type) {
  const auto around_one = [](std::uint64_t one, int fraction) {
    std::vector<std::uint64_t> found;
    for (int k = 1; k < fraction; ++k)
      for (const std::uint64_t tie : {one | 1ull << k, one | 3ull << k})
        for (const std::uint64_t off : {0, 1, -1}) found.push_back(tie + off);
    return found;
  };
  switch (type) {
    case LaneType::f16:
      return around_one(0x3c00, 9);
    case LaneType::bf16:
      return around_one(0x3f80, 6);
    case LaneType::f32:
      return around_one(0x3f800000, 22);
    case LaneType::f64:
      return around_one(0x3ff0000000000000u, 51);
    default:
      return {};
  }
}

}  // namespace

std::vector<LaneOperands> operand_tuples(const LaneOpcode& opcode, std::size_t random_tuples, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::array<std::vector<std::uint64_t>, 4> values;
  for (std::size_t k = 0; k < 4; ++k) values[k] = {0};
  const auto count = static_cast<std::size_t>(opcode.source_count);
  for (std::size_t k = 0; k < count; ++k) values[k] = special_values(opcode.sources[k]);
  if (opcode.carry) values[3] = {0, 1};
  std::vector<LaneOperands> tuples;
  const auto some = [&](std::size_t k) { return values[k][random() % values[k].size()]; };
  const bool small = count < 3;
  for (const std::uint64_t a : values[0]) {
    for (const std::uint64_t b : values[1]) {
      if (small) {
        tuples.push_back({a, b, some(2), some(3)});
      } else {
        for (int k = 0; k < 6; ++k) tuples.push_back({a, b, some(2), some(3)});
      }
    }
  }
  for (std::size_t k = 0; k < count; ++k)
    for (const std::uint64_t tie : ties(opcode.sources[k])) {
      tuples.push_back({some(0), some(1), some(2), some(3)});
      tuples.back()[k] = tie;
    }
  for (std::size_t i = 0; i < random_tuples; ++i) {
    LaneOperands tuple{some(0), some(1), some(2), some(3)};
    for (std::size_t k = 0; k < count; ++k) {
      const bool whole = random() % 4 != 0;
      if (opcode.sources[k] != LaneType::pred && whole) tuple[k] = random() >> (random() % 3 == 0 ? random() % 64 : 0);
    }
    // Operands of like size, so that sums cancel and round.
    if (random() % 4 == 0) tuple[1] = tuple[0] ^ (random() % 256) ^ (random() % 2 << 31);
    if (random() % 4 == 0 && count > 2 && opcode.sources[2] != LaneType::pred)
      tuple[2] = tuple[random() % 2] ^ (random() % 256);
    tuples.push_back(tuple);
  }
  return tuples;
}

namespace {

std::vector<std::string_view> texts_of(const LaneOpcode& opcode) {
  std::vector<std::string_view> texts;
  for (std::string_view keys = opcode.key; !keys.empty();) {
    texts.push_back(keys.substr(0, keys.find(' ')));
    keys.remove_prefix(std::min(texts.back().size() + 1, keys.size()));
  }
  return texts;
}

bool agrees(const OracleText& text, const OracleAnswer& wanted, OracleType type, std::uint64_t found) {
  if (!type.real()) return found == wanted.bits;
  if (type.lanes == 2) {
    type.lanes = 1;
    OracleAnswer half = wanted;
    for (int k = 0; k < 2; ++k) {
      half.bits = (wanted.bits >> (16 * k)) & 0xffff;
      if (!agrees(text, half, type, (found >> (16 * k)) & 0xffff)) return false;
    }
    return true;
  }
  const Real128 a = real_value(type, found), b = real_value(type, wanted.bits);
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b);
  if (wanted.relative == 0 && wanted.absolute == 0) return found == wanted.bits;
  const auto x = static_cast<long double>(a), y = static_cast<long double>(b);
  return x == y || std::fabs(x - y) <= wanted.relative * std::fabs(y) + wanted.absolute;
}

OracleType result_type(const LaneOpcode& opcode, const OracleText& text) {
  if (opcode.d == LaneType::f16) return {'f', 16};
  if (opcode.d == LaneType::bf16) return {'g', 16};
  if (opcode.d == LaneType::f16x2 || text.has("f16x2")) return {'f', 16, 2};
  if (opcode.d == LaneType::bf16x2) return {'g', 16, 2};
  if (opcode.d == LaneType::f32) return {text.types[0].kind == 't' ? 't' : 'f', 32};
  if (opcode.d == LaneType::f64) return {'f', 64};
  return {'u', 32};
}

/// The first tuple for which `results` are not what the text means, or their number.
std::size_t first_wrong(const LaneOpcode& opcode, std::string_view text, const std::vector<LaneOperands>& tuples,
                        std::uint32_t extra, const std::vector<std::uint64_t>& results,
                        const std::vector<std::uint64_t>& carries) {
  const OracleText apart = taken_apart(text);
  const OracleType type = result_type(opcode, apart);
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    LaneOperands operands = tuples[i];
    for (std::size_t k = 0; k < static_cast<std::size_t>(opcode.source_count); ++k) {
      operands[k] = cut(opcode.sources[k], operands[k]);
    }
    const std::optional<OracleAnswer> wanted = oracle(apart, operands, extra);
    if (!wanted || !agrees(apart, *wanted, type, results[i])) return i;
    if (opcode.carry && (carries[i] != 0) != wanted->carry) return i;
  }
  return tuples.size();
}

}  // namespace

void check_row(const LaneOpcode& opcode, const std::vector<LaneOperands>& tuples, std::uint32_t extra) {
  std::vector<std::uint64_t> carries, other_carries;
  const std::vector<std::uint64_t> results = lane_results(*lane_table(), opcode, tuples, extra, &carries);
  for (const std::string_view text : texts_of(opcode)) {
    const std::size_t wrong = first_wrong(opcode, text, tuples, extra, results, carries);
    if (wrong == tuples.size()) continue;
    const LaneOperands& t = tuples[wrong];
    INFO(text, fmt::format(" x {:x} of {:x} {:x} {:x} {:x}: found {:x} carry {}", extra, t[0], t[1], t[2], t[3],
                           results[wrong], carries[wrong]));
    const std::optional<OracleAnswer> wanted = oracle(taken_apart(text), t, extra);
    CHECK_MESSAGE(false, "wanted ", wanted ? fmt::format("{:x} carry {}", wanted->bits, wanted->carry) : "an oracle");
  }
  for (const std::string_view name : lane_table_names()) {
    const std::vector<std::uint64_t> others = lane_results(*lane_table(name), opcode, tuples, extra, &other_carries);
    std::size_t same = 0;
    while (same < tuples.size() && same_result(opcode.d, results[same], others[same]) &&
           (!opcode.carry || carries[same] == other_carries[same])) {
      ++same;
    }
    INFO(opcode.key, " on ", name,
         fmt::format(": operands {:x}", fmt::join(tuples[std::min(same, tuples.size() - 1)], " ")));
    CHECK(same == tuples.size());
  }
}

}  // namespace tailor::simulator
