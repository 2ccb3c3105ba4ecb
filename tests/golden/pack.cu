// sum_max_exp_divide_pack
//
// Plan: pack threads=256 index_cache=on value_cache=on arithmetic=xla | column dominant=%2 threads_per_row=8 vector=4
//   in_flight=4 split=8 grid=tile | row dominant=%6 threads_per_row=256 vector=1 in_flight=1 split=1 grid=tile | map
//   dominant=%28 vector=4 unroll=1 grid=tile
// Body 1 of 3 side by side in one launch.
// Reads x_0 (393,216 f32, 4 at a time), s_0_parts (768 f32, 4 at a time); writes s_0 (96 f32, 4 at a time), s_0_parts
//   (768 f32, 4 at a time).
// A block's threads: lane (8) x group (32).
// Phases: s_0_1 (sum), then the results.
// 256 threads per block, 24 virtual blocks, 4,112 bytes of its launch's dynamic shared memory per block.
// ticket must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: s_0_parts.
// launch: grid=75 block=256 shared=4112
// buffer: x_0 f32[393216] input random
// buffer: x_3 f32[4800] input random
// buffer: x_13 f16[576] input random
// buffer: b_13 f16[64] input random
// buffer: s_0 f32[96] output
// buffer: y_3 f32[4800] output
// buffer: yh_13 f16[576] output
// buffer: s_0_parts f32[768] scratch
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

/// NaN when either is.
template <class T>
__device__ __forceinline__ T maximum(T a, T b) {
  return a != a || a > b ? a : b;
}

__device__ __forceinline__ float maximum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#else
  return a != a || a > b ? a : b;
#endif
}

/// Over the whole range, within 2 units in the last place: a scale that is a power of two, 1 for normal numbers up to
/// 2^126, keeps the reciprocal normal. Elements with one divisor share scale and reciprocal.
__device__ __forceinline__ float full_divide(float a, float b) {
  const float size = fabsf(b);
  const float scale = size > 8.50705917e+37f ? 0.25f : size < 1.17549435e-38f ? 16777216.0f : 1.0f;
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b * scale));
  return a * scale * reciprocal;
}

/// 2^(a log2(e) / 2) squared: so subnormal results are whole, which the instruction alone gives as 0.
__device__ __forceinline__ float quick_exp(float a) {
  float b;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a * 0.72134752f));
  return b * b;
}

