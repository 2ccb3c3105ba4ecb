// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which conversions to bf16 are widened again. In: kernels written here. Out: checks of ir::roundings(), which printer
// and counter read, by the places a conversion can have: in a value, a let, an array, and unread ones. Part of suite
// `ir`.
#include <doctest/doctest.h>

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
