// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What printf gives is nobody's uninitialised read; the text goes nowhere.
// launch: grid=2 block=64
// buffer: x f32[128] input iota
// buffer: y f32[128] output
extern "C" __global__ void printer(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int said = 0;
  if (i % 50 == 3) said = printf("thread %d sees %f and %s\n", i, x[i], "text");
  y[i] = said < 0 ? -1.0f : x[i];
}
