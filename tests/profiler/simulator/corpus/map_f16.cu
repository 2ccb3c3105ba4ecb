// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Halves widened, squared and rounded back.
// launch: grid=3 block=96
// buffer: x f16[288] input random
// buffer: y f16[288] output
// plant: ACCUMULATES uninitialised_read
extern "C" __global__ void map_f16(const unsigned short* x, unsigned short* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(x[i]));
  v = v * v + 0.25f;
  if (ACCUMULATES) {
    float old;
    asm("cvt.f32.f16 %0, %1;" : "=f"(old) : "h"(y[i]));  // BUG ACCUMULATES
    v += old;
  }
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
  y[i] = h;
}