__device__ __forceinline__ void load_f16x4(f16* to, const f16* from) {
  unsigned int words[2];
  asm volatile(ORDERED_LOAD ".v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(from));
  to[0].bits = static_cast<unsigned short>(words[0]);
  to[1].bits = static_cast<unsigned short>(words[0] >> 16);
  to[2].bits = static_cast<unsigned short>(words[1]);
  to[3].bits = static_cast<unsigned short>(words[1] >> 16);
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

__device__ __forceinline__ void shared_store_f32x4(float* to, const float* from) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

__device__ __forceinline__ void shared_store_u32(unsigned int* to, unsigned int value) {
  asm volatile("st.shared.b32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "r"(value) : "memory");
}

__device__ __forceinline__ void store_f16x4(f16* to, const f16* from) {
  const unsigned int words[2] = {
      static_cast<unsigned int>(from[0].bits) | static_cast<unsigned int>(from[1].bits) << 16,
      static_cast<unsigned int>(from[2].bits) | static_cast<unsigned int>(from[3].bits) << 16};
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" : : "l"(to), "r"(words[0]), "r"(words[1]) : "memory");
}

__device__ __forceinline__ void store_f32(float* to, float value) {
  asm volatile("st.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
}

__device__ __forceinline__ void store_f32x4(float* to, const float* from) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void sum_max_exp_divide_pack_block(
    int vb, int n_vblocks,
    const float* __restrict__ x_0,
    const float* __restrict__ x_3,
    const f16* __restrict__ x_13,
    const f16* __restrict__ b_13,
    float* __restrict__ s_0,
    float* __restrict__ y_3,
    f16* __restrict__ yh_13,
    float* __restrict__ s_0_parts,
    unsigned int* __restrict__ ticket) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const s_0_groups = reinterpret_cast<float*>(shared_memory + 0);
  unsigned int* const number = reinterpret_cast<unsigned int*>(shared_memory + 4096);
  const int lane = static_cast<int>(threadIdx.x) % 8;
  const int group = static_cast<int>(threadIdx.x) / 8;

  // Phase: s_0_1, a sum.
  Vec<float, 4> s_0_1;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 4; ++entry_0) {
    s_0_1.v[entry_0] = 0.0f;
  }
  const int i = vb / 3 * 3072 + vb % 3 * 32 + lane * 4 + group * 96;
  #pragma unroll 1
  for (int t = 0; t < 4; ++t) {
    Vec<float, 4> x_0_row[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      load_f32x4(&x_0_row[u].v[0], &x_0[i + t * 98304 + u * 24576]);
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        s_0_1.v[e] += x_0_row[u].v[e];
      }
    }
  }
  shared_store_f32x4(&s_0_groups[lane * 4 + group * 32], &s_0_1.v[0]);
  __syncthreads();
  if (group < 16) {
    Vec<float, 4> s_0_part;
    shared_load_f32x4(&s_0_part.v[0], &s_0_groups[lane * 4 + group * 32 + 512]);
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      s_0_1.v[e] += s_0_part.v[e];
    }
    shared_store_f32x4(&s_0_groups[lane * 4 + group * 32], &s_0_1.v[0]);
  }
  __syncthreads();
  if (group == 0) {
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      s_0_1.v[e] = 0.0f;
    }
    #pragma unroll
    for (int p = 0; p < 16; ++p) {
      Vec<float, 4> s_0_part_1;
      shared_load_f32x4(&s_0_part_1.v[0], &s_0_groups[lane * 4 + p * 32]);
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        s_0_1.v[e] += s_0_part_1.v[e];
      }
    }
  }
  if (group == 0) {
    store_f32x4(&s_0_parts[vb * 32 + lane * 4], &s_0_1.v[0]);
  }
  __syncthreads();
  if (lane + group * 8 == 0) {
    __threadfence();
    const unsigned int taken = atomicAdd(&ticket[vb % 3], 1u);
    __threadfence();
    shared_store_u32(&number[0], taken);
  }
  __syncthreads();
  const unsigned int arrived = shared_load_u32(&number[0]);
  const int i_1 = vb % 3 * 32 + lane * 4;
  if (arrived == 7u) {
    if (lane + group * 8 == 0) {
      atomicMin(&ticket[vb % 3], 0u);
    }
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      s_0_1.v[e] = 0.0f;
    }
    Vec<float, 4> s_0_part_2[1];
    if (group < 8) {
      load_f32x4(&s_0_part_2[0].v[0], &s_0_parts[i_1 + group * 96]);
    }
    if (group < 8) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        s_0_1.v[e] += s_0_part_2[0].v[e];
      }
    }
    shared_store_f32x4(&s_0_groups[lane * 4 + group * 32], &s_0_1.v[0]);
    __syncthreads();
    if (group < 16) {
      Vec<float, 4> s_0_part_3;
      shared_load_f32x4(&s_0_part_3.v[0], &s_0_groups[lane * 4 + group * 32 + 512]);
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        s_0_1.v[e] += s_0_part_3.v[e];
      }
      shared_store_f32x4(&s_0_groups[lane * 4 + group * 32], &s_0_1.v[0]);
    }
    __syncthreads();
    if (group == 0) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        s_0_1.v[e] = 0.0f;
      }
      #pragma unroll
      for (int p = 0; p < 16; ++p) {
        Vec<float, 4> s_0_part_4;
        shared_load_f32x4(&s_0_part_4.v[0], &s_0_groups[lane * 4 + p * 32]);
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          s_0_1.v[e] += s_0_part_4.v[e];
        }
      }
    }
    if (group == 0) {
      Vec<float, 4> s_0_2;
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float s_0_3 = s_0_1.v[e] + 2.0f;
        s_0_2.v[e] = s_0_3;
      }
      store_f32x4(&s_0[i_1], &s_0_2.v[0]);
    }
  }
}

// max_exp_sum_divide_row_2
//
// Body 2 of 3 side by side in one launch.
// Reads x_3 (4,800 f32, 1 at a time); writes y_3 (4,800 f32, 1 at a time).
// A block's threads: lane (32) x warp (8).
// Phases: m_3 (maximum), then s_3 (sum), then the results.
// 256 threads per block, 50 virtual blocks, 64 bytes of its launch's dynamic shared memory per block.

