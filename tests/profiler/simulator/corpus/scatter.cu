// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds into places that an index names.
// launch: grid=4 block=64
// buffer: index u32[256] input below:32
// buffer: x f32[256] input random
// buffer: y f32[32] both zero
// plant: PLAIN_ADD race
// plant: MIXED race
extern "C" __global__ void scatter(const unsigned* index, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (PLAIN_ADD)
    y[index[i]] += x[i];  // BUG PLAIN_ADD
  else
    atomicAdd(&y[index[i]], x[i]);  // BUG MIXED
  if (MIXED && i < 32) y[i] = 0;  // BUG MIXED
}
