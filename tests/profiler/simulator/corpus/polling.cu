// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Warps of one block hand a token on through a volatile word, sleeping while they wait.
// launch: grid=2 block=128
// buffer: x u32[8] input below:50
// buffer: y u32[8] output
// plant: NO_FENCE race
extern "C" __global__ void polling(const unsigned* x, unsigned* y) {
  __shared__ unsigned turn, sum;
  unsigned w = threadIdx.x / 32;
  if (threadIdx.x == 0) turn = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  while (*static_cast<volatile unsigned*>(&turn) != w) __nanosleep(20);
  if (!NO_FENCE) __threadfence_block();
  sum += x[blockIdx.x * 4 + w];  // BUG NO_FENCE
  y[blockIdx.x * 4 + w] = sum;
  if (!NO_FENCE) __threadfence_block();
  *static_cast<volatile unsigned*>(&turn) = w + 1;
}
