// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp per row of 96; each lane keeps a running maximum and sum, shuffles merge them.
// launch: grid=2 block=64
// buffer: x f32[384] input random
// buffer: y f32[384] output
extern "C" __global__ void online_softmax(const float* x, float* y) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 2 + threadIdx.x / 32;
  float most = -1e30f, sum = 0;
  for (int c = lane; c < 96; c += 32) {
    float v = 4.0f * x[row * 96 + c], now = fmaxf(most, v);
    sum = sum * expf(most - now) + expf(v - now);
    most = now;
  }
  for (int k = 16; k > 0; k /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, most, k), their = __shfl_xor_sync(0xffffffffu, sum, k);
    float now = fmaxf(most, other);
    sum = sum * expf(most - now) + their * expf(other - now);
    most = now;
  }
  for (int c = lane; c < 96; c += 32) y[row * 96 + c] = expf(4.0f * x[row * 96 + c] - most) / sum;
}
