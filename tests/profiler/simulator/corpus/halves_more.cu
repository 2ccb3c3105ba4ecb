// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of 16 and 8 bits by the intrinsics of CUDA's headers.
// kernel: half2_axpy
// launch: grid=2 block=32
// buffer: x f16[128] input random
// buffer: y f16[128] both random
// plant: ODD_BASE misaligned
#include <cuda_fp16.h>
extern "C" __global__ void half2_axpy(const __half* x, __half* y) {
  int i = 2 * (blockIdx.x * 32 + threadIdx.x) + (ODD_BASE && threadIdx.x < 31);
  __half2 v = *reinterpret_cast<const __half2*>(x + i);  // BUG ODD_BASE
  __half2* to = reinterpret_cast<__half2*>(y + i);
  *to = __hadd2(__hmul2(__float2half2_rn(0.5f), v), *to);  // BUG ODD_BASE
}
// kernel: bf16_softmax
// launch: grid=4 block=32
// buffer: x bf16[256] input random
// buffer: y bf16[256] output
// plant: NO_TAIL uninitialised_read|out_of_bounds
#include <cuda_bf16.h>
extern "C" __global__ void bf16_softmax(const __nv_bfloat16* x, __nv_bfloat16* y) {
  int t = threadIdx.x, first = blockIdx.x * 64;
  float a = __bfloat162float(x[first + t]), b = __bfloat162float(x[first + t + 32 + NO_TAIL]), most = fmaxf(a, b);  // BUG NO_TAIL
  for (int k = 16; k > 0; k /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
  a = __expf(a - most), b = __expf(b - most);
  float sum = a + b;
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  y[first + t] = __float2bfloat16(a / sum), y[first + t + 32] = __float2bfloat16(b / sum);
}
// kernel: half_dot
// launch: grid=1 block=32
// buffer: a f16[64] input random
// buffer: b f16[64] input random
// buffer: y f32[1] output
// plant: LOST_LANES bad_mask
#include <cuda_fp16.h>
extern "C" __global__ void half_dot(const __half2* a, const __half2* b, float* y) {
  float2 p = __half22float2(a[threadIdx.x]), q = __half22float2(b[threadIdx.x]);
  float v = p.x * q.x + p.y * q.y;
  for (int k = 16; k > 0; k /= 2)
    if (!LOST_LANES || threadIdx.x < k) v += __shfl_down_sync(~0u, v, k);  // BUG LOST_LANES
  if (threadIdx.x == 0) *y = v;
}
// kernel: half_max_block
// launch: grid=1 block=128
// buffer: x f16[128] input random
// buffer: y f16[1] output
// plant: NO_BARRIER race
#include <cuda_fp16.h>
extern "C" __global__ void half_max_block(const __half* x, __half* y) {
  __shared__ __half s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    if (t < k) s[t] = __hmax(s[t], s[t + k]);  // BUG NO_BARRIER
    if (!NO_BARRIER) __syncthreads();
  }
  if (t == 0) *y = s[0];
}
// kernel: half_compare
// launch: grid=1 block=64
// buffer: x f16[64] input random
// buffer: y i32[64] output
#include <cuda_fp16.h>
extern "C" __global__ void half_compare(const __half* x, int* y) {
  __half v = x[threadIdx.x], zero = __float2half(0.0f), half = __float2half(0.5f);
  y[threadIdx.x] = __hgt(v, zero) + 2 * __hle(v, half) + 4 * __heq(v, v) + 8 * __hisnan(v) + 16 * __half2int_rn(__hmul(v, __float2half(10.0f)));
}
// kernel: bf16_norm
// launch: grid=2 block=64
// buffer: x bf16[256] input random
// buffer: y bf16[256] output
// plant: ONE_SUM race
#include <cuda_bf16.h>
extern "C" __global__ void bf16_norm(const __nv_bfloat162* x, __nv_bfloat162* y) {
  __shared__ float part[2];
  int t = threadIdx.x;
  float2 v = __bfloat1622float2(x[blockIdx.x * 64 + t]);
  float sum = v.x * v.x + v.y * v.y;
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  if (t % 32 == 0) part[ONE_SUM ? 0 : t / 32] = sum;  // BUG ONE_SUM
  __syncthreads();
  float scale = rsqrtf((part[0] + (ONE_SUM ? 0.0f : part[1])) / 128);
  y[blockIdx.x * 64 + t] = __floats2bfloat162_rn(v.x * scale, v.y * scale);
}
// kernel: half_atomics
// launch: grid=2 block=32
// buffer: x f16[64] input below:3
// buffer: y f16[8] both zero
// plant: PLAIN race
#include <cuda_fp16.h>
extern "C" __global__ void half_atomics(const __half* x, __half* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (PLAIN) y[i % 8] = __hadd(y[i % 8], x[i]);  // BUG PLAIN
  else atomicAdd(&y[i % 8], x[i]);
}
// kernel: half_functions
// launch: grid=1 block=64
// buffer: x f16[64] input random
// buffer: y f16[256] output
#include <cuda_fp16.h>
extern "C" __global__ void half_functions(const __half* x, __half* y) {
  int t = threadIdx.x;
  __half v = x[t];
  y[4 * t] = hexp(v), y[4 * t + 1] = hsin(v), y[4 * t + 2] = htrunc(__hmul(v, __float2half(8.0f))), y[4 * t + 3] = hsqrt(__habs(v));
}
// kernel: packed_int8_dot
// launch: grid=1 block=32
// buffer: a i8[512] input below:100
// buffer: b i8[512] input below:100
// buffer: y i32[32] output
// plant: BYTE_OFFSET misaligned
extern "C" __global__ void packed_int8_dot(const signed char* a, const signed char* b, int* y) {
  int sum = 0;
  for (int k = 0; k < 4; ++k)
    sum = __dp4a(*reinterpret_cast<const int*>(a + threadIdx.x * 16 + 4 * k), *reinterpret_cast<const int*>(b + threadIdx.x * 16 + 4 * k + (BYTE_OFFSET && threadIdx.x < 31)), sum);  // BUG BYTE_OFFSET
  y[threadIdx.x] = sum;
}
// kernel: nibbles
// launch: grid=1 block=32
// buffer: x u8[64] input below:256
// buffer: y f16[128] output
// plant: HIGH_TWICE out_of_bounds
#include <cuda_fp16.h>
extern "C" __global__ void nibbles(const unsigned char* x, __half* y) {
  for (int i = threadIdx.x; i < 64 + HIGH_TWICE; i += 32) {
    unsigned v = x[i];  // BUG HIGH_TWICE
    y[2 * i] = __int2half_rn((int)(v & 15) - 8);
    y[2 * i + 1] = __int2half_rn((int)(v >> 4) - 8);
  }
}
