// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions that the simulator does not have. Each is refused before the launch, with its opcode, its line and one
// reason that says what is missing; nothing is guessed. The list is that of docs/simulator.md, with the forms that
// compilers emit.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "profiler/simulator/machine/launch.h"
#include "profiler/simulator/ptx/ptx.h"

namespace tailor::simulator {
namespace {

struct RefusedForm {
  const char* instruction;
  const char* reason;
};
constexpr RefusedForm refused_forms[] = {
    {"vadd.u32.u32.u32 %r1, %r2.b1, %r3.h0;", "video instructions"},
    {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", "count on an mbarrier"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
     "count on an mbarrier"},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];",
     "cluster launch control"},
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;", "cluster launch control"},
    {"wgmma.fence.sync.aligned;", "products of four warps"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r1}, [%r1];", "only mma.sync"},
    {"tcgen05.fence::before_thread_sync;", "tensor memory"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
     "tensor maps"},
    {"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd1], %rd1;", "tensor maps"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1, %f2}];", "textures"},
    {"suld.b.2d.b32.trap %r1, [%rd1, {%r2, %r3}];", "surfaces"},
    {"multimem.red.global.add.f32 [%rd1], %f1;", "memory of several GPUs"},
    {"mov.b128 %q1, {%rd1, %rd1};", "in 128 bits"},
    {"alloca.u64 %rd1, 16;", "stacks that grow"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
     "{%f1,%f2,%f3,%f4}, "
     "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}, %r7, {0,0}, %r7, {0,0};",
     "shape or type of product"},
};

std::string refusal_of(const std::string& functions, const std::string& body) {
  const std::string text = fmt::format(
      ".version 8.7\n.target sm_100a\n.address_size 64\n{}\n.visible .entry k()\n{{\n.reg .b32 %r<9>;\n.reg .b64 "
      "%rd<9>;\n.reg .f32 %f<9>;\n.reg .pred %p<3>;\n.reg .b128 %q<3>;\n{}\nret;\n}}\n",
      functions, body);
  const PtxModule module = parse_ptx(text, "refused.ptx");
  return Program(module, entry_of(module, "k")).unsupported();
}

}  // namespace

TEST_CASE("what the simulator does not have is refused by name, with one reason") {
  for (const RefusedForm& form : refused_forms) {
    const std::string refusal = refusal_of("", form.instruction), opcode(form.instruction, 0, 4);
    CAPTURE(form.instruction);
    CHECK_MESSAGE(refusal.find(form.reason) != std::string::npos, refusal);
    CHECK_MESSAGE(refusal.starts_with(opcode), refusal);
    CHECK_MESSAGE(refusal.find("(line 12)") != std::string::npos, refusal);
  }
}

TEST_CASE("recursion and guarded calls are refused, through pointers too") {
  const std::string itself = ".func f()\n{\ncall.uni f, ();\nret;\n}\n";
  CHECK(refusal_of(itself, "call.uni f, ();").find("recursion") != std::string::npos);
  const std::string by_pointer =
      ".func f()\n{\n.reg .b64 %rd<3>;\nmov.u64 %rd1, f;\nP: .callprototype _ ();\ncall %rd1, (), P;\nret;\n}\n";
  CHECK(refusal_of(by_pointer, "call.uni f, ();").find("recursion") != std::string::npos);
  CHECK(refusal_of(".func f()\n{\nret;\n}\n", "@%p1 call.uni f, ();").find("guarded call") != std::string::npos);
}

}  // namespace tailor::simulator
