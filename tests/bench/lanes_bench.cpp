// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Nanoseconds per warp instruction of representative lane handlers, for every instruction set this machine can run:
// with all lanes active and with half of them. The operands are ordinary numbers, a third
// integer the same in all lanes (selectors, positions); chains do not depend on each other.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>

#include "profiler/simulator/decode/opcode.h"

using namespace tailor::simulator;

namespace {

constexpr std::uint32_t slot_bytes = 256;

struct Bench {
  alignas(128) std::byte bytes[8 * slot_bytes] = {};
  Slot lists[1] = {3 * slot_bytes};
  Warp warp;
  Micro micro;
};

void fill(Bench& bench, Slot slot, LaneType type, int operand) {
  for (int lane = 0; lane < lanes_per_warp; ++lane) {
    const double real = 1.25 + lane / 8.0 + operand;
    const auto single = static_cast<float>(real);
    std::uint64_t bits = 0x0102030405060710u + static_cast<unsigned>(operand == 2 ? 0 : lane * (operand + 3));
    if (type == LaneType::f32) std::memcpy(&bits, &single, 4);
    if (type == LaneType::f64) std::memcpy(&bits, &real, 8);
    if (type == LaneType::f16 || type == LaneType::f16x2) bits = 0x3e003c00u + static_cast<unsigned>(lane);
    if (type == LaneType::bf16 || type == LaneType::bf16x2) bits = 0x3fc03f80u + static_cast<unsigned>(lane);
    if (type == LaneType::pred) bits = lane % 3 == 0 ? ~0u : 0;
    const std::size_t size = slot_bits(type) == 64 ? 8 : 4;
    std::memcpy(bench.bytes + slot + size * static_cast<std::size_t>(lane), &bits, size);
  }
}

void run(benchmark::State& state, const LaneTable* table, const LaneOpcode* opcode, bool some) {
  Bench bench;
  for (std::byte*& bank : bench.warp.bank) bank = bench.bytes;
  bench.warp.lists = bench.lists;
  bench.warp.active = some ? 0xffff : all_lanes;
  for (int lane = 0; lane < lanes_per_warp; ++lane) bench.warp.lanes[lane] = some && lane >= 16 ? 0 : ~0u;
  for (int k = 0; k < opcode->source_count; ++k) {
    fill(bench, static_cast<Slot>(k) * slot_bytes, opcode->sources[static_cast<std::size_t>(k)], k);
  }
  bench.micro.a = 0, bench.micro.b = slot_bytes, bench.micro.c = 2 * slot_bytes, bench.micro.d = 4 * slot_bytes;
  bench.micro.extra = 0x96;
  const Step step = table->lane[opcode->handler][some];
  for (auto _ : state) {
    step(bench.warp, bench.micro);
    benchmark::ClobberMemory();
  }
}

}  // namespace

int main(int count, char** arguments) {
  for (const std::string_view name : lane_table_names()) {
    for (const char* text :
         {"add.f32",         "fma.rn.f32",         "fma.rm.f32",        "min.NaN.f32",      "mad.lo.s32",
          "mul.hi.u32",      "mul.wide.u32",       "add.s64",           "mul.lo.s64",       "shl.b32",
          "lop3.b32",        "prmt.b32",           "bfe.u32",           "div.s32",          "setp.lt.f32",
          "setp.lt.s64",     "selp.f32",           "cvt.f32.f16",       "cvt.rn.f16.f32",   "cvt.rn.f16x2.f32",
          "cvt.f32.bf16",    "cvt.rn.bf16.f32",    "cvt.rn.bf16x2.f32", "cvt.rni.s32.f32",  "cvt.rzi.u32.f32",
          "cvt.rn.f32.s32",  "cvt.rni.sat.s8.f32", "cvt.u64.u32",       "cvt.s64.s32",      "add.f16",
          "fma.rn.f16",      "add.f16x2",          "fma.rn.f16x2",      "add.bf16x2",       "fma.rn.bf16x2",
          "fma.rn.bf16",     "max.NaN.bf16x2",     "setp.lt.f16",       "ex2.approx.f32",   "ex2.approx.f16x2",
          "lg2.approx.f32",  "sin.approx.f32",     "tanh.approx.f32",   "rsqrt.approx.f32", "rcp.approx.f32",
          "sqrt.approx.f32", "div.full.f32",       "fma.rn.f64",        "div.rn.f64",       "add.cc.u32",
          "mov.b64"}) {
      const LaneMatch match = find_lane_opcode(text).value();
      for (const bool some : {false, true}) {
        benchmark::RegisterBenchmark(fmt::format("{}/{}{}", name, text, some ? "/some" : "").c_str(), run,
                                     lane_table(name), match.row, some);
      }
    }
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
