// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Double precision: division, square root, fused products, and an atomic sum.
// launch: grid=2 block=64
// buffer: x f64[128] input random
// buffer: y f64[128] output
// buffer: sum f64[1] both zero
extern "C" __global__ void doubles(const double* x, double* y, double* sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double v = fma(x[i], x[i], 0.5);
  y[i] = sqrt(v) / (1.0 + v);
  atomicAdd(sum, v);
}
