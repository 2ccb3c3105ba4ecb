// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Every thread takes one lock in turn, lanes of a warp too.
// launch: grid=1 block=64
// buffer: x f32[64] input random
// buffer: lock u32[1] scratch zero
// buffer: y f32[1] both zero
// plant: NO_LOCK race
// plant: NEVER_FREED deadlock
// plant: NO_FENCE race
extern "C" __global__ void spin_lock(const float* x, unsigned* lock, float* y) {
  float v = x[threadIdx.x];
  bool waits = true;
  while (waits) {
    if (NO_LOCK || atomicCAS(lock, 0u, 1u) == 0u) {
      if (!NO_FENCE) __threadfence();
      *y += v;  // BUG NO_LOCK NO_FENCE
      if (!NO_FENCE) __threadfence();
      if (!NEVER_FREED) atomicExch(lock, 0u);
      waits = false;
    }
  }
}
