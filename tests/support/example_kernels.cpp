// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs as the lowering would write them, built by hand: a flat map with a guard, a LayerNorm row with two
// reductions within a warp or across warps, a kernel that works in place, and programs of two and three launches. They
// are the inputs of golden texts, of counting on paper and of benchmarks. Declared in kernel_builder.h.
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

namespace {

struct SplitRows {
  std::int64_t rows, columns;
  int parts;
  BufferId x = 0, w = 1, y = 2, partials = 3, totals = 4;
};

/// Each block the sum of a part of a row.
Kernel sums_of_parts(const SplitRows& s, bool with_totals) {
  constexpr int threads = 64;
  const std::int64_t part = s.columns / s.parts;
  KernelBuilder b("split_rows", threads, s.rows * s.parts);
  b.in("x", DType::f32, s.rows * s.columns), b.in("w", DType::f32, s.rows);
  b.out("y", DType::f32, with_totals ? s.rows * s.columns : s.rows);
  b.kernel.buffers[b.out("partials", DType::f32, s.rows * s.parts)].role = BufferRole::workspace;
  if (with_totals) b.kernel.buffers[b.out("totals", DType::f32, s.rows)].role = BufferRole::workspace;
  const VarId tid = b.thread("tid", 1, threads), t = b.loop_var("t", part / (threads * 4)), e = b.loop_var("e", 4);
  const ArrayId sum = b.array("sum", DType::f32), x_v = b.array("x_v", DType::f32, {0, 0}, 4);
  b.declare(sum, b.real(DType::f32, 0));
  b.loop(t);
  b.declare(x_v);
  b.load(b.ref(x_v), s.x, b.sum({b.var(tid, 4), b.var(t, threads * 4), b.var(b.vb, part)}), 4);
  b.each(e);
  b.assign(b.ref(sum), b.element(b.ref(x_v, b.var(e))), Op::add);
  b.end(), b.end();
  reduce(b, sum, tid, threads, "sum");
  b.guard_equal(b.var(tid), b.number(0));
  b.store(s.partials, b.var(b.vb), b.element(b.ref(sum)));
  b.end();
  b.kernel.shared_bytes = shared_offsets(b.kernel).back();
  return b.kernel;
}

/// Each warp a row.
Kernel sums_of_rows(const SplitRows& s, const std::vector<Buffer>& buffers, BufferId to) {
  KernelBuilder b("split_rows_2", 64, (s.rows + 1) / 2);
  b.kernel.buffers = buffers;
  const VarId lane = b.thread("lane", 1, 32), rib = b.thread("rib", 32, 2);
  const ExprId row = b.sum({b.var(rib), b.var(b.vb, 2)});
  const ArrayId w = b.array("w_row", DType::f32), sum = b.array("sum", DType::f32);
  b.declare(w, b.real(DType::f32, 0));
  b.guard_less(row, b.number(s.rows));
  b.load(b.ref(w), s.w, row, 1);
  b.end();
  b.wait();
  b.declare(sum, b.real(DType::f32, 0));
  b.guard_less(row, b.number(s.rows));
  b.guard_less(b.var(lane), b.number(s.parts));
  b.load(b.ref(sum), s.partials, b.sum({b.var(lane), b.var(rib, s.parts), b.var(b.vb, 2 * s.parts)}), 1,
         Policy::reload);
  b.end(), b.end();
  b.shuffle(b.ref(sum), Op::add, 32);
  b.guard_less(row, b.number(s.rows));
  b.guard_equal(b.var(lane), b.number(0));
  b.store(to, row, b.op(Op::multiply, {b.element(b.ref(sum)), b.element(b.ref(w))}));
  b.end(), b.end();
  return b.kernel;
}

/// x without the number of its row.
Kernel rest_of_rows(const SplitRows& s, const std::vector<Buffer>& buffers) {
  constexpr int threads = 128;
  KernelBuilder b("split_rows_3", threads, s.rows * s.columns / (threads * 4));
  b.kernel.buffers = buffers;
  const VarId tid = b.thread("tid", 1, threads), e = b.loop_var("e", 4);
  const ArrayId x_v = b.array("x_v", DType::f32, {0, 0}, 4), y_v = b.array("y_v", DType::f32, {0, 0}, 4);
  const ExprId i = b.sum({b.var(tid, 4), b.var(b.vb, threads * 4)});
  b.declare(x_v);
  b.load(b.ref(x_v), s.x, i, 4);
  b.wait();
  const LetId total = b.load_let("total", s.totals, b.div(i, s.columns), Policy::reload);
  b.declare(y_v);
  b.each(e);
  b.assign(b.ref(y_v, b.var(e)), b.op(Op::subtract, {b.element(b.ref(x_v, b.var(e))), b.get(total)}));
  b.end();
  b.store(s.y, i, 4, b.ref(y_v));
  return b.kernel;
}

}  // namespace

Kernel example_split_rows(std::int64_t rows, std::int64_t columns, int parts, int launches) {
  const SplitRows s{rows, columns, parts};
  Kernel program = sums_of_parts(s, launches == 3);
  program.followers.push_back(sums_of_rows(s, program.buffers, launches == 3 ? s.totals : s.y));
  if (launches == 3) program.followers.push_back(rest_of_rows(s, program.buffers));
  verify(program);
  return program;
}

std::string_view split_rows_graph(int launches) {
  return launches == 3 ? R"(graph split_rows {
  %x = parameter 0 : f32[{R},{N}]
  %w = parameter 1 : f32[{R}]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[{R}]
  %p = multiply %s, %w : f32[{R}]
  %b = broadcast %p, axes={0} : f32[{R},{N}]
  %y = subtract %x, %b : f32[{R},{N}]
  output %y
})"
                       : R"(graph split_rows {
  %x = parameter 0 : f32[{R},{N}]
  %w = parameter 1 : f32[{R}]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[{R}]
  %y = multiply %s, %w : f32[{R}]
  output %y
})";
}

}  // namespace tailor::ir
