// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A phase of an mbarrier that half the threads only arrive at and the others wait for, by its state.
// launch: grid=2 block=64
// arch: sm_90
// buffer: x f32[128] input random
// buffer: y f32[128] output
// plant: NO_WAIT race|uninitialised_read
// plant: ONE_MORE deadlock|too_long
// plant: UNINITIALISED async_misuse|uninitialised_read|deadlock
extern "C" __global__ void mbarrier_wait(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ alignas(8) unsigned long long bar;
  unsigned s = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t == 0 && !UNINITIALISED)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(s), "r"(64 + ONE_MORE) : "memory");
  __syncthreads();
  tile[t] = x[i];  // BUG NO_WAIT
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(s) : "memory");  // BUG UNINITIALISED
  if (t >= 32) {
    if (!NO_WAIT)
      asm volatile(
          "{ .reg .pred done;\n"
          "again: mbarrier.try_wait.shared::cta.b64 done, [%0], %1, 1000;\n"
          "@!done bra again; }" ::"r"(s),
          "l"(state)
          : "memory");
    y[i] = tile[t - 32];  // BUG NO_WAIT
    y[i - 32] = tile[t];
  }
}
