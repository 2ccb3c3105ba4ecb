// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Votes, matches and integer reductions over a warp and over a part of it.
// launch: grid=1 block=64
// buffer: x u32[64] input below:8
// buffer: y u32[512] output
// plant: ABSENT_LANES bad_mask
extern "C" __global__ void votes(const unsigned* x, unsigned* y) {
  unsigned t = threadIdx.x, lane = t % 32, v = x[t], full = 0xffffffffu;
  unsigned* mine = y + 8 * t;
  mine[0] = __ballot_sync(full, v > 3);
  mine[1] = __any_sync(full, v == 7) * 2 + __all_sync(full, v < 8);
  mine[2] = __match_any_sync(full, v);
  mine[3] = __reduce_add_sync(full, v);
  mine[4] = __reduce_max_sync(full, v) * 16 + __reduce_min_sync(full, v);
  mine[5] = __reduce_xor_sync(full, 1u << v);
  mine[6] = 0;
  mine[7] = 0;
  if (lane < 12) mine[6] = __ballot_sync(ABSENT_LANES ? full : 0xfffu, v & 1);  // BUG ABSENT_LANES
  if (lane < 12) mine[7] = __reduce_or_sync(0xfffu, 1u << v);
  __syncwarp();  // BUG ABSENT_LANES
  mine[1] += __popc(mine[7]);
}
