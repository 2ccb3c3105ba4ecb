// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// All blocks write, meet, and read a neighbour's value; twice.
// launch: grid=4 block=32 cooperative
// machine: sms=2 blocks_per_sm=2
// buffer: x f32[128] input random
// buffer: a f32[128] scratch zero
// buffer: count u32[1] scratch zero
// buffer: y f32[128] output
// plant: TOO_LARGE launch grid=8
// plant: NOT_RESIDENT deadlock|too_long|launch grid=16 cooperative=0 limit=200000
// plant: NO_RELEASE race
// plant: TOO_MANY deadlock|too_long limit=200000
__device__ void meet(unsigned* count, unsigned wanted) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned now;
    if (NO_RELEASE)
      asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    else
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
    } while (now < wanted);
  }
  __syncthreads();
}
extern "C" __global__ void grid_barrier(const float* x, float* a, unsigned* count, float* y) {
  unsigned i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32, blocks = gridDim.x + TOO_MANY;
  a[i % 128] = x[i % 128];  // BUG NO_RELEASE
  meet(count, blocks);
  float v = a[(i + 32) % 128];  // BUG NO_RELEASE
  meet(count, 2 * blocks);
  a[i % 128] = v + 1.0f;
  meet(count, 3 * blocks);
  if (i < n) y[i % 128] = a[(i + 64) % 128];
}
