// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A grid stride over a length no block knows, 64-bit indexes.
// launch: grid=3 block=64
// buffer: x i32[1000] input below:5000
// buffer: y i32[1000] output
// value: u64 1000
// plant: FIRST_BLOCK_TWICE race
extern "C" __global__ void grid_stride(const int* x, int* y, unsigned long long n) {
  unsigned long long first = FIRST_BLOCK_TWICE && blockIdx.x == 1 ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned long long i = first; i < n; i += gridDim.x * blockDim.x) y[i] = (x[i] - 2500) / 7 % 13 + FIRST_BLOCK_TWICE * int(blockIdx.x);  // BUG FIRST_BLOCK_TWICE
}
