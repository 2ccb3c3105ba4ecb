// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two warps produce, two consume, over two named barriers.
// launch: grid=1 block=128
// buffer: x f32[512] input random
// buffer: y f32[512] output
// plant: WRONG_NAME deadlock|mismatched_barrier
// plant: NO_ARRIVAL deadlock
// plant: WRONG_COUNT mismatched_barrier|deadlock
// plant: NO_EMPTY race|deadlock|mismatched_barrier
extern "C" __global__ void named_barriers(const float* x, float* y) {
  __shared__ float tile[64];
  int t = threadIdx.x % 64;
  bool produces = threadIdx.x < 64;
  for (int step = 0; step < 8; ++step) {
    if (produces) {
      if (!NO_EMPTY) asm volatile("bar.sync 1, 128;" ::: "memory");
      tile[t] = 2.0f * x[step * 64 + t];  // BUG NO_EMPTY
      if (!NO_ARRIVAL || step != 5)
        asm volatile("bar.arrive %0, %1;" ::"r"(WRONG_NAME ? 3 : 2), "r"(WRONG_COUNT ? 96 : 128) : "memory");
    } else {
      if (!NO_EMPTY) asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
      y[step * 64 + t] = tile[63 - t];  // BUG NO_EMPTY
    }
  }
}
