// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices and vectors, dense and sparse, and steps of graph algorithms.
// kernel: tiled_product
// launch: grid=2x2 block=16x16
// buffer: a f32[1024] input random
// buffer: b f32[1024] input random
// buffer: c f32[1024] output
// plant: FIRST_BARRIER race|uninitialised_read
// plant: SECOND_BARRIER race
// plant: K_TOO_LONG out_of_bounds
extern "C" __global__ void tiled_product(const float* a, const float* b, float* c) {
  __shared__ float s[16][16], u[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < 32 + 16 * K_TOO_LONG; k += 16) {
    s[y][x] = a[row * 32 + k + x];    // BUG K_TOO_LONG SECOND_BARRIER
    u[y][x] = b[(k + y) * 32 + col];  // BUG K_TOO_LONG SECOND_BARRIER
    if (!FIRST_BARRIER) __syncthreads();
    for (int i = 0; i < 16; ++i) sum += s[y][i] * u[i][x];  // BUG FIRST_BARRIER
    if (!SECOND_BARRIER) __syncthreads();
  }
  c[row * 32 + col] = sum;
}
// kernel: register_tiles
// launch: grid=1 block=8x8
// buffer: a f32[512] input random
// buffer: b f32[512] input random
// buffer: c f32[1024] output
// plant: SHORT_TILE out_of_bounds
extern "C" __global__ void register_tiles(const float* a, const float* b, float* c) {
  __shared__ float s[16][SHORT_TILE ? 31 : 32], u[16][32];
  int t = threadIdx.y * 8 + threadIdx.x;
  for (int i = t; i < 512; i += 64) s[i % 16][i / 16] = a[i], u[i / 32][i % 32] = b[i];  // BUG SHORT_TILE
  __syncthreads();
  float sum[4][4] = {};
  for (int k = 0; k < 16; ++k)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) sum[i][j] += s[k][threadIdx.y * 4 + i] * u[k][threadIdx.x * 4 + j];  // BUG SHORT_TILE
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(threadIdx.y * 4 + i) * 32 + threadIdx.x * 4 + j] = sum[i][j];
}
// kernel: split_k
// launch: grid=4 block=64
// buffer: a f32[512] input random
// buffer: b f32[512] input random
// buffer: c f32[64] both zero
// plant: PLAIN race
extern "C" __global__ void split_k(const float* a, const float* b, float* c) {
  int i = threadIdx.x / 8, j = threadIdx.x % 8;
  float sum = 0;
  for (int k = blockIdx.x * 16; k < blockIdx.x * 16 + 16; ++k) sum += a[i * 64 + k] * b[k * 8 + j];
  if (PLAIN) c[threadIdx.x] += sum;  // BUG PLAIN
  else atomicAdd(&c[threadIdx.x], sum);
}
// kernel: warp_per_row
// launch: grid=5 block=64
// buffer: a f32[700] input random
// buffer: x f32[70] input random
// buffer: y f32[10] output
// plant: NO_ROW_GUARD out_of_bounds grid=6
extern "C" __global__ void warp_per_row(const float* a, const float* x, float* y) {
  int row = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= 10 && !NO_ROW_GUARD) return;
  float sum = 0;
  for (int i = lane; i < 70; i += 32) sum += a[row * 70 + i] * x[i];  // BUG NO_ROW_GUARD
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (lane == 0) y[row] = sum;
}
// kernel: tensor_tile
// launch: grid=1 block=32
// arch: sm_80
// buffer: a f16[256] input random
// buffer: b f16[128] input random
// buffer: c f32[128] output
// plant: HALF_A uninitialised_read
// plant: MISALIGNED_ROWS misaligned
extern "C" __global__ void tensor_tile(const unsigned* a, const unsigned* b, float* c) {
  __shared__ alignas(16) unsigned s[16 * 12];
  int t = threadIdx.x, g = t / 4, q = t % 4;
  for (int i = t; i < (HALF_A ? 64 : 128); i += 32) s[i / 8 * (MISALIGNED_ROWS ? 9 : 12) + i % 8] = a[i];
  __syncwarp();
  unsigned p = (unsigned)__cvta_generic_to_shared(&s[(t % 16) * (MISALIGNED_ROWS ? 9 : 12) + t / 16 * 4]), a0, a1, a2, a3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(p));  // BUG HALF_A MISALIGNED_ROWS
  unsigned b0 = b[g * 8 + q], b1 = b[g * 8 + q + 4];  // b is stored by columns
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  c[g * 8 + 2 * q] = d0, c[g * 8 + 2 * q + 1] = d1;
  c[(g + 8) * 8 + 2 * q] = d2, c[(g + 8) * 8 + 2 * q + 1] = d3;
}
// kernel: sparse_rows
// launch: grid=1 block=64
// buffer: start i32[17] input iota
// buffer: column i32[64] input below:32
// buffer: value f32[64] input random
// buffer: x f32[32] input random
// buffer: y f32[16] output
// plant: PAST_LAST out_of_bounds
extern "C" __global__ void sparse_rows(const int* start, const int* column, const float* value, const float* x, float* y) {
  int row = threadIdx.x / 4, lane = threadIdx.x % 4;
  float sum = 0;
  int last = 4 * start[row + 1 + PAST_LAST];  // BUG PAST_LAST
  for (int i = 4 * start[row] + lane; i < last; i += 4) sum += value[i] * x[column[i]];  // BUG PAST_LAST
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  if (lane == 0) y[row] = sum;
}
// kernel: sparse_triples
// launch: grid=2 block=64
// buffer: row i32[128] input below:16
// buffer: column i32[128] input below:16
// buffer: value f32[128] input random
// buffer: x f32[16] input random
// buffer: y f32[16] both zero
// plant: PLAIN race
// plant: SWAPPED_USE store_to_input
extern "C" __global__ void sparse_triples(const int* row, const int* column, const float* value, const float* x, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float v = value[i] * x[column[i]];
  if (PLAIN) y[row[i]] += v;  // BUG PLAIN
  else atomicAdd(SWAPPED_USE ? const_cast<float*>(&x[row[i]]) : &y[row[i]], v);  // BUG SWAPPED_USE
}
// kernel: padded_rows
// launch: grid=1 block=32
// buffer: column i32[128] input below:40
// buffer: x f32[40] input random
// buffer: y f32[32] output
// plant: ROW_MAJOR out_of_bounds
extern "C" __global__ void padded_rows(const int* column, const float* x, float* y) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += x[column[ROW_MAJOR ? threadIdx.x * 5 + k : k * 32 + threadIdx.x]];  // BUG ROW_MAJOR
  y[threadIdx.x] = sum;
}
// kernel: frontier_step
// launch: grid=1 block=64
// buffer: target i32[128] input below:64
// buffer: level i32[64] both zero
// buffer: changed i32[1] both zero
// plant: PLAIN_LEVEL race
extern "C" __global__ void frontier_step(const int* target, int* level, int* changed) {
  int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    int to = target[2 * t + k];
    if (PLAIN_LEVEL) level[to] = t + 1;  // BUG PLAIN_LEVEL
    else if (atomicMax(&level[to], t + 1) == 0) atomicAdd(changed, 1);
  }
}
// kernel: rank_step
// launch: grid=2 block=32
// buffer: target i32[64] input below:64
// buffer: rank f32[64] input random
// buffer: next f32[64] both zero
// plant: IN_PLACE store_to_input
extern "C" __global__ void rank_step(const int* target, const float* rank, float* next) {
  int i = blockIdx.x * 32 + threadIdx.x;
  atomicAdd(IN_PLACE ? const_cast<float*>(&rank[target[i]]) : &next[target[i]], 0.85f * rank[i]);  // BUG IN_PLACE
}
// kernel: union_by_min
// launch: grid=1 block=32
// buffer: label i32[32] both iota
// plant: ONE_SYNC race
extern "C" __global__ void union_by_min(int* label) {
  int t = threadIdx.x;
  for (int round = 0; round < 8; ++round) {
    int v = min(label[t], label[t ^ 1]);  // BUG ONE_SYNC
    if (t >= 4) v = min(v, label[t - 4]);  // BUG ONE_SYNC
    if (!ONE_SYNC) __syncwarp();
    label[t] = v;  // BUG ONE_SYNC
    __syncwarp();
  }
}
// kernel: batched_small
// launch: grid=4 block=4x4
// buffer: a f64[64] input random
// buffer: b f64[64] input random
// buffer: c f64[64] output
// plant: NEXT_BATCH out_of_bounds
extern "C" __global__ void batched_small(const double* a, const double* b, double* c) {
  int first = blockIdx.x * 16, i = threadIdx.y, j = threadIdx.x;
  double sum = 0;
  for (int k = 0; k < 4 + NEXT_BATCH; ++k) sum += a[first + i * 4 + k] * b[first + k * 4 + j];  // BUG NEXT_BATCH
  c[first + i * 4 + j] = sum;
}
