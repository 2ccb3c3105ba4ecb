// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Barriers that count and combine predicates.
// launch: grid=3 block=96
// buffer: x u32[288] input below:10
// buffer: y u32[288] output
extern "C" __global__ void block_votes(const unsigned* x, unsigned* y) {
  int i = blockIdx.x * 96 + threadIdx.x;
  unsigned v = x[i];
  unsigned made = __syncthreads_count(v > 4);
  made += 1000 * (__syncthreads_or(v == 9) != 0);
  made += 10000 * (__syncthreads_and(v < 9) != 0);
  y[i] = made;
}
