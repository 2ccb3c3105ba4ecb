// max_exp_sum_divide_row
//
// Plan: row dominant=%3 threads=256 threads_per_row=256 vector=4 in_flight=2 split=20 meet=kernel grid=tile
//   index_cache=on value_cache=on arithmetic=xla
// Launch 1 of 3, in this order and with the same arguments: max_exp_sum_divide_row, max_exp_sum_divide_row_2,
//   max_exp_sum_divide_row_3.
// Reads x (300,003 f32, 4 at a time); writes m_parts (60 f32, 1 at a time).
// A block's threads: lane (32) x warp (8).
// Phases: m (maximum), then the results.
// 256 threads per block, 60 virtual blocks, 32 bytes of shared memory per block.
// Memory to work in, whatever it holds before: m_parts, s_parts.

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

/// What the launches before this one wrote is seen below. Before sm_90 nothing begins while they run.
__device__ __forceinline__ void wait_for_launches_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// A pointer that the compiler keeps as it is and does not compute again.
template <class T>
__device__ __forceinline__ T* held(T* a) {
  asm("" : "+l"(a));
  return a;
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

__device__ __forceinline__ void shared_store_f32(float* to, float value) {
  asm volatile("st.shared.f32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "f"(value) : "memory");
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
__device__ __forceinline__ void max_exp_sum_divide_row_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    float* __restrict__ y,
    float* __restrict__ m_parts,
    float* __restrict__ s_parts) {
  __shared__ __align__(16) float m_warps[8];
  const int tile = vb / 20;
  const int rank = vb % 20;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int i = (rank * 256 + lane + warp * 32 < tile * 3 % 4 ? rank * 256 + lane + warp * 32 : rank * 256 + lane + warp
      * 32 - tile * 3 % 4 * 4 + (tile * 3 % 4 * 3 + 1) / 4 * 4 + 100000);

  // Phase: m, a maximum.
  float m = __int_as_float(0xff800000);
  const int i_1 = tile * 100001 + rank * 1024 + lane * 4 + warp * 128 + tile * 3 % 4;
  const float* const x_at = held(x + i_1);
  #pragma unroll 1
  for (int t = 0; t < 3; ++t) {
    Vec<float, 4> x_row[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (rank * 1024 + lane * 4 + warp * 128 + t * 40960 + u * 20480 + tile * 3 % 4 + 3 < 100001) {
        load_f32x4(&x_row[u].v[0], &x_at[t * 40960 + u * 20480]);
      }
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (rank * 1024 + lane * 4 + warp * 128 + t * 40960 + u * 20480 + tile * 3 % 4 + 3 < 100001) {
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          m = maximum(m, x_row[u].v[e]);
        }
      }
    }
  }
  const int i_2 = i + tile * 100001;
  if (i < 100001) {
    const float x_1 = load_f32(&x[i_2]);
    m = maximum(m, x_1);
  }
  // The maximum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) m = maximum(m, __shfl_xor_sync(0xffffffffu, m, offset));
  if (lane == 0) {
    shared_store_f32(&m_warps[warp], m);
  }
  __syncthreads();
  if (warp == 0) {
    m = __int_as_float(0xff800000);
    #pragma unroll
    for (int p = 0; p < 2; ++p) {
      Vec<float, 4> m_part;
      shared_load_f32x4(&m_part.v[0], &m_warps[p * 4]);
      #pragma unroll
      for (int w = 0; w < 4; ++w) {
        m = maximum(m, m_part.v[w]);
      }
    }
  }

  // The results.
  if (lane + warp * 32 == 0) {
    store_f32(&m_parts[tile * 20 + rank], m);
  }
}

extern "C" __global__ __launch_bounds__(256) void max_exp_sum_divide_row(
    const float* __restrict__ x,
    float* __restrict__ y,
    float* __restrict__ m_parts,
    float* __restrict__ s_parts) {
  max_exp_sum_divide_row_block(blockIdx.x, 60, x, y, m_parts, s_parts);
}

// max_exp_sum_divide_row_2
//
// Launch 2 of 3; it may begin while the one before it runs.
// Reads x (300,003 f32, 4 at a time), m_parts (60 f32, 1 at a time); writes s_parts (60 f32, 1 at a time).
// A block's threads: lane (32) x warp (8).
// Phases: m (maximum), then s (sum), then the results.
// 256 threads per block, 60 virtual blocks, 32 bytes of shared memory per block.

/// One virtual block.
__device__ __forceinline__ void max_exp_sum_divide_row_2_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    float* __restrict__ y,
    float* __restrict__ m_parts,
    float* __restrict__ s_parts) {
  __shared__ __align__(16) float s_warps[8];
  const int tile = vb / 20;
  const int rank = vb % 20;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int i = (rank * 256 + lane + warp * 32 < tile * 3 % 4 ? rank * 256 + lane + warp * 32 : rank * 256 + lane + warp
      * 32 - tile * 3 % 4 * 4 + (tile * 3 % 4 * 3 + 1) / 4 * 4 + 100000);
  wait_for_launches_before();

  // Phase: m, a maximum.
  float m = __int_as_float(0xff800000);
  m = __int_as_float(0xff800000);
  float m_part[1];
  if (lane < 20) {
    m_part[0] = load_f32(&m_parts[tile * 20 + lane]);
  }
  if (lane < 20) {
    m = maximum(m, m_part[0]);
  }
  // The maximum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) m = maximum(m, __shfl_xor_sync(0xffffffffu, m, offset));

  // Phase: s, a sum.
  float s = 0.0f;
  const int i_1 = tile * 100001 + rank * 1024 + lane * 4 + warp * 128 + tile * 3 % 4;
  const float* const x_at = held(x + i_1);
  #pragma unroll 1
  for (int t = 0; t < 3; ++t) {
    Vec<float, 4> x_row[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (rank * 1024 + lane * 4 + warp * 128 + t * 40960 + u * 20480 + tile * 3 % 4 + 3 < 100001) {
        load_f32x4(&x_row[u].v[0], &x_at[t * 40960 + u * 20480]);
      }
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (rank * 1024 + lane * 4 + warp * 128 + t * 40960 + u * 20480 + tile * 3 % 4 + 3 < 100001) {
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float d = x_row[u].v[e] - m;
          const float e_1 = quick_exp(d);
          s += e_1;
        }
      }
    }
  }
  const int i_2 = i + tile * 100001;
  if (i < 100001) {
    const float x_1 = load_f32(&x[i_2]);
    const float d_1 = x_1 - m;
    const float e_2 = quick_exp(d_1);
    s += e_2;
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);
  if (lane == 0) {
    shared_store_f32(&s_warps[warp], s);
  }
  __syncthreads();
  if (warp == 0) {
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
  }

  // The results.
  if (lane + warp * 32 == 0) {
    store_f32(&s_parts[tile * 20 + rank], s);
  }
}

