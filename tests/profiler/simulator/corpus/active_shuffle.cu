// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shuffles of the lanes that came. Some of them read lanes that did not, and drop what they got: where a neighbour is
// not needed, and in the upper lanes of a reduction.
// launch: grid=1 block=64
// buffer: x f32[64] input random
// buffer: y f32[64] output
// buffer: sum f32[2] output
// plant: USED bad_mask
// plant: TOO_MANY bad_mask
// plant: DECIDES bad_mask
extern "C" __global__ void active_shuffle(const float* x, float* y, float* sum) {
  int i = threadIdx.x, lane = i & 31;
  float v = x[i], own = v;
  if (i < 50) {
    unsigned mask = __activemask();
    float other = __shfl_down_sync(mask, v, 8);  // BUG USED DECIDES
    if (USED ? lane + 8 < 32 : i + 8 < 50 && lane + 8 < 32) v += other;
    if (DECIDES && other > 0.25f) v = 0;
  }
  y[i] = v;
  if (lane < (TOO_MANY ? 18 : 16)) {
    unsigned mask = __activemask();
    for (int k = TOO_MANY ? 16 : 8; k > 0; k /= 2) own += __shfl_down_sync(mask, own, k);  // BUG TOO_MANY
    if (lane == 0) sum[i / 32] = own;
  }
}
