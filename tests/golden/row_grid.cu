// max_exp_sum_divide_row
//
// Plan: row dominant=%3 threads=256 threads_per_row=256 vector=4 in_flight=1 split=40 meet=grid
//   homes=%0@register,%6@register grid=tile index_cache=on value_cache=on arithmetic=xla
// Reads x (300,003 f32, 4 at a time); writes y (300,003 f32, 4 at a time).
// A block's threads: lane (32) x warp (8).
// Phases: m (maximum), then s (sum), then the results.
// 256 threads per block, 120 virtual blocks, 64 bytes of shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.
// ticket must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: m_parts, s_parts.
// launch: grid=120 block=256 cooperative
// buffer: x f32[300003] input random
// buffer: y f32[300003] output
// buffer: m_parts f32[120] scratch
// buffer: ticket u32[3] both zero
// buffer: s_parts f32[120] scratch

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

/// Waits for all blocks that count at `ticket`, and sees what they wrote. This one adds `arrive`, and the others are
/// missing while the number there is one of `count` from `first` on. Between two looks it leaves the way to the others,
/// for much less than a look takes.
__device__ __forceinline__ void meet(unsigned int* ticket, unsigned int arrive, unsigned int first,
                                     unsigned int count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned int now;
#if __CUDA_ARCH__ >= 700
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(ticket), "r"(arrive) : "memory");
    for (;;) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(ticket) : "memory");
      if (now - first >= count) break;
      __nanosleep(20);
    }
#else
    __threadfence();
    atomicAdd(ticket, arrive);
    do {
      now = *static_cast<volatile unsigned int*>(ticket);
    } while (now - first < count);
    __threadfence();
#endif
  }
  __syncthreads();
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
    unsigned int* __restrict__ ticket,
    float* __restrict__ s_parts) {
  __shared__ __align__(16) float m_warps[8];
  __shared__ __align__(16) float s_warps[8];
  const int tile = vb / 40;
  const int rank = vb % 40;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int i = (rank * 256 + lane + warp * 32 < tile * 3 % 4 ? rank * 256 + lane + warp * 32 : rank * 256 + lane + warp
      * 32 - tile * 3 % 4 * 4 + (tile * 3 % 4 * 3 + 1) / 4 * 4 + 100000);

  // Phase: m, a maximum.
  float m = __int_as_float(0xff800000);
  const int i_1 = tile * 100001 + rank * 1024 + lane * 4 + warp * 128 + tile * 3 % 4;
  const float* const x_at = held(x + i_1);
  float* const y_at = held(y + i_1);
  Vec<float, 4> x_row[3];
  #pragma unroll
  for (int t = 0; t < 3; ++t) {
    if (t < 2 || rank * 1024 + lane * 4 + warp * 128 + t * 40960 + tile * 3 % 4 + 3 < 100001) {
      load_f32x4(&x_row[t].v[0], &x_at[t * 40960]);
    }
  }
  const int i_2 = i + tile * 100001;
  float x_row_1;
  if (i < 100001) {
    x_row_1 = load_f32(&x[i_2]);
  }
  ISSUE_LOADS(ntid.x);
  #pragma unroll
  for (int t = 0; t < 3; ++t) {
    if (t < 2 || rank * 1024 + lane * 4 + warp * 128 + t * 40960 + tile * 3 % 4 + 3 < 100001) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        m = maximum(m, x_row[t].v[e]);
      }
    }
  }
  if (i < 100001) {
    m = maximum(m, x_row_1);
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
  if (lane + warp * 32 == 0) {
    store_f32(&m_parts[tile * 40 + rank], m);
  }
  meet(ticket + tile, 1u, 0u, 40u);
  m = __int_as_float(0xff800000);
  float m_part_1[2];
  #pragma unroll
  for (int y_1 = 0; y_1 < 2; ++y_1) {
    if (y_1 < 1 || lane + y_1 * 32 < 40) {
      m_part_1[y_1] = load_f32(&m_parts[tile * 40 + lane + y_1 * 32]);
    }
  }
  ISSUE_LOADS(ntid.y);
  #pragma unroll
  for (int y_1 = 0; y_1 < 2; ++y_1) {
    if (y_1 < 1 || lane + y_1 * 32 < 40) {
      m = maximum(m, m_part_1[y_1]);
    }
  }
  // The maximum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) m = maximum(m, __shfl_xor_sync(0xffffffffu, m, offset));

  // Phase: s, a sum.
  float s = 0.0f;
  Vec<float, 4> e_row[3];
  #pragma unroll
  for (int t = 0; t < 3; ++t) {
    if (t < 2 || rank * 1024 + lane * 4 + warp * 128 + t * 40960 + tile * 3 % 4 + 3 < 100001) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float d = x_row[t].v[e] - m;
        const float e_1 = quick_exp(d);
        e_row[t].v[e] = e_1;
        s += e_1;
      }
    }
  }
  float e_row_1;
  if (i < 100001) {
    const float d_1 = x_row_1 - m;
    const float e_2 = quick_exp(d_1);
    e_row_1 = e_2;
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
  if (lane + warp * 32 == 0) {
    store_f32(&s_parts[tile * 40 + rank], s);
  }
  meet(ticket + tile, rank == 0 ? 4294967217u : 1u, 1u, 4294967295u);
  s = 0.0f;
  float s_part_1[2];
  #pragma unroll
  for (int y_1 = 0; y_1 < 2; ++y_1) {
    if (y_1 < 1 || lane + y_1 * 32 < 40) {
      s_part_1[y_1] = load_f32(&s_parts[tile * 40 + lane + y_1 * 32]);
    }
  }
  ISSUE_LOADS(ntid.z);
  #pragma unroll
  for (int y_1 = 0; y_1 < 2; ++y_1) {
    if (y_1 < 1 || lane + y_1 * 32 < 40) {
      s += s_part_1[y_1];
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);

  // The results.
  #pragma unroll
  for (int t = 0; t < 3; ++t) {
    if (t < 2 || rank * 1024 + lane * 4 + warp * 128 + t * 40960 + tile * 3 % 4 + 3 < 100001) {
      Vec<float, 4> y_2;
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float y_3 = full_divide(e_row[t].v[e], s);
        y_2.v[e] = y_3;
      }
      store_f32x4(&y_at[t * 40960], &y_2.v[0]);
    }
  }
  if (i < 100001) {
    const float y_4 = full_divide(e_row_1, s);
    store_f32(&y[i_2], y_4);
  }
}

extern "C" __global__ __launch_bounds__(256, 1) void max_exp_sum_divide_row(
    const float* __restrict__ x,
    float* __restrict__ y,
    float* __restrict__ m_parts,
    unsigned int* __restrict__ ticket,
    float* __restrict__ s_parts) {
  max_exp_sum_divide_row_block(blockIdx.x, 120, x, y, m_parts, ticket, s_parts);
}
