// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiling through NVRTC: registers, shared memory and spills read from the machine code agree with what the
// assembler logs, and a text that does not compile is an outcome with its line and no exception. Texts with known
// costs come from profiler/kernels.h. Part of the suite `profiler`; skipped without NVRTC.
#include "profiler/compile/compile.h"

#include <doctest/doctest.h>

#include <string_view>

#include "base/error.h"
#include "profiler/compile/cubin.h"
#include "profiler/kernels.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::profiler;
using ir::CompileOutcome;

namespace {

/// What the assembler logs of a text, as NVRTC gives it: compile() keeps only the words that are no figures.
std::string assembler_log(const Nvrtc& api, const std::string& text, const std::string& arch) {
  nvrtc_abi::Program program = nullptr;
  const std::string target = "--gpu-architecture=" + arch;
  const char* options[] = {target.c_str(), "-default-device", "--std=c++17", "--ptxas-options=-v"};
  REQUIRE(api.nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) == nvrtc_abi::success);
  REQUIRE(api.nvrtcCompileProgram(program, 4, options) == nvrtc_abi::success);
  std::size_t size = 0;
  REQUIRE(api.nvrtcGetProgramLogSize(program, &size) == nvrtc_abi::success);
  std::string log(size, '\0');
  REQUIRE(api.nvrtcGetProgramLog(program, log.data()) == nvrtc_abi::success);
  api.nvrtcDestroyProgram(&program);
  return log;
}

}  // namespace

TEST_CASE("a kernel compiles for every architecture the compiler knows, with registers both sources agree on") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  // The first and the last at least: they differ in most.
  const std::size_t step = testing::effort<std::size_t>(std::max<std::size_t>(api->archs.size() - 1, 1), 1);
  for (std::size_t i = 0; i < api->archs.size(); i += step) {
    const int arch = api->archs[i];
    CAPTURE(arch);
    const ir::Binary binary =
        compile(*api, {.cuda = kernels::scaled(3), .entry = "scaled", .arch = fmt::format("sm_{}", arch)});
    REQUIRE_MESSAGE(binary.outcome == CompileOutcome::ok, binary.log);
    CHECK(binary.log == "");
    const AssemblerFigures logged = assembler_figures(assembler_log(*api, kernels::scaled(3), binary.arch), "scaled");
    REQUIRE(logged.found);
    CHECK(binary.registers == logged.registers);
    CHECK(binary.registers >= 4);
    CHECK(binary.registers <= 32);
    CHECK(binary.spill_stores == 0);
    CHECK(binary.static_shared == 0);
    CHECK(binary.ptx.find(fmt::format(".target sm_{}", arch)) != std::string::npos);
    CHECK(binary.ptx.find(".visible .entry scaled(") != std::string::npos);
    CHECK(binary.compile_time.value > 0);
  }
}

TEST_CASE("shared memory, stack and spills read from the cubin and the log agree" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  struct Row {
    std::string text, entry;
    int shared, stack;
    bool spills;
  };
  int number = -1;
  for (const Row& row :
       {Row{kernels::reversed, "reversed", 1024, 0, false}, Row{kernels::stacked, "stacked", 0, 400, false},
        Row{kernels::spilled, "spilled", 0, -1, true}}) {
    ++number;
    for (const char* arch : {"sm_80", "sm_90"}) {
      const bool later = std::string_view(arch) == "sm_90";
      if (!testing::thorough() && later != (number % 2 == 0)) continue;  // each text for one of them, by turns
      CAPTURE(row.entry);
      CAPTURE(arch);
      const ir::Binary binary = compile(*api, {.cuda = row.text, .entry = row.entry, .arch = arch});
      REQUIRE_MESSAGE(binary.outcome == CompileOutcome::ok, binary.log);
      CHECK(binary.static_shared == row.shared);
      if (row.stack >= 0) CHECK(binary.local_bytes == row.stack);
      CHECK((binary.spill_stores > 0) == row.spills);
      CHECK((binary.spill_loads > 0) == row.spills);
      if (row.spills) CHECK(binary.registers <= 32);
      if (row.spills) CHECK(binary.local_bytes >= binary.spill_stores / 2);

      const AssemblerFigures logged = assembler_figures(assembler_log(*api, row.text, arch), row.entry);
      REQUIRE(logged.found);
      const std::vector<CubinKernel> read = read_cubin(binary.cubin);
      REQUIRE(read.size() == 1);
      CHECK(read[0].name == row.entry);
      CHECK(read[0].registers == logged.registers);
      CHECK(read[0].frame_bytes == logged.frame_bytes);
      CHECK(read[0].stack_bytes == binary.local_bytes);
      // From sm_90 on the system keeps 1 KB of each block's shared memory.
      CHECK(read[0].shared_section - (read[0].reserves_shared ? 1024 : 0) == binary.static_shared);
    }
  }
}

