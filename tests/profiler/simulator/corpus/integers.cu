// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer instructions one by one, folded into one number per step.
// launch: grid=1 block=128
// buffer: x u32[256] input below:4294967295
// buffer: y u32[2560] output
extern "C" __global__ void integers(const unsigned* x, unsigned* y) {
  unsigned a = x[2 * threadIdx.x], b = x[2 * threadIdx.x + 1], s = b % 32;
  int sa = a, sb = b;
  unsigned long long wide = (unsigned long long)a << 32 | b;
  unsigned* mine = y + 20 * threadIdx.x;
  mine[0] = __popc(a) + 100 * __clz(b >> s) + 10000 * __ffs(a);
  mine[1] = __brev(a);
  mine[2] = __byte_perm(a, b, b & 0x7777);
  mine[3] = __funnelshift_l(a, b, s);
  mine[4] = __funnelshift_rc(a, b, s);
  mine[5] = __umulhi(a, b);
  mine[6] = __mulhi(sa, sb);
  mine[7] = a / (b % 1000 + 1);
  mine[8] = sa % ((sb % 1000) * 2 + 1);
  mine[9] = __sad(sa, sb, 5u);
  mine[10] = __dp4a(sa, sb, 7);
  mine[11] = (unsigned)(wide / (a % 100000 + 1));
  mine[12] = (unsigned)((long long)wide % (sb % 5000 * 2 + 1));
  mine[13] = (unsigned)__umul64hi(wide, wide * 3);
  mine[14] = sa >> s;
  mine[15] = max(sa, sb) ^ min(a, b);
  mine[16] = (signed char)a + (short)b + (unsigned char)(b >> 8);
  mine[17] = __popcll(wide) + 100 * __clzll(wide >> s) + 100000 * __ffsll(wide << 7);
  asm("bfe.s32 %0, %1, %2, 9;" : "=r"(mine[18]) : "r"(a), "r"(s));
  asm("bfi.b32 %0, %1, %2, %3, 11;" : "=r"(mine[19]) : "r"(a), "r"(b), "r"(s));
}
