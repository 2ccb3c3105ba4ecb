// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Three neighbours through shared memory with a halo.
// launch: grid=4 block=64
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: NO_HALO uninitialised_read
// plant: EDGE out_of_bounds
// plant: MISSING_BARRIER race|uninitialised_read
extern "C" __global__ void stencil(const float* x, float* y) {
  __shared__ float tile[66];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t + 1] = x[i];  // BUG MISSING_BARRIER
  if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0.0f;
  if (t == 63 && !NO_HALO) tile[65] = i + 1 < 256 || EDGE ? x[i + 1] : 0.0f;  // BUG EDGE
  if (!MISSING_BARRIER) __syncthreads();
  y[i] = tile[t] + 2.0f * tile[t + 1] + tile[t + 2];  // BUG NO_HALO MISSING_BARRIER
}
