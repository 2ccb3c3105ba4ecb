// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Four elements per access.
// launch: grid=2 block=64
// buffer: x f32[516] input random
// buffer: y f32[512] output
// plant: SHIFTED misaligned
extern "C" __global__ void map_float4(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = *reinterpret_cast<const float4*>(x + 4 * i + SHIFTED);  // BUG SHIFTED
  v.x = v.x > 0 ? v.x : 0;
  v.y = v.y > 0 ? v.y : 0;
  v.z = v.z > 0 ? v.z : 0;
  v.w = v.w > 0 ? v.w : 0;
  reinterpret_cast<float4*>(y)[i] = v;
}
