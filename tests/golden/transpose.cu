// negate_add_multiply_transpose_transpose
//
// Plan: transpose dominant=%10 threads=128 threads_per_row=8 vector=8 unroll=4 grid=persistent blocks_per_sm=4
//   index_cache=on value_cache=on arithmetic=xla
// Reads x (4,096,000 f16, 8 at a time), s (4,096,000 f16, 8 at a time), b (1,000 f32, 4 at a time); writes y (4,096,000
//   f16, 8 at a time).
// A block's threads: t0 (4) x t1 (2) x t2 (16).
// 128 threads per block, 1,024 virtual blocks looped over by 528 blocks.
// 8,448 bytes of shared memory per block.
// launch: grid=528 block=128
// buffer: x f16[4096000] input random
// buffer: s f16[4096000] input random
// buffer: b f32[1000] input random
// buffer: y f16[4096000] output

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

__device__ __forceinline__ void load_f16x8(f16* to, const f16* from) {
  unsigned int words[4];
  asm volatile(ORDERED_LOAD ".v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "l"(from));
  to[0].bits = static_cast<unsigned short>(words[0]);
  to[1].bits = static_cast<unsigned short>(words[0] >> 16);
  to[2].bits = static_cast<unsigned short>(words[1]);
  to[3].bits = static_cast<unsigned short>(words[1] >> 16);
  to[4].bits = static_cast<unsigned short>(words[2]);
  to[5].bits = static_cast<unsigned short>(words[2] >> 16);
  to[6].bits = static_cast<unsigned short>(words[3]);
  to[7].bits = static_cast<unsigned short>(words[3] >> 16);
}

__device__ __forceinline__ void load_f32x4(float* to, const float* from) {
  asm volatile(ORDERED_LOAD ".v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
}

__device__ __forceinline__ void shared_load_f16x2(f16* to, const f16* from) {
  unsigned int words[1];
  asm volatile("ld.shared.b32 %0, [%1];"
               : "=r"(words[0])
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
  to[0].bits = static_cast<unsigned short>(words[0]);
  to[1].bits = static_cast<unsigned short>(words[0] >> 16);
}

__device__ __forceinline__ void shared_store_f16x2(f16* to, const f16* from) {
  const unsigned int words[1] = {
      static_cast<unsigned int>(from[0].bits) | static_cast<unsigned int>(from[1].bits) << 16};
  asm volatile("st.shared.b32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "r"(words[0]) : "memory");
}

__device__ __forceinline__ void store_f16x8(f16* to, const f16* from) {
  const unsigned int words[4] = {
      static_cast<unsigned int>(from[0].bits) | static_cast<unsigned int>(from[1].bits) << 16,
      static_cast<unsigned int>(from[2].bits) | static_cast<unsigned int>(from[3].bits) << 16,
      static_cast<unsigned int>(from[4].bits) | static_cast<unsigned int>(from[5].bits) << 16,
      static_cast<unsigned int>(from[6].bits) | static_cast<unsigned int>(from[7].bits) << 16};
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void negate_add_multiply_transpose_transpose_block(
    int vb, int n_vblocks,
    const f16* __restrict__ x,
    const f16* __restrict__ s,
    const float* __restrict__ b,
    f16* __restrict__ y) {
  __shared__ __align__(16) f16 t_tile[4224];
  const int ta = vb % 16;
  const int tb = vb / 16;
  const int t0 = static_cast<int>(threadIdx.x) % 4;
  const int t1 = static_cast<int>(threadIdx.x) / 4 % 2;
  const int t2 = static_cast<int>(threadIdx.x) / 8;
  const int i = ta * 262144 + tb * 64 + t0 * 8 + t1 * 8192 + t2 * 16384;
  Vec<f16, 8> x_row[2][2];
  if (ta * 32 + t1 + t2 * 2 < 500) {
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      #pragma unroll
      for (int q = 0; q < 2; ++q) {
        load_f16x8(&x_row[q][u].v[0], &x[i + u * 32 + q * 4096]);
      }
    }
  }
  const int i_1 = ta * 64 + tb * 64000 + t0 * 8 + t1 * 32 + t2 * 1000;
  Vec<f16, 8> s_row[4];
  const int i_2 = ta * 64 + t0 * 8 + t1 * 32;
  Vec<float, 8> b_row;
  if (ta * 8 + t0 + t1 * 4 < 125) {
    load_f32x4(&b_row.v[0], &b[i_2]);
    load_f32x4(&b_row.v[4], &b[i_2 + 4]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      load_f16x8(&s_row[w].v[0], &s[i_1 + w * 16000]);
    }
  }
  ISSUE_LOADS(ntid.x);
  if (ta * 32 + t1 + t2 * 2 < 500) {
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      Vec<f16, 2> t_pieces[8];
      #pragma unroll
      for (int q = 0; q < 2; ++q) {
        #pragma unroll
        for (int ue = 0; ue < 8; ++ue) {
          const float x_1 = float_of(x_row[q][u].v[ue]);
          const float e = -x_1;
          const f16 t_1 = f16_of(e);
          t_pieces[ue].v[q] = t_1;
        }
      }
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4], &t_pieces[0].v[0]);
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4 + 66], &t_pieces[1].v[0]);
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4 + 132], &t_pieces[2].v[0]);
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4 + 198], &t_pieces[3].v[0]);
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4 + 264], &t_pieces[4].v[0]);
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4 + 330], &t_pieces[5].v[0]);
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4 + 396], &t_pieces[6].v[0]);
      shared_store_f16x2(&t_tile[u * 2112 + t0 * 528 + t1 * 2 + t2 * 4 + 462], &t_pieces[7].v[0]);
    }
  }
  __syncthreads();
  if (ta * 8 + t0 + t1 * 4 < 125) {
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      Vec<f16, 8> t;
      shared_load_f16x2(&t.v[0], &t_tile[w * 1056 + t0 * 8 + t1 * 32 + t2 * 66]);
      shared_load_f16x2(&t.v[2], &t_tile[w * 1056 + t0 * 8 + t1 * 32 + t2 * 66 + 2]);
      shared_load_f16x2(&t.v[4], &t_tile[w * 1056 + t0 * 8 + t1 * 32 + t2 * 66 + 4]);
      shared_load_f16x2(&t.v[6], &t_tile[w * 1056 + t0 * 8 + t1 * 32 + t2 * 66 + 6]);
      Vec<f16, 8> y_1;
      #pragma unroll
      for (int we = 0; we < 8; ++we) {
        const float t_3 = float_of(t.v[we]);
        const float s_1 = float_of(s_row[w].v[we]);
        const float z = t_3 + s_1;
        const float w_1 = z * b_row.v[we];
        const f16 y_2 = f16_of(w_1);
        y_1.v[we] = y_2;
      }
      store_f16x8(&y[i_1 + w * 16000], &y_1.v[0]);
    }
  }
  __syncthreads();
}

extern "C" __global__ __launch_bounds__(128) void negate_add_multiply_transpose_transpose(
    const f16* __restrict__ x,
    const f16* __restrict__ s,
    const float* __restrict__ b,
    f16* __restrict__ y) {
  #pragma unroll 1
  for (int vb = blockIdx.x; vb < 1024; vb += gridDim.x)
    negate_add_multiply_transpose_transpose_block(vb, 1024, x, s, b, y);
}
