// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole warps leave before the barriers of the others: those that left no longer count.
// launch: grid=2 block=128
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: PART_LEAVES divergent_barrier|uninitialised_read
extern "C" __global__ void early_warps(const float* x, float* y) {
  __shared__ float tile[64];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t >= 64) {
    y[i] = -x[i];
    return;
  }
  if (PART_LEAVES && t > 40) return;
  tile[t] = x[i];
  __syncthreads();  // BUG PART_LEAVES
  y[i] = tile[(t + 33) % 64];  // BUG PART_LEAVES
}
