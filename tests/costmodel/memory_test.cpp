// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How memory enters an estimate: sectors, caches, ports, queues, starts of blocks and launches, each worked out on
// paper with round numbers, and one case with all of them. In: hand-made work, small kernels and devices whose figures
// are set here. Out: checks of totals and parts. Part of the suite `costmodel`.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "codegen/lower/lower.h"
#include "codegen/lower/prepare.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "costmodel/parts.h"
#include "lowered.h"
#include "round_device.h"
#include "support/approx.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

double body_of(const Work& w, const CalibratedDevice& d) { return projected(w, d, bare_regime()).total.value; }
double bare_part(const Work& w, const CalibratedDevice& d, ir::Part part) {
  return projected(w, d, bare_regime()).parts[static_cast<std::size_t>(part)].value;
}

/// 1,000 blocks of 1,024 threads, two on an SM; one buffer is read, one written, `bytes` of each.
Work two_buffers(std::int64_t bytes) {
  Work w;
  w.threads = 1024;
  w.virtual_blocks = w.grid = 1000;
  w.live_registers = 8;
  w.buffers.resize(2);
  w.buffers[0].read_bytes = bytes;
  w.buffers[0].load.sectors = w.buffers[0].read_sectors = bytes / 32;
  w.buffers[0].block_sectors = bytes / 32 / 1000;
  w.buffers[1].written_bytes = bytes;
  w.buffers[1].store.sectors = w.buffers[1].written_sectors = bytes / 32;
  return w;
}

/// y[i] = x[stride * i], 256 threads a block.
ir::Kernel strided(std::int64_t elements, std::int64_t stride, ir::DType dtype) {
  ir::KernelBuilder b("strided", 256, elements / 256);
  const ir::VarId tid = b.thread("tid", 1, 256);
  const ir::BufferId x = b.in("x", dtype, elements * stride), y = b.out("y", dtype, elements);
  const ir::LetId v = b.load_let("v", x, b.sum({b.var(tid, stride), b.var(b.vb, 256 * stride)}));
  b.store(y, b.sum({b.var(tid), b.var(b.vb, 256)}), b.get(v));
  return b.finished();
}

/// y[i] = x[i] + x[i + shift] + x[i + 2 * shift], 256 threads a block.
ir::Kernel stencil(std::int64_t elements, std::int64_t shift) {
  ir::KernelBuilder b("stencil", 256, elements / 256);
  const ir::VarId tid = b.thread("tid", 1, 256);
  const ir::BufferId x = b.in("x", ir::DType::f32, elements + 2 * shift), y = b.out("y", ir::DType::f32, elements);
  ir::ValueId sum = b.get(b.load_let("a", x, b.sum({b.var(tid), b.var(b.vb, 256)})));
  for (const std::int64_t by : {shift, 2 * shift}) {
    const ir::LetId v = b.load_let(by == shift ? "b" : "c", x, b.sum({b.var(tid), b.var(b.vb, 256), b.number(by)}));
    sum = b.op(ir::Op::add, {sum, b.get(v)});
  }
  b.store(y, b.sum({b.var(tid), b.var(b.vb, 256)}), sum);
  return b.finished();
}

/// y[r, c] = x[r, c] + x[r + 1, c] + x[r + 2, c] of rows that are `left_out` longer in x: a block has elements one
/// behind the other, of parts of rows.
ir::Kernel rows_cut(std::int64_t rows, std::int64_t columns, std::int64_t left_out, int threads) {
  ir::KernelBuilder b("rows_cut", threads, (rows * columns + threads - 1) / threads);
  const std::int64_t row = columns + left_out;
  const ir::VarId tid = b.thread("tid", 1, threads);
  const ir::BufferId x = b.in("x", ir::DType::f32, (rows + 3) * row), y = b.out("y", ir::DType::f32, rows * columns);
  const ir::ExprId i = b.sum({b.var(tid), b.var(b.vb, threads)});
  b.guard_less(i, b.number(rows * columns));
  ir::ValueId sum = ir::no_value;
  for (const std::int64_t by : {0, 1, 2}) {
    ir::ExprId place = b.sum({b.mod(i, columns), b.number(by * row)}), down = b.div(i, columns);
    for (std::int64_t left = row; left > 0; left /= 2, down = b.sum({down, down}))  // times the length of a row
      if (left % 2 != 0) place = b.sum({place, down});
    const ir::ValueId v = b.get(b.load_let("abc" + std::to_string(by), x, place));
    sum = sum == ir::no_value ? v : b.op(ir::Op::add, {sum, v});
  }
  b.store(y, i, sum);
  b.end();
  return b.finished();
}

