// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// 32 x 32 tiles through shared memory with a padded row.
// launch: grid=2x3 block=32x8
// buffer: x f32[6144] input random
// buffer: y f32[6144] output
// plant: MISSING_BARRIER race
// plant: SWAPPED out_of_bounds
extern "C" __global__ void transpose(const float* x, float* y) {
  __shared__ float tile[32][33];
  int c0 = blockIdx.x * 32, r0 = blockIdx.y * 32;  // 96 rows of 64
  for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = x[(r0 + k) * 64 + c0 + threadIdx.x];  // BUG MISSING_BARRIER
  if (!MISSING_BARRIER) __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    y[(c0 + k) * (SWAPPED ? 196 : 96) + r0 + threadIdx.x] = tile[threadIdx.x][k];  // BUG MISSING_BARRIER SWAPPED
}
