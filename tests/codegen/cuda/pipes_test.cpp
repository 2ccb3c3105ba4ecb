// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions by pipe as they are counted from a program, beside those that its machine code executes (sm_90): rule by
// rule of costmodel/values.cpp. In: kernels of one body for each of 32 elements of a thread, written here. Out: checks
// that what a rule is about takes as many instructions as it is counted with; addresses and loads are in a tolerance of
// one part in eight. Part of the suite `codegen`.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string_view>

#include "base/indexed.h"
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/pin_checks.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "ir/machine_work.h"
#include "profiler/compile/compile.h"
#include "profiler/compile/machine_work.h"
#include "support/kernel_builder.h"
#include "support/kernel_cache.h"

using namespace tailor;
using ir::DType;
using ir::Op;

namespace {

constexpr int threads = 128, blocks = 2, copies = 8, width = 4;
constexpr std::int64_t elements = std::int64_t{threads} * blocks * copies * width;
constexpr double warps = threads / 32.0 * blocks;

/// Each thread loads eight vectors of four, computes `body` of each element, and stores the results.
struct Elements {
  ir::KernelBuilder b{"elements", threads, blocks};
  ir::VarId tid = b.thread("tid", 1, threads);
  ir::VarId t = b.loop_var("t", copies), e = b.loop_var("e", width);
  ir::BufferId x, scalars, y;
  ir::LetId divisor = 0;
  ir::ArrayId divisors = 0;  ///< one for each place of a vector
  ir::ExprId place = 0;
  ir::ValueId at = 0;  ///< the element

