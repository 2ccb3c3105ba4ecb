// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of XLA's judged by a sample of their blocks, on digests written here: one that is right matches and says how
// much of it was judged, one that is wrong in every block, or reads another row, does not, and what no sample can judge
// is named. And constants of a module that a kernel is given: they keep their values. Part of the suite `profiler`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "profiler/xla/shipped.h"
#include "profiler/xla/xla_case.h"
#include "profiler/xla/xla_check.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

struct SampleFolder {
  fs::path path;
  explicit SampleFolder(const std::string& name)
      : path(fs::temp_directory_path() / fmt::format("tailor_sample_{}_{}", name, ::getpid())) {
    fs::remove_all(path);
    fs::create_directories(path / "ptx" / "big.h200.notriton");
  }
  ~SampleFolder() { fs::remove_all(path); }
};

/// 32,768 rows of 64, a block of 256 threads to four rows: y = x + b, b for each column.
constexpr std::string_view rows_hlo = R"(HloModule big

%fused_add (p0: f32[32768,64], p1: f32[64]) -> f32[32768,64] {
  %p0 = f32[32768,64]{1,0} parameter(0)
  %p1 = f32[64]{0} parameter(1)
  %b = f32[32768,64]{1,0} broadcast(%p1), dimensions={1}
  ROOT %sum = f32[32768,64]{1,0} add(%p0, %b)
}

ENTRY %main (x: f32[32768,64], b: f32[64]) -> f32[32768,64] {
  %x = f32[32768,64]{1,0} parameter(0)
  %b = f32[64]{0} parameter(1)
  ROOT %loop_add_fusion = f32[32768,64]{1,0} fusion(%x, %b), kind=kLoop, calls=%fused_add
}
)";

/// The same sums, of all rows: a result for each column.
constexpr std::string_view columns_hlo = R"(HloModule big

%add (a: f32[], c: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %c = f32[] parameter(1)
  ROOT %r = f32[] add(%a, %c)
}

%fused_add (p0: f32[32768,64], p1: f32[64]) -> f32[] {
  %p0 = f32[32768,64]{1,0} parameter(0)
  %p1 = f32[64]{0} parameter(1)
  %b = f32[32768,64]{1,0} broadcast(%p1), dimensions={1}
  %sum = f32[32768,64]{1,0} add(%p0, %b)
  %zero = f32[] constant(0)
  ROOT %all = f32[] reduce(%sum, %zero), dimensions={0,1}, to_apply=%add
}

ENTRY %main (x: f32[32768,64], b: f32[64]) -> f32[] {
  %x = f32[32768,64]{1,0} parameter(0)
  %b = f32[64]{0} parameter(1)
  ROOT %loop_add_fusion = f32[] fusion(%x, %b), kind=kInput, calls=%fused_add
}
)";

constexpr std::string_view rows_ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry loop_add_fusion(.param .u64 x, .param .u64 b, .param .u64 y)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<12>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 256, %r2;
  and.b32 %r4, %r2, 63;
  mul.wide.u32 %rd4, %r3, 4;
  mul.wide.u32 %rd5, %r4, 4;
  add.s64 %rd6, %rd1, %rd4;
  add.s64 %rd7, %rd2, %rd5;
  add.s64 %rd8, %rd3, %rd4;
  ld.global.nc.f32 %f1, [%rd6];
  ld.global.nc.f32 %f2, [%rd7];
  add.rn.f32 %f3, %f1, %f2;
  st.global.f32 [%rd8], %f3;
  ret;
}
)";

XlaCheck sampled(std::string_view hlo, std::string_view from, std::string_view to, std::int64_t blocks = 24) {
  const SampleFolder folder("digest");
  std::string ptx(rows_ptx);
  const std::size_t at = ptx.find(from);
  REQUIRE(at != ptx.npos);
  ptx.replace(at, from.size(), to);
  write_file(folder.path / "big.h200.notriton.json",
             R"({"kernels":[{"name":"loop_add_fusion","launches":[{"thunk":"Kernel","entry":"loop_add_fusion",)"
             R"("grid":[8192,1,1],"block":[256,1,1],"smem":0}]}]})");
  write_file(folder.path / "big.h200.notriton.optimized.hlo", std::string(hlo));
  write_file(folder.path / "ptx" / "big.h200.notriton" / "loop_add_fusion.ptx", ptx);
  const XlaModule module = read_xla(choose_module(xla_modules(folder.path), ""));
  XlaCheckOptions options;
  options.most_elements = 1'000'000;
  options.sample_blocks = blocks;
  REQUIRE(module.kernels.size() == 1);
  return check(module, module.kernels[0], options);
}

}  // namespace

