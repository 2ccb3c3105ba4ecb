// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX by hand, for tests of the fake GPU and of those who use it: one kernel that is right and one for each way of
// going wrong (out of bounds, endless, trapping, misaligned). All but add take one pointer. A test loads the text as an
// image and says which entry to launch.
#pragma once

namespace tailor::fake {

/// add(a, b, out, n): out[i] = a[i] + b[i] of f32. twice(x): x[i] *= 2. far(x): stores 1 MiB behind x. odd(x): stores
/// four bytes at x + 2. trap(x), endless(x): as they say.
inline constexpr const char* kernels = R"(.version 8.0
.target sm_80
.address_size 64

.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<11>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd4, %r5, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
DONE:
  ret;
}

.visible .entry twice(.param .u64 x)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
}

.visible .entry far(.param .u64 x)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, 0;
  st.global.u32 [%rd1+1048576], %r1;
  ret;
}

.visible .entry odd(.param .u64 x)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, 0;
  st.global.u32 [%rd1+2], %r1;
  ret;
}

.visible .entry trap(.param .u64 x)
{
  trap;
  ret;
}

.visible .entry endless(.param .u64 x)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
AGAIN:
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd1], %r1;
  bra AGAIN;
}
)";

/// fails(x): an assertion that does not hold, as the compiler writes it.
inline constexpr const char* asserting_kernel = R"(.version 8.0
.target sm_80
.address_size 64

.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;

.visible .entry fails(.param .u64 x)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, 0;
  mov.u32 %r1, 7;
  {
  .param .b64 p0;
  st.param.b64 [p0], %rd1;
  .param .b64 p1;
  st.param.b64 [p1], %rd1;
  .param .b32 p2;
  st.param.b32 [p2], %r1;
  .param .b64 p3;
  st.param.b64 [p3], %rd1;
  .param .b64 p4;
  st.param.b64 [p4], %rd1;
  call.uni __assertfail, (p0, p1, p2, p3, p4);
  }
  ret;
}
)";

}  // namespace tailor::fake
