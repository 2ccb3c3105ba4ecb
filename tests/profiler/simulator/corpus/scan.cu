// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Running sums of a block: shuffles up within warps, then over the warps' totals.
// launch: grid=3 block=128
// buffer: x u32[384] input below:1000
// buffer: y u32[384] output
// plant: MISSING_BARRIER race
extern "C" __global__ void scan(const unsigned* x, unsigned* y) {
  __shared__ unsigned total[4];
  unsigned t = threadIdx.x, lane = t % 32, w = t / 32, v = x[blockIdx.x * 128 + t];
  for (int k = 1; k < 32; k *= 2) {
    unsigned other = __shfl_up_sync(0xffffffffu, v, k);
    if (lane >= k) v += other;
  }
  if (lane == 31) total[w] = v;  // BUG MISSING_BARRIER
  if (!MISSING_BARRIER) __syncthreads();
  for (unsigned k = 0; k < w; ++k) v += total[k];  // BUG MISSING_BARRIER
  y[blockIdx.x * 128 + t] = v;
}
