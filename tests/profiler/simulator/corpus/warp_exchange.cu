// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Lanes exchange through shared memory, apart by __syncwarp.
// launch: grid=2 block=64
// buffer: x f32[128] input random
// buffer: y f32[128] output
// plant: MISSING_SYNC race
// plant: ONE_LEFT_OUT race|bad_mask|divergent_barrier
extern "C" __global__ void warp_exchange(const float* x, float* y) {
  __shared__ float tile[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t] = x[i];  // BUG MISSING_SYNC ONE_LEFT_OUT
  if (ONE_LEFT_OUT) {
    if (t % 32 != 31) __syncwarp(0x7fffffffu);
  } else if (!MISSING_SYNC) {
    __syncwarp();
  }
  y[i] = tile[t ^ 31];  // BUG MISSING_SYNC ONE_LEFT_OUT
}
