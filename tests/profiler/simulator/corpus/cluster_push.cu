// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a cluster add into counters of one another, by remote atomics.
// launch: grid=4 block=64 cluster=2
// arch: sm_90
// buffer: x u32[256] input below:32
// buffer: y u32[64] both zero
// plant: LATE_CLEAR race|uninitialised_read
extern "C" __global__ void cluster_push(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[16];
  unsigned t = threadIdx.x, v = x[blockIdx.x * 64 + t], there;
  unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(&bins[v % 16]));
  if (t < 16) bins[t] = 0;  // BUG LATE_CLEAR
  if (LATE_CLEAR)
    __syncthreads();
  else
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(v / 16));
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(there) : "memory");  // BUG LATE_CLEAR
  asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
  if (t < 16) atomicAdd(&y[blockIdx.x * 16 + t], bins[t]);
}