TEST_CASE("the assembler's log is read for the right kernel among several") {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'one' for 'sm_90'\n"
      "ptxas info    : Function properties for one\n"
      "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Function properties for helper\n"
      "    99 bytes stack frame, 98 bytes spill stores, 97 bytes spill loads\n"
      "ptxas info    : Used 31 registers, used 1 barriers, 16 bytes cumulative stack size, 2048 bytes smem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
      "ptxas info    : Function properties for other\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 7 registers, used 0 barriers\n";
  const AssemblerFigures one = assembler_figures(log, "one"), other = assembler_figures(log, "other");
  CHECK(one.found);
  CHECK(one.registers == 31);
  CHECK(one.frame_bytes == 16);
  CHECK(one.spill_stores == 8);
  CHECK(one.spill_loads == 4);
  CHECK(one.static_shared == 2048);
  CHECK(other.registers == 7);
  CHECK(other.static_shared == 0);
  CHECK_FALSE(assembler_figures(log, "absent").found);
}

TEST_CASE("each kernel of a text with two has its own figures, and no name is then ambiguous") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const std::string text =
      kernels::reversed + "__noinline__ float twice(float x) { return x * 2.0f + 1.0f; }\n" +
      "extern \"C\" __global__ void called(float* a) { a[threadIdx.x] = twice(a[threadIdx.x]); }\n";
  const ir::Binary called = compile(*api, {.cuda = text, .entry = "called"});
  const ir::Binary reversed = compile(*api, {.cuda = text, .entry = "reversed"});
  REQUIRE_MESSAGE(called.outcome == CompileOutcome::ok, called.log);
  REQUIRE(reversed.outcome == CompileOutcome::ok);
  CHECK(reversed.static_shared == 1024);
  CHECK(called.static_shared == 0);
  const ir::Binary unnamed = compile(*api, {.cuda = text});
  CHECK(unnamed.outcome == CompileOutcome::failed);
  CHECK(unnamed.log.find("called") != std::string::npos);
}

TEST_CASE("half types and cooperative groups compile with the headers that were found") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  if (!api->headers_reason.empty()) return skip(api->headers_reason);
  // Cooperative groups bring half of the C++ library along.
  const std::string text = std::string(testing::broad() ? "#include <cooperative_groups.h>\n" : "") +
                           "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                           "extern \"C\" __global__ void halves(const __half* a, __nv_bfloat16* b) {\n"
                           "  b[threadIdx.x] = __float2bfloat16(__half2float(a[threadIdx.x]));\n}\n";
  const ir::Binary binary = compile(*api, {.cuda = text});
  CHECK_MESSAGE(binary.outcome == CompileOutcome::ok, binary.log);
  CHECK(binary.entry == "halves");
}

TEST_CASE("text that does not compile is an outcome with the compiler's words and line") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Binary binary = compile(*api, {.cuda = "extern \"C\" __global__ void k() {\n  no_such_thing = 1;\n}\n"});
  CHECK(binary.outcome == CompileOutcome::failed);
  CHECK(binary.log.find("kernel.cu(2)") != std::string::npos);
  CHECK(binary.log.find("no_such_thing") != std::string::npos);
  CHECK(binary.cubin.empty());
  CHECK(is_final(binary));
}

TEST_CASE("an option the compiler does not know is a failure that names it") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Binary binary = compile(*api, {.cuda = kernels::scaled(1), .options = {"--no-such-option"}});
  CHECK(binary.outcome == CompileOutcome::failed);
  CHECK(binary.log.find("no-such-option") != std::string::npos);
}

TEST_CASE("an architecture the compiler does not know is unsupported and names those it knows") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Binary old = compile(*api, {.cuda = kernels::scaled(1), .arch = "sm_20"});
  CHECK(old.outcome == CompileOutcome::unsupported);
  CHECK(old.log.find("sm_90") != std::string::npos);
  CHECK(old.log.find("nvidia-cuda-nvrtc-cu12") != std::string::npos);
  const ir::Binary future = compile(*api, {.cuda = kernels::scaled(1), .arch = "sm_999"});
  CHECK(future.outcome == CompileOutcome::unsupported);
  CHECK_THROWS_AS(compile(*api, {.cuda = kernels::scaled(1), .arch = "compute_90"}), Error);
  CHECK_THROWS_AS(compile(*api, {.cuda = kernels::scaled(1), .arch = "sm_"}), Error);
}

TEST_CASE("line information changes the machine code and not the registers") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Binary plain = compile(*api, {.cuda = kernels::reversed, .line_info = false});
  const ir::Binary lines = compile(*api, {.cuda = kernels::reversed, .line_info = true});
  CHECK(lines.cubin.size() > plain.cubin.size());
  CHECK(lines.registers == plain.registers);
  CHECK(lines.source != plain.source);
}

TEST_CASE("a compile asked to stop ends without an answer that is kept") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  if (api->nvrtcSetFlowCallback == nullptr) return skip("this NVRTC cannot be interrupted");
  std::stop_source stop;
  stop.request_stop();
  const ir::Binary binary = compile(*api, {.cuda = kernels::spilled}, stop.get_token());
  CHECK(binary.outcome == CompileOutcome::failed);
  CHECK(binary.log == "interrupted while it was compiled\n");
  CHECK_FALSE(is_final(binary));
}
