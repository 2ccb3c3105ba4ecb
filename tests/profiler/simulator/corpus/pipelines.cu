// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies that run beside the arithmetic: cp.async, bulk copies with mbarriers, warps with different tasks, clusters.
// kernel: double_buffered_sum
// launch: grid=2 block=64
// buffer: x f32[1024] input random
// buffer: y f32[128] output
// plant: NO_WAIT async_misuse|race|uninitialised_read
// plant: ONE_BUFFER async_misuse|race
// plant: TOO_FAR out_of_bounds
__device__ void fetch(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");  // BUG TOO_FAR ONE_BUFFER
}
extern "C" __global__ void double_buffered_sum(const float* x, float* y) {
  __shared__ float tile[2][64];
  int t = threadIdx.x;
  const float* mine = x + blockIdx.x * 512 + t;
  float sum = 0;
  fetch(&tile[0][t], mine);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int i = 0; i < 8; ++i) {
    if (i < 7 + TOO_FAR) fetch(&tile[ONE_BUFFER ? 0 : (i + 1) % 2][t], mine + (i + 1) * 64);
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (!NO_WAIT) asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += tile[ONE_BUFFER ? 0 : i % 2][63 - t];  // BUG NO_WAIT ONE_BUFFER
    __syncthreads();
  }
  y[blockIdx.x * 64 + t] = sum;
}
// kernel: three_stages
// launch: grid=1 block=32
// buffer: x f32[2048] input random
// buffer: y f32[512] output
// plant: TWO_STAGES async_misuse|race
// plant: WAITS_FOR_FEWER async_misuse|race|uninitialised_read
extern "C" __global__ void three_stages(const float4* x, float* y) {
  __shared__ float4 tile[3][32];
  int t = threadIdx.x;
  auto ask = [&](int i) {
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[i % (TWO_STAGES ? 2 : 3)][t]);
    if (i < 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + i * 32 + t) : "memory");  // BUG TWO_STAGES
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  ask(0), ask(1);
  for (int i = 0; i < 16; ++i) {
    ask(i + 2);
    asm volatile("cp.async.wait_group %0;" ::"n"(WAITS_FOR_FEWER ? 3 : 2) : "memory");
    __syncwarp();
    float4 v = tile[i % (TWO_STAGES ? 2 : 3)][31 - t];  // BUG TWO_STAGES WAITS_FOR_FEWER
    y[i * 32 + t] = v.x + v.y + v.z + v.w;
    __syncwarp();
  }
}
// kernel: filled_edge
// launch: grid=2 block=32
// buffer: x f32[50] input random
// buffer: y f32[64] output
// plant: NO_FILL out_of_bounds
// plant: STORED_EARLY async_misuse|race
extern "C" __global__ void filled_edge(const float* x, float* y) {
  __shared__ float tile[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  int bytes = i < 50 || NO_FILL ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(&tile[t])), "l"(x + i), "r"(bytes) : "memory");  // BUG NO_FILL
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (!STORED_EARLY) __syncwarp();
  y[i] = tile[t ^ 1];  // BUG STORED_EARLY
}
// kernel: copies_arrive
// launch: grid=1 block=64
// arch: sm_80
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: NO_WAIT async_misuse|race|uninitialised_read
// plant: EXPECTS_MORE deadlock|too_long
extern "C" __global__ void copies_arrive(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ alignas(8) unsigned long long bar;
  int t = threadIdx.x;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(&tile[t]);
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(EXPECTS_MORE ? 65 : 64) : "memory");
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + i * 64 + t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b) : "memory");
    unsigned done = NO_WAIT;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "r"(i % 2) : "memory");
    y[i * 64 + t] = tile[63 - t];  // BUG NO_WAIT
    __syncthreads();
  }
}
// kernel: bulk_row_scale
// launch: grid=4 block=32
// arch: sm_90
// buffer: x f32[512] input random
// buffer: y f32[512] output
// plant: NO_PROXY_FENCE async_misuse
// plant: NO_STORE_WAIT async_misuse
// plant: ODD_BYTES async_misuse|deadlock|misaligned
extern "C" __global__ void bulk_row_scale(const float* x, float* y) {
  __shared__ alignas(128) float row[128];
  __shared__ alignas(8) unsigned long long bar;
  int t = threadIdx.x;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar), s = (unsigned)__cvta_generic_to_shared(row);
  const float* from = x + blockIdx.x * 128;
  float* to = y + blockIdx.x * 128;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(b) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];" ::"r"(s), "l"(from), "r"(b), "r"(ODD_BYTES && blockIdx.x == 1 ? 500 : 512) : "memory");  // BUG ODD_BYTES
  }
  __syncwarp();
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
  for (int i = t; i < 128; i += 32) row[i] *= 0.5f;
  if (!NO_PROXY_FENCE) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(to), "r"(s) : "memory");  // BUG NO_PROXY_FENCE NO_STORE_WAIT
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (!NO_STORE_WAIT) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
// kernel: specialised_warps
// launch: grid=2 block=96
// arch: sm_90
// buffer: x f32[1024] input random
// buffer: y f32[1024] output
// plant: NO_EMPTY async_misuse|race
// plant: WRONG_PARITY async_misuse|race|uninitialised_read|deadlock
// plant: ONE_CONSUMER async_misuse|race
extern "C" __global__ void specialised_warps(const float* x, float* y) {
  __shared__ alignas(128) float stage[2][64];
  __shared__ alignas(8) unsigned long long full[2], empty[2];
  auto at = [](const void* p) { return (unsigned)__cvta_generic_to_shared(p); };
  auto wait = [&](unsigned long long* bar, unsigned parity) {
    unsigned done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
  };
  int t = threadIdx.x, first = blockIdx.x * 512;
  if (t == 0)
    for (int s = 0; s < 2; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&empty[s])), "r"(ONE_CONSUMER ? 1 : 64) : "memory");
    }
  __syncthreads();
  if (t >= 64) {
    if (t == 64)
      for (int i = 0; i < 8; ++i) {
        int s = i % 2;
        if (i >= 2 && !NO_EMPTY) wait(&empty[s], (i / 2 + 1) % 2);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(&full[s])) : "memory");  // BUG NO_EMPTY
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(at(stage[s])), "l"(x + first + 64 * i), "r"(at(&full[s])) : "memory");  // BUG NO_EMPTY ONE_CONSUMER
      }
  } else {
    for (int i = 0; i < 8; ++i) {
      int s = i % 2;
      wait(&full[s], (i / 2 + WRONG_PARITY) % 2);
      y[first + 64 * i + t] = stage[s][63 - t];  // BUG NO_EMPTY WRONG_PARITY ONE_CONSUMER
      if (!ONE_CONSUMER || t == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[s])) : "memory");
    }
  }
}
// kernel: cluster_halo
// launch: grid=4 block=32 cluster=4
// arch: sm_90
// buffer: x f32[128] input random
// buffer: y f32[128] output
// plant: NO_FIRST_SYNC race|uninitialised_read
// plant: NO_LAST_SYNC bad_cluster_rank|race
// plant: RANK_OVER bad_cluster_rank|race
#include <cooperative_groups.h>
extern "C" __global__ void cluster_halo(const float* x, float* y) {
  __shared__ float s[32];
  cooperative_groups::cluster_group c = cooperative_groups::this_cluster();
  unsigned t = threadIdx.x, rank = c.block_rank();
  s[t] = x[blockIdx.x * 32 + t];
  if (!NO_FIRST_SYNC) c.sync();
  const float* next = c.map_shared_rank(s, RANK_OVER ? rank + 1 : (rank + 1) % 4);  // BUG RANK_OVER
  float right = t < 31 ? s[t + 1] : next[0];  // BUG NO_FIRST_SYNC RANK_OVER NO_LAST_SYNC
  y[blockIdx.x * 32 + t] = right - s[t];
  if (!NO_LAST_SYNC) c.sync();
}
// kernel: cluster_scan
// launch: grid=4 block=64 cluster=2
// arch: sm_90
// buffer: x i32[256] input below:9
// buffer: y i32[256] output
// plant: BLOCK_BARRIER race|uninitialised_read
#include <cooperative_groups.h>
extern "C" __global__ void cluster_scan(const int* x, int* y) {
  __shared__ int s[64];
  cooperative_groups::cluster_group c = cooperative_groups::this_cluster();
  int t = threadIdx.x, sum = 0;
  s[t] = x[blockIdx.x * 64 + t];
  if (BLOCK_BARRIER) __syncthreads();
  else c.sync();
  for (int k = 0; k <= t; ++k) sum += s[k];
  if (c.block_rank() == 1) {
    const int* before = c.map_shared_rank(s, 0);
    for (int k = 0; k < 64; ++k) sum += before[k];  // BUG BLOCK_BARRIER
  }
  y[blockIdx.x * 64 + t] = sum;
  c.sync();
}
// kernel: remote_arrival
// launch: grid=2 block=32 cluster=2
// arch: sm_90
// buffer: x i32[64] input below:100
// buffer: y i32[64] output
// plant: NO_CLUSTER_SYNC race|async_misuse
// plant: NO_WAIT race|uninitialised_read
extern "C" __global__ void remote_arrival(const int* x, int* y) {
  __shared__ int s[32];
  __shared__ alignas(8) unsigned long long bar;
  unsigned t = threadIdx.x, b = (unsigned)__cvta_generic_to_shared(&bar), rank, there, far_bar;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32; fence.mbarrier_init.release.cluster;" ::"r"(b) : "memory");
  if (!NO_CLUSTER_SYNC) asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(&s[t])), "r"(rank ^ 1));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_bar) : "r"(b), "r"(rank ^ 1));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(x[blockIdx.x * 32 + t]) : "memory");  // BUG NO_CLUSTER_SYNC NO_WAIT
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far_bar) : "memory");
  unsigned done = NO_WAIT;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
  y[blockIdx.x * 32 + t] = s[31 - t];  // BUG NO_WAIT
  asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
