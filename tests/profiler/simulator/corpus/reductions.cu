// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of blocks, warps and rows, in the forms that people write them.
// kernel: tree_sum
// launch: grid=4 block=128
// buffer: x f32[512] input random
// buffer: y f32[4] output
// plant: NO_BARRIER race
// plant: OFF_BY_ONE uninitialised_read|out_of_bounds|race
extern "C" __global__ void tree_sum(const float* x, float* y) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 1; k < 128; k *= 2) {
    if (t % (2 * k) == 0) s[t] += s[t + k + OFF_BY_ONE];  // BUG NO_BARRIER OFF_BY_ONE
    if (!NO_BARRIER) __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];  // BUG NO_BARRIER
}
// kernel: sequential_sum
// launch: grid=3 block=64
// buffer: x f32[340] input random
// buffer: y f32[3] output
// value: i32 340
// plant: NO_TAIL out_of_bounds
// plant: LAST_BARRIER race
extern "C" __global__ void sequential_sum(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = x[i] + (i + 64 < n || NO_TAIL ? x[i + 64] : 0.0f);  // BUG NO_TAIL
  __syncthreads();
  for (int k = 32; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];  // BUG LAST_BARRIER
    if (!LAST_BARRIER || k > 8) __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
// kernel: volatile_tail
// launch: grid=2 block=64
// buffer: x f32[128] input random
// buffer: y f32[2] output
// plant: NO_SYNCWARP race
extern "C" __global__ void volatile_tail(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) {
    volatile float* v = s;
    float mine = v[t];
    for (int k = 32; k > 0; k /= 2) {
      mine += v[t + k];  // BUG NO_SYNCWARP
      if (!NO_SYNCWARP) __syncwarp();
      v[t] = mine;  // BUG NO_SYNCWARP
      if (!NO_SYNCWARP) __syncwarp();
    }
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
// kernel: shuffled_block_sum
// launch: grid=2 block=256
// buffer: x f32[512] input random
// buffer: y f32[2] output
// plant: NO_BARRIER race
// plant: HALF_MASK bad_mask
// plant: ALL_TOTALS uninitialised_read
__device__ float warp_sum(float v, unsigned mask) {
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(mask, v, k);  // BUG HALF_MASK
  return v;
}
extern "C" __global__ void shuffled_block_sum(const float* x, float* y) {
  __shared__ float total[32];
  int t = threadIdx.x;
  float v = warp_sum(x[blockIdx.x * 256 + t], 0xffffffffu);
  if (t % 32 == 0) total[t / 32] = v;  // BUG NO_BARRIER
  if (!NO_BARRIER) __syncthreads();
  if (t < (HALF_MASK ? 8 : 32)) {
    v = t < 8 || ALL_TOTALS ? total[t] : 0.0f;  // BUG NO_BARRIER ALL_TOTALS
    v = warp_sum(v, 0xffffffffu);
    if (t == 0) y[blockIdx.x] = v;
  }
}
// kernel: argmax
// launch: grid=3 block=96
// buffer: x f32[288] input random
// buffer: value f32[3] output
// buffer: place i32[3] output
// plant: SPLIT_UPDATE race
// plant: OVERRUN out_of_bounds
extern "C" __global__ void argmax(const float* x, float* value, int* place) {
  __shared__ float best[96];
  __shared__ int where[96];
  int t = threadIdx.x;
  best[t] = x[blockIdx.x * 96 + t];
  where[t] = t;
  __syncthreads();
  for (int k = 48; k > 2; k /= 2) {
    if (t < k && best[t + k] > best[t]) {  // BUG SPLIT_UPDATE
      best[t] = best[t + k];               // BUG SPLIT_UPDATE
      where[t] = where[t + k];             // BUG SPLIT_UPDATE
    }
    if (!SPLIT_UPDATE) __syncthreads();
  }
  if (t == 0) {
    for (int k = 1; k < (OVERRUN ? 97 : 3); ++k)
      if (best[k] > best[0]) best[0] = best[k], where[0] = where[k];  // BUG OVERRUN
    value[blockIdx.x] = best[0];
    place[blockIdx.x] = where[0];
  }
}
// kernel: vector_extremes
// launch: grid=1 block=32
// buffer: x f32[512] input random
// buffer: y f32[2] output
// plant: SHIFTED misaligned
extern "C" __global__ void vector_extremes(const float* x, float* y) {
  float least = 2.0f, most = -2.0f;
  for (int i = threadIdx.x; i < 128; i += 32) {
    float4 v = *reinterpret_cast<const float4*>(x + 4 * i + (SHIFTED && i < 100 ? 2 : 0));  // BUG SHIFTED
    least = fminf(fminf(fminf(v.x, v.y), fminf(v.z, v.w)), least);
    most = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), most);
  }
  for (int k = 16; k > 0; k /= 2) {
    least = fminf(least, __shfl_xor_sync(~0u, least, k));
    most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
  }
  if (threadIdx.x == 0) y[0] = least, y[1] = most;
}
// kernel: welford
// launch: grid=2 block=128
// buffer: x f32[1024] input random
// buffer: y f32[4] output
// plant: FORGOTTEN uninitialised_read
// plant: NO_BARRIER race|uninitialised_read
struct Moments { float mean, squares, count; };
__device__ Moments merged(Moments a, Moments b) {
  float n = a.count + b.count, d = b.mean - a.mean;
  return {a.mean + d * b.count / n, a.squares + b.squares + d * d * a.count * b.count / n, n};
}
extern "C" __global__ void welford(const float* x, float* y) {
  __shared__ Moments part[4];
  int t = threadIdx.x;
  Moments m{0, 0, 0};
  for (int i = t; i < 512; i += 128) m = merged(m, {x[blockIdx.x * 512 + i], 0, 1});
  for (int k = 16; k > 0; k /= 2)
    m = merged(m, {__shfl_xor_sync(~0u, m.mean, k), __shfl_xor_sync(~0u, m.squares, k), __shfl_xor_sync(~0u, m.count, k)});
  if (t % 32 == 0) {
    part[t / 32].mean = m.mean;
    part[t / 32].squares = m.squares;
    if (!FORGOTTEN) part[t / 32].count = m.count;
  }
  if (!NO_BARRIER) __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 4; ++w) m = merged(m, part[w]);  // BUG FORGOTTEN NO_BARRIER
    y[2 * blockIdx.x] = m.mean;
    y[2 * blockIdx.x + 1] = m.squares / m.count;
  }
}
// kernel: dot_product
// launch: grid=4 block=64
// buffer: a f32[1000] input random
// buffer: b f32[1000] input random
// buffer: y f32[1] both zero
// plant: PLAIN_ADD race
// plant: BLOCK_SCOPE race
// plant: WHOLE_GRID out_of_bounds
extern "C" __global__ void dot_product(const float* a, const float* b, float* y) {
  float v = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < (WHOLE_GRID ? 1024 : 1000); i += 256) v += a[i] * b[i];  // BUG WHOLE_GRID
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
  if (threadIdx.x % 32 != 0) return;
  if (PLAIN_ADD)
    *y += v;  // BUG PLAIN_ADD
  else if (BLOCK_SCOPE)
    atomicAdd_block(y, v);  // BUG BLOCK_SCOPE
  else
    atomicAdd(y, v);
}
// kernel: row_norms
// launch: grid=6 block=64
// buffer: x f32[600] input random
// buffer: y f32[600] output
// plant: EARLY_SCALE race|uninitialised_read
// plant: ROW_TOO_LONG out_of_bounds|race|uninitialised_read
extern "C" __global__ void row_norms(const float* x, float* y) {
  __shared__ float part[2], scale;
  const float* row = x + blockIdx.x * 100;
  int t = threadIdx.x;
  float v = 0;
  for (int i = t; i < 100; i += 64) v += row[i] * row[i];
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t == 0) scale = rsqrtf(part[0] + part[1]);  // BUG EARLY_SCALE
  if (!EARLY_SCALE) __syncthreads();
  for (int i = t; i < 100 + (ROW_TOO_LONG ? 4 : 0); i += 64) y[blockIdx.x * 100 + i] = row[i] * scale;  // BUG EARLY_SCALE ROW_TOO_LONG
}
// kernel: segment_sums
// launch: grid=2 block=64
// buffer: x f32[128] input random
// buffer: segment u32[128] input below:5
// buffer: y f32[10] output
// plant: NO_CLEAR uninitialised_read
// plant: EARLY_STORE race
extern "C" __global__ void segment_sums(const float* x, const unsigned* segment, float* y) {
  __shared__ float sum[5];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t < 5 && !NO_CLEAR) sum[t] = 0;
  __syncthreads();
  atomicAdd(&sum[segment[i]], x[i]);  // BUG NO_CLEAR
  if (!EARLY_STORE) __syncthreads();
  if (t < 5) y[blockIdx.x * 5 + t] = sum[t];  // BUG EARLY_STORE
}
// kernel: strided_columns
// launch: grid=2 block=32x4
// buffer: x f32[2048] input random
// buffer: y f32[64] output
// plant: ONE_COLUMN race
// plant: WRONG_HALF uninitialised_read
extern "C" __global__ void strided_columns(const float* x, float* y) {
  __shared__ float s[4][33];
  int c = threadIdx.x, r = threadIdx.y;
  float v = 0;
  for (int i = r; i < 32; i += 4) v += x[i * 64 + blockIdx.x * 32 + c];
  s[ONE_COLUMN ? 0 : r][c] = v;  // BUG ONE_COLUMN
  __syncthreads();
  if (r == 0) y[blockIdx.x * 32 + c] = s[0][c] + (ONE_COLUMN ? 0 : s[1][c] + s[2][c] + s[3][c + WRONG_HALF]);  // BUG WRONG_HALF
}
// kernel: double_max
// launch: grid=1 block=64
// buffer: x f64[256] input random
// buffer: y f64[1] output
// plant: UNUSED_LANES bad_mask
extern "C" __global__ void double_max(const double* x, double* y) {
  __shared__ double s[2];
  int t = threadIdx.x;
  double v = x[t];
  for (int i = t + 64; i < 256; i += 64) v = fmax(v, x[i]);
  if (UNUSED_LANES && t % 32 >= 24) return;
  for (int k = 16; k > 0; k /= 2) v = fmax(v, __shfl_xor_sync(~0u, v, k));  // BUG UNUSED_LANES
  if (t % 32 == 0) s[t / 32] = v;
  __syncthreads();
  if (t == 0) y[0] = fmax(s[0], s[1]);
}
