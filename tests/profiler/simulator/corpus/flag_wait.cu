// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Block 1 waits for a flag that block 0 sets with release after writing; chained over all blocks.
// launch: grid=4 block=32 cooperative
// buffer: x f32[128] input random
// buffer: sum f32[4] scratch zero
// buffer: flag u32[4] scratch zero
// buffer: y f32[4] output
// plant: RELAXED race
// plant: NEVER_SET deadlock|too_long limit=200000
extern "C" __global__ void flag_wait(const float* x, float* sum, unsigned* flag, float* y) {
  unsigned b = blockIdx.x;
  float v = x[b * 32 + threadIdx.x];
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
  if (threadIdx.x != 0) return;
  if (b > 0) {
    unsigned set;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(flag + b - 1) : "memory");
    } while (set == 0);
    v += sum[b - 1];  // BUG RELAXED
  }
  sum[b] = v;  // BUG RELAXED
  if (RELAXED)
    asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag + b) : "memory");
  else if (!NEVER_SET || b != 1)
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag + b) : "memory");
  y[b] = v;
}
