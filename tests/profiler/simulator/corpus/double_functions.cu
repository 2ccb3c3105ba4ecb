// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions in double precision: long polynomials, bits of doubles, divisions.
// launch: grid=1 block=64
// buffer: x f64[64] input random
// buffer: y f64[512] output
extern "C" __global__ void double_functions(const double* x, double* y) {
  double v = x[threadIdx.x], positive = fabs(v) + 0.01, *mine = y + 8 * threadIdx.x;
  mine[0] = exp(v * 30.0);
  mine[1] = log(positive);
  mine[2] = sin(v * 1000.0);
  mine[3] = tanh(v);
  mine[4] = pow(positive, 3.3);
  mine[5] = 1.0 / positive + rsqrt(positive);
  mine[6] = floor(v * 100.0) + rint(v * 57.0);
  mine[7] = (double)(float)v + (long long)(v * 1e12) + (int)(v * 1e5);
}
