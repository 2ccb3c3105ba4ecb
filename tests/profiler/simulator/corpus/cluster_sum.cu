// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Four blocks of a cluster leave parts in shared memory; each adds all of them, read from its peers.
// launch: grid=8 block=32 cluster=4
// arch: sm_90
// buffer: x f32[256] input random
// buffer: y f32[8] output
// plant: WRONG_RANK bad_cluster_rank
// plant: NO_BARRIER race|uninitialised_read
// plant: LEAVES_EARLY race|bad_cluster_rank|out_of_bounds
extern "C" __global__ void cluster_sum(const float* x, float* y) {
  __shared__ float part;
  unsigned rank, mine = static_cast<unsigned>(__cvta_generic_to_shared(&part));
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  float sum = x[blockIdx.x * 32 + threadIdx.x];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
  if (threadIdx.x == 0) part = sum * (rank + 1);  // BUG NO_BARRIER
  if (!NO_BARRIER) asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0) {
    float all = 0;
    for (unsigned peer = 0; peer < 4 + WRONG_RANK; ++peer) {
      unsigned there;
      float theirs;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(peer));  // BUG WRONG_RANK
      asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(theirs) : "r"(there) : "memory");  // BUG NO_BARRIER LEAVES_EARLY WRONG_RANK
      all += theirs;
    }
    y[blockIdx.x] = all;
  }
  if (!LEAVES_EARLY) asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
