// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// An array that only an index known at run time reaches: it lives in local memory.
// launch: grid=1 block=64
// buffer: x u32[640] input below:10
// buffer: y u32[64] output
// plant: BEYOND out_of_bounds
extern "C" __global__ void local_array(const unsigned* x, unsigned* y) {
  unsigned count[16], t = threadIdx.x;
  for (int k = 0; k < 16; ++k) count[k] = k;
  for (int k = 0; k < 10; ++k) count[x[t * 10 + k] + (BEYOND ? 4000 : 0)] += t + k;  // BUG BEYOND
  unsigned sum = 0;
  for (int k = 0; k < 10; ++k) sum = sum * 3 + count[x[t * 10 + 9 - k]];
  y[t] = sum;
}
