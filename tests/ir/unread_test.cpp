// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that nobody reads are gone, and nothing else is. In: kernels written here, in which each of three values that
// hang on each other is read or not. Out: checks of ir::drop_unread_lets() against the kernel that never had them. Part
// of suite `ir`.
#include <doctest/doctest.h>

#include "ir/kernel/unread.h"
#include "support/kernel_builder.h"

using namespace tailor;
using ir::DType;

namespace {

constexpr int values = 3;

/// A loop and a guard in it, with a value in front of both, one between and one inside, each made of the one before.
/// Those whose bit is set in `stored` are stored. A value that is needed by none is only there `with_unread`.
ir::Kernel program(unsigned stored, bool with_unread) {
  ir::KernelBuilder b("read", 32, 1);
  const ir::VarId tid = b.thread("tid", 1, 32), t = b.loop_var("t", 3);
  const ir::BufferId x = b.in("x", DType::f32, 32), y = b.out("y", DType::f32, 32 * values);
  ir::ValueId last = b.get(b.load_let("first", x, b.var(tid)));
  const auto make = [&](int i) {
    if (with_unread || stored >> i != 0) last = b.get(b.let("v", b.op(ir::Op::negate, {last})));
    if ((stored >> i & 1U) != 0) b.store(y, b.sum({b.var(tid), b.number(32 * i)}), last);
  };
  make(0);
  b.loop(t);
  make(1);
  b.guard_less(b.var(tid), b.number(20));
  make(2);
  b.store(y, b.var(tid), b.real(DType::f32, 1));
  b.end();
  b.end();
  return b.kernel;
}

}  // namespace

TEST_CASE("what nobody reads is gone, also what only that read, and bodies end where they did") {
  for (unsigned stored = 0; stored < 1U << values; ++stored) {
    CAPTURE(stored);
    ir::Kernel kernel = program(stored, true);
    const std::size_t before = kernel.body.size();
    ir::drop_unread_lets(kernel);
    CHECK_NOTHROW(ir::verify(kernel));
    const ir::Kernel expected = program(stored, false);
    CHECK(text(kernel) == text(expected));
    CHECK((kernel.body.size() < before) == (stored < 1U << (values - 1)));
    REQUIRE(kernel.body.size() == expected.body.size());
    for (std::size_t i = 0; i < kernel.body.size(); ++i) CHECK(kernel.body[i].end == expected.body[i].end);
  }
}
