// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which conversions to bf16 are widened again. In: kernels written here. Out: checks of ir::roundings(), which printer
// and counter read, by the places a conversion can have: in a value, a let, an array, and unread ones. Which types have
// all numbers of another, number by number. Part of suite `ir`.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "ir/graph/number.h"
#include "ir/kernel/roundings.h"
#include "support/kernel_builder.h"

using namespace tailor;
using ir::DType;
using ir::KernelBuilder;

namespace {

/// A thread loads four numbers, rounds each and stores what `made` makes of the rounded one, as bf16.
struct Rounds {
  KernelBuilder b{"rounds", 32, 1};
  ir::VarId tid = b.thread("tid", 1, 32), e = b.loop_var("e", 4);
  ir::BufferId x = b.in("x", DType::f32, 128), y = b.out("y", DType::bf16, 128);
  ir::ArrayId row = b.array("row", DType::f32, {0, 0}, 4), kept = b.array("kept", DType::bf16, {0, 0}, 4),
              result = b.array("result", DType::bf16, {0, 0}, 4);
  ir::LetId narrow = ir::no_id;
  ir::ValueId conversion = ir::no_value;

  void begin() {
    b.declare(row);
    b.load(KernelBuilder::ref(row), x, b.var(tid, 4), 4);
    b.declare(kept);
    b.declare(result);
    b.each(e);
    conversion = b.convert(DType::bf16, b.element(KernelBuilder::ref(row, b.var(e))));
  }
  ir::Roundings end() {
    b.end();
    b.store(y, b.var(tid, 4), 4, KernelBuilder::ref(result));
    return ir::roundings(b.kernel);
  }
  ir::Ref at(ir::ArrayId array) { return KernelBuilder::ref(array, b.var(e)); }
  /// Of a value of bf16.
  ir::ValueId doubled(ir::ValueId narrow_value) {
    const ir::ValueId wide = b.convert(DType::f32, narrow_value);
    return b.convert(DType::bf16, b.op(ir::Op::add, {wide, wide}));
  }
};

}  // namespace

namespace {

/// Whether every pattern of a type of up to 16 bits is a number that `to` rounds to itself, infinities included.
bool keeps_every_number(DType to, DType from) {
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << row(from).bits; ++bits) {
    const double value = ir::is_floating(from) ? ir::decode(from, bits)
                         : from == DType::pred
                             ? static_cast<double>(bits & 1)
                             : static_cast<double>(ir::wrap_to(from, static_cast<std::int64_t>(bits)));
    const double there = ir::round_to(to, value);
    if (std::isnan(value) ? !std::isnan(there) : there != value || std::signbit(there) != std::signbit(value))
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a type has all of another's numbers exactly where it rounds none of them") {
  int pairs = 0, kept = 0;
  for (const DType to : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const ir::DTypeRow& one : ir::dtype_table) {
      const DType from = one.dtype;
      if (row(from).bits > 16 || (!ir::is_floating(from) && !ir::is_integer(from) && from != DType::pred)) continue;
      CAPTURE(std::string(row(from).name));
      CAPTURE(std::string(row(to).name));
      CHECK(ir::has_all_of(to, from) == keeps_every_number(to, from));
      ++pairs;
      kept += ir::has_all_of(to, from);
    }
  CHECK(pairs >= 90);
  CHECK(kept >= 50);
  CHECK(ir::has_all_of(DType::f64, DType::s32));
  CHECK_FALSE(ir::has_all_of(DType::f32, DType::s32));
  CHECK_FALSE(ir::has_all_of(DType::f64, DType::u64));
}

TEST_CASE("a conversion that is only stored rounds nothing") {
  Rounds k;
  k.begin();
  k.narrow = k.b.let("narrow", k.conversion);
  k.b.assign(k.at(k.result), k.b.get(k.narrow));
  const ir::Roundings found = k.end();
  CHECK_FALSE(found.is_rounding(k.conversion));
  CHECK_FALSE(found.arrays[k.result]);
}

TEST_CASE("a conversion rounds where what names it is widened, and widening that costs nothing") {
  Rounds k;
  k.begin();
  k.narrow = k.b.let("narrow", k.conversion);
  const ir::ValueId read = k.b.get(k.narrow), last = k.doubled(read);
  k.b.assign(k.at(k.result), last);
  const ir::Roundings found = k.end();
  CHECK(found.is_rounding(k.conversion));
  CHECK(found.is_rounded(k.b.kernel, read));
  CHECK_FALSE(found.is_rounding(last));
}

TEST_CASE("a conversion rounds where it is widened in place, or an array that keeps it is") {
  for (const bool in_place : {true, false}) {
    Rounds k;
    k.begin();
    ir::ValueId read = k.conversion;
    if (!in_place) {
      k.narrow = k.b.let("narrow", k.conversion);
      k.b.assign(k.at(k.kept), k.b.get(k.narrow));
      read = k.b.element(k.at(k.kept));
    }
    k.b.assign(k.at(k.result), k.doubled(read));
    const ir::Roundings found = k.end();
    CHECK(found.is_rounding(k.conversion));
    CHECK(found.is_rounded(k.b.kernel, read));
    CHECK(found.arrays[k.kept] == !in_place);
  }
}

TEST_CASE("what nobody reads widens nothing") {
  Rounds k;
  k.begin();
  k.narrow = k.b.let("narrow", k.conversion);
  k.b.let("unread", k.b.convert(DType::f32, k.b.get(k.narrow)));
  k.b.assign(k.at(k.result), k.b.get(k.narrow));
  CHECK_FALSE(k.end().is_rounding(k.conversion));
}

TEST_CASE("an array that holds something else too is widened like any other") {
  Rounds k;
  k.begin();
  k.b.assign(k.at(k.kept), k.b.real(DType::bf16, 1));
  k.narrow = k.b.let("narrow", k.conversion);
  k.b.assign(k.at(k.kept), k.b.get(k.narrow));
  const ir::ValueId read = k.b.element(k.at(k.kept));
  k.b.assign(k.at(k.result), k.doubled(read));
  const ir::Roundings found = k.end();
  CHECK(found.is_rounding(k.conversion));
  CHECK_FALSE(found.is_rounded(k.b.kernel, read));
}
