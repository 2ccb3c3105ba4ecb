// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks leave their parts and count themselves; the last one adds.
// launch: grid=6 block=64
// buffer: x f32[384] input random
// buffer: part f32[6] scratch zero
// buffer: count u32[1] scratch zero
// buffer: y f32[1] output
// plant: NO_FENCE race
extern "C" __global__ void last_block(const float* x, float* part, unsigned* count, float* y) {
  __shared__ float tile[64];
  __shared__ bool last;
  int t = threadIdx.x;
  tile[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += tile[i];
    part[blockIdx.x] = sum;  // BUG NO_FENCE
    if (!NO_FENCE) __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    if (!NO_FENCE) __threadfence();
    if (last) {
      float all = 0;
      for (int b = 0; b < gridDim.x; ++b) all += static_cast<volatile float*>(part)[b];  // BUG NO_FENCE
      *y = all;
    }
  }
}
