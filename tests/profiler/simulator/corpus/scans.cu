// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Running sums: of warps, of blocks, across blocks, and what is built of them.
// kernel: hillis_steele
// launch: grid=2 block=128
// buffer: x u32[256] input below:100
// buffer: y u32[256] output
// plant: ONE_BUFFER race
// plant: BEFORE_FIRST out_of_bounds
extern "C" __global__ void hillis_steele(const unsigned* x, unsigned* y) {
  __shared__ unsigned s[2][128];
  int t = threadIdx.x, from = 0;
  s[0][t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 1; k < 128; k *= 2) {
    int to = ONE_BUFFER ? 0 : 1 - from;
    s[to][t] = s[from][t] + (t >= k || BEFORE_FIRST ? s[from][t - k] : 0);  // BUG ONE_BUFFER BEFORE_FIRST
    from = to;
    __syncthreads();
  }
  y[blockIdx.x * 128 + t] = s[from][t];
}
// kernel: blelloch
// launch: grid=2 block=64
// buffer: x u32[256] input below:100
// buffer: y u32[256] output
// plant: NO_BARRIER race
// plant: KEEPS_TOTAL race
extern "C" __global__ void blelloch(const unsigned* x, unsigned* y) {
  __shared__ unsigned s[128];
  int t = threadIdx.x, step = 1;
  s[t] = x[blockIdx.x * 128 + t];
  s[t + 64] = x[blockIdx.x * 128 + t + 64];
  for (int n = 64; n > 0; n /= 2, step *= 2) {
    if (!NO_BARRIER) __syncthreads();
    if (t < n) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];  // BUG NO_BARRIER
  }
  if (!KEEPS_TOTAL) __syncthreads();
  if (t == KEEPS_TOTAL) s[127] = 0;  // BUG KEEPS_TOTAL
  for (int n = 1; n < 128; n *= 2) {
    step /= 2;
    __syncthreads();
    if (t < n) {
      unsigned left = s[step * (2 * t + 1) - 1];  // BUG KEEPS_TOTAL
      s[step * (2 * t + 1) - 1] = s[step * (2 * t + 2) - 1];
      s[step * (2 * t + 2) - 1] += left;
    }
  }
  __syncthreads();
  y[blockIdx.x * 128 + t] = s[t];
  y[blockIdx.x * 128 + t + 64] = s[t + 64];
}
// kernel: two_level_scan
// launch: grid=2 block=1024
// buffer: x u32[2048] input below:9
// buffer: y u32[2048] output
// plant: NO_SECOND_BARRIER race
extern "C" __global__ void two_level_scan(const unsigned* x, unsigned* y) {
  __shared__ unsigned total[32];
  unsigned t = threadIdx.x, lane = t & 31, w = t >> 5, mine = x[blockIdx.x * 1024 + t], v = mine;
  for (int k = 1; k < 32; k *= 2) {
    unsigned o = __shfl_up_sync(~0u, v, k);
    v += lane >= k ? o : 0;
  }
  if (lane == 31) total[w] = v;
  __syncthreads();
  if (w == 0) {
    unsigned s = total[lane];
    for (int k = 1; k < 32; k *= 2) {
      unsigned o = __shfl_up_sync(~0u, s, k);
      s += lane >= k ? o : 0;
    }
    total[lane] = s;  // BUG NO_SECOND_BARRIER
  }
  if (!NO_SECOND_BARRIER) __syncthreads();
  y[blockIdx.x * 1024 + t] = v - mine + (w > 0 ? total[w - 1] : 0);  // BUG NO_SECOND_BARRIER
}
// kernel: compact
// launch: grid=1 block=128
// buffer: x i32[128] input below:50
// buffer: y i32[128] both zero
// buffer: count i32[1] output
// plant: NO_BARRIER race
// plant: COUNTS_ALL out_of_bounds
extern "C" __global__ void compact(const int* x, int* y, int* count) {
  __shared__ int offset[4];
  int t = threadIdx.x, lane = t % 32, w = t / 32, v = x[t];
  unsigned keep = __ballot_sync(~0u, v % 3 == 0);
  if (lane == 0) offset[w] = COUNTS_ALL ? 64 : __popc(keep);  // BUG NO_BARRIER
  if (!NO_BARRIER) __syncthreads();
  int before = 0;
  for (int i = 0; i < w; ++i) before += offset[i];  // BUG NO_BARRIER
  if (v % 3 == 0) y[before + __popc(keep & ((1u << lane) - 1))] = v;  // BUG COUNTS_ALL
  if (t == 0) *count = offset[0] + offset[1] + offset[2] + offset[3];
}
// kernel: look_back
// launch: grid=6 block=32
// buffer: x u32[192] input below:100
// buffer: y u32[192] output
// buffer: prefix u32[6] scratch zero
// buffer: ready u32[6] scratch zero
// plant: NO_FENCE race
// plant: BLOCK_FENCE race
// plant: FIRST_WAITS deadlock|too_long|out_of_bounds
extern "C" __global__ void look_back(const unsigned* x, unsigned* y, unsigned* prefix, unsigned* ready) {
  int b = blockIdx.x, t = threadIdx.x;
  unsigned v = x[b * 32 + t], before = 0;
  for (int k = 1; k < 32; k *= 2) {
    unsigned o = __shfl_up_sync(~0u, v, k);
    v += t >= k ? o : 0;
  }
  if (t == 31) {
    if (b > 0 || FIRST_WAITS) {
      int from = FIRST_WAITS && b == 0 ? 5 : b - 1;
      while (atomicAdd(&ready[from], 0) == 0) {}
      if (!NO_FENCE) __threadfence();
      before = prefix[from];  // BUG NO_FENCE BLOCK_FENCE
    }
    prefix[b] = before + v;  // BUG NO_FENCE BLOCK_FENCE
    if (BLOCK_FENCE)
      __threadfence_block();
    else if (!NO_FENCE)
      __threadfence();
    atomicExch(&ready[b], 1);
  }
  y[b * 32 + t] = v + __shfl_sync(~0u, before, 31);
}
// kernel: segmented_scan
// launch: grid=1 block=64
// buffer: x i32[64] input below:20
// buffer: head i32[64] input below:4
// buffer: y i32[64] output
// plant: SAME_BUFFER race
extern "C" __global__ void segmented_scan(const int* x, const int* head, int* y) {
  __shared__ int sum[64], flag[64];
  int t = threadIdx.x;
  sum[t] = x[t];
  flag[t] = head[t] == 0 || t == 0;
  __syncthreads();
  for (int k = 1; k < 64; k *= 2) {
    int s = sum[t], f = flag[t];
    if (t >= k && !f) s += sum[t - k], f |= flag[t - k];  // BUG SAME_BUFFER
    if (!SAME_BUFFER) __syncthreads();
    sum[t] = s, flag[t] = f;  // BUG SAME_BUFFER
    __syncthreads();
  }
  y[t] = sum[t];
}
// kernel: row_offsets
// launch: grid=1 block=64
// buffer: count i32[64] input below:6
// buffer: offset i32[65] output
// plant: LAST_MISSING uninitialised_read
// plant: TOO_FAR out_of_bounds
extern "C" __global__ void row_offsets(const int* count, int* offset) {
  int t = threadIdx.x;
  if (t == 0) offset[0] = 0;
  for (int i = t; i < 64; i += 64) {
    int sum = 0;
    for (int k = 0; k <= i + TOO_FAR; ++k) sum += count[k];  // BUG TOO_FAR
    if (!LAST_MISSING || i < 63) offset[i + 1] = sum;
  }
  __syncthreads();
  if (offset[64] < offset[63]) __trap();  // BUG LAST_MISSING
}
// kernel: max_scan
// launch: grid=2 block=32
// buffer: x f32[64] input random
// buffer: y f32[64] output
// plant: HALF_WARP bad_mask
extern "C" __global__ void max_scan(const float* x, float* y) {
  int t = threadIdx.x;
  float v = x[blockIdx.x * 32 + t];
  if (!HALF_WARP || t >= 16)
    for (int k = 1; k < 32; k *= 2) {
      float o = __shfl_up_sync(~0u, v, k);  // BUG HALF_WARP
      if (t >= k) v = fmaxf(v, o);
    }
  y[blockIdx.x * 32 + t] = v;
}
