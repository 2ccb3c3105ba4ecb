// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places for what passes a filter: one atomic per warp, lanes count those before them.
// launch: grid=4 block=64
// buffer: x u32[256] input below:100
// buffer: count u32[1] both zero
// buffer: y u32[256] both zero
extern "C" __global__ void warp_aggregated(const unsigned* x, unsigned* count, unsigned* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = x[i];
  bool passes = v >= 40;
  unsigned who = __ballot_sync(0xffffffffu, passes);
  if (passes) {
    int leader = __ffs(who) - 1;
    unsigned first = 0;
    if (lane == leader) first = atomicAdd(count, __popc(who));
    first = __shfl_sync(who, first, leader);
    y[first + __popc(who & ((1u << lane) - 1))] = v;
  }
}
