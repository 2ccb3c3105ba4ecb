// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that prints when something is wrong, which never is.
// launch: grid=1 block=32
// buffer: x u32[32] input below:100
// buffer: y u32[32] output
extern "C" __global__ void prints(const unsigned* x, unsigned* y) {
  unsigned v = x[threadIdx.x];
  if (v >= 100) printf("thread %d has %u\n", threadIdx.x, v);
  y[threadIdx.x] = 100 - v;
}
