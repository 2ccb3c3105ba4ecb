// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Nothing of a compile is lost or mixed up: each field of a binary has a value of its own and comes back from the cache
// as it was, each thing that decides a compile changes its id, and what a compile says of spills, shared memory and
// instructions is what log and machine code say when they are read apart. Part of the suite `profiler`; only the last
// case needs a compiler.
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <vector>

#include "profiler/compile/cache.h"
#include "profiler/compile/compile.h"
#include "profiler/compile/cubin.h"
#include "profiler/compile/machine_code.h"
#include "profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// No two fields are equal, and none is what a new binary has.
ir::Binary distinct() {
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::unsupported;
  binary.source = {0x1111, 0x2222};
  binary.arch = "arch";
  binary.compiler = "compiler";
  binary.entry = "entry";
  binary.log = "log";
  binary.ptx = "ptx";
  binary.cubin = {std::byte{1}, std::byte{2}};
  binary.registers = 31;
  binary.spill_stores = 32;
  binary.spill_loads = 33;
  binary.local_bytes = 34;
  binary.static_shared = 35;
  binary.machine_instructions = 36;
  binary.loads_outstanding = 37;
  binary.compile_time = {38};
  return binary;
}

}  // namespace

TEST_CASE("every field of a binary comes back from the cache as it was") {
  const kernels::OwnFolder folder("fields");
  const BinaryCache cache{folder.path};
  const ir::Binary kept = distinct();
  REQUIRE(cache.keep(kept).empty());
  const std::optional<ir::Binary> found = cache.find(kept.source);
  REQUIRE(found);
  CHECK(found->outcome == kept.outcome);
  CHECK(found->source == kept.source);
  CHECK(found->arch == kept.arch);
  CHECK(found->compiler == kept.compiler);
  CHECK(found->entry == kept.entry);
  CHECK(found->log == kept.log);
  CHECK(found->ptx == kept.ptx);
  CHECK(found->cubin == kept.cubin);
  CHECK(found->registers == kept.registers);
  CHECK(found->spill_stores == kept.spill_stores);
  CHECK(found->spill_loads == kept.spill_loads);
  CHECK(found->local_bytes == kept.local_bytes);
  CHECK(found->static_shared == kept.static_shared);
  CHECK(found->machine_instructions == kept.machine_instructions);
  CHECK(found->loads_outstanding == kept.loads_outstanding);
  CHECK(found->compile_time == kept.compile_time);
  CHECK(found->cached);
  CHECK_FALSE(kept.cached);
}

TEST_CASE("everything that decides a compile is in its id, and nothing else") {
  Nvrtc api;
  api.major = 13;
  api.library_bytes = 1000;
  const CompileRequest plain{.cuda = "text", .entry = "entry", .arch = "sm_90"};
  const Id id = source_id(api, plain);
  std::set<std::string> ids{hex(id)};
  const std::vector<std::function<void(CompileRequest&)>> deciding{
      [](CompileRequest& r) { r.cuda = "other text"; },
      [](CompileRequest& r) { r.entry = "other"; },
      [](CompileRequest& r) { r.arch = "sm_80"; },
      [](CompileRequest& r) { r.arch = "sm_90a"; },
      [](CompileRequest& r) { r.line_info = false; },
      [](CompileRequest& r) { r.options = {"--use_fast_math"}; },
      [](CompileRequest& r) { r.options = {"--fmad=false"}; }};
  for (const auto& change : deciding) {
    CompileRequest request = plain;
    change(request);
    ids.insert(hex(source_id(api, request)));
  }
  for (const auto& [major, minor, bytes] :
       {std::tuple(12, 0, 1000u), std::tuple(13, 1, 1000u), std::tuple(13, 0, 1001u)}) {
    Nvrtc other = api;
    other.major = major, other.minor = minor, other.library_bytes = bytes;
    ids.insert(hex(source_id(other, plain)));
  }
  CHECK(ids.size() == 1 + deciding.size() + 3);
  Nvrtc elsewhere = api;  // the same compiler on another machine
  elsewhere.library = "/another/folder";
  elsewhere.include_folders = {"/another/include"};
  CHECK(source_id(elsewhere, plain) == id);
}

TEST_CASE("a binary's figures are those of the log and of the machine code, each of its own") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  // Values that are written once and read twice: more is loaded back than stored.
  const std::string text = R"(
extern "C" __global__ void __maxnreg__(24) twice(const float* a, float* b) {
  __shared__ float tile[64];
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; i++) v[i] = a[threadIdx.x + i * 1024];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; i++) b[threadIdx.x + i * 1024] = v[i] * v[(i + 31) % 64] + v[(i + 47) % 64];
  tile[threadIdx.x % 64] = v[0];
  __syncthreads();
  b[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
})";
  const ir::Binary binary = compile(*api, {.cuda = text, .entry = "twice"});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  CHECK(binary.spill_stores > 0);
  CHECK(binary.spill_loads > binary.spill_stores);
  CHECK(binary.registers <= 24);
  CHECK(binary.static_shared == 256);
  const std::vector<CubinKernel> read = read_cubin(binary.cubin);
  REQUIRE(read.size() == 1);
  const MachineCode code = read_machine_code(read[0].code, 90);
  CHECK(binary.machine_instructions == code.instructions);
  CHECK(binary.loads_outstanding == code.loads_outstanding);
  CHECK(code.instructions != code.loads_outstanding);
  CHECK(binary.local_bytes == read[0].stack_bytes);
  CHECK(binary.arch == "sm_90");
  CHECK(binary.entry == "twice");
}
