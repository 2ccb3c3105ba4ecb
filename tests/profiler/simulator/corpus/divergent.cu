// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Nested loops of different length, early exits and a switch, all within a warp.
// launch: grid=2 block=64
// buffer: x u32[128] input below:100
// buffer: y u32[128] output
// plant: FOREVER too_long limit=200000
extern "C" __global__ void divergent(const unsigned* x, unsigned* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i], steps = 0;
  if (v % 7 == 3) {
    y[i] = v;
    return;
  }
  while (v != 1 && v != 0) {
    if (!FOREVER || v != 2) v = v % 2 == 0 ? v / 2 : 3 * v + 1;  // BUG FOREVER
    for (unsigned k = 0; k < v % 5; ++k) {
      if (k == i % 4) break;
      if ((k ^ v) % 3 == 0) continue;
      steps += k + 1;
    }
    ++steps;
  }
  switch (steps % 6) {
    case 0: steps += 10; break;
    case 1: steps *= 3; break;
    case 2: steps ^= 0x55; [[fallthrough]];
    case 3: steps += 7; break;
    case 5: steps = ~steps; break;
    default: steps -= 1;
  }
  y[i] = steps;
}
