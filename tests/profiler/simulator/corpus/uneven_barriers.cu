// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Warps meet at one barrier after different work; barrier 0 by a part, all by count.
// launch: grid=1 block=96
// buffer: x f32[96] input random
// buffer: y f32[96] output
// plant: OTHER_NAME mismatched_barrier|deadlock
// plant: NOT_REACHED deadlock
extern "C" __global__ void uneven_barriers(const float* x, float* y) {
  __shared__ float tile[96];
  int t = threadIdx.x, w = t / 32;
  float v = x[t];
  for (int k = 0; k < 3 * w; ++k) v = v * 0.5f + 1.0f;
  tile[t] = v;
  if (w == 1 && OTHER_NAME)
    asm volatile("barrier.sync 5, 96;" ::: "memory");
  else if (w == 2 && NOT_REACHED)
    asm volatile("barrier.sync 7, 64;" ::: "memory");
  else
    asm volatile("barrier.sync 4, 96;" ::: "memory");
  y[t] = tile[95 - t];
}
