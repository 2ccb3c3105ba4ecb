// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts, merges and selections.
// kernel: bitonic_block
// launch: grid=2 block=64
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: NO_BARRIER race
// plant: WRONG_PARTNER out_of_bounds|race
extern "C" __global__ void bitonic_block(const float* x, float* y) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];
  s[t + 64] = x[blockIdx.x * 128 + t + 64];
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2)
    for (int k = size / 2; k > 0; k /= 2) {
      int i = 2 * t - (t & (k - 1)), j = i + k + (WRONG_PARTNER ? 1 : 0);
      float a = s[i], b = s[j];  // BUG WRONG_PARTNER
      if ((a > b) == ((i & size) == 0)) s[i] = b, s[j] = a;  // BUG NO_BARRIER WRONG_PARTNER
      if (!NO_BARRIER) __syncthreads();
    }
  y[blockIdx.x * 128 + t] = s[t];  // BUG NO_BARRIER
  y[blockIdx.x * 128 + t + 64] = s[t + 64];
}
// kernel: bitonic_warp
// launch: grid=1 block=64
// buffer: x i32[64] input below:1000
// buffer: y i32[64] output
// plant: LEAVES_EARLY bad_mask
extern "C" __global__ void bitonic_warp(const int* x, int* y) {
  int t = threadIdx.x, lane = t % 32, v = x[t];
  for (int size = 2; size <= 32; size *= 2)
    for (int k = size / 2; k > 0; k /= 2) {
      if (LEAVES_EARLY && k == 1 && lane == 31) break;
      int o = __shfl_xor_sync(~0u, v, k);  // BUG LEAVES_EARLY
      bool up = (lane & size) == 0, low = (lane & k) == 0;
      v = up == low ? min(v, o) : max(v, o);
    }
  y[t] = v;
}
// kernel: odd_even
// launch: grid=1 block=32
// buffer: x f32[64] input random
// buffer: y f32[64] output
// plant: LAST_PAIR out_of_bounds
// plant: NO_SYNC race
extern "C" __global__ void odd_even(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t], s[t + 32] = x[t + 32];
  __syncwarp();
  for (int step = 0; step < 64; ++step) {
    int i = 2 * t + step % 2;
    if (i + 1 < 64 || LAST_PAIR) {
      float a = s[i], b = s[i + 1];  // BUG LAST_PAIR NO_SYNC
      s[i] = fminf(a, b), s[i + 1] = fmaxf(a, b);  // BUG LAST_PAIR NO_SYNC
    }
    if (!NO_SYNC) __syncwarp();
  }
  y[t] = s[t], y[t + 32] = s[t + 32];
}
// kernel: rank_sort
// launch: grid=2 block=64
// buffer: x i32[128] input below:40
// buffer: y i32[128] output
// plant: TIES uninitialised_read|race
extern "C" __global__ void rank_sort(const int* x, int* y) {
  __shared__ int s[64], sorted[64];
  int t = threadIdx.x, rank = 0;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  for (int i = 0; i < 64; ++i) rank += s[i] < s[t] || (s[i] == s[t] && i < t && !TIES);
  sorted[rank] = s[t];
  __syncthreads();
  y[blockIdx.x * 64 + t] = sorted[t];  // BUG TIES
}
// kernel: radix_split
// launch: grid=1 block=64
// buffer: x u32[64] input below:256
// buffer: y u32[64] output
// plant: NO_BARRIER race
extern "C" __global__ void radix_split(const unsigned* x, unsigned* y) {
  __shared__ unsigned s[64], zeros[2];
  unsigned t = threadIdx.x, lane = t % 32, w = t / 32, v = x[t];
  for (int bit = 0; bit < 8; ++bit) {
    unsigned zero = __ballot_sync(~0u, (v >> bit & 1) == 0);
    if (lane == 0) zeros[w] = __popc(zero);  // BUG NO_BARRIER
    if (!NO_BARRIER) __syncthreads();
    unsigned before = __popc(zero & ((1u << lane) - 1)) + (w ? zeros[0] : 0);
    unsigned to = v >> bit & 1 ? zeros[0] + zeros[1] + t - before : before;  // BUG NO_BARRIER
    s[to] = v;
    __syncthreads();
    v = s[t];
    __syncthreads();
  }
  y[t] = v;
}
// kernel: merge_paths
// launch: grid=1 block=32
// buffer: a f32[64] input iota
// buffer: b f32[64] input iota
// buffer: y f32[128] output
// plant: NO_LIMIT out_of_bounds
extern "C" __global__ void merge_paths(const float* a, const float* b, float* y) {
  int diagonal = threadIdx.x * 4, low = max(0, diagonal - 64), high = min(diagonal, 64);
  while (low < high) {
    int i = (low + high) / 2;
    if (a[i] < b[diagonal - 1 - i]) low = i + 1;
    else high = i;
  }
  int i = low, j = diagonal - low;
  for (int k = 0; k < 4; ++k) {
    bool left = j >= 64 + NO_LIMIT || (i < 64 && a[i] < b[j]);  // BUG NO_LIMIT
    y[diagonal + k] = left ? a[i++] : b[j++];  // BUG NO_LIMIT
  }
}
// kernel: counting_sort
// launch: grid=1 block=128
// buffer: x u8[128] input below:16
// buffer: y u8[128] output
// plant: START_SHARED race
// plant: NOT_CLEARED uninitialised_read
extern "C" __global__ void counting_sort(const unsigned char* x, unsigned char* y) {
  __shared__ int count[16], start[16];
  int t = threadIdx.x, v = x[t];
  if (t < 16 && !NOT_CLEARED) count[t] = 0;
  __syncthreads();
  atomicAdd(&count[v], 1);  // BUG NOT_CLEARED
  __syncthreads();
  if (START_SHARED ? t % 32 == 0 : t == 0)
    for (int k = 0, sum = 0; k < 16; ++k) start[k] = sum + (START_SHARED ? t / 32 : 0), sum += count[k];  // BUG START_SHARED
  __syncthreads();
  y[atomicAdd(&start[v], 1)] = v;
}
// kernel: insertion_per_thread
// launch: grid=1 block=32
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: ONE_MORE out_of_bounds
extern "C" __global__ void insertion_per_thread(const float* x, float* y) {
  float v[8];
  for (int i = 0; i < 8; ++i) v[i] = x[threadIdx.x * 8 + i + (ONE_MORE && i == 7)];  // BUG ONE_MORE
  for (int i = 1; i < 8; ++i)
    for (int j = i; j > 0 && v[j - 1] > v[j]; --j) {
      float o = v[j];
      v[j] = v[j - 1], v[j - 1] = o;
    }
  for (int i = 0; i < 8; ++i) y[threadIdx.x * 8 + i] = v[i];
}
// kernel: top_two
// launch: grid=4 block=32
// buffer: x f32[400] input random
// buffer: y f32[8] output
// plant: COLUMNS out_of_bounds
extern "C" __global__ void top_two(const float* x, float* y) {
  float first = -2, second = -2;
  for (int i = threadIdx.x; i < (COLUMNS ? 128 : 100); i += 32) {
    float v = x[blockIdx.x * 100 + i];  // BUG COLUMNS
    if (v > first) second = first, first = v;
    else second = fmaxf(second, v);
  }
  for (int k = 16; k > 0; k /= 2) {
    float a = __shfl_xor_sync(~0u, first, k), b = __shfl_xor_sync(~0u, second, k);
    second = a > first ? fmaxf(first, b) : fmaxf(second, a);
    first = fmaxf(first, a);
  }
  if (threadIdx.x == 0) y[2 * blockIdx.x] = first, y[2 * blockIdx.x + 1] = second;
}
// kernel: unique_marks
// launch: grid=1 block=64
// buffer: x i32[64] input below:20
// buffer: y i32[64] output
// plant: FIRST_LOOKS_BACK out_of_bounds
extern "C" __global__ void unique_marks(const int* x, int* y) {
  int t = threadIdx.x;
  y[t] = (t == 0 && !FIRST_LOOKS_BACK) || x[t] != x[t - 1];  // BUG FIRST_LOOKS_BACK
}
