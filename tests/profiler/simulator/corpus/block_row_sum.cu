// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One block per row through a tree in shared memory.
// launch: grid=4 block=128
// buffer: x f32[1024] input random
// buffer: y f32[4] output
// plant: MISSING_BARRIER race
// plant: SHARED_BY_ONE out_of_bounds
// plant: HALF_BARRIER divergent_barrier
// plant: SAME_ELEMENT race
extern "C" __global__ void block_row_sum(const float* x, float* y) {
  __shared__ float part[128];
  int t = threadIdx.x;
  part[t + SHARED_BY_ONE] = x[blockIdx.x * 256 + t] + x[blockIdx.x * 256 + 128 + t];  // BUG SHARED_BY_ONE MISSING_BARRIER
  for (int k = 64; k > 0; k /= 2) {
    if (HALF_BARRIER) {
      if (t < 48) __syncthreads();  // BUG HALF_BARRIER
    } else if (!MISSING_BARRIER) {
      __syncthreads();
    }
    if (t < k) part[t] += part[t + k];  // BUG MISSING_BARRIER
  }
  if (t == 0) y[SAME_ELEMENT ? blockIdx.x / 2 : blockIdx.x] = part[0];  // BUG SAME_ELEMENT
}
