// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions that are not inlined: by value, through a pointer to a local, with a struct.
// launch: grid=2 block=64
// buffer: x f32[128] input random
// buffer: y f32[128] output
// plant: TRAPS trap
// plant: ASSERTS trap
struct Pair {
  float a, b;
};
__device__ __noinline__ Pair split(float v) {
  Pair p;
  p.a = floorf(v);
  p.b = v - p.a;
  return p;
}
__device__ __noinline__ void scale(float* v, int n, float by) {
  for (int k = 0; k < n; ++k) v[k] *= by;
}
extern "C" __global__ void call(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[3] = {x[i], 1.0f, 2.0f};
  if (TRAPS && i == 77) __trap();  // BUG TRAPS
  if (ASSERTS) assert(i != 77);  // BUG ASSERTS
  scale(v, 3, 4.0f);
  Pair p = split(v[0]);
  y[i] = p.a * v[1] + p.b * v[2];
}
