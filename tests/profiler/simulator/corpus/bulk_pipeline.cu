// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread asks for bulk copies into two stages; arrival of the bytes completes a phase of the stage's mbarrier.
// launch: grid=2 block=64
// arch: sm_90
// buffer: x f32[1024] input random
// buffer: y f32[1024] output
// plant: NOT_INITIALISED async_misuse|uninitialised_read
// plant: MORE_BYTES deadlock|too_long|async_misuse
// plant: NO_WAIT async_misuse|race|uninitialised_read
// plant: REUSED_EARLY race|async_misuse
__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void ask(float* stage, unsigned long long* bar, const float* from) {
  unsigned to = at(stage), b = at(bar), bytes = MORE_BYTES ? 272 : 256;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");  // BUG NOT_INITIALISED
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to), "l"(from), "r"(b) : "memory");  // BUG REUSED_EARLY
}
extern "C" __global__ void bulk_pipeline(const float* x, float* y) {
  __shared__ alignas(128) float stage[2][64];
  __shared__ alignas(8) unsigned long long bar[2];
  int t = threadIdx.x, first = blockIdx.x * 512;
  if (t == 0 && !NOT_INITIALISED) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar[0])) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar[1])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t == 0)
    for (int s = 0; s < 2; ++s) ask(stage[s], &bar[s], x + first + 64 * s);
  for (int step = 0; step < 8; ++step) {
    if (!NO_WAIT)
      asm volatile(
          "{ .reg .pred done;\n"
          "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
          "@done bra out; bra again;\n"
          "out: }" ::"r"(at(&bar[step % 2])),
          "r"(step / 2 % 2)
          : "memory");
    y[first + 64 * step + t] = stage[step % 2][63 - t] + 1.0f;  // BUG NO_WAIT REUSED_EARLY
    if (!REUSED_EARLY) __syncthreads();
    if (t == 0 && step + 2 < 8) ask(stage[step % 2], &bar[step % 2], x + first + 64 * (step + 2));
  }
}
