// sum_divide_negate_multiply_row
//
// Plan: row dominant=%7 threads=256 threads_per_row=256 vector=8 in_flight=2 split=44 grid=tile index_cache=on
//   value_cache=on arithmetic=xla
// Reads x (600,003 f16, 8 at a time), old (3 f32, 1 at a time); writes meanh (3 f16, 1 at a time), var (3 f32, 1 at a
//   time), half (3 f32, 1 at a time), y (600,003 f16, 8 at a time).
// A block's threads: lane (32) x warp (8).
// Phases: s (sum), then ss (sum), then the results.
// 256 threads per block, 132 virtual blocks, 80 bytes of shared memory per block.
// ticket must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: s_parts, ss_parts.
// launch: grid=132 block=256
// buffer: x f16[600003] input random
// buffer: old f32[3] input random
// buffer: meanh f16[3] output
// buffer: var f32[3] output
// buffer: half f32[3] output
// buffer: y f16[600003] output
// buffer: s_parts f32[132] scratch
// buffer: ss_parts f32[132] scratch
// buffer: ticket u32[3] both zero

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

__device__ __forceinline__ float cached_load_f32(const float* from) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}

__device__ __forceinline__ f16 load_f16(const f16* from) {
  unsigned short words[1];
  asm volatile(ORDERED_LOAD ".b16 %0, [%1];" : "=h"(words[0]) : "l"(from));
  return f16{words[0]};
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

__device__ __forceinline__ float load_f32(const float* from) {
  float value;
  asm volatile(ORDERED_LOAD ".f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}

__device__ __forceinline__ void shared_load_f32x4(float* to, const float* from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
}

__device__ __forceinline__ unsigned int shared_load_u32(const unsigned int* from) {
  unsigned int value;
  asm volatile("ld.shared.b32 %0, [%1];"
               : "=r"(value)
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
  return value;
}

__device__ __forceinline__ void shared_store_f32(float* to, float value) {
  asm volatile("st.shared.f32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "f"(value) : "memory");
}

__device__ __forceinline__ void shared_store_u32(unsigned int* to, unsigned int value) {
  asm volatile("st.shared.b32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "r"(value) : "memory");
}

__device__ __forceinline__ void store_f16(f16* to, f16 value) {
  const unsigned short words[1] = {
      static_cast<unsigned short>(value.bits)};
  asm volatile("st.global.b16 [%0], %1;" : : "l"(to), "h"(words[0]) : "memory");
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

__device__ __forceinline__ void store_f32(float* to, float value) {
  asm volatile("st.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void sum_divide_negate_multiply_row_block(
    int vb, int n_vblocks,
    const f16* __restrict__ x,
    const float* __restrict__ old,
    f16* __restrict__ meanh,
    float* __restrict__ var,
    float* __restrict__ half,
    f16* __restrict__ y,
    float* __restrict__ s_parts,
    float* __restrict__ ss_parts,
    unsigned int* __restrict__ ticket) {
  __shared__ __align__(16) float s_warps[8];
  __shared__ __align__(16) float ss_warps[8];
  __shared__ __align__(16) unsigned int number[1];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int i = (vb / 3 * 256 + lane + warp * 32 < vb % 3 * 7 % 8 ? vb / 3 * 256 + lane + warp * 32 : vb / 3 * 256 +
      lane + warp * 32 - vb % 3 * 7 % 8 * 8 + (vb % 3 * 7 % 8 * 7 + 1) / 8 * 8 + 200000);

  // Phase: s, a sum.
  float s = 0.0f;

  // Phase: ss, a sum.
  float ss = 0.0f;
  const int i_1 = vb / 3 * 2048 + vb % 3 * 200001 + lane * 8 + warp * 256 + vb % 3 * 7 % 8;
  const f16* const x_at = held(x + i_1);
  f16* const y_at = held(y + i_1);
  #pragma unroll 1
  for (int t = 0; t < 2; ++t) {
    Vec<f16, 8> x_row[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (vb / 3 * 2048 + lane * 8 + warp * 256 + t * 180224 + u * 90112 + vb % 3 * 7 % 8 + 7 < 200001) {
        load_f16x8(&x_row[u].v[0], &x_at[t * 180224 + u * 90112]);
      }
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (vb / 3 * 2048 + lane * 8 + warp * 256 + t * 180224 + u * 90112 + vb % 3 * 7 % 8 + 7 < 200001) {
        Vec<f16, 8> y_1;
        #pragma unroll
        for (int e = 0; e < 8; ++e) {
          const float x_1 = float_of(x_row[u].v[e]);
          s += x_1;
          const float sq = x_1 * x_1;
          ss += sq;
          const float y_2 = -x_1;
          y_1.v[e] = f16_of(y_2);
        }
        store_f16x8(&y_at[t * 180224 + u * 90112], &y_1.v[0]);
      }
    }
  }
  const int i_2 = i + vb % 3 * 200001;
  if (i < 200001) {
    const f16 x_2 = load_f16(&x[i_2]);
    const float x_3 = float_of(x_2);
    s += x_3;
    const float sq_1 = x_3 * x_3;
    ss += sq_1;
    const float y_3 = -x_3;
    store_f16(&y[i_2], f16_of(y_3));
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) ss = ss + __shfl_xor_sync(0xffffffffu, ss, offset);
  if (lane == 0) {
    shared_store_f32(&s_warps[warp], s);
  }
  if (lane == 0) {
    shared_store_f32(&ss_warps[warp], ss);
  }
  __syncthreads();
  s = 0.0f;
  #pragma unroll
  for (int p = 0; p < 2; ++p) {
    Vec<float, 4> s_part;
    shared_load_f32x4(&s_part.v[0], &s_warps[p * 4]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      s += s_part.v[w];
    }
  }
  ss = 0.0f;
  #pragma unroll
  for (int p = 0; p < 2; ++p) {
    Vec<float, 4> ss_part;
    shared_load_f32x4(&ss_part.v[0], &ss_warps[p * 4]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      ss += ss_part.v[w];
    }
  }
  if (lane + warp * 32 == 0) {
    store_f32(&s_parts[vb / 3 + vb % 3 * 44], s);
    store_f32(&ss_parts[vb / 3 + vb % 3 * 44], ss);
  }
  __syncthreads();
  if (lane + warp * 32 == 0) {
    __threadfence();
    const unsigned int taken = atomicAdd(&ticket[vb % 3], 1u);
    __threadfence();
    shared_store_u32(&number[0], taken);
  }
  __syncthreads();
  const unsigned int arrived = shared_load_u32(&number[0]);
  const int i_3 = vb % 3;
  if (arrived == 43u) {
    if (lane + warp * 32 == 0) {
      atomicMin(&ticket[i_3], 0u);
    }
    s = 0.0f;
    ss = 0.0f;
    float s_part_1[1];
    float ss_part_1[1];
    if (lane + warp * 32 < 44) {
      s_part_1[0] = load_f32(&s_parts[vb % 3 * 44 + lane + warp * 32]);
      ss_part_1[0] = load_f32(&ss_parts[vb % 3 * 44 + lane + warp * 32]);
    }
    ISSUE_LOADS(ntid.y);
    if (lane + warp * 32 < 44) {
      s += s_part_1[0];
      ss += ss_part_1[0];
    }
    // The sum of 32 lanes, for each of them.
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);
    // The sum of 32 lanes, for each of them.
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) ss = ss + __shfl_xor_sync(0xffffffffu, ss, offset);
    if (lane == 0) {
      shared_store_f32(&s_warps[warp], s);
    }
    if (lane == 0) {
      shared_store_f32(&ss_warps[warp], ss);
    }
    __syncthreads();
    s = 0.0f;
    #pragma unroll
    for (int p = 0; p < 2; ++p) {
      Vec<float, 4> s_part_2;
      shared_load_f32x4(&s_part_2.v[0], &s_warps[p * 4]);
      #pragma unroll
      for (int w = 0; w < 4; ++w) {
        s += s_part_2.v[w];
      }
    }
    ss = 0.0f;
    #pragma unroll
    for (int p = 0; p < 2; ++p) {
      Vec<float, 4> ss_part_2;
      shared_load_f32x4(&ss_part_2.v[0], &ss_warps[p * 4]);
      #pragma unroll
      for (int w = 0; w < 4; ++w) {
        ss += ss_part_2.v[w];
      }
    }
    const float old_1 = cached_load_f32(&old[i_3]);
    const float half_1 = -old_1;
    if (lane == 0 && warp == 0) {
      store_f32(&half[i_3], half_1);
    }
    const float mean = s * 4.999975e-06f;
    const f16 meanh_1 = f16_of(mean);
    if (lane == 0 && warp == 0) {
      store_f16(&meanh[i_3], meanh_1);
    }
    const float square = ss * 4.999975e-06f;
    const float mm = mean * mean;
    const float var_1 = square - mm;
    if (lane == 0 && warp == 0) {
      store_f32(&var[i_3], var_1);
    }
  }
}

extern "C" __global__ __launch_bounds__(256) void sum_divide_negate_multiply_row(
    const f16* __restrict__ x,
    const float* __restrict__ old,
    f16* __restrict__ meanh,
    float* __restrict__ var,
    float* __restrict__ half,
    f16* __restrict__ y,
    float* __restrict__ s_parts,
    float* __restrict__ ss_parts,
    unsigned int* __restrict__ ticket) {
  sum_divide_negate_multiply_row_block(blockIdx.x, 132, x, old, meanh, var, half, y, s_parts, ss_parts, ticket);
}