TEST_CASE("a sample of a right kernel matches, says how much it judged, and counts for all blocks") {
  const XlaCheck found = sampled(rows_hlo, "ret;", "ret;");
  CHECK_MESSAGE(found.outcome == XlaOutcome::matched, found.reason);
  CHECK(found.executed);
  CHECK(found.simulation.blocks_total == 8192);
  CHECK(found.simulation.blocks_run >= 10);
  CHECK(found.simulation.blocks_run <= 24);
  CHECK(found.results == found.simulation.blocks_run * 256);
  CHECK(found.reason.find(fmt::format("{} of 8,192 blocks ran", found.simulation.blocks_run)) != std::string::npos);
  CHECK(found.simulation.counters.global_store_bytes == 32768 * 64 * 4);
  CHECK(found.simulation.counters.global_store_sectors == 32768 * 64 / 8);
  CHECK(found.simulation.counters.lane_instructions > 0);
}

TEST_CASE("a sample of a wrong kernel is told from a right one") {
  CHECK(sampled(rows_hlo, "add.rn.f32", "sub.rn.f32").outcome == XlaOutcome::differs);
  CHECK(sampled(rows_hlo, "and.b32 %r4, %r2, 63", "and.b32 %r4, %r2, 31").outcome == XlaOutcome::differs);
  CHECK(sampled(rows_hlo, "ld.global.nc.f32 %f1, [%rd6]", "ld.global.nc.f32 %f1, [%rd6+256]").outcome !=
        XlaOutcome::matched);
  CHECK(sampled(rows_hlo, "st.global.f32 [%rd8], %f3;", "").outcome != XlaOutcome::matched);
  CHECK(sampled(rows_hlo, "st.global.f32 [%rd8]", "st.global.f32 [%rd8+33554432]").outcome == XlaOutcome::findings);
}

TEST_CASE("what no sample can judge is named and left out") {
  const XlaCheck adds = sampled(rows_hlo, "st.global.f32", "red.global.add.f32");
  CHECK(adds.outcome == XlaOutcome::too_large);
  CHECK_FALSE(adds.executed);
  CHECK(adds.reason.find("by atomics") != std::string::npos);
  const XlaCheck all_rows = sampled(columns_hlo, "ret;", "ret;");
  CHECK(all_rows.outcome == XlaOutcome::too_large);
  CHECK_MESSAGE(all_rows.reason.find("needs all of them") != std::string::npos, all_rows.reason);
  CHECK(sampled(rows_hlo, "ret;", "ret;", 0).reason.find("the limit is 1,000,000") != std::string::npos);
}

TEST_CASE("a constant that a kernel is given keeps its values") {
  const SampleFolder folder("constant");
  for (const auto& file : fs::directory_iterator(shipped))
    fs::copy_file(file.path(), folder.path / file.path().filename());
  fs::remove_all(folder.path / "ptx");
  std::string values, hlo = read_file(choose_module(xla_modules(folder.path), "").hlo.string());
  for (int row = 0; row < 2; ++row) {
    values += row == 0 ? "{" : ", {";
    for (int i = 0; i < 32; ++i) values += fmt::format("{}{}", i == 0 ? "" : ", ", row * 32 + i + 0.5);
    values += "}";
  }
  const auto replace = [&hlo](std::string_view from, const std::string& to) {
    REQUIRE(hlo.find(from) != hlo.npos);
    hlo.replace(hlo.find(from), from.size(), to);
  };
  replace("  %input_reduce_fusion.1 = ", "  %known = f32[2,32]{1,0} constant({ " + values +
                                             " })\n  %seen = f32[64]{0} bitcast(%known)\n  %input_reduce_fusion.1 = ");
  replace("fusion(%shift, %scale,", "fusion(%seen, %scale,");
  write_file(choose_module(xla_modules(folder.path), "").hlo, hlo);
  const XlaModule module = read_xla(choose_module(xla_modules(folder.path), ""));
  const XlaKernel& kernel = kernel_named(module, "loop_add_fusion");
  for (const std::uint64_t seed : {1, 2}) {
    const auto made = xla_case(module, kernel, seed, 0);
    REQUIRE(std::holds_alternative<XlaCase>(made));
    const reference::Tensor& given = std::get<XlaCase>(made).inputs[0];
    REQUIRE(given.bytes.size() == 64 * sizeof(float));
    for (std::size_t i = 0; i < 64; ++i) {
      float value = 0;
      std::memcpy(&value, given.bytes.data() + i * sizeof(float), sizeof(float));
      CHECK(value == static_cast<float>(i) + 0.5f);
    }
    XlaCheckOptions options;
    options.seed = seed;
    CHECK(check(module, kernel, options).outcome == XlaOutcome::matched);
  }
}