  Elements(DType to, const std::function<ir::ValueId(Elements&)>& body, bool guarded = false) {
    x = b.in("x", DType::f32, elements);
    scalars = b.in("s", DType::f32, blocks);
    y = b.out("y", to, elements);
    const ir::ArrayId row = b.array("row", DType::f32, {copies, 0}, width);
    const ir::ArrayId result = b.array("result", to, {0, 0}, width);
    const ir::ExprId own = b.sum({b.var(tid, width), b.var(b.vb, threads * copies * width)});
    b.declare(row);
    b.each(t);
    b.load(ir::KernelBuilder::at(row, b.var(t)), x, b.sum({own, b.var(t, threads * width)}), width);
    b.end();
    divisors = b.array("columns", DType::f32, {0, 0}, width);
    b.declare(divisors);
    b.load(ir::KernelBuilder::ref(divisors), x, own, width, ir::Policy::again);
    divisor = b.load_let("s", scalars, b.var(b.vb), ir::Policy::again);
    b.each(t);
    // Of which threads the copies are is not known to be the first ones.
    if (guarded) b.guard_less(b.sum({b.var(tid), b.var(t, threads)}), b.var(b.vb, threads * copies * 2));
    b.declare(result);
    b.each(e);
    place = b.sum({b.var(tid, width), b.var(t, threads * width), b.var(e)});
    at = b.element(ir::KernelBuilder::at(row, b.var(t), b.var(e)));
    const ir::LetId made = b.let("made", body(*this));
    b.assign(ir::KernelBuilder::ref(result, b.var(e)), b.get(made));
    b.end();
    b.store(y, b.sum({own, b.var(t, threads * width)}), width, ir::KernelBuilder::ref(result));
    if (guarded) b.end();
    b.end();
  }
};

/// Instructions of a warp, by what binds them.
struct Pipes {
  double fma = 0, alu = 0, xu = 0, all = 0;
};

Pipes by_program(const ir::Kernel& kernel) {
  const costmodel::Pipes p = costmodel::count(kernel, costmodel::Mode::exact).pipes;
  return {static_cast<double>(p.fma) / warps, static_cast<double>(p.alu + p.pack + p.number) / warps,
          static_cast<double>(p.xu + p.narrow) / warps, static_cast<double>(costmodel::instructions(p)) / warps};
}

Pipes by_machine(const profiler::Nvrtc& nvrtc, const ir::Kernel& kernel) {
  const ir::Binary binary = kernels::compiled(nvrtc, {.cuda = codegen::cuda(kernel), .entry = kernel.name});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  const ir::MachineWork work = profiler::machine_work(binary, {.shape = ir::launch_shape(kernel)});
  REQUIRE(work.counted);
  const auto executed = [&](ir::MachinePipe pipe) { return static_cast<double>(row_for(work.executed, pipe)) / warps; };
  using ir::MachinePipe;
  return {executed(MachinePipe::fma) + executed(MachinePipe::integer), executed(MachinePipe::alu),
          executed(MachinePipe::xu) + executed(MachinePipe::narrow),
          static_cast<double>(ir::total(work.executed)) / warps};
}

struct Row {
  std::string_view what;
  DType to;
  std::function<ir::ValueId(Elements&)> body;
  double fma, alu, xu;  ///< of each element
};

const Row rows[] = {
    {"a maximum that keeps NaN", DType::f32,
     [](Elements& k) {
       return k.b.op(Op::maximum, {k.at, k.b.get(k.divisor)});
     },
     0, 1, 0},
    {"elements with one divisor share its reciprocal", DType::f32,
     [](Elements& k) {
       return k.b.op(Op::divide, {k.at, k.b.get(k.divisor)});
     },
     2, 0, 0},
    {"elements divide by themselves", DType::f32,
     [](Elements& k) {
       return k.b.op(Op::divide, {k.b.get(k.divisor), k.at});
     },
     3, 4, 1},
    {"what is the same in all copies is computed once", DType::f32,
     [](Elements& k) {
       return k.b.op(Op::add, {k.at, k.b.op(Op::tanh, {k.b.get(k.divisor)})});
     },
     1, 0, 0},
    {"a sum takes a product in", DType::f32,
     [](Elements& k) {
       const ir::LetId product = k.b.let("product", k.b.op(Op::multiply, {k.at, k.b.get(k.divisor)}));
       return k.b.op(Op::add, {k.b.get(product), k.b.op(Op::exp, {k.b.get(k.divisor)})});
     },
     1, 0, 0},
    {"a product that others read too is there", DType::f32,
     [](Elements& k) {
       const ir::LetId product = k.b.let("product", k.b.op(Op::multiply, {k.at, k.at}));
       const ir::LetId sum = k.b.let("sum", k.b.op(Op::add, {k.b.get(product), k.b.get(k.divisor)}));
       return k.b.op(Op::maximum, {k.b.get(sum), k.b.get(product)});
     },
     2, 1, 0},
    {"nobody reads a function", DType::f32,
     [](Elements& k) {
       k.b.let("unread", k.b.op(Op::tanh, {k.at}));
       return k.b.op(Op::add, {k.at, k.b.get(k.divisor)});
     },
     1, 0, 0},
    {"neighbours are packed two at a time, f16", DType::f16,
     [](Elements& k) {
       return k.b.convert(DType::f16, k.b.op(Op::add, {k.at, k.b.get(k.divisor)}));
     },
     1, 0.5, 0},
    {"neighbours are packed two at a time, bf16", DType::bf16,
     [](Elements& k) {
       return k.b.convert(DType::bf16, k.b.op(Op::add, {k.at, k.b.get(k.divisor)}));
     },
     1, 0.5, 0},
    {"to 8 bits by the machine, and bytes put together", DType::f8e4m3fn,
     [](Elements& k) {
       return k.b.convert(DType::f8e4m3fn, k.b.op(Op::add, {k.at, k.b.get(k.divisor)}));
     },
     1, 5, 0},
    {"a place is the first one and a constant", DType::f32,
     [](Elements& k) {
       const ir::ValueId place = k.b.index(DType::s32, k.place);
       const ir::ValueId same = k.b.compare(ir::Comparison::eq, place, k.b.index(DType::s32, k.b.var(k.b.vb, 7)));
       return k.b.op(Op::select, {same, k.at, k.b.get(k.divisor)});
     },
     0, 3, 0},
    {"of a selection by the number of a copy each copy has what it takes", DType::f32,
     [](Elements& k) {
       const ir::LetId first = k.b.let("first", k.b.op(Op::tanh, {k.at}));
       const ir::ValueId is_first =
           k.b.compare(ir::Comparison::lt, k.b.index(DType::s32, k.b.var(k.e)), k.b.integer(DType::s32, 1));
       return k.b.op(Op::select, {is_first, k.b.get(first), k.at});
     },
     9 / 4.0, 4 / 4.0, 2 / 4.0},
    {"rounded to bf16 and widened again is one instruction, and none of the XU", DType::f32,
     [](Elements& k) {
       const ir::LetId narrow = k.b.let("narrow", k.b.convert(DType::bf16, k.at));
       return k.b.op(Op::multiply, {k.b.convert(DType::f32, k.b.get(narrow)), k.b.get(k.divisor)});
     },
     1, 1, 0},
    {"a rounded number that is stored too is put together with its neighbour", DType::bf16,
     [](Elements& k) {
       const ir::LetId narrow = k.b.let("narrow", k.b.convert(DType::bf16, k.at));
       const ir::ValueId wide = k.b.convert(DType::f32, k.b.get(narrow));
       return k.b.convert(DType::bf16, k.b.op(Op::multiply, {wide, k.b.get(k.divisor)}));
     },
     1, 1.5, 0},
    {"a float becomes an integer without a branch", DType::s32,
     [](Elements& k) { return k.b.convert(DType::s32, k.at); }, 0, 0, 1},
    {"an integer of 8 bits is put beside three others", DType::s8,
     [](Elements& k) { return k.b.convert(DType::s8, k.at); }, 0, 0.75, 1},
    {"integers are divided without a branch", DType::s32,
     [](Elements& k) {
       return k.b.op(Op::divide, {k.b.convert(DType::s32, k.b.get(k.divisor)), k.b.convert(DType::s32, k.at)});
     },
     10, 18, 4},
    {"integers with one divisor share its reciprocal", DType::s32,
     [](Elements& k) {
       const ir::LetId divisor = k.b.let("divisor", k.b.convert(DType::s32, k.b.get(k.divisor)));
       return k.b.op(Op::divide, {k.b.convert(DType::s32, k.at), k.b.get(divisor)});
     },
     4, 10, 1},
    {"what is left of a division by a variable", DType::u32,
     [](Elements& k) {
       return k.b.op(Op::remainder, {k.b.convert(DType::u32, k.b.get(k.divisor)), k.b.convert(DType::u32, k.at)});
     },
     7, 9, 4},
    {"what is left of divisions by one variable", DType::u32,
     [](Elements& k) {
       const ir::LetId divisor = k.b.let("divisor", k.b.convert(DType::u32, k.b.get(k.divisor)));
       return k.b.op(Op::remainder, {k.b.convert(DType::u32, k.at), k.b.get(divisor)});
     },
     4, 4, 1},
    {"what is left of signed divisions by one variable", DType::s32,
     [](Elements& k) {
       const ir::LetId divisor = k.b.let("divisor", k.b.convert(DType::s32, k.b.get(k.divisor)));
       return k.b.op(Op::remainder, {k.b.convert(DType::s32, k.at), k.b.get(divisor)});
     },
     3, 7, 1},
    {"unsigned integers with one divisor", DType::u32,
     [](Elements& k) {
       const ir::LetId divisor = k.b.let("divisor", k.b.convert(DType::u32, k.b.get(k.divisor)));
       return k.b.op(Op::divide, {k.b.convert(DType::u32, k.at), k.b.get(divisor)});
     },
     4, 7, 1},
    {"a constant divides by its reciprocal", DType::s32,
     [](Elements& k) {
       return k.b.op(Op::divide, {k.b.convert(DType::s32, k.at), k.b.integer(DType::s32, 7)});
     },
     2, 2, 1},
    {"a power of two divides by a shift", DType::u32,
     [](Elements& k) {
       return k.b.op(Op::divide, {k.b.convert(DType::u32, k.at), k.b.integer(DType::u32, 8)});
     },
     0, 1, 1},
    {"a shift by a constant is one instruction", DType::u32,
     [](Elements& k) {
       return k.b.op(Op::shift_right_logical, {k.b.convert(DType::u32, k.at), k.b.integer(DType::u32, 5)});
     },
     0, 1, 1},
};

}  // namespace

