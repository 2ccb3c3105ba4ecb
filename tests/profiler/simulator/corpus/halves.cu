// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on pairs of halves, with one rounding per operation, also by a part of the lanes.
// launch: grid=1 block=64
// buffer: a f16[128] input random
// buffer: b f16[128] input random
// buffer: y f16[512] output
extern "C" __global__ void halves(const unsigned* a, const unsigned* b, unsigned* y) {
  unsigned p = a[threadIdx.x], q = b[threadIdx.x], *mine = y + 4 * threadIdx.x;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(mine[0]) : "r"(p), "r"(q));
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(mine[1]) : "r"(p), "r"(q));
  asm("fma.rn.f16x2 %0, %1, %2, %1;" : "=r"(mine[2]) : "r"(p), "r"(q));
  if (threadIdx.x % 3 == 1) asm volatile("fma.rn.f16x2 %0, %1, %1, %2;" : "=r"(mine[2]) : "r"(p), "r"(q));
  asm("max.f16x2 %0, %1, %2;" : "=r"(mine[3]) : "r"(p), "r"(q));
}
