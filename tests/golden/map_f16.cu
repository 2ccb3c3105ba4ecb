// bias_tanh
//
// Plan: map, by hand
// Reads x (28,416 f16, 4 at a time), bias (768 f16, 4 at a time); writes y (28,416 f16, 4 at a time).
// A block's threads: tid (128).
// 128 threads per block, 56 virtual blocks, 0 bytes of shared memory per block.
// launch: grid=56 block=128
// buffer: x f16[28416] input random
// buffer: bias f16[768] input random
// buffer: y f16[28416] output

/// A vector of registers: what one wide access moves.
template <class T, int V>
struct Vec {
  T v[V];
};

/// A load that the assembler leaves where it stands, before or after others of its kind.
#if __CUDA_ARCH__ >= 700
#define ORDERED_LOAD "ld.relaxed.cta.global"
#else
#define ORDERED_LOAD "ld.volatile.global"
#endif

/// IEEE half precision as stored; arithmetic is done in float.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ float float_of(f16 a) {
  float b;
  asm("cvt.f32.f16 %0, %1;" : "=f"(b) : "h"(a.bits));
  return b;
}

/// Rounds to nearest even.
__device__ __forceinline__ f16 f16_of(float a) {
  f16 b;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b.bits) : "f"(a));
  return b;
}
__device__ __forceinline__ f16 f16_of(double a) {
  f16 b;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(b.bits) : "d"(a));
  return b;
}

__device__ __forceinline__ void cached_load_f16x4(f16* to, const f16* from) {
  unsigned int words[2];
  asm volatile("ld.global.nc.v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(from));
  to[0].bits = static_cast<unsigned short>(words[0]);
  to[1].bits = static_cast<unsigned short>(words[0] >> 16);
  to[2].bits = static_cast<unsigned short>(words[1]);
  to[3].bits = static_cast<unsigned short>(words[1] >> 16);
}

__device__ __forceinline__ void load_f16x4(f16* to, const f16* from) {
  unsigned int words[2];
  asm volatile(ORDERED_LOAD ".v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(from));
  to[0].bits = static_cast<unsigned short>(words[0]);
  to[1].bits = static_cast<unsigned short>(words[0] >> 16);
  to[2].bits = static_cast<unsigned short>(words[1]);
  to[3].bits = static_cast<unsigned short>(words[1] >> 16);
}

__device__ __forceinline__ void store_f16x4(f16* to, const f16* from) {
  const unsigned int words[2] = {
      static_cast<unsigned int>(from[0].bits) | static_cast<unsigned int>(from[1].bits) << 16,
      static_cast<unsigned int>(from[2].bits) | static_cast<unsigned int>(from[3].bits) << 16};
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" : : "l"(to), "r"(words[0]), "r"(words[1]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void bias_tanh_block(
    int vb, int n_vblocks,
    const f16* __restrict__ x,
    const f16* __restrict__ bias,
    f16* __restrict__ y) {
  const int tid = static_cast<int>(threadIdx.x);
  const int i = tid * 4 + vb * 512;
  if (tid + vb * 128 < 7104) {
    Vec<f16, 4> x_v;
    load_f16x4(&x_v.v[0], &x[i]);
    Vec<f16, 4> bias_v;
    cached_load_f16x4(&bias_v.v[0], &bias[i % 768]);
    Vec<f16, 4> y_v;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float add_1 = float_of(x_v.v[e]) + float_of(bias_v.v[e]);
      y_v.v[e] = f16_of(tanh(add_1));
    }
    store_f16x4(&y[i], &y_v.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(128) void bias_tanh(
    const f16* __restrict__ x,
    const f16* __restrict__ bias,
    f16* __restrict__ y) {
  bias_tanh_block(blockIdx.x, 56, x, bias, y);
}
