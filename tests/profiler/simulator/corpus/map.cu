// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread per element, the last block ragged.
// launch: grid=4 block=128
// buffer: x f32[500] input random
// buffer: y f32[500] output
// value: i32 500
// plant: OFF_BY_ONE out_of_bounds
// plant: WRITES_INPUT store_to_input
extern "C" __global__ void map(float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + OFF_BY_ONE) {
    float v = x[i];  // BUG OFF_BY_ONE
    if (WRITES_INPUT) x[i] = v + 1.0f;  // BUG WRITES_INPUT
    y[i] = v * 2.0f + 1.0f;
  }
}