TEST_CASE("what rules say of a value's instructions is what machine code executes") {
  const profiler::Nvrtc* nvrtc = nvrtc_or_skip();
  const ir::Kernel copy = Elements(DType::f32, [](Elements& k) { return k.at; }).b.finished();
  const Pipes base = by_program(copy);
  constexpr double own = copies * width;
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const ir::Kernel kernel = Elements(row.to, row.body).b.finished();
    const Pipes program = by_program(kernel);
    constexpr double once = 30, tolerance = 0.125;  // what is computed once for a thread, at most; and of each element
    const auto agrees = [&](double counted, double before, double of_each) {
      return counted - before >= of_each * own && counted - before <= of_each * own + once;
    };
    CHECK_MESSAGE(agrees(program.fma, base.fma, row.fma), (program.fma - base.fma));
    CHECK_MESSAGE(agrees(program.alu, base.alu, row.alu), (program.alu - base.alu));
    CHECK_MESSAGE(agrees(program.xu, base.xu, row.xu), (program.xu - base.xu));
    if (nvrtc == nullptr) continue;
    const Pipes machine = by_machine(*nvrtc, kernel), moved = by_machine(*nvrtc, copy);
    const auto is_near = [&](double counted, double executed) {
      return std::abs(counted - executed) <= tolerance * executed + 8;
    };
    CHECK_MESSAGE(is_near(program.fma - base.fma, machine.fma - moved.fma), (program.fma - base.fma), " ",
                  (machine.fma - moved.fma));
    CHECK_MESSAGE(is_near(program.alu - base.alu, machine.alu - moved.alu), (program.alu - base.alu), " ",
                  (machine.alu - moved.alu));
    CHECK_MESSAGE(is_near(program.xu - base.xu, machine.xu - moved.xu), (program.xu - base.xu), " ",
                  (machine.xu - moved.xu));
  }
}

TEST_CASE(
    "what a divisor decides is computed by each copy behind a guard of its own, and once for each place of a vector") {
  const profiler::Nvrtc* nvrtc = nvrtc_or_skip();
  const auto by_divisor = [](Elements& k) { return k.b.op(Op::divide, {k.at, k.b.get(k.divisor)}); };
  // Of columns each has its own divisor, which all rows share.
  const auto by_column = [](Elements& k) {
    return k.b.op(Op::divide, {k.at, k.b.element(ir::KernelBuilder::ref(k.divisors, k.b.var(k.e)))});
  };
  for (const auto& [kernel, reciprocals] :
       {std::pair(Elements(DType::f32, by_divisor, true).b.finished(), 4.0),  // of eight copies, in one of two blocks
        std::pair(Elements(DType::f32, by_column).b.finished(), 4.0)}) {
    CHECK(by_program(kernel).xu == reciprocals);
    if (nvrtc != nullptr) CHECK(by_machine(*nvrtc, kernel).xu == reciprocals);
  }
}
