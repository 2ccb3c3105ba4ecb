// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One warp per row of 40 columns, reduced by butterfly shuffles.
// launch: grid=3 block=128
// buffer: x f32[480] input random
// buffer: y f32[12] output
// plant: LANES_LEFT bad_mask
// plant: READS_INACTIVE bad_mask
extern "C" __global__ void warp_row_sum(const float* x, float* y) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  float sum = 0;
  for (int c = lane; c < 40; c += 32) sum += x[row * 40 + c];
  if (LANES_LEFT && lane >= 24) return;
  if (READS_INACTIVE) {
    if (lane < 16) sum += __shfl_down_sync(0x0000ffffu, sum, 16);  // BUG READS_INACTIVE
  } else {
    sum += __shfl_xor_sync(0xffffffffu, sum, 16);  // BUG LANES_LEFT
  }
  for (int k = 8; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
  if (lane == 0) y[row] = sum;
}
