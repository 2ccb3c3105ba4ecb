// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Long work between two looks at memory that others may change: no reason to call it a deadlock.
// launch: grid=1 block=64
// buffer: x f32[64] input random
// buffer: y f32[64] output
// buffer: total f32[1] scratch zero
extern "C" __global__ void patient(const float* x, float* y, float* total) {
  float a = x[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < 40000; ++i) a = a * 0.5f + 1.0f;
  atomicAdd(total, 0.0f);
  y[threadIdx.x] = a;
}