/// y[i] = x[i] + x[i + 1], and the first and the last element are read by the other end: places that wrap around.
ir::Kernel wrapped(std::int64_t elements) {
  ir::KernelBuilder b("wrapped", 256, elements / 256);
  const ir::VarId tid = b.thread("tid", 1, 256);
  const ir::BufferId x = b.in("x", ir::DType::f32, elements + 1), y = b.out("y", ir::DType::f32, elements);
  const ir::ExprId i = b.sum({b.var(tid), b.var(b.vb, 256)});
  const ir::ArrayId edge = b.array("edge", ir::DType::f32, {0, 0}, 1);
  b.declare(edge);
  b.guard_less(i, b.number(1));
  b.load(ir::KernelBuilder::ref(edge), x, b.sum({b.var(tid), b.number(elements - 256)}), 1);
  b.end();
  b.guard_less(b.number(elements - 2), i);
  b.load(ir::KernelBuilder::ref(edge), x, b.var(tid), 1);
  b.end();
  const ir::LetId here = b.load_let("a", x, i), next = b.load_let("b", x, b.sum({i, b.number(1)}));
  b.store(y, i,
          b.op(ir::Op::add, {b.op(ir::Op::add, {b.get(here), b.get(next)}), b.element(ir::KernelBuilder::ref(edge))}));
  return b.finished();
}

}  // namespace

TEST_CASE("what few lanes read at the other end of an array is not what all read again") {
  const CalibratedDevice d = shipped("h200");
  const std::int64_t elements = std::int64_t{1} << 28;
  const double once = bare_part(count(strided(elements, 1, ir::DType::f32), Mode::fast), d, ir::Part::dram);
  CHECK(bare_part(count(wrapped(elements), Mode::fast), d, ir::Part::dram) == approx(once).epsilon(0.02));
  for (const Mode mode : {Mode::exact, Mode::fast}) {
    const Work w = count(wrapped(8192), mode);
    CHECK(w.buffers[0].shift_bytes == 4);
    CHECK(w.buffers[0].shifted_sectors == 8192 / 8 + 1);
  }
}

TEST_CASE("what a shifted load reads again comes from L2 while what lies between fits there") {
  const CalibratedDevice d = shipped("h200");
  const std::int64_t elements = std::int64_t{1} << 28;  // 1 GiB
  const double once = bare_part(count(strided(elements, 1, ir::DType::f32), Mode::fast), d, ir::Part::dram);
  for (const std::int64_t shift : {1, 256, 2048, 1 << 18}) {  // up to 2 MiB between the first and the last
    CAPTURE(shift);
    CHECK(bare_part(count(stencil(elements, shift), Mode::fast), d, ir::Part::dram) == approx(once).epsilon(0.02));
  }
  // Half of the array and more between them: each is read from memory by itself.
  const double far = bare_part(count(stencil(elements, elements / 4), Mode::fast), d, ir::Part::dram);
  CHECK(far > 1.8 * once);
  for (const std::int64_t shift : {1, 8, 512}) {
    CAPTURE(shift);
    const Work exact = count(stencil(8192, shift), Mode::exact), fast = count(stencil(8192, shift), Mode::fast);
    CHECK(exact.buffers[0] == fast.buffers[0]);
    CHECK(fast.buffers[0].shift_bytes == 8 * shift);
    CHECK(fast.buffers[0].block_sectors == std::min<std::int64_t>(3 * 32, (256 + 2 * shift + 7) / 8));
    CHECK(fast.buffers[0].shifted_sectors == 2 * 8192 / 8 + (shift == 1 ? 2 : 0));
  }
}

TEST_CASE("a block that goes along a row finds what it asks for again a little further") {
  const CalibratedDevice d = shipped("h200");
  // 64 rows of 2 MB, all on their way at once: neither L1 nor L2 holds what resident blocks touch.
  const auto dram = [&](const std::string& lines) {
    const ir::Group group = group_of("graph g {\n  %x = parameter 0 : f32[64,524288]\n  %z = constant 0 : f32[]\n" +
                                     lines + "  output %s\n}\n");
    ir::Plan plan = ir::parse_plan("row threads=1024 threads_per_row=1024 vector=1 in_flight=8");
    const auto ready = codegen::prepare(group);
    plan.dominant = std::get<codegen::Prepared>(ready).dominants.front();
    const codegen::Lowered kernel = codegen::lower(group, plan, limits_of("h200"));
    REQUIRE(std::holds_alternative<ir::Kernel>(kernel));
    return bare_part(count(std::get<ir::Kernel>(kernel), Mode::fast), d, ir::Part::dram);
  };
  const auto neighbours = [&](std::int64_t apart) {
    return dram(
        fmt::format("  %a = slice %x, ranges={{0:64:1, 0:{0}:1}} : f32[64,{0}]\n"
                    "  %b = slice %x, ranges={{0:64:1, {1}:524288:1}} : f32[64,{0}]\n"
                    "  %c = subtract %b, %a : f32[64,{0}]\n  %s = reduce add %c, %z, axes={{1}} : f32[64]\n",
                    524288 - apart, apart));
  };
  const double once = dram("  %s = reduce add %x, %z, axes={1} : f32[64]\n");
  CHECK(neighbours(1) == approx(once).epsilon(0.1));
  CHECK(neighbours(64) == approx(once).epsilon(0.1));
  CHECK(neighbours(1 << 17) > 1.1 * once);  // a quarter of all rows, 32 MB, passes between
}

