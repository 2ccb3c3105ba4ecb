// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes and 16-bit values in shared memory, permuted.
// launch: grid=1 block=64
// buffer: x u8[256] input below:256
// buffer: y u8[256] output
extern "C" __global__ void bytes(const unsigned char* x, unsigned char* y) {
  __shared__ unsigned short tile[128];
  int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) tile[2 * t + k] = x[4 * t + 2 * k] | x[4 * t + 2 * k + 1] << 8;
  __syncthreads();
  unsigned two = tile[t] | tile[127 - t] << 16;
  reinterpret_cast<unsigned*>(y)[t] = __byte_perm(two, 0x01020304u, 0x2130);
}
