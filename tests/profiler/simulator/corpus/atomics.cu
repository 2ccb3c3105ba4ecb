// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Every kind of atomic on its own word, 32 and 64 bits, some of whose old values are kept.
// launch: grid=2 block=64
// buffer: x u32[128] input below:100000
// buffer: a u32[9] both iota
// buffer: b u64[5] both iota
// buffer: old u32[128] output
// plant: SHORT out_of_bounds
extern "C" __global__ void atomics(const unsigned* x, unsigned* a, unsigned long long* b, unsigned* old) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = x[i];
  old[i] = atomicAdd(a, 1u);
  atomicSub(a + 1, v);
  atomicMin(a + 2, v + 1);
  atomicMax(a + 3, v);
  atomicAnd(a + 4, v | 0xff00ffffu);
  atomicOr(a + 5, v & 0x1111u);
  atomicXor(a + 6, v);
  atomicInc(a + 7, 99u);
  atomicDec(a + 8 + SHORT, 99u);  // BUG SHORT
  atomicAdd(b, v * 100000ull);
  atomicMax(b + 1, v * 70000ull);
  atomicMax(reinterpret_cast<long long*>(b + 2), static_cast<long long>(v) - 50000);
  atomicXor(b + 3, v * 90000ull);
  unsigned long long seen = *static_cast<volatile unsigned long long*>(b + 4), wanted;
  do {
    wanted = seen;
    seen = atomicCAS(b + 4, wanted, wanted + v);
  } while (seen != wanted);
}
