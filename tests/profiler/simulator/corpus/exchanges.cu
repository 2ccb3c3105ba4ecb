// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposes, histograms and stencils: threads that hand values to one another through shared memory.
// kernel: padded_transpose
// launch: grid=2x3 block=32x8
// buffer: x f32[6144] input random
// buffer: y f32[6144] output
// plant: NO_BARRIER race|uninitialised_read
// plant: SWAPPED_SIZE out_of_bounds|race
extern "C" __global__ void padded_transpose(const float* x, float* y) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * 64 + c];
  if (!NO_BARRIER) __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(r + k) * (SWAPPED_SIZE ? 128 : 96) + c] = tile[threadIdx.x][threadIdx.y + k];  // BUG NO_BARRIER SWAPPED_SIZE
}
// kernel: swizzled_transpose
// launch: grid=1 block=32x8
// buffer: x f32[1024] input random
// buffer: y f32[1024] output
// plant: NARROW out_of_bounds|race|uninitialised_read
extern "C" __global__ void swizzled_transpose(const float* x, float* y) {
  __shared__ float tile[(NARROW ? 31 : 32) * 32];
  int c = threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) tile[r * 32 + (c ^ r)] = x[r * 32 + c];  // BUG NARROW
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) y[r * 32 + c] = tile[c * 32 + (r ^ c)];  // BUG NARROW
}
// kernel: transpose_in_place
// launch: grid=3 block=16x16
// buffer: x f32[1024] both random
// plant: BOTH_HALVES race grid=4
// plant: NO_BARRIER race|uninitialised_read
extern "C" __global__ void transpose_in_place(float* x) {
  __shared__ float a[16][17], b[16][17];
  int r = threadIdx.y, c = threadIdx.x;
  int p = blockIdx.x == 0 ? 0 : blockIdx.x - 1, q = blockIdx.x == 0 ? 0 : 1;  // tiles (0,0), (0,1), (1,1)
  if (blockIdx.x == 2) p = 1;
  if (blockIdx.x == 3) p = 1, q = 0;  // (0,1) once more
  a[r][c] = x[(p * 16 + r) * 32 + q * 16 + c];  // BUG BOTH_HALVES
  b[r][c] = x[(q * 16 + r) * 32 + p * 16 + c];  // BUG BOTH_HALVES
  if (!NO_BARRIER) __syncthreads();
  x[(p * 16 + r) * 32 + q * 16 + c] = b[c][r];  // BUG BOTH_HALVES NO_BARRIER
  if (p != q) x[(q * 16 + r) * 32 + p * 16 + c] = a[c][r];  // BUG BOTH_HALVES NO_BARRIER
}
// kernel: transpose_bytes
// launch: grid=1 block=64
// buffer: x u8[256] input below:256
// buffer: y u8[256] output
// plant: WORD_STORE misaligned
extern "C" __global__ void transpose_bytes(const unsigned char* x, unsigned char* y) {
  __shared__ alignas(4) unsigned char s[16][20];
  int t = threadIdx.x;
  *reinterpret_cast<unsigned*>(&s[t / 4][t % 4 * 4 + WORD_STORE]) = reinterpret_cast<const unsigned*>(x)[t];  // BUG WORD_STORE
  __syncthreads();
  for (int k = 0; k < 4; ++k) y[4 * t + k] = s[t % 4 * 4 + k][t / 4];
}
// kernel: private_histograms
// launch: grid=2 block=64
// buffer: x u8[1024] input below:16
// buffer: y u32[16] both zero
// plant: NO_CLEAR uninitialised_read
// plant: PLAIN_ADD race
// plant: TOO_MANY out_of_bounds
extern "C" __global__ void private_histograms(const unsigned char* x, unsigned* y) {
  __shared__ unsigned bins[2][16];
  int t = threadIdx.x, w = t / 32;
  if (t < 32 && !NO_CLEAR) bins[t / 16][t % 16] = 0;
  __syncthreads();
  for (int i = t; i < 512; i += 64) {
    unsigned v = x[blockIdx.x * 512 + i];
    if (PLAIN_ADD)
      ++bins[w][v];  // BUG PLAIN_ADD
    else
      atomicAdd(&bins[w][v], 1u);  // BUG NO_CLEAR
  }
  __syncthreads();
  if (t < (TOO_MANY ? 20 : 16)) atomicAdd(&y[t], bins[0][t] + bins[1][t]);  // BUG TOO_MANY
}
// kernel: matched_histogram
// launch: grid=1 block=128
// arch: sm_80
// buffer: x i32[128] input below:10
// buffer: y i32[10] both zero
// plant: EVERY_LANE race
extern "C" __global__ void matched_histogram(const int* x, int* y) {
  __shared__ int bins[10];
  int t = threadIdx.x, v = x[t];
  if (t < 10) bins[t] = 0;
  __syncthreads();
  unsigned same = __match_any_sync(~0u, v);
  if (EVERY_LANE)
    bins[v] += 1;  // BUG EVERY_LANE
  else if (t % 32 == __ffs(same) - 1)
    atomicAdd(&bins[v], __popc(same));
  __syncthreads();
  if (t < 10) y[t] = bins[t];
}
// kernel: packed_counters
// launch: grid=1 block=32
// buffer: x u8[512] input below:4
// buffer: y u32[4] output
// plant: UNFLUSHED uninitialised_read
extern "C" __global__ void packed_counters(const unsigned char* x, unsigned* y) {
  __shared__ unsigned char count[4][32];
  int t = threadIdx.x;
  for (int k = 0; k < 4 - UNFLUSHED; ++k) count[k][t] = 0;
  for (int i = t; i < 512; i += 32) ++count[x[i]][t];  // BUG UNFLUSHED
  __syncwarp();
  if (t < 4) {
    unsigned sum = 0;
    for (int i = 0; i < 32; ++i) sum += count[t][i];
    y[t] = sum;
  }
}
// kernel: stencil_radius_3
// launch: grid=4 block=64
// buffer: x f32[262] input random
// buffer: y f32[256] output
// plant: SHORT_HALO uninitialised_read
// plant: ARRAY_TOO_SMALL out_of_bounds
extern "C" __global__ void stencil_radius_3(const float* x, float* y) {
  __shared__ float s[ARRAY_TOO_SMALL ? 67 : 70];
  __shared__ float weight[7];
  int t = threadIdx.x, first = blockIdx.x * 64;
  if (t < 7) weight[t] = t + 1;
  s[t] = x[first + t];
  if (t < 6 - SHORT_HALO) s[64 + t] = x[first + 64 + t];  // BUG ARRAY_TOO_SMALL
  __syncthreads();
  float v = 0;
  for (int k = 0; k < 7; ++k) v += weight[k] * s[t + k];  // BUG SHORT_HALO
  y[first + t] = v;
}
// kernel: five_points
// launch: grid=2x2 block=16x16
// buffer: x f32[1024] input random
// buffer: y f32[1024] output
// plant: NO_EDGE out_of_bounds|uninitialised_read
// plant: NO_BARRIER race|uninitialised_read
extern "C" __global__ void five_points(const float* x, float* y) {
  __shared__ float s[18][18];
  int c = threadIdx.x, r = threadIdx.y, gc = blockIdx.x * 16 + c, gr = blockIdx.y * 16 + r;
  auto at = [&](int i, int j) { return (i >= 0 || NO_EDGE) && i < 32 && j >= 0 && j < 32 ? x[i * 32 + j] : 0.0f; };  // BUG NO_EDGE
  s[r + 1][c + 1] = at(gr, gc);
  if (r == 0) s[0][c + 1] = at(gr - 1, gc), s[17][c + 1] = at(gr + 16, gc);
  if (c == 0) s[r + 1][0] = at(gr, gc - 1), s[r + 1][17] = at(gr, gc + 16);
  if (!NO_BARRIER) __syncthreads();
  y[gr * 32 + gc] = s[r][c + 1] + s[r + 2][c + 1] + s[r + 1][c] + s[r + 1][c + 2] - 4 * s[r + 1][c + 1];  // BUG NO_BARRIER
}
// kernel: jacobi_steps
// launch: grid=1 block=64
// buffer: x f32[64] input random
// buffer: y f32[64] output
// plant: ONE_BARRIER race
// plant: BARRIER_INSIDE divergent_barrier|deadlock
extern "C" __global__ void jacobi_steps(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int step = 0; step < 5; ++step) {
    float v = s[t];
    if (t > 0 && t < 63) {
      v = 0.5f * (s[t - 1] + s[t + 1]);  // BUG ONE_BARRIER
      if (BARRIER_INSIDE) __syncthreads();  // BUG BARRIER_INSIDE
    }
    if (!ONE_BARRIER && !BARRIER_INSIDE) __syncthreads();
    s[t] = v;  // BUG ONE_BARRIER
    __syncthreads();
  }
  y[t] = s[t];
}
// kernel: marching_columns
// launch: grid=1 block=32
// buffer: x f32[512] input random
// buffer: y f32[512] output
// plant: ONE_ROW_MORE out_of_bounds
extern "C" __global__ void marching_columns(const float* x, float* y) {
  int c = threadIdx.x;
  float above = 0, here = x[c];
  for (int r = 0; r < 16; ++r) {
    float below = r < 15 + ONE_ROW_MORE ? x[(r + 1) * 32 + c] : 0;  // BUG ONE_ROW_MORE
    y[r * 32 + c] = above + below - 2 * here;
    above = here, here = below;
  }
}
// kernel: constant_convolution
// launch: grid=2 block=128
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: NO_LEFT out_of_bounds
__constant__ float taps[5] = {1, 4, 6, 4, 1};
extern "C" __global__ void constant_convolution(const float* x, float* y) {
  int i = blockIdx.x * 128 + threadIdx.x;
  float v = 0;
  for (int k = -2; k <= 2; ++k)
    if ((i + k >= 0 || NO_LEFT) && i + k < 256) v += taps[k + 2] * x[i + k];  // BUG NO_LEFT
  y[i] = v / 16;
}
// kernel: separable_blur
// launch: grid=1 block=16x16
// buffer: x f32[256] input random
// buffer: y f32[256] output
// plant: IN_PLACE race
extern "C" __global__ void separable_blur(const float* x, float* y) {
  __shared__ float a[16][16], b[16][16];
  int r = threadIdx.y, c = threadIdx.x;
  float (*to)[16] = IN_PLACE ? a : b;
  a[r][c] = x[r * 16 + c];
  __syncthreads();
  to[r][c] = a[r][c > 0 ? c - 1 : 0] + a[r][c] + a[r][c < 15 ? c + 1 : 15];  // BUG IN_PLACE
  __syncthreads();
  y[r * 16 + c] = (to[r > 0 ? r - 1 : 0][c] + to[r][c] + to[r < 15 ? r + 1 : 15][c]) / 9;
}
// kernel: game_of_life
// launch: grid=1 block=256
// buffer: x u32[8] input below:1000000
// buffer: y u32[8] output
// plant: NO_BARRIER race|uninitialised_read
// Lanes 20 to 31 go past the vote under a mask that names them, and leave while the others wait:
// plant: SOME_LANES bad_mask
extern "C" __global__ void game_of_life(const unsigned* x, unsigned* y) {
  __shared__ unsigned row[10];
  int t = threadIdx.x, r = t / 32, c = t % 32;
  if (c == 0) row[r + 1] = x[r];
  if (t < 2) row[9 * t] = 0;
  if (!NO_BARRIER) __syncthreads();
  int n = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = -1; j <= 1; ++j) n += c + j >= 0 && c + j < 32 ? row[r + i] >> (c + j) & 1 : 0;  // BUG NO_BARRIER
  bool lives = n == 3 || (n == 4 && (row[r + 1] >> c & 1));
  unsigned bits = 0;
  if (!SOME_LANES || c < 20) bits = __ballot_sync(~0u, lives);  // BUG SOME_LANES
  if (c == 0) y[r] = bits;
}