TEST_CASE("a block that has parts of rows reads what lies in them and in those below") {
  for (const auto& [columns, left_out, threads] :
       {std::tuple{1022, 2, 256}, std::tuple{510, 2, 1024}, std::tuple{254, 2, 1024}, std::tuple{96, 8, 512}}) {
    CAPTURE(columns);
    const std::int64_t rows = 400, row = columns + left_out;
    const Work work = count(rows_cut(rows, columns, left_out, threads), Mode::fast);
    double sum = 0;  // of distinct sectors of each block
    const std::int64_t all = rows * columns, blocks = (all + threads - 1) / threads;
    for (std::int64_t block = 0; block < blocks; ++block) {
      std::set<std::int64_t> sectors;
      for (std::int64_t i = block * threads; i < std::min(all, (block + 1) * threads); ++i)
        for (const std::int64_t by : {0, 1, 2})
          sectors.insert(((i / columns + by) * row + i % columns) * 4 / sector_bytes);
      sum += static_cast<double>(sectors.size());
    }
    const double found = static_cast<double>(work.buffers[0].block_sectors), wanted = sum / static_cast<double>(blocks);
    CAPTURE(found);
    CAPTURE(wanted);
    CHECK(found > 0.98 * wanted);
    CHECK(found < 1.25 * wanted);
  }
}

TEST_CASE("memory delivers whole sectors: a slice of every eighth float reads all of the tensor") {
  for (const auto& [stride, dtype, sectors] : {std::tuple{std::int64_t{1}, ir::DType::f32, std::int64_t{8192 * 4 / 32}},
                                               std::tuple{std::int64_t{2}, ir::DType::f32, std::int64_t{8192 * 8 / 32}},
                                               std::tuple{std::int64_t{8}, ir::DType::f32, std::int64_t{8192}},
                                               std::tuple{std::int64_t{16}, ir::DType::f32, std::int64_t{8192}},
                                               std::tuple{std::int64_t{8}, ir::DType::f16, std::int64_t{8192 / 2}}}) {
    CAPTURE(stride);
    for (const Mode mode : {Mode::exact, Mode::fast}) {
      const Work w = count(strided(8192, stride, dtype), mode);
      CHECK(w.buffers[0].read_bytes == 8192 * ir::row(dtype).bits / 8);
      CHECK(w.buffers[0].read_sectors == sectors);
      CHECK(w.buffers[1].written_sectors == 8192 * ir::row(dtype).bits / 8 / 32);
      CHECK(w.buffers[0].block_sectors == sectors * 256 / 8192);
    }
  }
  // 4 Mi floats out of 32 Mi: 134 MB of sectors in, 17 MB out, at 4.8 TB/s at least 31 us.
  const CalibratedDevice d = shipped("h200");
  const Work w = count(strided(std::int64_t{1} << 22, 8, ir::DType::f32), Mode::fast);
  const double moved = 32.0 * (1 << 22) + 4.0 * (1 << 22);
  CHECK(bare_part(w, d, ir::Part::dram) >= moved / d.dram_bandwidth);
  CHECK(projected(w, d).total.value >= 31e-6);
}

