// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that hand out work, wait for one another, and share structures under locks.
// kernel: dynamic_rows
// launch: grid=3 block=32
// buffer: x f32[640] input random
// buffer: y f32[20] output
// buffer: next u32[1] scratch zero
// plant: EVERY_LANE_TAKES out_of_bounds|race|uninitialised_read|bad_mask
// plant: PLAIN_COUNTER race
extern "C" __global__ void dynamic_rows(const float* x, float* y, unsigned* next) {
  int t = threadIdx.x;
  while (true) {
    unsigned row = 0;
    if (t == 0 || EVERY_LANE_TAKES) {
      if (PLAIN_COUNTER)
        row = (*next)++;  // BUG PLAIN_COUNTER
      else
        row = atomicAdd(next, 1u);
    }
    if (!EVERY_LANE_TAKES) row = __shfl_sync(~0u, row, 0);
    if (row >= 20) break;
    float v = x[row * 32 + t];
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k);  // BUG EVERY_LANE_TAKES
    if (t == 0) y[row] = v;
  }
}
// kernel: ticket_lock
// launch: grid=4 block=32
// buffer: data i32[2] both zero
// buffer: lock u32[2] scratch zero
// plant: NO_ACQUIRE race
// plant: NO_RELEASE race
// plant: NEVER_SERVED deadlock|too_long
extern "C" __global__ void ticket_lock(int* data, unsigned* lock) {
  if (threadIdx.x != 0) return;
  unsigned ticket = atomicAdd(&lock[0], 1u);
  while (atomicAdd(&lock[1], 0u) != ticket) {}
  if (!NO_ACQUIRE) __threadfence();
  data[0] = data[0] + 3;  // BUG NO_ACQUIRE NO_RELEASE
  data[1] = data[1] + 1;
  if (!NO_RELEASE) __threadfence();
  if (!NEVER_SERVED) atomicAdd(&lock[1], 1u);
}
// kernel: ring_of_warps
// launch: grid=1 block=64
// buffer: x f32[512] input random
// buffer: y f32[512] output
// plant: NO_EMPTY_WAIT race
// plant: WRONG_COUNT mismatched_barrier|deadlock|divergent_barrier
// plant: SAME_SLOT race
extern "C" __global__ void ring_of_warps(const float* x, float* y) {
  __shared__ float ring[2][32];
  int t = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < 16; ++i) {
      if (i >= 2 && !NO_EMPTY_WAIT) asm volatile("bar.sync %0, 64;" ::"r"(3 + i % 2) : "memory");
      ring[SAME_SLOT ? 0 : i % 2][t] = x[i * 32 + t];  // BUG NO_EMPTY_WAIT SAME_SLOT
      if (WRONG_COUNT)
        asm volatile("bar.arrive %0, 96;" ::"r"(1 + i % 2) : "memory");
      else
        asm volatile("bar.arrive %0, 64;" ::"r"(1 + i % 2) : "memory");
    }
  } else {
    for (int i = 0; i < 16; ++i) {
      asm volatile("bar.sync %0, 64;" ::"r"(1 + i % 2) : "memory");  // BUG WRONG_COUNT
      y[i * 32 + t] = ring[SAME_SLOT ? 0 : i % 2][31 - t];  // BUG NO_EMPTY_WAIT SAME_SLOT
      if (i < 14 && !NO_EMPTY_WAIT) asm volatile("bar.arrive %0, 64;" ::"r"(3 + i % 2) : "memory");
    }
  }
}
// kernel: stack_by_swap
// launch: grid=2 block=32
// buffer: y i32[64] output
// buffer: link i32[64] scratch zero
// buffer: head i32[1] scratch zero
// plant: LATE_LINK race
extern "C" __global__ void stack_by_swap(int* y, int* link, int* head) {
  int me = blockIdx.x * 32 + threadIdx.x, old = atomicAdd(head, 0), seen;
  do {
    seen = old;
    if (!LATE_LINK) atomicExch(&link[me], seen);
    __threadfence();
    old = atomicCAS(head, seen, me + 1);
  } while (old != seen);
  if (LATE_LINK) link[me] = seen;  // BUG LATE_LINK
  y[me] = seen >= 0 && seen <= 64;
  if (LATE_LINK && seen > 0) y[me] = link[seen - 1] >= 0;  // BUG LATE_LINK
}
// kernel: mailbox
// launch: grid=4 block=32
// buffer: x f32[128] input random
// buffer: y f32[128] output
// buffer: box f32[128] scratch zero
// buffer: full u32[4] scratch zero
// plant: FLAG_FIRST race
// plant: PLAIN_FLAG race|deadlock|too_long
// plant: LATE_FENCE race
extern "C" __global__ void mailbox(const float* x, float* y, float* box, unsigned* full) {
  int b = blockIdx.x, t = threadIdx.x;
  if (FLAG_FIRST && t == 0) atomicExch(&full[b], 1u);
  box[b * 32 + t] = 2 * x[b * 32 + t];  // BUG FLAG_FIRST
  __threadfence();
  __syncthreads();
  if (t == 0 && !FLAG_FIRST) {
    if (PLAIN_FLAG)
      full[b] = 1;  // BUG PLAIN_FLAG
    else
      atomicExch(&full[b], 1u);
  }
  int from = b == 0 ? 0 : b - 1;
  if (t == 0)
    while (atomicAdd(&full[from], 0u) == 0) {}  // BUG PLAIN_FLAG
  if (!LATE_FENCE) __threadfence();
  __syncthreads();
  y[b * 32 + t] = box[from * 32 + 31 - t];  // BUG FLAG_FIRST LATE_FENCE
}
// kernel: acquire_release_flag
// launch: grid=2 block=64
// arch: sm_80
// buffer: x i32[64] input below:100
// buffer: y i32[64] output
// buffer: data i32[64] scratch zero
// buffer: flag i32[1] scratch zero
// plant: RELAXED race
// plant: CTA_SCOPE race
extern "C" __global__ void acquire_release_flag(const int* x, int* y, int* data, int* flag) {
  int t = threadIdx.x, v = 0;
  if (blockIdx.x == 0) {
    data[t] = x[t] + 1;  // BUG RELAXED CTA_SCOPE
    __syncthreads();
    if (t == 0) {
      if (RELAXED) asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
      else if (CTA_SCOPE) asm volatile("st.release.cta.global.s32 [%0], 1;" ::"l"(flag) : "memory");
      else asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    }
  } else {
    if (t == 0)
      do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
      while (v == 0);
    __syncthreads();
    y[t] = data[63 - t];  // BUG RELAXED CTA_SCOPE
  }
}
// kernel: push_by_warp
// launch: grid=2 block=64
// buffer: x i32[128] input below:100
// buffer: y i32[128] both zero
// buffer: count u32[1] both zero
// plant: ALL_PUSH out_of_bounds
extern "C" __global__ void push_by_warp(const int* x, int* y, unsigned* count) {
  int v = x[blockIdx.x * 64 + threadIdx.x], lane = threadIdx.x % 32;
  bool keep = v >= 50;
  unsigned mask = __ballot_sync(~0u, keep), base = 0;
  if (lane == 0) base = atomicAdd(count, ALL_PUSH ? 64 : __popc(mask));
  base = __shfl_sync(~0u, base, 0);
  if (keep) y[base + __popc(mask & ((1u << lane) - 1))] = v;  // BUG ALL_PUSH
}
// kernel: once_per_grid
// launch: grid=5 block=32
// buffer: y i32[4] both zero
// buffer: state u32[1] scratch zero
// plant: TWO_WINNERS race
extern "C" __global__ void once_per_grid(int* y, unsigned* state) {
  int t = threadIdx.x;
  bool mine = t == 0 && (TWO_WINNERS ? atomicAdd(state, 1u) < 2 : atomicCAS(state, 0u, 1u) == 0);
  if (__any_sync(~0u, mine) && t < 4) y[t] = y[t] + 10 + t + (TWO_WINNERS ? blockIdx.x : 0);  // BUG TWO_WINNERS
}
// kernel: all_arrive
// launch: grid=3 block=32 cooperative
// buffer: x f32[96] input random
// buffer: y f32[96] output
// buffer: part f32[3] scratch zero
// buffer: arrived u32[1] scratch zero
// plant: COUNTS_TWO race
extern "C" __global__ void all_arrive(const float* x, float* y, float* part, unsigned* arrived) {
  int b = blockIdx.x, t = threadIdx.x;
  float v = x[b * 32 + t];
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (t == 0) {
    part[b] = v;  // BUG COUNTS_TWO
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < (COUNTS_TWO ? 1u : 3u)) {}
    __threadfence();
  }
  __syncwarp();
  y[b * 32 + t] = x[b * 32 + t] / (part[0] + part[1] + part[2]);  // BUG COUNTS_TWO
}
