// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts in shared memory, then into global.
// launch: grid=2 block=128
// buffer: x u32[512] input below:64
// buffer: y u32[64] both zero
// plant: NOT_CLEARED uninitialised_read
// plant: CLEAR_RACES race
extern "C" __global__ void histogram(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[64];
  int t = threadIdx.x;
  if (!NOT_CLEARED && t < 64) bins[t] = 0;  // BUG CLEAR_RACES
  if (!CLEAR_RACES) __syncthreads();
  for (int i = blockIdx.x * 256 + t; i < (blockIdx.x + 1) * 256; i += 128)
    atomicAdd(&bins[x[i]], 1u);  // BUG NOT_CLEARED CLEAR_RACES
  __syncthreads();
  if (t < 64) atomicAdd(&y[t], bins[t]);  // BUG NOT_CLEARED
}
