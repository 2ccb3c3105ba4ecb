// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A matrix times a vector; the vector lies in dynamic shared memory, parts of two types in one allocation.
// launch: grid=2 block=64 shared=768
// buffer: a f32[8192] input random
// buffer: x f32[128] input random
// buffer: y f32[64] output
// plant: TOO_SMALL out_of_bounds shared=640
extern "C" __global__ void dynamic_shared(const float* a, const float* x, float* y) {
  extern __shared__ float memory[];
  float* vector = memory;
  unsigned char* seen = reinterpret_cast<unsigned char*>(memory + 128);
  float* part = memory + 128 + 16;
  int t = threadIdx.x;
  for (int c = t; c < 128; c += 64) vector[c] = x[c];
  seen[t] = 1;
  __syncthreads();
  int row = blockIdx.x * 32 + t / 2;
  float sum = 0;
  for (int c = t % 2; c < 128; c += 2) sum += a[row * 128 + c] * vector[c];
  if (t % 2 == 1) part[t / 2] = sum * seen[t ^ 1];  // BUG TOO_SMALL
  __syncthreads();
  if (t % 2 == 0) y[row] = sum + part[t / 2];  // BUG TOO_SMALL
}