/// One virtual block.
__device__ __forceinline__ void max_exp_sum_divide_row_2_block(
    int vb, int n_vblocks,
    const float* __restrict__ x_0,
    const float* __restrict__ x_3,
    const f16* __restrict__ x_13,
    const f16* __restrict__ b_13,
    float* __restrict__ s_0,
    float* __restrict__ y_3,
    f16* __restrict__ yh_13,
    float* __restrict__ s_0_parts,
    unsigned int* __restrict__ ticket) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const m_3_warps = reinterpret_cast<float*>(shared_memory + 0);
  float* const s_3_warps = reinterpret_cast<float*>(shared_memory + 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  // Phase: m_3, a maximum.
  float m_3 = __int_as_float(0xff800000);
  const int i = vb * 96 + lane + warp * 32;
  float x_3_row;
  if (lane + warp * 32 < 96) {
    x_3_row = load_f32(&x_3[i]);
  }
  if (lane + warp * 32 < 96) {
    m_3 = maximum(m_3, x_3_row);
  }
  // The maximum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) m_3 = maximum(m_3, __shfl_xor_sync(0xffffffffu, m_3, offset));
  if (lane == 0) {
    shared_store_f32(&m_3_warps[warp], m_3);
  }
  __syncthreads();
  m_3 = __int_as_float(0xff800000);
  #pragma unroll
  for (int p = 0; p < 2; ++p) {
    Vec<float, 4> m_3_part;
    shared_load_f32x4(&m_3_part.v[0], &m_3_warps[p * 4]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      m_3 = maximum(m_3, m_3_part.v[w]);
    }
  }

  // Phase: s_3, a sum.
  float s_3 = 0.0f;
  if (lane + warp * 32 < 96) {
    const float d_3 = x_3_row - m_3;
    const float e_3 = quick_exp(d_3);
    s_3 += e_3;
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s_3 = s_3 + __shfl_xor_sync(0xffffffffu, s_3, offset);
  if (lane == 0) {
    shared_store_f32(&s_3_warps[warp], s_3);
  }
  __syncthreads();
  s_3 = 0.0f;
  #pragma unroll
  for (int p = 0; p < 2; ++p) {
    Vec<float, 4> s_3_part;
    shared_load_f32x4(&s_3_part.v[0], &s_3_warps[p * 4]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      s_3 += s_3_part.v[w];
    }
  }

  // The results.
  if (lane + warp * 32 < 96) {
    const float d_3_1 = x_3_row - m_3;
    const float e_3_1 = quick_exp(d_3_1);
    const float y_3_1 = full_divide(e_3_1, s_3);
    store_f32(&y_3[i], y_3_1);
  }
}

// tanh_add_multiply_convert_map_3
//
// Body 3 of 3 side by side in one launch.
// Reads x_13 (576 f16, 4 at a time), b_13 (64 f16, 4 at a time); writes yh_13 (576 f16, 4 at a time).
// A block's threads: tid (256).
// 256 threads per block, 1 virtual block, 0 bytes of its launch's dynamic shared memory per block.

/// One virtual block.
__device__ __forceinline__ void tanh_add_multiply_convert_map_3_block(
    int vb, int n_vblocks,
    const float* __restrict__ x_0,
    const float* __restrict__ x_3,
    const f16* __restrict__ x_13,
    const f16* __restrict__ b_13,
    float* __restrict__ s_0,
    float* __restrict__ y_3,
    f16* __restrict__ yh_13,
    float* __restrict__ s_0_parts,
    unsigned int* __restrict__ ticket) {
  const int tid = static_cast<int>(threadIdx.x);
  Vec<f16, 4> x_13_row;
  const int i = tid % 16 * 4;
  Vec<f16, 4> b_13_row;
  if (tid < 144) {
    load_f16x4(&x_13_row.v[0], &x_13[tid * 4]);
    load_f16x4(&b_13_row.v[0], &b_13[i]);
  }
  ISSUE_LOADS(ntid.x);
  if (tid < 144) {
    Vec<f16, 4> yh_13_1;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float b_13_1 = float_of(b_13_row.v[e]);
      const float x_13_1 = float_of(x_13_row.v[e]);
      const float z_13 = x_13_1 + b_13_1;
      const float zk_13 = z_13 * 0.797885f;
      const float t_13 = tanh(zk_13);
      const float th_13 = t_13 * 0.5f;
      const float g_13 = th_13 + 0.5f;
      const float y_13 = z_13 * g_13;
      const f16 yh_13_2 = f16_of(y_13);
      yh_13_1.v[e] = yh_13_2;
    }
    store_f16x4(&yh_13[tid * 4], &yh_13_1.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(256) void sum_max_exp_divide_pack(
    const float* __restrict__ x_0,
    const float* __restrict__ x_3,
    const f16* __restrict__ x_13,
    const f16* __restrict__ b_13,
    float* __restrict__ s_0,
    float* __restrict__ y_3,
    f16* __restrict__ yh_13,
    float* __restrict__ s_0_parts,
    unsigned int* __restrict__ ticket) {
  if (blockIdx.x < 24) {
    sum_max_exp_divide_pack_block(blockIdx.x, 24, x_0, x_3, x_13, b_13, s_0, y_3, yh_13, s_0_parts, ticket);
  } else {
    if (blockIdx.x < 74) {
      max_exp_sum_divide_row_2_block(blockIdx.x - 24, 50, x_0, x_3, x_13, b_13, s_0, y_3, yh_13, s_0_parts, ticket);
    } else {
      tanh_add_multiply_convert_map_3_block(blockIdx.x - 74, 1, x_0, x_3, x_13, b_13, s_0, y_3, yh_13, s_0_parts,
          ticket);
    }
  }
}
