// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls through pointers: tables of functions, functions as arguments, virtual functions.
// kernel: by_table
// launch: grid=2 block=32
// buffer: x f32[64] input random
// buffer: w i32[64] input below:3
// buffer: y f32[64] output
// plant: NO_FUNCTION trap
__device__ __noinline__ float twice(float v) { return v + v; }
__device__ __noinline__ float square(float v) { return v * v; }
__device__ __noinline__ float negated(float v) { return -v; }
typedef float (*Step)(float);
__device__ Step steps[4] = {twice, square, negated, nullptr};
extern "C" __global__ void by_table(const float* x, const int* w, float* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  Step step = steps[NO_FUNCTION && i == 5 ? 3 : w[i]];
  y[i] = step(x[i]);  // BUG NO_FUNCTION
}
// kernel: by_argument
// launch: grid=1 block=64
// buffer: x f32[64] input random
// buffer: y f32[64] output
// plant: PAST_END out_of_bounds
__device__ __noinline__ float larger(float a, float b) { return a > b ? a : b; }
__device__ __noinline__ float sum(float a, float b) { return a + b; }
typedef float (*Join)(float, float);
__device__ __noinline__ float joined(Join join, const float* x, int n) {
  float v = x[0];
  for (int i = 1; i < n; ++i) v = join(v, x[i]);  // BUG PAST_END
  return v;
}
extern "C" __global__ void by_argument(const float* x, float* y) {
  int t = threadIdx.x, row = t / 8 * 8;
  Join join = t % 8 < 4 ? larger : sum;
  y[t] = joined(join, x + row, PAST_END ? 72 : 8);
}
// kernel: by_kind
// launch: grid=1 block=96
// buffer: x f32[96] input random
// buffer: y f32[96] output
// plant: SHARED_RESULT race
struct Curve {
  __device__ virtual float at(float v) const { return v; }
};
struct Line : Curve {
  float slope;
  __device__ Line(float s) : slope(s) {}
  __device__ float at(float v) const override { return slope * v; }
};
struct Parabola : Curve {
  __device__ float at(float v) const override { return v * v + 1; }
};
extern "C" __global__ void by_kind(const float* x, float* y) {
  int t = threadIdx.x;
  Curve plain;
  Line line(3);
  Parabola parabola;
  const Curve* curves[3] = {&plain, &line, &parabola};
  float v = curves[t % 3]->at(x[t]);
  y[SHARED_RESULT ? t / 2 : t] = v;  // BUG SHARED_RESULT
}
