// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock that lanes spin on without leaving the loop: only lanes with counters of their own get
// through. Every fourth lane of two warps takes part: all who wait spin, so the time grows faster than their number.
// launch: grid=1 block=64
// buffer: x u32[64] input below:1000
// buffer: lock u32[1] scratch zero
// buffer: y u32[2] both zero
extern "C" __global__ void tight_lock(const unsigned* x, unsigned* lock, unsigned* y) {
  if (threadIdx.x % 4 != 0) return;
  unsigned taken;
  do {
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(taken) : "l"(lock) : "memory");
  } while (taken != 0);
  y[0] += x[threadIdx.x];
  y[1] += 1;
  asm volatile("st.release.gpu.global.u32 [%0], 0;" ::"l"(lock) : "memory");
}
