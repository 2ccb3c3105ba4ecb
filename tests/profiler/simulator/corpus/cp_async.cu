// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two stages of asynchronous copies; each thread copies 16 bytes and reads what a neighbour copied.
// launch: grid=1 block=32
// buffer: x f32[1024] input random
// buffer: y f32[1024] output
// plant: NO_WAIT async_misuse|race|uninitialised_read
// plant: WAITS_LESS async_misuse|race|uninitialised_read
// plant: NO_BARRIER race|async_misuse
__device__ void copy(float4* to, const float4* from) {
  unsigned s = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");  // BUG NO_BARRIER
}
extern "C" __global__ void cp_async(const float4* x, float4* y) {
  __shared__ float4 tile[2][32];
  int t = threadIdx.x;
  copy(&tile[0][t], x + t);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int step = 0; step < 8; ++step) {
    if (step + 1 < 8) copy(&tile[(step + 1) % 2][t], x + (step + 1) * 32 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (!NO_WAIT) asm volatile("cp.async.wait_group %0;" ::"n"(WAITS_LESS ? 2 : 1) : "memory");
    if (!NO_BARRIER) __syncwarp();
    float4 v = tile[step % 2][31 - t];  // BUG NO_WAIT WAITS_LESS NO_BARRIER
    y[step * 32 + t] = make_float4(-v.x, -v.y, -v.z, -v.w);
    if (!NO_BARRIER) __syncwarp();
  }
}