TEST_CASE("rows with gaps, halves of sectors and overlaps reach the sectors that exact counting finds") {
  // y[r, c] = x[r, c] of a row of `pitch`, `width` of it used: whole sectors, sectors in part, and rows off a sector.
  for (const auto& [pitch, width] :
       {std::pair<std::int64_t, std::int64_t>{64, 32}, {64, 8}, {40, 8}, {36, 32}, {33, 32}}) {
    ir::KernelBuilder b("rows", 256, 64);
    const ir::VarId column = b.thread("column", 1, width), line = b.thread("line", width, 256 / width);
    const std::int64_t lines = 256 / width;
    const ir::BufferId x = b.in("x", ir::DType::f32, 64 * lines * pitch), y = b.out("y", ir::DType::f32, 64 * 256);
    const ir::LetId v = b.load_let("v", x, b.sum({b.var(column), b.var(line, pitch), b.var(b.vb, lines * pitch)}));
    b.store(y, b.sum({b.var(column), b.var(line, width), b.var(b.vb, 256)}), b.get(v));
    const ir::Kernel kernel = b.finished();
    const Work exact = count(kernel, Mode::exact), fast = count(kernel, Mode::fast);
    CAPTURE(pitch);
    CAPTURE(width);
    CHECK(fast.buffers[0].read_sectors >= exact.buffers[0].read_sectors);
    CHECK(static_cast<double>(fast.buffers[0].read_sectors) <=
          1.15 * static_cast<double>(exact.buffers[0].read_sectors));
    CHECK(fast.buffers[1] == exact.buffers[1]);
  }
}

TEST_CASE("what an SM reads again comes from L1 while it has room for what its blocks touch in between") {
  // 32,000 rows in blocks of 32 on 10 SMs, two blocks each: 1,000 blocks. A row of 1,536 bytes is read once and written
  // once, each of its block's 32 warps reads 6,144 bytes of weights.
  CalibratedDevice d = round_device();
  Work w = two_buffers(32000 * 1536);
  BufferWork weights;
  weights.read_bytes = 6144;
  weights.read_sectors = weights.block_sectors = 6144 / 32;
  weights.load.sectors = 32000 * 6144 / 32;
  w.buffers.push_back(weights);
  // Two blocks touch 2 * 32 * 1,536 + 6,144 = 104,448 bytes, of 100,000: missed = 1 - 1 / (1 + 1.04448).
  const double missed = 1.04448 / 2.04448, rows = 32000 * 1536.0, asked = 32000 * 6144.0, fetched = 10 * 6144;
  const double l2 = 2 * rows + fetched + missed * (asked - fetched);
  CHECK(bare_part(w, d, ir::Part::l2) == approx(l2 / 2e12).epsilon(1e-9));
  d.l1_bytes = d.l1_shared_bytes = 100e9;  // endless
  CHECK(bare_part(w, d, ir::Part::l2) == approx((2 * rows + fetched) / 2e12).epsilon(1e-5));
  d.l1_bytes = 1;  // none
  CHECK(bare_part(w, d, ir::Part::l2) == approx((2 * rows + asked) / 2e12).epsilon(1e-4));
  // Shared memory takes its part: two blocks with 25,000 bytes each leave half.
  d.l1_bytes = d.l1_shared_bytes = 100e3;
  d.shared_unit = 1;
  w.shared_bytes = 25000;
  const double less = 2.08896 / 3.08896;
  CHECK(bare_part(w, d, ir::Part::l2) == approx((2 * rows + fetched + less * (asked - fetched)) / 2e12).epsilon(1e-9));
  // What L1 hands out takes its path, hit or not.
  d.l1_bandwidth = 100;
  CHECK(bare_part(w, d, ir::Part::shared) == approx((rows + asked) / 100 / 10 / 1e9).epsilon(1e-9));
}

TEST_CASE("weights of a long layer norm are no traffic of L2") {
  // f16 [65536, 768] with f32 scale and shift, a row to a warp: what a plan of 32 lanes asks of L1 is five times what
  // memory moves. An H200 keeps 6 KB of weights in each L1.
  const CalibratedDevice d = shipped("h200");
  Work w;
  w.threads = 256;
  w.virtual_blocks = w.grid = 8192;
  w.live_registers = 32;
  w.buffers.resize(4);
  const std::int64_t rows = std::int64_t{65536} * 768 * 2;
  w.buffers[0].read_bytes = w.buffers[3].written_bytes = rows;
  w.buffers[0].load.sectors = w.buffers[0].read_sectors = w.buffers[3].store.sectors = w.buffers[3].written_sectors =
      rows / 32;
  w.buffers[0].block_sectors = rows / 32 / 8192;
  for (const int weights : {1, 2}) {
    w.buffers[weights].read_bytes = 768 * 4;
    w.buffers[weights].read_sectors = w.buffers[weights].block_sectors = 768 * 4 / 32;
    w.buffers[weights].load.sectors = 65536 * 768 * 4 / 32;
  }
  w.critical_path.memory = 2;
  w.critical_path.far = 1;
  const ir::Estimate e = projected(w, d);
  CHECK(e.bottleneck == ir::Part::dram);
  CHECK(e.parts[static_cast<std::size_t>(ir::Part::l2)] < e.parts[static_cast<std::size_t>(ir::Part::dram)]);
  CHECK(e.total.value < 60e-6);
}

