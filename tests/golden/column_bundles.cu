// sum_max_multiply_subtract_column
//
// Plan: column dominant=%6 threads=320 threads_per_row=20 vector=8 in_flight=4 split=8 meet=grid
//   homes=%5@register,%10@register grid=tile index_cache=on value_cache=on arithmetic=xla
// Reads x (327,680 f16, 8 at a time), g (160 f16, 8 at a time); writes y (327,680 f16, 8 at a time), l (80 f32, 1 at a
//   time).
// A block's threads: lane (20) x group (16).
// Phases: s (sum), then l_1 (maximum), then the results.
// 320 threads per block, 16 virtual blocks, 22,080 bytes of shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.
// ticket must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: s_parts, l_parts.
// launch: grid=16 block=320 cooperative
// buffer: x f16[327680] input random
// buffer: g f16[160] input random
// buffer: y f16[327680] output
// buffer: l f32[80] output
// buffer: s_parts f32[2560] scratch
// buffer: ticket u32[2] both zero
// buffer: l_parts f32[2560] scratch

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

__device__ __forceinline__ float shared_load_f32(const float* from) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];"
               : "=f"(value)
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
  return value;
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

__device__ __forceinline__ void shared_store_f32x4(float* to, const float* from) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
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

__device__ __forceinline__ void store_f32x4(float* to, const float* from) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void sum_max_multiply_subtract_column_block(
    int vb, int n_vblocks,
    const f16* __restrict__ x,
    const f16* __restrict__ g,
    f16* __restrict__ y,
    float* __restrict__ l,
    float* __restrict__ s_parts,
    unsigned int* __restrict__ ticket,
    float* __restrict__ l_parts) {
  __shared__ __align__(16) float s_groups[2560];
  __shared__ __align__(16) float s_columns[160];
  __shared__ __align__(16) float s_bundles[40];
  __shared__ __align__(16) float l_groups[2560];
  __shared__ __align__(16) float l_columns[160];
  __shared__ __align__(16) float l_bundles[40];
  const int tile = vb / 8;
  const int rank = vb % 8;
  const int lane = static_cast<int>(threadIdx.x) % 20;
  const int group = static_cast<int>(threadIdx.x) / 20;

  // Phase: s, a sum.
  Vec<float, 8> s;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 8; ++entry_0) {
    s.v[entry_0] = 0.0f;
  }
  const int i = tile * 163840 + rank * 2560 + lane * 8 + group * 160;
  Vec<float, 8> xf_row[8];
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    Vec<f16, 8> x_row[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      load_f16x8(&x_row[u].v[0], &x[i + t * 81920 + u * 20480]);
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float x_1 = float_of(x_row[u].v[e]);
        xf_row[t * 4 + u].v[e] = x_1;
        s.v[e] += x_1;
      }
    }
  }
  shared_store_f32x4(&s_groups[lane * 8 + group * 160], &s.v[0]);
  shared_store_f32x4(&s_groups[lane * 8 + group * 160 + 4], &s.v[4]);
  __syncthreads();
  if (group == 0) {
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      s.v[e] = 0.0f;
    }
    #pragma unroll
    for (int p = 0; p < 16; ++p) {
      Vec<float, 8> s_part;
      shared_load_f32x4(&s_part.v[0], &s_groups[lane * 8 + p * 160]);
      shared_load_f32x4(&s_part.v[4], &s_groups[lane * 8 + p * 160 + 4]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        s.v[e] += s_part.v[e];
      }
    }
  }
  if (group == 0) {
    store_f32x4(&s_parts[tile * 160 + rank * 320 + lane * 8], &s.v[0]);
    store_f32x4(&s_parts[tile * 160 + rank * 320 + lane * 8 + 4], &s.v[4]);
  }
  meet(ticket + tile, 1u, 0u, 8u);
  #pragma unroll
  for (int e = 0; e < 8; ++e) {
    s.v[e] = 0.0f;
  }
  Vec<float, 8> s_part_1[1];
  if (group < 8) {
    load_f32x4(&s_part_1[0].v[0], &s_parts[tile * 160 + lane * 8 + group * 320]);
    load_f32x4(&s_part_1[0].v[4], &s_parts[tile * 160 + lane * 8 + group * 320 + 4]);
  }
  if (group < 8) {
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      s.v[e] += s_part_1[0].v[e];
    }
  }
  shared_store_f32x4(&s_groups[lane * 8 + group * 160], &s.v[0]);
  shared_store_f32x4(&s_groups[lane * 8 + group * 160 + 4], &s.v[4]);
  __syncthreads();
  if (group == 0) {
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      s.v[e] = 0.0f;
    }
    #pragma unroll
    for (int p = 0; p < 16; ++p) {
      Vec<float, 8> s_part_2;
      shared_load_f32x4(&s_part_2.v[0], &s_groups[lane * 8 + p * 160]);
      shared_load_f32x4(&s_part_2.v[4], &s_groups[lane * 8 + p * 160 + 4]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        s.v[e] += s_part_2.v[e];
      }
    }
  }
  if (group == 0) {
    shared_store_f32x4(&s_columns[lane * 8], &s.v[0]);
    shared_store_f32x4(&s_columns[lane * 8 + 4], &s.v[4]);
  }
  __syncthreads();
  if (lane + group * 20 < 40) {
    s.v[0] = 0.0f;
    Vec<float, 4> s_column;
    shared_load_f32x4(&s_column.v[0], &s_columns[lane * 4 + group * 80]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      s.v[0] += s_column.v[w];
    }
    shared_store_f32(&s_bundles[lane + group * 20], s.v[0]);
  }
  __syncthreads();
  #pragma unroll
  for (int e = 0; e < 8; ++e) {
    s.v[e] = shared_load_f32(&s_bundles[lane * 2 + e / 4]);
  }

  // Phase: l_1, a maximum.
  Vec<float, 8> l_1;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 8; ++entry_0) {
    l_1.v[entry_0] = __int_as_float(0xff800000);
  }
  Vec<float, 8> c_row[8];
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float m = s.v[e] * 0.015625f;
        const float c = xf_row[t * 4 + u].v[e] - m;
        c_row[t * 4 + u].v[e] = c;
        const float a = fabs(c);
        l_1.v[e] = maximum(l_1.v[e], a);
      }
    }
  }
  shared_store_f32x4(&l_groups[lane * 8 + group * 160], &l_1.v[0]);
  shared_store_f32x4(&l_groups[lane * 8 + group * 160 + 4], &l_1.v[4]);
  __syncthreads();
  if (group == 0) {
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      l_1.v[e] = __int_as_float(0xff800000);
    }
    #pragma unroll
    for (int p = 0; p < 16; ++p) {
      Vec<float, 8> l_part;
      shared_load_f32x4(&l_part.v[0], &l_groups[lane * 8 + p * 160]);
      shared_load_f32x4(&l_part.v[4], &l_groups[lane * 8 + p * 160 + 4]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        l_1.v[e] = maximum(l_1.v[e], l_part.v[e]);
      }
    }
  }
  if (group == 0) {
    store_f32x4(&l_parts[tile * 160 + rank * 320 + lane * 8], &l_1.v[0]);
    store_f32x4(&l_parts[tile * 160 + rank * 320 + lane * 8 + 4], &l_1.v[4]);
  }
  meet(ticket + tile, rank == 0 ? 4294967281u : 1u, 1u, 4294967295u);
  #pragma unroll
  for (int e = 0; e < 8; ++e) {
    l_1.v[e] = __int_as_float(0xff800000);
  }
  Vec<float, 8> l_part_1[1];
  if (group < 8) {
    load_f32x4(&l_part_1[0].v[0], &l_parts[tile * 160 + lane * 8 + group * 320]);
    load_f32x4(&l_part_1[0].v[4], &l_parts[tile * 160 + lane * 8 + group * 320 + 4]);
  }
  if (group < 8) {
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      l_1.v[e] = maximum(l_1.v[e], l_part_1[0].v[e]);
    }
  }
  shared_store_f32x4(&l_groups[lane * 8 + group * 160], &l_1.v[0]);
  shared_store_f32x4(&l_groups[lane * 8 + group * 160 + 4], &l_1.v[4]);
  __syncthreads();
  if (group == 0) {
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      l_1.v[e] = __int_as_float(0xff800000);
    }
    #pragma unroll
    for (int p = 0; p < 16; ++p) {
      Vec<float, 8> l_part_2;
      shared_load_f32x4(&l_part_2.v[0], &l_groups[lane * 8 + p * 160]);
      shared_load_f32x4(&l_part_2.v[4], &l_groups[lane * 8 + p * 160 + 4]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        l_1.v[e] = maximum(l_1.v[e], l_part_2.v[e]);
      }
    }
  }
  if (group == 0) {
    shared_store_f32x4(&l_columns[lane * 8], &l_1.v[0]);
    shared_store_f32x4(&l_columns[lane * 8 + 4], &l_1.v[4]);
  }
  __syncthreads();
  if (lane + group * 20 < 40) {
    l_1.v[0] = __int_as_float(0xff800000);
    Vec<float, 4> l_column;
    shared_load_f32x4(&l_column.v[0], &l_columns[lane * 4 + group * 80]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      l_1.v[0] = maximum(l_1.v[0], l_column.v[w]);
    }
    shared_store_f32(&l_bundles[lane + group * 20], l_1.v[0]);
  }

  // The results.
  __syncthreads();
  #pragma unroll
  for (int e = 0; e < 8; ++e) {
    l_1.v[e] = shared_load_f32(&l_bundles[lane * 2 + e / 4]);
  }
  const int i_1 = tile * 40 + lane * 2;
  float* const l_at = held(l + i_1);
  if (rank == 0) {
    if (group == 0) {
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        if (e % 4 < 1) {
          store_f32(&l_at[e / 4], l_1.v[e]);
        }
      }
    }
  }
  Vec<f16, 8> g_row;
  load_f16x8(&g_row.v[0], &g[lane * 8]);
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      Vec<f16, 8> y_1;
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float g_1 = float_of(g_row.v[e]);
        const float w_1 = c_row[t * 4 + u].v[e] + l_1.v[e];
        const f16 h = f16_of(w_1);
        const float h_1 = float_of(h);
        const float y_2 = h_1 * g_1;
        y_1.v[e] = f16_of(y_2);
      }
      store_f16x8(&y[i + t * 81920 + u * 20480], &y_1.v[0]);
    }
  }
}

extern "C" __global__ __launch_bounds__(320, 1) void sum_max_multiply_subtract_column(
    const f16* __restrict__ x,
    const f16* __restrict__ g,
    f16* __restrict__ y,
    float* __restrict__ l,
    float* __restrict__ s_parts,
    unsigned int* __restrict__ ticket,
    float* __restrict__ l_parts) {
  sum_max_multiply_subtract_column_block(blockIdx.x, 16, x, g, y, l, s_parts, ticket, l_parts);
}
