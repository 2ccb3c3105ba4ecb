// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of 64 x 32: eight warps take rows in turn, the first adds their parts.
// launch: grid=1 block=32x8
// buffer: x f32[2048] input random
// buffer: y f32[32] output
// plant: TAIL uninitialised_read
extern "C" __global__ void column_sum(const float* x, float* y) {
  __shared__ float part[8][32];
  int c = threadIdx.x, w = threadIdx.y;
  float sum = 0;
  for (int r = w; r < 64; r += 8) sum += x[r * 32 + c];
  if (!TAIL || w < 7) part[w][c] = sum;
  __syncthreads();
  if (w != 0) return;
  for (int k = 1; k < 8; ++k) sum += part[k][c];  // BUG TAIL
  y[c] = sum;
}