TEST_CASE("reads, writes and both have peaks of their own, and the mixture is between") {
  CalibratedDevice d = round_device();
  d.dram_read_efficiency = 0.8;
  d.dram_write_efficiency = 1;
  d.dram_efficiency = 0.5;
  Work w = two_buffers(320000000);
  const Work both = w;
  const double mb = 320e6 / 1e12;
  CHECK(bare_part(both, d, ir::Part::dram) == approx(2 * mb / 0.5).epsilon(1e-12));
  w.buffers.resize(1);
  CHECK(bare_part(w, d, ir::Part::dram) == approx(mb / 0.8).epsilon(1e-12));
  w.buffers[0] = both.buffers[1];
  CHECK(bare_part(w, d, ir::Part::dram) == approx(mb).epsilon(1e-12));
  // Three read for each written: turn = 2 - (1.25 + 1) / 2 = 0.875 ps a byte, at 4 * 3 * 1 / 4 of a part.
  w.buffers = {both.buffers[0], both.buffers[0], both.buffers[0], both.buffers[1]};
  CHECK(bare_part(w, d, ir::Part::dram) == approx(mb * (3 * 1.25 + 1 + 4 * 0.875 * 3 / 4)).epsilon(1e-12));
}

TEST_CASE("a kernel that only writes has a corner, one that waits for memory a knee") {
  CalibratedDevice d = round_device();
  d.dram_latency = 16e-6;  // 50 waves of it are the 800 us that memory takes for 800 MB
  Work w = two_buffers(800000000);
  Work reads = w;
  reads.buffers.resize(1);
  reads.critical_path.memory = reads.critical_path.far = 1;
  CHECK(body_of(reads, d) == approx(1600e-6).epsilon(1e-3));
  d.dram_knee = 2;
  // The first of 50 waves hides nothing: a fiftieth of what is hidden comes on top.
  const double knee = 800e-6 * std::sqrt(2);
  CHECK(body_of(reads, d) == approx(knee + (1600e-6 - knee) / 50).epsilon(1e-4));
  Work writes = w;
  writes.buffers = {w.buffers[1]};
  d.block_turnaround = 16e-6;  // as long, but nothing queues: 49 of them
  CHECK(body_of(writes, d) == approx(800e-6 + 49 * 16e-6 / 50).epsilon(1e-4));
  // Half of the latency view waits: half of the knee's excess.
  d.dram_latency = 8e-6;
  d.block_turnaround = 8e-6;
  CHECK(body_of(reads, d) == approx((800e-6 + (knee - 800e-6) / 2) * 0.98 + 1592e-6 / 50).epsilon(1e-2));
}

TEST_CASE("a single wave hides nothing: its chain and the time of its bytes add up") {
  CalibratedDevice d = round_device();
  d.dram_knee = d.dram_mixed_knee = 50;
  Work w = two_buffers(1000000);
  w.buffers.resize(1);
  w.critical_path.memory = w.critical_path.far = 1;
  w.critical_path.arithmetic = 1000;
  d.fma_latency = 1;
  w.virtual_blocks = w.grid = 20;
  w.buffers[0].block_sectors = 1000000 / 32 / 20;
  CHECK(body_of(w, d) == approx(1e-6 + 0.4e-6 + 1e-6).epsilon(1e-3));
  // Ten waves of the same: 10 times 1.4 us, of which a tenth of the shorter view is not hidden.
  w.virtual_blocks = w.grid = 200;
  w.buffers[0].block_sectors = 1000000 / 32 / 200;
  CHECK(body_of(w, d) == approx(14e-6 + 0.1e-6).epsilon(1e-3));
}

TEST_CASE("a block alone on its SM computes while nothing is loaded, and of several each as much less") {
  CalibratedDevice d = round_device();
  Work w = two_buffers(320000000);
  w.buffers.resize(1);
  w.virtual_blocks = w.grid = 100000;
  w.buffers[0].block_sectors = 100;
  d.issue_rate = 1e9;
  for (const int blocks : {1, 2, 4, 8}) {
    CAPTURE(blocks);
    w.threads = blocks == 1 ? 1024 : 2048 / blocks;
    w.shared_bytes = blocks == 1 ? static_cast<std::int64_t>(d.limits.shared_per_sm) : 0;
    w.pipes.alu = 0;
    d.lone_share = 0.6;
    const double memory = body_of(w, d);
    w.pipes.alu = static_cast<std::int64_t>(memory / 2 * 10e9 * d.alu_rate / 32);  // half as long as memory
    CHECK(body_of(w, d) == approx(memory * (1 + 0.5 * 0.6 / blocks)).epsilon(1e-3));
    d.lone_share = 0;
    CHECK(body_of(w, d) == approx(memory).epsilon(1e-3));
  }
}

