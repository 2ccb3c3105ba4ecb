// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Lanes and threads that wait for others which came another way, left early, or only count at an mbarrier.
//
// kernel: tail_counts
// The last lanes leave; the others count, wait for one another, and count again: nothing runs twice.
// launch: grid=2 block=64
// buffer: bins u32[6] both zero
// buffer: even u32[1] both zero
// value: i32 105
// plant: SOME_VOTE bad_mask
extern "C" __global__ void tail_counts(unsigned* bins, unsigned* even, int n) {
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i >= n) return;
  atomicAdd(&bins[i % 5], 1u);
  if (i % 3 == 0) atomicAdd(&bins[5], 10u);
  __syncwarp();
  atomicAdd(&bins[i % 5], 100u);
  unsigned mine = 0;
  if (!SOME_VOTE || t % 32 < 20) mine = __ballot_sync(~0u, i % 2 == 0) >> (t % 32) & 1;  // BUG SOME_VOTE
  atomicAdd(even, mine);
}
// kernel: two_places
// One warp barrier, written at two places.
// launch: grid=2 block=32
// buffer: x i32[64] input below:1000
// buffer: y i32[64] output
// plant: OTHER_MASK race
extern "C" __global__ void two_places(const int* x, int* y) {
  __shared__ int tile[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t, v = x[i];
  tile[t] = v;  // BUG OTHER_MASK
  if (t < 13) {
    v = 3 * v;
    __syncwarp(OTHER_MASK ? 0x00001fffu : ~0u);
  } else {
    v = v + 7;
    __syncwarp(OTHER_MASK ? 0xffffe000u : ~0u);
  }
  y[i] = v + tile[31 - t];  // BUG OTHER_MASK
}
// kernel: wide_sums
// Sums of 128 bits by a chain of carries, in half of the lanes.
// launch: grid=2 block=64
// buffer: x u32[512] input random
// buffer: y u32[512] output
// plant: NO_CARRY uninitialised_read
extern "C" __global__ void wide_sums(const uint4* x, uint4* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  uint4 a = x[i], b = x[127 - i], sum = a;
  if (i % 2 == 1)
#if NO_CARRY
    asm("add.u32 %0, %4, %8; addc.cc.u32 %1, %5, %9; addc.cc.u32 %2, %6, %10; addc.u32 %3, %7, %11;"
#else
    asm("add.cc.u32 %0, %4, %8; addc.cc.u32 %1, %5, %9; addc.cc.u32 %2, %6, %10; addc.u32 %3, %7, %11;"
#endif
        : "=r"(sum.x), "=r"(sum.y), "=r"(sum.z), "=r"(sum.w)
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w));
  y[i] = sum;  // BUG NO_CARRY
}
// kernel: leaving_lanes
// Some lanes of the last warp leave before the block's barrier and no longer count.
// launch: grid=2 block=96
// buffer: x f32[192] input random
// buffer: y f32[160] output
// plant: PASSES_BY divergent_barrier
extern "C" __global__ void leaving_lanes(const float* x, float* y) {
  __shared__ float tile[80];
  int t = threadIdx.x;
  if (t >= 80) return;
  tile[t] = x[blockIdx.x * 96 + t];
  if (!PASSES_BY || t < 70) __syncthreads();  // BUG PASSES_BY
  y[blockIdx.x * 80 + t] = tile[79 - t];
}
// kernel: counted_phase
// A phase of an mbarrier in place of the block's barrier, and the end of its life.
// launch: grid=2 block=64
// arch: sm_90
// buffer: x f32[128] input random
// buffer: y f32[128] output
// plant: NO_ORDER race|uninitialised_read
// plant: PLAIN_STORE async_misuse
// plant: MADE_AGAIN race
// plant: ENDED_EARLY race
// plant: RELAXED_ARRIVAL race
// plant: RELAXED_WAIT race
extern "C" __global__ void counted_phase(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ alignas(8) unsigned long long bar;
  unsigned s = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(s) : "memory");  // BUG NO_ORDER
  if (!NO_ORDER) __syncthreads();
  tile[t] = x[i];  // BUG RELAXED_ARRIVAL RELAXED_WAIT
  if (RELAXED_ARRIVAL)
    asm volatile("{ .reg .b64 w; mbarrier.arrive.relaxed.cta.shared::cta.b64 w, [%0]; }" ::"r"(s) : "memory");
  else
    asm volatile("{ .reg .b64 w; mbarrier.arrive.shared::cta.b64 w, [%0]; }" ::"r"(s) : "memory");  // BUG NO_ORDER
  if (RELAXED_WAIT)
    asm volatile("{ .reg .pred done;\nagain: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" ::"r"(s) : "memory");
  else
    asm volatile("{ .reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" ::"r"(s) : "memory");
  y[i] = tile[63 - t];  // BUG RELAXED_ARRIVAL RELAXED_WAIT
  if (MADE_AGAIN && t == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(s) : "memory");  // BUG MADE_AGAIN
  if (ENDED_EARLY && t == 0)
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(s) : "memory");  // BUG ENDED_EARLY
  __syncthreads();
  if (!PLAIN_STORE && t == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(s) : "memory");
  if (t == 0) *reinterpret_cast<volatile float*>(&bar) = 1;  // BUG PLAIN_STORE
}
// kernel: counted_neighbour
// Each block of a pair fills the other's tile and arrives at its mbarrier.
// launch: grid=4 block=32 cluster=2
// arch: sm_90
// buffer: x u32[128] input random
// buffer: y u32[128] output
// plant: OWN_ARRIVAL race
// plant: OWN_WAIT race
// plant: UNFENCED race|uninitialised_read|async_misuse
extern "C" __global__ void counted_neighbour(const unsigned* x, unsigned* y) {
  __shared__ unsigned tile[32];
  __shared__ alignas(8) unsigned long long bar;
  unsigned t = threadIdx.x, i = blockIdx.x * 32 + t, rank, there, other;
  unsigned s = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(s) : "memory");  // BUG UNFENCED
    if (!UNFENCED) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(rank ^ 1));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(s), "r"(rank ^ 1));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(x[i]) : "memory");  // BUG OWN_ARRIVAL OWN_WAIT
  if (OWN_ARRIVAL)
    asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
  else
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");  // BUG UNFENCED
  if (OWN_WAIT)
    asm volatile("{ .reg .pred done;\nagain: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" ::"r"(s) : "memory");
  else
    asm volatile("{ .reg .pred done;\nagain: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" ::"r"(s) : "memory");
  y[i] = tile[31 - t];  // BUG OWN_ARRIVAL OWN_WAIT
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
