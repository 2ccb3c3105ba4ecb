// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs as the lowering would write them, built by hand: a flat map with a guard, a LayerNorm row with two
// reductions within a warp or across warps, and a kernel that works in place. They are the inputs of golden texts, of
// counting on paper and of benchmarks. Declared in kernel_builder.h.
#include "support/kernel_builder.h"

namespace tailor::ir {

Kernel example_map(std::int64_t rows, std::int64_t columns, DType dtype) {
  const std::int64_t vectors = rows * columns / 4;
  const bool ragged = vectors % 128 != 0;
  KernelBuilder b("bias_tanh", 128, (vectors + 127) / 128);
  const VarId tid = b.thread("tid", 1, 128), e = b.loop_var("e", 4);
  const BufferId x = b.in("x", dtype, rows * columns), bias = b.in("bias", dtype, columns);
  const BufferId y = b.out("y", dtype, rows * columns);
  const ArrayId x_v = b.array("x_v", dtype, {0, 0}, 4), bias_v = b.array("bias_v", dtype, {0, 0}, 4);
  const ArrayId y_v = b.array("y_v", dtype, {0, 0}, 4);
  const DType compute = row(dtype).compute;
  const ExprId i = b.sum({b.var(tid, 4), b.var(b.vb, 512)});
  b.name_index(i);
  if (ragged) b.guard_less(b.sum({b.var(tid), b.var(b.vb, 128)}), b.number(vectors));
  b.declare(x_v);
  b.load(b.ref(x_v), x, i, 4);
  b.declare(bias_v);
  b.load(b.ref(bias_v), bias, b.mod(i, columns), 4, Policy::again);
  b.declare(y_v);
  b.each(e);
  const ExprId lane = b.var(e);
  const LetId sum = b.let("add.1", b.op(Op::add, {b.convert(compute, b.element(b.ref(x_v, lane))),
                                                  b.convert(compute, b.element(b.ref(bias_v, lane)))}));
  b.assign(b.ref(y_v, lane), b.convert(dtype, b.op(Op::tanh, {b.get(sum)})));
  b.end();
  b.store(y, i, 4, b.ref(y_v));
  if (ragged) b.end();
  return b.finished();
}

namespace {

/// Sums `target` over all threads of a row: within a warp, then through shared memory when rows span warps.
void reduce(KernelBuilder& b, ArrayId target, VarId lane, int lanes, const std::string& name) {
  b.shuffle(b.ref(target), Op::add, std::min(lanes, 32));
  if (lanes <= 32) return;
  const int warps = lanes / 32;
  const ArrayId partial = b.shared("s_" + name, DType::f32, warps);
  b.guard_equal(b.mod(b.var(lane), 32), b.number(0));
  b.store_shared(partial, b.div(b.var(lane), 32), b.element(b.ref(target)));
  b.end();
  b.barrier();
  const ArrayId part = b.array("part_" + name, DType::f32, {0, 0}, warps);
  const VarId w = b.loop_var("w", warps);
  b.assign(b.ref(target), b.real(DType::f32, 0));
  b.declare(part);
  b.load_shared(b.ref(part), partial, b.number(0), warps);
  b.each(w);
  b.assign(b.ref(target), b.element(b.ref(part, b.var(w))), Op::add);
  b.end();
}

}  // namespace

Kernel example_layer_norm(std::int64_t rows, int trips, int lanes) {
  const int threads = std::max(128, lanes), per_block = threads / lanes;
  const std::int64_t n = static_cast<std::int64_t>(lanes) * trips * 4;
  KernelBuilder b("layernorm", threads, (rows + per_block - 1) / per_block);
  const VarId lane = b.thread("lane", 1, lanes), rib = b.thread("rib", lanes, per_block);
  const VarId t = b.loop_var("t", trips), e = b.loop_var("e", 4);
  const BufferId x = b.in("x", DType::f32, rows * n), gamma = b.in("gamma", DType::f32, n);
  const BufferId beta = b.in("beta", DType::f32, n), y = b.out("y", DType::f32, rows * n);
  const ArrayId x_row = b.array("x_row", DType::f32, {trips, 0}, 4), sum = b.array("sum", DType::f32);
  const ArrayId sumsq = b.array("sumsq", DType::f32);
  const ExprId row_of = b.sum({b.var(rib), b.var(b.vb, per_block)}), step = b.var(t, lanes * 4);
  const ExprId base = b.sum({b.var(lane, 4), b.var(rib, n), b.var(b.vb, n * per_block)});
  const bool ragged = rows % per_block != 0;
  const auto guard = [&] {
    if (ragged) b.guard_less(row_of, b.number(rows));
  };
  const auto close = [&] {
    if (ragged) b.end();
  };
  const auto x_at = [&] { return b.element(b.at(x_row, b.var(t), b.var(e))); };
  const ValueId inverse = b.real(DType::f32, 1.0 / static_cast<double>(n));

  b.declare(x_row);
  b.declare(sum, b.real(DType::f32, 0));
  b.name_index(base);
  guard();
  b.each(t);
  b.load(b.at(x_row, b.var(t)), x, b.sum({base, step}), 4);
  b.each(e);
  b.assign(b.ref(sum), x_at(), Op::add);
  b.end(), b.end(), close();
  reduce(b, sum, lane, lanes, "sum");
  const LetId mean = b.let("mean", b.op(Op::multiply, {b.element(b.ref(sum)), inverse}));
  b.declare(sumsq, b.real(DType::f32, 0));
  guard();
  b.each(t), b.each(e);
  const LetId centred = b.let("centred", b.op(Op::subtract, {x_at(), b.get(mean)}));
  b.assign(b.ref(sumsq), b.op(Op::multiply, {b.get(centred), b.get(centred)}), Op::add);
  b.end(), b.end(), close();
  reduce(b, sumsq, lane, lanes, "sumsq");
  const ValueId variance = b.op(Op::multiply, {b.element(b.ref(sumsq)), inverse});
  const LetId rstd = b.let("rstd", b.op(Op::rsqrt, {b.op(Op::add, {variance, b.real(DType::f32, 1e-5)})}));
  const ArrayId gamma_v = b.array("gamma_v", DType::f32, {0, 0}, 4), beta_v = b.array("beta_v", DType::f32, {0, 0}, 4);
  const ArrayId y_v = b.array("y_v", DType::f32, {0, 0}, 4);
  guard();
  b.each(t);
  for (const auto& [array, buffer] : {std::pair{gamma_v, gamma}, std::pair{beta_v, beta}}) {
    b.declare(array);
    b.load(b.ref(array), buffer, b.sum({b.var(lane, 4), step}), 4, Policy::again);
  }
  b.declare(y_v);
  b.each(e);
  const LetId again = b.let("centred", b.op(Op::subtract, {x_at(), b.get(mean)}));
  const ValueId scaled =
      b.op(Op::multiply, {b.op(Op::multiply, {b.get(again), b.get(rstd)}), b.element(b.ref(gamma_v, b.var(e)))});
  b.assign(b.ref(y_v, b.var(e)), b.op(Op::add, {scaled, b.element(b.ref(beta_v, b.var(e)))}));
  b.end();
  b.store(y, b.sum({base, step}), 4, b.ref(y_v));
  b.end(), close();
  return b.finished();
}

Kernel example_in_place() {
  KernelBuilder b("twice", 64, 4);
  const BufferId x = b.in("x", DType::f32, 256);
  const BufferId y = b.in("y", DType::f32, 256), w = b.in("w", DType::f32, 256), t = b.in("t", DType::u32, 1);
  b.kernel.buffers[y].role = BufferRole::in_place;
  b.kernel.buffers[y].of = x;
  b.kernel.buffers[w].role = BufferRole::workspace;
  b.kernel.buffers[t].role = BufferRole::ticket;
  const VarId tid = b.thread("tid", 1, 64);
  const ExprId at = b.sum({b.var(b.vb, 64), b.var(tid)});
  const LetId v = b.load_let("v", x, at, Policy::reload);
  b.store(w, at, b.get(v));
  b.barrier(StitchLevel::cluster);
  b.store(y, at, b.op(Op::add, {b.get(v), b.get(v)}));
  b.atomic(t, b.number(0), Op::add, b.integer(DType::u32, 1));
  Stmt& meeting = b.barrier(StitchLevel::grid);
  meeting.memory = t;
  meeting.expr = b.number(0);
  meeting.rank = b.var(b.vb);
  b.kernel.cluster = 2;
  b.kernel.cooperative = true;
  b.kernel.min_blocks = 3;
  return b.finished();
}

}  // namespace tailor::ir
