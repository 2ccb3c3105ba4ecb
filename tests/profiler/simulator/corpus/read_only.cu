// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights by the read-only path, which does not look for stores; and what the kernel stored, by the usual one.
// launch: grid=2 block=64
// buffer: x f32[128] both random
// buffer: w f32[128] both random
// buffer: y f32[128] output
// plant: STORED race
extern "C" __global__ void read_only(float* x, const float* w, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  x[i] += 1;
  __syncthreads();
  float own = STORED ? __ldg(x + (i ^ 1)) : x[i ^ 1];  // BUG STORED
  y[i] = own * __ldg(w + i);
}
