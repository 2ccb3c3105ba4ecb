// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A block's tile goes to global memory as one bulk copy, twice from the same place.
// launch: grid=2 block=64
// arch: sm_90
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: REUSED_EARLY async_misuse|race
// plant: NO_PROXY_FENCE async_misuse|race
extern "C" __global__ void bulk_store(const float* x, float* y) {
  __shared__ alignas(128) float tile[64];
  int t = threadIdx.x;
  for (int step = 0; step < 2; ++step) {
    int first = blockIdx.x * 128 + 64 * step;
    tile[t] = 3.0f * x[first + t];  // BUG REUSED_EARLY NO_PROXY_FENCE
    if (!NO_PROXY_FENCE) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      unsigned s = static_cast<unsigned>(__cvta_generic_to_shared(tile));
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(y + first), "r"(s) : "memory");  // BUG REUSED_EARLY NO_PROXY_FENCE
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (!REUSED_EARLY) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
