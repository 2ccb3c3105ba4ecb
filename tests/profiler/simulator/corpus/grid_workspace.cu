// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// All blocks of a cooperative launch meet at a count in the workspace that a driver gives such a launch, where the
// cooperative groups' grid.sync() counts too, and read what another block wrote.
// launch: grid=4 block=32 cooperative
// buffer: x f32[128] both random
// buffer: y f32[128] output
// plant: NO_MEETING race
// plant: NOT_COOPERATIVE trap cooperative=0
__device__ unsigned* workspace() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return reinterpret_cast<unsigned*>(static_cast<unsigned long long>(high) << 32 | low);
}
__device__ void meet() {
  unsigned* count = workspace() + 1;
  if (workspace() == nullptr) __trap();  // BUG NOT_COOPERATIVE
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned now;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
    } while (now < gridDim.x);
  }
  __syncthreads();
}
extern "C" __global__ void grid_workspace(float* x, float* y) {
  unsigned i = blockIdx.x * 32 + threadIdx.x;
  x[i] *= 2;  // BUG NO_MEETING
  if (!NO_MEETING) meet();
  y[i] = x[i ^ 127];  // BUG NO_MEETING
}
