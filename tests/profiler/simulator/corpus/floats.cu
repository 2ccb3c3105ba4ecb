// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of the library: their slow paths, polynomials and approximations.
// launch: grid=2 block=64
// buffer: x f32[128] input random
// buffer: y f32[2048] output
extern "C" __global__ void floats(const float* x, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float v = x[i], large = v * 40.0f, positive = fabsf(v) + 0.01f;
  float* mine = y + 16 * i;
  mine[0] = expf(v * 20.0f);
  mine[1] = logf(positive * 100.0f);
  mine[2] = sinf(large);
  mine[3] = cosf(large * 100.0f);
  mine[4] = tanhf(v * 3.0f);
  mine[5] = erff(v * 2.0f);
  mine[6] = powf(positive, 2.7f);
  mine[7] = sqrtf(positive);
  mine[8] = rsqrtf(positive);
  mine[9] = fmodf(large, 1.7f);
  mine[10] = rintf(large) + 3.0f * floorf(large) + 5.0f * ceilf(large) + 7.0f * truncf(large);
  mine[11] = fminf(v, 0.1f) + fmaxf(v, __int_as_float(0x7fc00000));
  mine[12] = copysignf(positive, v);
  mine[13] = 1.0f / positive;
  mine[14] = log1pf(positive) + expm1f(v);
  mine[15] = exp2f(v * 8.0f) + log2f(positive);
}