TEST_CASE("the busiest pipe of a first wave lies behind its latency, and half of it where there are two") {
  CalibratedDevice d = round_device();
  Work w = two_buffers(320000);
  w.buffers.resize(1);
  w.critical_path.memory = w.critical_path.far = 1;
  d.issue_rate = 1e9;
  d.pipe_knee = 50;  // the shorter view adds nothing
  for (const int waves : {1, 2, 4}) {
    CAPTURE(waves);
    w.virtual_blocks = w.grid = std::int64_t{20} * waves;
    w.buffers[0].block_sectors = 10000 / w.grid;
    w.pipes.alu = 0;
    d.first_wave = 0;
    const double alone = body_of(w, d);
    w.pipes.alu = static_cast<std::int64_t>(alone / 2 * 10e9 * d.alu_rate / 32);
    const double hidden = body_of(w, d),
                 behind = bare_part(w, d, ir::Part::latency) + bare_part(w, d, ir::Part::alu) / waves;
    d.first_wave = 1;
    CHECK(body_of(w, d) == approx(std::max(hidden, behind)));
    if (waves == 1) CHECK(behind > 1.05 * hidden);
  }
}

TEST_CASE("a block of fewer warps than an SM has sub-partitions leaves pipes idle") {
  const CalibratedDevice d = round_device();
  Work w = two_buffers(320);
  w.virtual_blocks = w.grid = 10;
  w.pipes.alu = 1000000;
  const auto alu_of = [&](int threads) {
    w.threads = threads;
    return bare_part(w, d, ir::Part::alu);
  };
  const double whole = alu_of(1024);
  for (const int warps : {1, 2, 4, 8})
    CHECK(alu_of(32 * warps) == approx(whole * std::max(1.0, d.sub_partitions / static_cast<double>(warps))));
}

TEST_CASE("memory and the busiest pipe join in a knee of their own") {
  CalibratedDevice d = round_device();
  Work w = two_buffers(320000000);
  w.buffers.resize(1);
  w.virtual_blocks = w.grid = 100000;
  w.buffers[0].block_sectors = 100;
  const double memory = body_of(w, d);
  // As long: 32 lanes to an instruction, 10 SMs of 1 GHz.
  w.pipes.alu = static_cast<std::int64_t>(memory * 10e9 * d.alu_rate / 32);
  d.issue_rate = 1e9;
  for (const double knee : {1.0, 2.0, 4.0}) {
    d.overlap_knee = knee;
    CHECK(body_of(w, d) == approx(memory * std::pow(2, 1 / knee)).epsilon(1e-3));
  }
}

TEST_CASE("DRAM does not turn to what a clean L2 can hold") {
  CalibratedDevice d = round_device();
  d.dram_efficiency = 0.5;
  d.l2_bytes = 400e6;
  d.write_hold = 0.5;
  Work w = two_buffers(320000000);
  const double ms = 320e6 / 1e12, read = 320e6, left = 120e6;  // 200 of 320 MB stay
  CHECK(bare_part(w, d, ir::Part::dram) == approx(2 * ms + 4e-12 * read * left / (read + left)).epsilon(1e-12));
  ir::Regime dirty = bare_regime();
  dirty.cache = ir::CacheState::dirty;
  CHECK(part_of(projected(w, d, dirty), ir::Part::dram) == approx(4 * ms).epsilon(1e-12));
  d.write_hold = 1;
  CHECK(bare_part(w, d, ir::Part::dram) == approx(2 * ms).epsilon(1e-12));
}

TEST_CASE("few SMs take their bytes through their own ports, and blocks start one after the other") {
  CalibratedDevice d = round_device();
  d.sm_bandwidth = 64;
  Work w = two_buffers(640000);
  w.virtual_blocks = w.grid = 1;
  w.buffers[0].block_sectors = 20000;
  // 1.28 MB through one port of 64 GB/s: 20 us; ten SMs take a tenth.
  CHECK(bare_part(w, d, ir::Part::l2) == approx(20e-6).epsilon(1e-9));
  CHECK(body_of(w, d) >= 20e-6);
  w.virtual_blocks = w.grid = 10;
  w.buffers[0].block_sectors = 2000;
  CHECK(bare_part(w, d, ir::Part::l2) == approx(2e-6).epsilon(1e-9));
  // 11 blocks: one SM has two of them.
  w.virtual_blocks = w.grid = 11;
  CHECK(bare_part(w, d, ir::Part::l2) == approx(2e-6 * 20 / 11).epsilon(1e-9));
  // A million blocks at one a clock.
  d.block_rate = 1;
  w.virtual_blocks = w.grid = 1000000;
  w.buffers.clear();
  CHECK(body_of(w, d) == approx(1e-3).epsilon(1e-9));
}

