// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The largest float by compare-and-swap in shared memory, then by an integer trick in global.
// launch: grid=2 block=64
// buffer: x f32[128] input random
// buffer: y i32[1] both zero
extern "C" __global__ void largest(const float* x, int* y) {
  __shared__ unsigned most;
  if (threadIdx.x == 0) most = __float_as_uint(0.0f);
  __syncthreads();
  float v = fabsf(x[blockIdx.x * 64 + threadIdx.x]);
  unsigned old = *static_cast<volatile unsigned*>(&most);
  while (__uint_as_float(old) < v) {
    unsigned seen = atomicCAS(&most, old, __float_as_uint(v));
    if (seen == old) break;
    old = seen;
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(y, static_cast<int>(most));
}
