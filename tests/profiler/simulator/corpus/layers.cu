// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Small layers of models, and maps with an index of their own.
// kernel: embedding
// launch: grid=8 block=32
// buffer: index i32[8] input below:20
// buffer: table f32[640] input random
// buffer: y f32[256] output
// plant: ONE_BASED out_of_bounds
extern "C" __global__ void embedding(const int* index, const float* table, float* y) {
  y[blockIdx.x * 32 + threadIdx.x] = table[(index[blockIdx.x] + 20 * (ONE_BASED && blockIdx.x == 3)) * 32 + threadIdx.x];  // BUG ONE_BASED
}
// kernel: embedding_gradient
// launch: grid=8 block=32
// buffer: index i32[8] input below:4
// buffer: g f32[256] input random
// buffer: table f32[128] both zero
// plant: PLAIN race
extern "C" __global__ void embedding_gradient(const int* index, const float* g, float* table) {
  float* to = &table[index[blockIdx.x] * 32 + threadIdx.x];
  if (PLAIN) *to += g[blockIdx.x * 32 + threadIdx.x];  // BUG PLAIN
  else atomicAdd(to, g[blockIdx.x * 32 + threadIdx.x]);
}
// kernel: rotary
// launch: grid=4 block=16
// buffer: x f32[128] input random
// buffer: y f32[128] output
// plant: WHOLE_ROW out_of_bounds|race|uninitialised_read
extern "C" __global__ void rotary(const float* x, float* y) {
  int i = threadIdx.x, first = blockIdx.x * 32, half = WHOLE_ROW ? 32 : 16;
  float angle = blockIdx.x * 0.1f * (i + 1), c = __cosf(angle), s = __sinf(angle);
  float a = x[first + i], b = x[first + i + half];  // BUG WHOLE_ROW
  y[first + i] = a * c - b * s;
  y[first + i + half] = a * s + b * c;  // BUG WHOLE_ROW
}
// kernel: max_pool
// launch: grid=1 block=8x8
// buffer: x f32[256] input random
// buffer: y f32[64] output
// plant: WINDOW_OF_3 out_of_bounds
extern "C" __global__ void max_pool(const float* x, float* y) {
  float v = -2;
  for (int i = 0; i < 2 + WINDOW_OF_3; ++i)
    for (int j = 0; j < 2; ++j) v = fmaxf(v, x[(2 * threadIdx.y + i) * 16 + 2 * threadIdx.x + j]);  // BUG WINDOW_OF_3
  y[threadIdx.y * 8 + threadIdx.x] = v;
}
// kernel: columns_of_windows
// launch: grid=1 block=36
// buffer: x f32[64] input random
// buffer: y f32[324] output
// plant: NO_STRIDE out_of_bounds
extern "C" __global__ void columns_of_windows(const float* x, float* y) {
  int t = threadIdx.x, r = t / 6, c = t % 6;
  for (int k = 0; k < 9; ++k) y[k * 36 + t] = x[(r + k / 3) * (NO_STRIDE ? 9 : 8) + c + k % 3];  // BUG NO_STRIDE
}
// kernel: batch_statistics
// launch: grid=3 block=64
// buffer: x f32[768] input random
// buffer: y f32[6] output
// plant: SHARED_ONCE race
extern "C" __global__ void batch_statistics(const float* x, float* y) {
  __shared__ float s[2];
  int t = threadIdx.x;
  for (int pass = 0; pass < 2; ++pass) {
    float v = 0;
    for (int i = t; i < 256; i += 64) v += pass == 0 ? x[i * 3 + blockIdx.x] : x[i * 3 + blockIdx.x] * x[i * 3 + blockIdx.x];
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k);
    if (t % 32 == 0) s[t / 32] = v;  // BUG SHARED_ONCE
    __syncthreads();
    if (t == 0) y[2 * blockIdx.x + pass] = s[0] + s[1];  // BUG SHARED_ONCE
    if (!SHARED_ONCE) __syncthreads();
  }
}
// kernel: adam_step
// launch: grid=2 block=64
// buffer: g f32[128] input random
// buffer: m f32[128] both zero
// buffer: v f32[128] both zero
// buffer: w f32[128] both random
// plant: OVERLAP race
extern "C" __global__ void adam_step(const float* g, float* m, float* v, float* w) {
  int i = OVERLAP ? blockIdx.x * 60 + threadIdx.x : blockIdx.x * 64 + threadIdx.x;
  float a = 0.9f * m[i] + 0.1f * g[i], b = 0.99f * v[i] + 0.01f * g[i] * g[i];  // BUG OVERLAP
  m[i] = a, v[i] = b;  // BUG OVERLAP
  w[i] -= 0.01f * (a / 0.1f) / (sqrtf(b / 0.01f) + 1e-3f);
}
// kernel: online_attention
// launch: grid=4 block=32
// buffer: q f32[128] input random
// buffer: k f32[512] input random
// buffer: v f32[512] input random
// buffer: y f32[128] output
// plant: KEY_TAIL out_of_bounds
extern "C" __global__ void online_attention(const float* q, const float* k, const float* v, float* y) {
  int t = threadIdx.x;
  float most = -1e30f, sum = 0, out = 0, mine = q[blockIdx.x * 32 + t];
  for (int i = 0; i < 16 + KEY_TAIL; ++i) {
    float s = mine * k[i * 32 + t];  // BUG KEY_TAIL
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    float now = fmaxf(most, s), scale = expf(most - now), p = expf(s - now);
    sum = sum * scale + p;
    out = out * scale + p * v[i * 32 + t];  // BUG KEY_TAIL
    most = now;
  }
  y[blockIdx.x * 32 + t] = out / sum;
}
// kernel: butterflies
// launch: grid=1 block=32
// buffer: x f32[64] input random
// buffer: y f32[64] output
// plant: NO_SYNC race
extern "C" __global__ void butterflies(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t], s[t + 32] = x[t + 32];
  for (int k = 1; k < 64; k *= 2) {
    if (!NO_SYNC) __syncwarp();
    int i = 2 * t - (t & (k - 1));
    float a = s[i], b = s[i + k];  // BUG NO_SYNC
    s[i] = a + b, s[i + k] = a - b;  // BUG NO_SYNC
  }
  __syncwarp();
  y[t] = s[t], y[t + 32] = s[t + 32];
}
// kernel: edit_distance
// launch: grid=1 block=16
// buffer: a u8[16] input below:4
// buffer: b u8[16] input below:4
// buffer: y i32[1] output
// plant: TWO_DIAGONALS race
extern "C" __global__ void edit_distance(const unsigned char* a, const unsigned char* b, int* y) {
  __shared__ int d[3][17];
  int t = threadIdx.x + 1;
  for (int sum = 0; sum <= 32; ++sum) {
    int *now = d[sum % (TWO_DIAGONALS ? 2 : 3)], *last = d[(sum + 2) % (TWO_DIAGONALS ? 2 : 3)], *before = d[(sum + 1) % 3];
    if (TWO_DIAGONALS) last = d[(sum + 1) % 2], before = d[sum % 2];
    int j = sum - t;
    if (t == 1 && sum <= 16) now[0] = sum;
    if (sum >= t && j <= 16) {
      int v = t;
      if (j > 0) v = min(min(last[t - 1], last[t]) + 1, before[t - 1] + (a[t - 1] != b[j - 1]));  // BUG TWO_DIAGONALS
      now[t] = v;  // BUG TWO_DIAGONALS
    }
    __syncwarp(0xffffu);
  }
  if (t == 16) *y = d[32 % (TWO_DIAGONALS ? 2 : 3)][16];
}
// kernel: bodies
// launch: grid=2 block=32
// buffer: x f32[64] input random
// buffer: y f32[64] output
// plant: ONE_BARRIER race
extern "C" __global__ void bodies(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  float mine = x[i], force = 0;
  for (int tile = 0; tile < 2; ++tile) {
    s[t] = x[tile * 32 + t];  // BUG ONE_BARRIER
    __syncthreads();
    for (int k = 0; k < 32; ++k) force += (s[k] - mine) / (fabsf(s[k] - mine) + 0.1f);  // BUG ONE_BARRIER
    if (!ONE_BARRIER) __syncthreads();
  }
  y[i] = force;
}
// kernel: table_hash
// launch: grid=1 block=64
// buffer: x u8[256] input below:256
// buffer: y u32[64] output
// plant: TABLE_OVER out_of_bounds
__device__ unsigned table[256];
extern "C" __global__ void table_hash(const unsigned char* x, unsigned* y) {
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) table[i] = i * 2654435761u;
  __syncthreads();
  unsigned h = 0;
  for (int k = 0; k < 4; ++k) h = h >> 8 ^ table[(h ^ x[4 * t + k]) % 256 + 256 * (TABLE_OVER && k == 3 && t == 9)];  // BUG TABLE_OVER
  y[t] = h;
}
// kernel: mandelbrot
// launch: grid=2 block=32
// buffer: y i32[64] output
// plant: NEVER_ESCAPES too_long|deadlock limit=20000
extern "C" __global__ void mandelbrot(int* y) {
  int i = blockIdx.x * 32 + threadIdx.x, n = 0;
  float cr = -2.0f + 0.0625f * i, zr = 0, zi = 0, ci = 0.125f;
  while ((n < 40 || NEVER_ESCAPES) && zr * zr + zi * zi < 4.0f) {
    float r = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci, zr = r;
    ++n;
  }
  y[i] = n;
}
