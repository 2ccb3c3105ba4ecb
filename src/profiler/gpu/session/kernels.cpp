// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The PTX text of Tailor's own kernels. In: nothing. Out: one module as text. Accesses of touch and sweep are volatile,
// or the assembler could drop a store of what was just loaded, and loads that nobody uses. The digest adds one mixed
// word per 8 bytes, so any change of a buffer changes its sums, but for chance.
#include "profiler/gpu/session/kernels.h"

namespace tailor::gpu {

std::string_view own_kernels() {
  return R"(.version 6.0
.target sm_50
.address_size 64

.visible .entry tailor_touch(.param .u64 address, .param .u64 words)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [address];
  ld.param.u64 %d1, [words];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d2, %r0, %r1;
  cvt.u64.u32 %d3, %r2;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r3, %r1;
again:
  setp.ge.u64 %p0, %d2, %d1;
  @%p0 bra done;
  shl.b64 %d5, %d2, 4;
  add.u64 %d6, %d0, %d5;
  ld.volatile.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d6];
  st.volatile.global.v4.u32 [%d6], {%r4, %r5, %r6, %r7};
  add.u64 %d2, %d2, %d4;
  bra again;
done:
  ret;
}

.visible .entry tailor_sweep(.param .u64 address, .param .u64 words)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [address];
  ld.param.u64 %d1, [words];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d2, %r0, %r1;
  cvt.u64.u32 %d3, %r2;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r3, %r1;
again:
  setp.ge.u64 %p0, %d2, %d1;
  @%p0 bra done;
  shl.b64 %d5, %d2, 4;
  add.u64 %d6, %d0, %d5;
  ld.volatile.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d6];
  add.u64 %d2, %d2, %d4;
  bra again;
done:
  ret;
}

.visible .entry tailor_generate(.param .u64 address, .param .u64 words, .param .u32 counted)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [address];
  ld.param.u64 %d1, [words];
  ld.param.u32 %r4, [counted];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d2, %r0, %r1;
  cvt.u64.u32 %d3, %r2;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r3, %r1;
  setp.ne.u32 %p1, %r4, 0;
again:
  setp.ge.u64 %p0, %d2, %d1;
  @%p0 bra done;
  cvt.u32.u64 %r5, %d2;
  mul.lo.u32 %r6, %r5, -1640531535;
  shr.u32 %r7, %r6, 15;
  xor.b32 %r6, %r6, %r7;
  shr.u32 %r7, %r6, 13;
  mul.lo.u32 %r6, %r6, -2048144777;
  xor.b32 %r6, %r6, %r7;
  selp.b32 %r6, %r5, %r6, %p1;
  shl.b64 %d5, %d2, 2;
  add.u64 %d6, %d0, %d5;
  st.global.u32 [%d6], %r6;
  add.u64 %d2, %d2, %d4;
  bra again;
done:
  ret;
}

.visible .entry tailor_differ(.param .u64 address, .param .u64 words, .param .u32 counted, .param .u64 count)
{
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %d<10>;
  ld.param.u64 %d7, [count];
  cvta.to.global.u64 %d7, %d7;
  mov.u64 %d8, 0;
  ld.param.u64 %d0, [address];
  ld.param.u64 %d1, [words];
  ld.param.u32 %r4, [counted];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d2, %r0, %r1;
  cvt.u64.u32 %d3, %r2;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r3, %r1;
  setp.ne.u32 %p1, %r4, 0;
again:
  setp.ge.u64 %p0, %d2, %d1;
  @%p0 bra done;
  cvt.u32.u64 %r5, %d2;
  mul.lo.u32 %r6, %r5, -1640531535;
  shr.u32 %r7, %r6, 15;
  xor.b32 %r6, %r6, %r7;
  shr.u32 %r7, %r6, 13;
  mul.lo.u32 %r6, %r6, -2048144777;
  xor.b32 %r6, %r6, %r7;
  selp.b32 %r6, %r5, %r6, %p1;
  shl.b64 %d5, %d2, 2;
  add.u64 %d6, %d0, %d5;
  ld.global.u32 %r8, [%d6];
  setp.ne.u32 %p2, %r8, %r6;
  @%p2 add.u64 %d8, %d8, 1;
  add.u64 %d2, %d2, %d4;
  bra again;
done:
  setp.ne.u64 %p3, %d8, 0;
  @%p3 red.global.add.u64 [%d7], %d8;
  ret;
}

.visible .entry tailor_digest(.param .u64 address, .param .u64 words, .param .u64 sums)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %d<16>;
  ld.param.u64 %d0, [address];
  ld.param.u64 %d1, [words];
  ld.param.u64 %d2, [sums];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d3, %r0, 8192;
  add.u64 %d4, %d3, 8192;
  min.u64 %d4, %d4, %d1;
  cvt.u64.u32 %d5, %r2;
  add.u64 %d5, %d5, %d3;
  cvt.u64.u32 %d6, %r1;
  mov.u64 %d7, 0;
again:
  setp.ge.u64 %p0, %d5, %d4;
  @%p0 bra done;
  shl.b64 %d8, %d5, 3;
  add.u64 %d8, %d0, %d8;
  ld.global.u64 %d9, [%d8];
  mul.lo.u64 %d10, %d5, -7046029254386353131;
  xor.b64 %d9, %d9, %d10;
  shr.u64 %d10, %d9, 32;
  xor.b64 %d9, %d9, %d10;
  mul.lo.u64 %d9, %d9, -4658895280553007687;
  shr.u64 %d10, %d9, 29;
  xor.b64 %d9, %d9, %d10;
  mul.lo.u64 %d9, %d9, -7723592293110705685;
  shr.u64 %d10, %d9, 32;
  xor.b64 %d9, %d9, %d10;
  add.u64 %d7, %d7, %d9;
  add.u64 %d5, %d5, %d6;
  bra again;
done:
  mul.wide.u32 %d11, %r0, 8;
  add.u64 %d11, %d2, %d11;
  red.global.add.u64 [%d11], %d7;
  ret;
}

.visible .entry tailor_clock(.param .u64 address)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [address];
  cvta.to.global.u64 %d0, %d0;
  mov.u64 %d1, %clock64;
  mov.u64 %d2, %globaltimer;
  mov.u32 %r0, %smid;
  mov.u32 %r1, 0;
  st.global.u64 [%d0], %d1;
  st.global.u64 [%d0+8], %d2;
  st.global.u32 [%d0+16], %r0;
  st.global.u32 [%d0+20], %r1;
  ret;
}

.visible .entry tailor_empty()
{
  ret;
}
)";
}

}  // namespace tailor::gpu