TEST_CASE("atomics that are waited for go to L2, and each further buffer of a trip adds to it") {
  CalibratedDevice d = round_device();
  Work w = two_buffers(32000);
  w.buffers[0].load.sectors *= 100;  // all of it in L1
  d.l1_bytes = d.l1_shared_bytes = 1e15;
  w.virtual_blocks = w.grid = 1;
  w.buffers[0].block_sectors = 1000;
  d.dram_bandwidth = d.l2_bandwidth = 1e18;
  w.critical_path.memory = 3;
  CHECK(bare_part(w, d, ir::Part::latency) == approx(3 * 50e-9).epsilon(1e-3));
  w.critical_path.far = 1;
  CHECK(bare_part(w, d, ir::Part::latency) == approx(400e-9 + 2 * 50e-9).epsilon(1e-3));
  w.critical_path.coherent = 1;
  CHECK(bare_part(w, d, ir::Part::latency) == approx(400e-9 + 200e-9 + 50e-9).epsilon(1e-3));
  d.trip_spread = 30e-9;
  w.critical_path.further = 2;
  CHECK(bare_part(w, d, ir::Part::latency) == approx(400e-9 + 200e-9 + 50e-9 + 60e-9).epsilon(1e-3));
}

TEST_CASE("a launch is counted once: a pass of 64 KiB takes what it was measured to take, in a stream and in a graph") {
  // RRZE gpu-benches: 16 blocks of 256 threads, a double each in and out, both arrays in L2.
  struct Measured {
    std::string name;
    double stream, graph;
  };
  for (const Measured& seen : {Measured{"h200", 2.43e-6, 1.27e-6}, {"a100_80gb", 2.62e-6, 1.35e-6}}) {
    const CalibratedDevice d = shipped(seen.name);
    Work w;
    w.threads = 256;
    w.virtual_blocks = w.grid = 16;
    w.buffers.resize(2);
    w.buffers[0].read_bytes = w.buffers[1].written_bytes = 32768;
    w.buffers[0].load.sectors = w.buffers[0].read_sectors = 1024;
    w.buffers[0].block_sectors = 64;
    w.buffers[1].store.sectors = w.buffers[1].written_sectors = 1024;
    w.critical_path.memory = w.critical_path.far = 1;
    ir::Regime warm;
    warm.cache = ir::CacheState::warm;
    ir::Regime graph = warm;
    graph.timer = ir::Timer::graph;
    graph.launch = ir::LaunchMode::graph;
    CAPTURE(seen.name);
    CHECK(projected(w, d, warm).total.value == approx(seen.stream).epsilon(0.05));
    CHECK(projected(w, d, graph).total.value == approx(seen.graph).epsilon(0.05));
    CHECK(sol(compulsory_work(w), d, graph).total < sol(compulsory_work(w), d, warm).total);
  }
}