extern "C" __global__ __launch_bounds__(256) void max_exp_sum_divide_row_2(
    const float* __restrict__ x,
    float* __restrict__ y,
    float* __restrict__ m_parts,
    float* __restrict__ s_parts) {
  max_exp_sum_divide_row_2_block(blockIdx.x, 60, x, y, m_parts, s_parts);
}

// max_exp_sum_divide_row_3
//
// Launch 3 of 3; it may begin while the one before it runs.
// Reads x (300,003 f32, 4 at a time), m_parts (60 f32, 1 at a time), s_parts (60 f32, 1 at a time); writes y (300,003
//   f32, 4 at a time).
// A block's threads: lane (32) x warp (8).
// Phases: m (maximum), then s (sum), then the results.
// 256 threads per block, 60 virtual blocks, 0 bytes of shared memory per block.

/// One virtual block.
__device__ __forceinline__ void max_exp_sum_divide_row_3_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    float* __restrict__ y,
    float* __restrict__ m_parts,
    float* __restrict__ s_parts) {
  const int tile = vb / 20;
  const int rank = vb % 20;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int i = (rank * 256 + lane + warp * 32 < tile * 3 % 4 ? rank * 256 + lane + warp * 32 : rank * 256 + lane + warp
      * 32 - tile * 3 % 4 * 4 + (tile * 3 % 4 * 3 + 1) / 4 * 4 + 100000);
  wait_for_launches_before();

  // Phase: m, a maximum.
  float m = __int_as_float(0xff800000);
  m = __int_as_float(0xff800000);
  float m_part[1];
  if (lane < 20) {
    m_part[0] = load_f32(&m_parts[tile * 20 + lane]);
  }
  if (lane < 20) {
    m = maximum(m, m_part[0]);
  }
  // The maximum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) m = maximum(m, __shfl_xor_sync(0xffffffffu, m, offset));

  // Phase: s, a sum.
  float s = 0.0f;
  s = 0.0f;
  float s_part[1];
  if (lane < 20) {
    s_part[0] = load_f32(&s_parts[tile * 20 + lane]);
  }
  if (lane < 20) {
    s += s_part[0];
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);

  // The results.
  const int i_1 = tile * 100001 + rank * 1024 + lane * 4 + warp * 128 + tile * 3 % 4;
  const float* const x_at = held(x + i_1);
  float* const y_at = held(y + i_1);
  #pragma unroll 1
  for (int t = 2; t >= 0; --t) {
    Vec<float, 4> x_row[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (rank * 1024 + lane * 4 + warp * 128 + t * 40960 + u * 20480 + tile * 3 % 4 + 3 < 100001) {
        load_f32x4(&x_row[u].v[0], &x_at[t * 40960 + u * 20480]);
      }
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (rank * 1024 + lane * 4 + warp * 128 + t * 40960 + u * 20480 + tile * 3 % 4 + 3 < 100001) {
        Vec<float, 4> y_1;
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float d = x_row[u].v[e] - m;
          const float e_1 = quick_exp(d);
          const float y_2 = full_divide(e_1, s);
          y_1.v[e] = y_2;
        }
        store_f32x4(&y_at[t * 40960 + u * 20480], &y_1.v[0]);
      }
    }
  }
  const int i_2 = i + tile * 100001;
  if (i < 100001) {
    const float x_1 = load_f32(&x[i_2]);
    const float d_1 = x_1 - m;
    const float e_2 = quick_exp(d_1);
    const float y_3 = full_divide(e_2, s);
    store_f32(&y[i_2], y_3);
  }
}

extern "C" __global__ __launch_bounds__(256) void max_exp_sum_divide_row_3(
    const float* __restrict__ x,
    float* __restrict__ y,
    float* __restrict__ m_parts,
    float* __restrict__ s_parts) {
  max_exp_sum_divide_row_3_block(blockIdx.x, 60, x, y, m_parts, s_parts);
}
