// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables with initial values in constant and global memory, one of them a table of addresses.
// launch: grid=1 block=64
// buffer: x u32[64] input below:16
// buffer: y f32[64] output
// plant: BEYOND out_of_bounds
__constant__ float weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, -1, -2, -4, -8};
__device__ short offsets[4][2] = {{1, -1}, {300, -300}, {7}, {0, 9}};
__device__ float low[2] = {0.5f, 0.25f}, high[2] = {10.0f, 20.0f};
__device__ float* const places[3] = {low, high + 1, low + 1};
__device__ int calls;
extern "C" __global__ void tables(const unsigned* x, float* y) {
  unsigned t = threadIdx.x, v = x[t];
  float made = weights[v] + offsets[v % 4][t % 2];
  if (BEYOND) made += weights[v + 4096 * (t == 63)];  // BUG BEYOND
  atomicAdd(&calls, 1);
  y[t] = made * *places[v % 3];
}
