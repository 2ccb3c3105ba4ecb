// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups: tiles, coalesced threads, blocks and grids.
// kernel: tile_sums
// launch: grid=2 block=64
// buffer: x f32[128] input random
// buffer: y f32[8] output
// plant: ROW_GUARD bad_mask|deadlock
#include <cooperative_groups.h>
extern "C" __global__ void tile_sums(const float* x, float* y) {
  auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
  int i = blockIdx.x * 64 + threadIdx.x;
  float v = x[i];
  if (ROW_GUARD && threadIdx.x % 16 > 11) return;
  for (int k = 8; k > 0; k /= 2) v += tile.shfl_down(v, k);  // BUG ROW_GUARD
  if (tile.thread_rank() == 0) y[i / 16] = v;
}
// kernel: coalesced_count
// launch: grid=1 block=64
// buffer: x i32[64] input below:10
// buffer: y i32[1] both zero
// plant: NO_LEADER race
#include <cooperative_groups.h>
extern "C" __global__ void coalesced_count(const int* x, int* y) {
  if (x[threadIdx.x] % 2 == 1) {
    auto here = cooperative_groups::coalesced_threads();
    if (NO_LEADER)
      *y += 1 + threadIdx.x;  // BUG NO_LEADER
    else if (here.thread_rank() == 0)
      atomicAdd(y, here.size());
  }
}
// kernel: iterated_grid
// launch: grid=3 block=32 cooperative
// buffer: x f32[96] both random
// buffer: spare f32[96] scratch zero
// plant: BLOCK_ONLY race
#include <cooperative_groups.h>
extern "C" __global__ void iterated_grid(float* x, float* spare) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  float *from = x, *to = spare;
  for (int step = 0; step < 4; ++step) {
    to[i] = 0.5f * (from[(i + 1) % 96] + from[(i + 95) % 96]);  // BUG BLOCK_ONLY
    if (BLOCK_ONLY) __syncthreads();
    else grid.sync();
    float* other = from;
    from = to, to = other;
  }
}
// kernel: tile_ballots
// launch: grid=1 block=32
// buffer: x i32[32] input below:8
// buffer: y u32[32] output
#include <cooperative_groups.h>
extern "C" __global__ void tile_ballots(const int* x, unsigned* y) {
  auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  int v = x[threadIdx.x];
  y[threadIdx.x] = tile.ballot(v > 3) + 256 * tile.any(v == 7) + 512 * tile.all(v < 7);
}
// kernel: block_group_rounds
// launch: grid=1 block=96
// buffer: x i32[96] input below:50
// buffer: y i32[96] output
// plant: WARP_SYNC_ONLY race
#include <cooperative_groups.h>
extern "C" __global__ void block_group_rounds(const int* x, int* y) {
  __shared__ int s[96];
  auto block = cooperative_groups::this_thread_block();
  int t = block.thread_rank();
  s[t] = x[t];
  block.sync();
  for (int k = 1; k < 96; k *= 3) {
    int v = max(s[t], s[(t + k) % 96]);  // BUG WARP_SYNC_ONLY
    if (WARP_SYNC_ONLY) __syncwarp();
    else block.sync();
    s[t] = v;  // BUG WARP_SYNC_ONLY
    block.sync();
  }
  y[t] = s[t];
}
// kernel: split_arrival
// launch: grid=1 block=64
// buffer: x f32[64] input random
// buffer: y f32[64] output
// plant: NO_WAIT race|uninitialised_read|deadlock|mismatched_barrier
#include <cooperative_groups.h>
extern "C" __global__ void split_arrival(const float* x, float* y) {
  __shared__ float s[64];
  auto block = cooperative_groups::this_thread_block();
  int t = threadIdx.x;
  s[t] = x[t];
  block.sync();
  float v = s[63 - t];
  __syncthreads();
  s[t] = 2 * v;
  if (!NO_WAIT) __syncthreads();
  y[t] = s[t ^ 33];  // BUG NO_WAIT
}
