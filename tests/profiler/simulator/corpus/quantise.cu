// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of 128 to int8 with one scale per row: largest magnitude by shuffles, four bytes per store.
// launch: grid=1 block=128
// buffer: x f32[512] input random
// buffer: q i8[512] output
// buffer: scale f32[4] output
extern "C" __global__ void quantise(const float4* x, char4* q, float* scale) {
  int lane = threadIdx.x % 32, row = threadIdx.x / 32;
  float4 v = x[row * 32 + lane];
  float most = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
  for (int k = 16; k > 0; k /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, k));
  float s = __fdiv_rn(most, 127.0f);
  if (lane == 0) scale[row] = s;
  q[row * 32 + lane] = make_char4(__float2int_rn(__fdiv_rn(v.x, s)), __float2int_rn(__fdiv_rn(v.y, s)),
                                  __float2int_rn(__fdiv_rn(v.z, s)), __float2int_rn(__fdiv_rn(v.w, s)));
}
