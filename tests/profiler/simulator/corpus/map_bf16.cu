// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two bf16 values per 32-bit access, packed with one conversion.
// launch: grid=2 block=64
// buffer: x bf16[256] input random
// buffer: y bf16[256] output
extern "C" __global__ void map_bf16(const unsigned* x, unsigned* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned two = x[i];
  float low = __uint_as_float(two << 16), high = __uint_as_float(two & 0xffff0000u);
  unsigned packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high * 3.0f), "f"(low * 3.0f));
  y[i] = packed;
}
