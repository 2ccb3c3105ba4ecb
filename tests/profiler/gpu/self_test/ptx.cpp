// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The PTX of the self-test's kernels, by hand. Most kernels stand in a text for an old PTX version and target, so that
// every GPU's driver takes it. The assertion that fails has a text of its own, and so have clusters, which need a
// newer target and are loaded only where the GPU has them.
#include "profiler/gpu/self_test/kernels.h"

namespace tailor::tests {

const std::string_view plain_kernels = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<1>;
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  .reg .f32 %f<3>;
  ld.param.u64 %d0, [a];
  ld.param.u64 %d1, [b];
  ld.param.u64 %d2, [out];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 bra done;
  mul.wide.u32 %d3, %r4, 4;
  add.u64 %d0, %d0, %d3;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.f32 %f0, [%d0];
  ld.global.f32 %f1, [%d1];
  add.f32 %f2, %f0, %f1;
  st.global.f32 [%d2], %f2;
done:
  ret;
}

.visible .entry copy16(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<1>;
  .reg .b32 %r<9>;
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 bra done;
  mul.wide.u32 %d2, %r4, 16;
  add.u64 %d0, %d0, %d2;
  add.u64 %d1, %d1, %d2;
  ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d0];
  st.global.v4.u32 [%d1], {%r5, %r6, %r7, %r8};
done:
  ret;
}

.visible .entry empty()
{
  ret;
}

.visible .entry poke(.param .u64 at, .param .u64 offset)
{
  .reg .b32 %r<1>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [at];
  ld.param.u64 %d1, [offset];
  add.u64 %d0, %d0, %d1;
  ld.global.u8 %r0, [%d0];
  xor.b32 %r0, %r0, 255;
  st.global.u8 [%d0], %r0;
  ret;
}

.visible .entry endless(.param .u64 at)
{
  .reg .b32 %r<1>;
  .reg .b64 %d<1>;
  ld.param.u64 %d0, [at];
again:
  ld.volatile.global.u32 %r0, [%d0];
  add.u32 %r0, %r0, 1;
  st.volatile.global.u32 [%d0], %r0;
  bra again;
}

.visible .entry trapping()
{
  trap;
}

.visible .entry wild()
{
  .reg .b32 %r<1>;
  .reg .b64 %d<1>;
  mov.u64 %d0, 4096;
  mov.u32 %r0, 1;
  st.global.u32 [%d0], %r0;
  ret;
}

.visible .entry crooked(.param .u64 at)
{
  .reg .b32 %r<1>;
  .reg .b64 %d<1>;
  ld.param.u64 %d0, [at];
  mov.u32 %r0, 1;
  st.global.u32 [%d0+2], %r0;
  ret;
}

.extern .shared .align 16 .b8 room[];

.visible .entry farthest(.param .u64 out, .param .u32 bytes)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %d<1>;
  ld.param.u64 %d0, [out];
  ld.param.u32 %r0, [bytes];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, room;
  add.u32 %r2, %r2, %r0;
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra written;
  add.u32 %r3, %r0, 7;
  st.shared.u32 [%r2+-4], %r3;
written:
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 33;
  @%p1 bra done;
  ld.shared.u32 %r4, [%r2+-4];
  st.global.u32 [%d0], %r4;
done:
  ret;
}

.visible .entry meet(.param .u64 cells, .param .u64 counter, .param .u64 out, .param .u32 blocks)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %d<7>;
  ld.param.u64 %d0, [cells];
  ld.param.u64 %d1, [counter];
  ld.param.u64 %d2, [out];
  ld.param.u32 %r0, [blocks];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra done;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 7, 1;
  mul.wide.u32 %d3, %r2, 4;
  add.u64 %d4, %d0, %d3;
  st.global.u32 [%d4], %r3;
  atom.acq_rel.gpu.global.add.u32 %r4, [%d1], 1;
wait:
  ld.acquire.gpu.global.u32 %r5, [%d1];
  setp.lt.u32 %p1, %r5, %r0;
  @%p1 bra wait;
  add.u32 %r6, %r2, 1;
  rem.u32 %r6, %r6, %r0;
  mul.wide.u32 %d5, %r6, 4;
  add.u64 %d5, %d0, %d5;
  ld.global.u32 %r7, [%d5];
  add.u64 %d6, %d2, %d3;
  st.global.u32 [%d6], %r7;
done:
  ret;
}
)";

const std::string_view asserting_kernels = R"(.version 7.0
.target sm_70
.address_size 64

.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);

.global .align 1 .b8 claim[5] = {116, 114, 117, 101, 0};
.global .align 1 .b8 place[5] = {116, 101, 115, 116, 0};

.visible .entry failing()
{
  .reg .b64 %d<5>;
  .reg .b32 %r<1>;
  mov.u64 %d0, claim;
  cvta.global.u64 %d1, %d0;
  mov.u64 %d2, place;
  cvta.global.u64 %d3, %d2;
  mov.u64 %d4, 1;
  mov.u32 %r0, 7;
  {
  .param .b64 p0;
  st.param.b64 [p0], %d1;
  .param .b64 p1;
  st.param.b64 [p1], %d3;
  .param .b32 p2;
  st.param.b32 [p2], %r0;
  .param .b64 p3;
  st.param.b64 [p3], %d3;
  .param .b64 p4;
  st.param.b64 [p4], %d4;
  call.uni __assertfail, (p0, p1, p2, p3, p4);
  }
  ret;
}
)";

const std::string_view cluster_kernels = R"(.version 7.8
.target sm_90
.address_size 64

.visible .entry exchange(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %d<2>;
  .shared .align 4 .b8 cell[4];
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %cluster_ctarank;
  mov.u32 %r1, %cluster_nctarank;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 3, 5;
  mov.u32 %r4, cell;
  st.shared.u32 [%r4], %r3;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  add.u32 %r5, %r0, 1;
  rem.u32 %r5, %r5, %r1;
  mapa.shared::cluster.u32 %r6, %r4, %r5;
  ld.shared::cluster.u32 %r7, [%r6];
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  mul.wide.u32 %d1, %r2, 4;
  add.u64 %d0, %d0, %d1;
  st.global.u32 [%d0], %r7;
  ret;
}
)";

}  // namespace tailor::tests
