// multiply_subtract_add_slice_map
//
// Plan: map dominant=%17 threads=128 vector=4 unroll=2 grid=tile index_cache=on value_cache=on arithmetic=xla
// Reads x (393,216 f16, 4 at a time), c (32,768 f16, 4 at a time), s (32,768 f16, 4 at a time); writes y (393,216 f16,
//   4 at a time).
// A block's threads: tid (128).
// 128 threads per block, 192 virtual blocks, 0 bytes of shared memory per block.
// launch: grid=192 block=128
// buffer: x f16[393216] input random
// buffer: c f16[32768] input random
// buffer: s f16[32768] input random
// buffer: y f16[393216] output

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

/// Never true, which the assembler does not know: no size of a launch is 0. It moves nothing across the branch, so
/// all ordered loads above are on their way before the first of them is used. Each asks another size: once one was
/// asked, the assembler knows that it is not 0.
#define ISSUE_LOADS(size) \
  do { \
    unsigned n; \
    asm volatile("mov.u32 %0, %%" #size ";" : "=r"(n)); \
    if (n == 0) return; \
  } while (0)

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
__device__ __forceinline__ void multiply_subtract_add_slice_map_block(
    int vb, int n_vblocks,
    const f16* __restrict__ x,
    const f16* __restrict__ c,
    const f16* __restrict__ s,
    f16* __restrict__ y) {
  const int tid = static_cast<int>(threadIdx.x);
  const int i = vb * 2048 + tid / 8 * 64 + tid % 8 * 4;
  Vec<f16, 4> x_row[2];
  Vec<f16, 4> x_row_1[2];
  const int i_1 = tid % 8 * 4;
  Vec<f16, 4> c_row[2];
  Vec<f16, 4> s_row[2];
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    load_f16x4(&x_row[q].v[0], &x[i + q * 1024 + 32]);
    load_f16x4(&x_row_1[q].v[0], &x[i + q * 1024]);
    load_f16x4(&c_row[q].v[0], &c[i_1 + (vb * 10 + q * 5 + (vb * 2 + q + tid / 8) / 3) % 1024 * 32]);
    load_f16x4(&s_row[q].v[0], &s[i_1 + (vb * 10 + q * 5 + (vb * 2 + q + tid / 8) / 3) % 1024 * 32]);
  }
  ISSUE_LOADS(ntid.x);
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    Vec<f16, 4> y_1;
    Vec<f16, 4> y_2;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float s_1 = float_of(s_row[q].v[e]);
      const float c_1 = float_of(c_row[q].v[e]);
      const float x_1 = float_of(x_row[q].v[e]);
      const float x_2 = float_of(x_row_1[q].v[e]);
      const float ac = x_2 * c_1;
      const float bs = x_1 * s_1;
      const float low = ac - bs;
      const f16 lowh = f16_of(low);
      const float lowh_1 = float_of(lowh);
      y_1.v[e] = f16_of(lowh_1);
      const float bc = x_1 * c_1;
      const float as = x_2 * s_1;
      const float high = bc + as;
      const f16 highh = f16_of(high);
      const float highh_1 = float_of(highh);
      y_2.v[e] = f16_of(highh_1);
    }
    store_f16x4(&y[i + q * 1024], &y_1.v[0]);
    store_f16x4(&y[i + q * 1024 + 32], &y_2.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(128) void multiply_subtract_add_slice_map(
    const f16* __restrict__ x,
    const f16* __restrict__ c,
    const f16* __restrict__ s,
    f16* __restrict__ y) {
  multiply_subtract_add_slice_map_block(blockIdx.x, 192, x, c, s, y);
}