TEST_CASE("one kernel on paper, with every part of the memory model") {
  // 10 SMs of two blocks: 100 blocks in 5 waves and 4 turnarounds. Read 64 MB in sectors of which half is used, once
  // more by the same threads; written 32 MB.
  CalibratedDevice d = round_device();
  d.dram_read_efficiency = 0.8;
  d.dram_write_efficiency = 0.5;
  d.dram_efficiency = 0.5;
  d.sm_bandwidth = 100;
  d.dram_knee = 3;
  d.dram_mixed_knee = 1;
  d.block_turnaround = 1e-6;
  d.trip_spread = 100e-9;
  Work w;
  w.threads = 1024;
  w.virtual_blocks = w.grid = 100;
  w.live_registers = 8;
  w.buffers.resize(2);
  w.buffers[0].read_bytes = 32000000;
  w.buffers[0].read_sectors = 2000000;
  w.buffers[0].block_sectors = 20000;
  w.buffers[0].load.sectors = 4000000;
  w.buffers[0].reload_sectors = 2000000;
  w.buffers[1].written_bytes = 32000000;
  w.buffers[1].written_sectors = w.buffers[1].store.sectors = 1000000;
  w.critical_path.memory = 2;
  w.critical_path.far = 1;
  w.critical_path.further = 1;
  // L1: two blocks touch 1.28 MB of 0.1: missed 12.8 / 13.8. L2: 20 blocks touch 96 MB / 5 of 1 MB: missed 19.2 / 20.2.
  const double l1 = 12.8 / 13.8, near = 19.2 / 20.2;
  const double read = 64e6 + 64e6 * l1 * near, written = 32e6;
  const double turn = 2 - (1.25 + 2) / 2;
  const double dram = (read * 1.25 + written * 2 + 4 * turn * read * written / (read + written)) * 1e-12;
  const double through = 64e6 + 64e6 * l1 + 32e6;
  const double port = through / (10 * 100e9);
  const double trip = 400e-9 + 50e-9 + l1 * (200e-9 + near * 200e-9 - 50e-9) + 100e-9;
  const double latency = 5 * trip + 4e-6 + port;
  const double mixed = 2 * (written * 2e-12) / dram, waiting = 5 * trip / latency;
  REQUIRE(mixed < 1);
  REQUIRE(dram > latency);
  const double of_reads = std::cbrt(dram * dram * dram + latency * latency * latency), of_both = dram + latency;
  const double overlapped = dram + waiting * ((1 - mixed) * of_reads + mixed * of_both - dram);
  const double body = overlapped + (dram + 5 * trip + 4e-6 - overlapped) / 5;  // the first of five waves hides nothing
  CHECK(bare_part(w, d, ir::Part::dram) == approx(dram).epsilon(1e-12));
  CHECK(bare_part(w, d, ir::Part::l2) == approx(port).epsilon(1e-12));
  CHECK(bare_part(w, d, ir::Part::latency) == approx(latency).epsilon(1e-12));
  CHECK(body_of(w, d) == approx(body).epsilon(1e-12));
}

TEST_CASE("what is read again the other way round misses less, by the mean of all distances") {
  CalibratedDevice d = round_device();
  constexpr double room = 1e6;
  for (const double y : {0.1, 0.3, 0.8, 1.0, 1.7, 4.0, 7.9, 8.1, 30.0, 1000.0}) {
    CAPTURE(y);
    d.reuse_knee = 2;  // the closed form
    CHECK(std::abs(miss_backward(y * room, room, d) - (1 - std::atan(y) / y)) < 0.02);
    for (const double knee : {2.0, 4.0, 9.0}) {
      d.reuse_knee = knee;
      CHECK(miss_backward(y * room, room, d) < miss(y * room, room, d));
      CHECK(miss_backward(1.1 * y * room, room, d) > miss_backward(y * room, room, d));
    }
  }
}

TEST_CASE("a thread's own reload comes from memory as far as it goes the way it went, and less the other way round") {
  CalibratedDevice d = round_device();
  d.l2_share = 1;
  d.reuse_knee = 2;
  Work w;
  w.threads = 1024;
  w.virtual_blocks = w.grid = 100;
  w.live_registers = 8;
  w.buffers.resize(1);
  w.buffers[0].read_bytes = 320000000;
  w.buffers[0].read_sectors = w.buffers[0].reload_sectors = 10000000;
  w.buffers[0].block_sectors = 100000;
  w.buffers[0].load.sectors = 20000000;
  double last = bare_part(w, d, ir::Part::dram);
  for (const std::int64_t turned : {1, 5000000, 10000000}) {
    w.buffers[0].turned_sectors = turned;
    const double now = bare_part(w, d, ir::Part::dram);
    CHECK(now < last);
    last = now;
  }
}

TEST_CASE("a sector that requests write in part passes L2 twice, a whole one once") {
  const CalibratedDevice d = round_device();
  Work w;
  w.threads = 256;
  w.virtual_blocks = w.grid = 1000;
  w.buffers.resize(1);
  BufferWork& written = w.buffers[0];
  written.written_bytes = 32000000;
  written.written_sectors = 1000000;
  written.store = {250000, 1000000, 32000000};
  const double whole = bare_part(w, d, ir::Part::l2);
  CHECK(whole == approx(32e6 / 2e12).epsilon(1e-9));
  written.store = {500000, 2000000, 32000000};  // each sector by two requests, half of it each
  CHECK(bare_part(w, d, ir::Part::l2) == approx(4 * whole).epsilon(1e-9));
  written.store = {250000, 1100000, 32000000};  // ends that lie across sectors: a tenth more, twice as many in part
  CHECK(bare_part(w, d, ir::Part::l2) == approx(1.3 * whole).epsilon(1e-9));
}
