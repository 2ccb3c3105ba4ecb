// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shuffles within parts of a warp: up, down, by number and exclusive or, of 4 and 8 bytes.
// launch: grid=2 block=64
// buffer: x u64[128] input below:1000000
// buffer: y u64[640] output
// plant: OUTSIDE bad_mask
extern "C" __global__ void subwarp(const unsigned long long* x, unsigned long long* y) {
  unsigned i = blockIdx.x * 64 + threadIdx.x, full = 0xffffffffu, lane = threadIdx.x % 32;
  unsigned long long v = x[i], *mine = y + 5 * i;
  mine[0] = __shfl_up_sync(full, v, 3, 8);
  mine[1] = __shfl_down_sync(full, v, 5, 16);
  mine[2] = __shfl_sync(full, v, lane * 3, 4);
  mine[3] = __shfl_xor_sync(full, (unsigned)v, 6, 8);
  mine[4] = lane < 7 ? __shfl_sync(0x7fu, v, OUTSIDE ? 9 : 6) : 0;  // BUG OUTSIDE
}
