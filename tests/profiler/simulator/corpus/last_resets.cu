// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The last block, which learned that it is from the counter, adds the parts and sets the counter back with a plain
// store, as the programming guide does it: all other blocks have counted before.
// launch: grid=6 block=64
// buffer: x f32[384] input random
// buffer: part f32[6] scratch zero
// buffer: y f32[2] output
// plant: FIRST_RESETS race
// plant: BY_NUMBER race
// plant: RESETS_EARLY race
// plant: NO_FENCE race
__device__ unsigned counter = 0;
extern "C" __global__ void last_resets(const float* x, volatile float* part, float* y) {
  __shared__ float tile[64];
  __shared__ bool last;
  int t = threadIdx.x;
  tile[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += tile[i];
    part[blockIdx.x] = sum;
    if (NO_FENCE) y[0] = sum;  // BUG NO_FENCE
    if (!NO_FENCE) __threadfence();
    if (RESETS_EARLY && blockIdx.x == 5) counter = 5;  // BUG RESETS_EARLY
    unsigned before = BY_NUMBER ? 0 : atomicInc(&counter, 100);  // BUG FIRST_RESETS RESETS_EARLY
    if (BY_NUMBER) atomicAdd(&counter, 1);  // BUG BY_NUMBER
    last = BY_NUMBER ? blockIdx.x == 5 : before == (FIRST_RESETS ? 0 : 5);
  }
  __syncthreads();
  if (last && t == 0) {
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += part[b];
    y[0] = all;  // BUG NO_FENCE
    y[1] = counter;  // BUG BY_NUMBER FIRST_RESETS
    counter = 0;  // BUG BY_NUMBER FIRST_RESETS
  }
}
