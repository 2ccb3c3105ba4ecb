// tanh_sum_multiply_convert_column
//
// Plan: column dominant=%14 threads=256 threads_per_row=8 vector=8 in_flight=2 split=1 grid=tile index_cache=on
//   value_cache=on arithmetic=xla
// Reads x (96,000 bf16, 8 at a time), g (96,000 bf16, 8 at a time), w (96 f32, 4 at a time), mask (1,000 f32, 1 at a
//   time); writes dh (96,000 bf16, 8 at a time), sh (96 bf16, 8 at a time).
// A block's threads: lane (8) x group (32).
// Phases: s (sum), then the results.
// 256 threads per block, 2 virtual blocks, 8,192 bytes of shared memory per block.
// launch: grid=2 block=256
// buffer: x bf16[96000] input random
// buffer: g bf16[96000] input random
// buffer: w f32[96] input random
// buffer: mask f32[1000] input random
// buffer: dh bf16[96000] output
// buffer: sh bf16[96] output

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

/// A pointer that the compiler keeps as it is and does not compute again.
template <class T>
__device__ __forceinline__ T* held(T* a) {
  asm("" : "+l"(a));
  return a;
}

/// bfloat16 as stored; arithmetic is done in float.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ float float_of(bf16 a) {
  return __uint_as_float(static_cast<unsigned int>(a.bits) << 16);
}

/// Rounds to nearest even.
__device__ __forceinline__ bf16 bf16_of(float a) {
  bf16 b;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(a));
#else
  const unsigned int bits = __float_as_uint(a);
  b.bits = static_cast<unsigned short>(a != a ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
  return b;
}

__device__ __forceinline__ void cached_load_f32x4(float* to, const float* from) {
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
}

__device__ __forceinline__ void load_bf16x8(bf16* to, const bf16* from) {
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

__device__ __forceinline__ float load_f32(const float* from) {
  float value;
  asm volatile(ORDERED_LOAD ".f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}

__device__ __forceinline__ void load_f32x4(float* to, const float* from) {
  asm volatile(ORDERED_LOAD ".v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
}

__device__ __forceinline__ void shared_load_f32x4(float* to, const float* from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
}

__device__ __forceinline__ void shared_store_f32x4(float* to, const float* from) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

__device__ __forceinline__ void store_bf16x8(bf16* to, const bf16* from) {
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
__device__ __forceinline__ void tanh_sum_multiply_convert_column_block(
    int vb, int n_vblocks,
    const bf16* __restrict__ x,
    const bf16* __restrict__ g,
    const float* __restrict__ w,
    const float* __restrict__ mask,
    bf16* __restrict__ dh,
    bf16* __restrict__ sh) {
  __shared__ __align__(16) float s_groups[2048];
  const int lane = static_cast<int>(threadIdx.x) % 8;
  const int group = static_cast<int>(threadIdx.x) / 8;

  // Phase: s, a sum.
  Vec<float, 8> s;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 8; ++entry_0) {
    s.v[entry_0] = 0.0f;
  }
  const int i = vb * 64 + lane * 8 + group * 96;
  const bf16* const x_at = held(x + i);
  const bf16* const g_at = held(g + i);
  bf16* const dh_at = held(dh + i);
  const int i_1 = vb * 64 + lane * 8;
  if (vb * 8 + lane < 12) {
    Vec<float, 8> w_row;
    load_f32x4(&w_row.v[0], &w[i_1]);
    load_f32x4(&w_row.v[4], &w[i_1 + 4]);
    #pragma unroll 1
    for (int t = 0; t < 16; ++t) {
      Vec<bf16, 8> x_row[2];
      Vec<bf16, 8> g_row[2];
      float mask_row[2];
      #pragma unroll
      for (int u = 0; u < 2; ++u) {
        if (u < 1 || group + t * 64 + u * 32 < 1000) {
          load_bf16x8(&x_row[u].v[0], &x_at[t * 6144 + u * 3072]);
          load_bf16x8(&g_row[u].v[0], &g_at[t * 6144 + u * 3072]);
          mask_row[u] = load_f32(&mask[group + t * 64 + u * 32]);
        }
      }
      ISSUE_LOADS(ntid.x);
      #pragma unroll
      for (int u = 0; u < 2; ++u) {
        if (u < 1 || group + t * 64 + u * 32 < 1000) {
          Vec<bf16, 8> dh_1;
          #pragma unroll
          for (int e = 0; e < 8; ++e) {
            const float g_1 = float_of(g_row[u].v[e]);
            const float x_1 = float_of(x_row[u].v[e]);
            const float t_1 = tanh(x_1);
            const float tw = t_1 * w_row.v[e];
            const float gm = g_1 * mask_row[u];
            const float d = tw * gm;
            s.v[e] += d;
            const bf16 dh_2 = bf16_of(d);
            dh_1.v[e] = dh_2;
          }
          store_bf16x8(&dh_at[t * 6144 + u * 3072], &dh_1.v[0]);
        }
      }
    }
  }
  shared_store_f32x4(&s_groups[lane * 8 + group * 64], &s.v[0]);
  shared_store_f32x4(&s_groups[lane * 8 + group * 64 + 4], &s.v[4]);
  __syncthreads();
  if (group < 16) {
    Vec<float, 8> s_part;
    shared_load_f32x4(&s_part.v[0], &s_groups[lane * 8 + group * 64 + 1024]);
    shared_load_f32x4(&s_part.v[4], &s_groups[lane * 8 + group * 64 + 1028]);
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      s.v[e] += s_part.v[e];
    }
    shared_store_f32x4(&s_groups[lane * 8 + group * 64], &s.v[0]);
    shared_store_f32x4(&s_groups[lane * 8 + group * 64 + 4], &s.v[4]);
  }
  __syncthreads();
  if (group == 0) {
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      s.v[e] = 0.0f;
    }
    #pragma unroll
    for (int p = 0; p < 16; ++p) {
      Vec<float, 8> s_part_1;
      shared_load_f32x4(&s_part_1.v[0], &s_groups[lane * 8 + p * 64]);
      shared_load_f32x4(&s_part_1.v[4], &s_groups[lane * 8 + p * 64 + 4]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        s.v[e] += s_part_1.v[e];
      }
    }
  }

  // The results.
  if (group == 0 && vb * 8 + lane < 12) {
    Vec<float, 8> w_1;
    cached_load_f32x4(&w_1.v[0], &w[i_1]);
    cached_load_f32x4(&w_1.v[4], &w[i_1 + 4]);
    Vec<bf16, 8> sh_1;
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      const float sw = s.v[e] * w_1.v[e];
      const bf16 sh_2 = bf16_of(sw);
      sh_1.v[e] = sh_2;
    }
    store_bf16x8(&sh[i_1], &sh_1.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(256) void tanh_sum_multiply_convert_column(
    const bf16* __restrict__ x,
    const bf16* __restrict__ g,
    const float* __restrict__ w,
    const float* __restrict__ mask,
    bf16* __restrict__ dh,
    bf16* __restrict__ sh) {
  tanh_sum_multiply_convert_column_block(blockIdx.x, 2, x, g, w, mask, dh, sh);
}
