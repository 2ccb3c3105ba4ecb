// sum_divide_multiply_subtract_column
//
// Plan: column dominant=%6 threads=256 threads_per_row=8 vector=8 in_flight=4 split=100 grid=tile index_cache=on
//   value_cache=on arithmetic=xla
// Reads x (4,194,304 f16, 8 at a time), old (64 f32, 4 at a time); writes mean (64 f32, 4 at a time), var (64 f32, 4 at
//   a time), half (64 f32, 4 at a time), ssh (64 f32, 4 at a time).
// A block's threads: lane (8) x group (32).
// Phases: s (sum), then ss (sum), then the results.
// 256 threads per block, 100 virtual blocks, 16,400 bytes of shared memory per block.
// ticket must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: s_parts, ss_parts.
// launch: grid=100 block=256
// buffer: x f16[4194304] input random
// buffer: old f32[64] input random
// buffer: mean f32[64] output
// buffer: var f32[64] output
// buffer: half f32[64] output
// buffer: ssh f32[64] output
// buffer: s_parts f32[6400] scratch
// buffer: ss_parts f32[6400] scratch
// buffer: ticket u32[1] both zero

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

__device__ __forceinline__ void cached_load_f32x4(float* to, const float* from) {
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
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

__device__ __forceinline__ void store_f32x4(float* to, const float* from) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void sum_divide_multiply_subtract_column_block(
    int vb, int n_vblocks,
    const f16* __restrict__ x,
    const float* __restrict__ old,
    float* __restrict__ mean,
    float* __restrict__ var,
    float* __restrict__ half,
    float* __restrict__ ssh,
    float* __restrict__ s_parts,
    float* __restrict__ ss_parts,
    unsigned int* __restrict__ ticket) {
  __shared__ __align__(16) float s_groups[2048];
  __shared__ __align__(16) float ss_groups[2048];
  __shared__ __align__(16) unsigned int number[1];
  const int lane = static_cast<int>(threadIdx.x) % 8;
  const int group = static_cast<int>(threadIdx.x) / 8;

  // Phase: s, a sum.
  Vec<float, 8> s;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 8; ++entry_0) {
    s.v[entry_0] = 0.0f;
  }

  // Phase: ss, a sum.
  Vec<float, 8> ss;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 8; ++entry_0) {
    ss.v[entry_0] = 0.0f;
  }
  const int i = vb * 2048 + lane * 8 + group * 64;
  const f16* const x_at = held(x + i);
  #pragma unroll 1
  for (int t = 0; t < 6; ++t) {
    Vec<f16, 8> x_row[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (vb * 32 + group + t * 12800 + u * 3200 < 65536) {
        load_f16x8(&x_row[u].v[0], &x_at[t * 819200 + u * 204800]);
      }
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (vb * 32 + group + t * 12800 + u * 3200 < 65536) {
        #pragma unroll
        for (int e = 0; e < 8; ++e) {
          const float x_1 = float_of(x_row[u].v[e]);
          s.v[e] += x_1;
          const float sq = x_1 * x_1;
          ss.v[e] += sq;
        }
      }
    }
  }
  shared_store_f32x4(&s_groups[lane * 8 + group * 64], &s.v[0]);
  shared_store_f32x4(&s_groups[lane * 8 + group * 64 + 4], &s.v[4]);
  shared_store_f32x4(&ss_groups[lane * 8 + group * 64], &ss.v[0]);
  shared_store_f32x4(&ss_groups[lane * 8 + group * 64 + 4], &ss.v[4]);
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
    Vec<float, 8> ss_part;
    shared_load_f32x4(&ss_part.v[0], &ss_groups[lane * 8 + group * 64 + 1024]);
    shared_load_f32x4(&ss_part.v[4], &ss_groups[lane * 8 + group * 64 + 1028]);
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      ss.v[e] += ss_part.v[e];
    }
    shared_store_f32x4(&ss_groups[lane * 8 + group * 64], &ss.v[0]);
    shared_store_f32x4(&ss_groups[lane * 8 + group * 64 + 4], &ss.v[4]);
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
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      ss.v[e] = 0.0f;
    }
    #pragma unroll
    for (int p = 0; p < 16; ++p) {
      Vec<float, 8> ss_part_1;
      shared_load_f32x4(&ss_part_1.v[0], &ss_groups[lane * 8 + p * 64]);
      shared_load_f32x4(&ss_part_1.v[4], &ss_groups[lane * 8 + p * 64 + 4]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        ss.v[e] += ss_part_1.v[e];
      }
    }
  }
  if (group == 0) {
    store_f32x4(&s_parts[vb * 64 + lane * 8], &s.v[0]);
    store_f32x4(&s_parts[vb * 64 + lane * 8 + 4], &s.v[4]);
    store_f32x4(&ss_parts[vb * 64 + lane * 8], &ss.v[0]);
    store_f32x4(&ss_parts[vb * 64 + lane * 8 + 4], &ss.v[4]);
  }
  __syncthreads();
  if (lane + group * 8 == 0) {
    __threadfence();
    const unsigned int taken = atomicAdd(&ticket[0], 1u);
    __threadfence();
    shared_store_u32(&number[0], taken);
  }
  __syncthreads();
  const unsigned int arrived = shared_load_u32(&number[0]);
  if (arrived == 99u) {
    if (lane + group * 8 == 0) {
      atomicMin(&ticket[0], 0u);
    }
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      s.v[e] = 0.0f;
    }
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      ss.v[e] = 0.0f;
    }
    Vec<float, 8> s_part_2[4];
    Vec<float, 8> ss_part_2[4];
    #pragma unroll
    for (int y = 0; y < 4; ++y) {
      if (y < 3 || group + y * 32 < 100) {
        load_f32x4(&s_part_2[y].v[0], &s_parts[lane * 8 + group * 64 + y * 2048]);
        load_f32x4(&s_part_2[y].v[4], &s_parts[lane * 8 + group * 64 + y * 2048 + 4]);
        load_f32x4(&ss_part_2[y].v[0], &ss_parts[lane * 8 + group * 64 + y * 2048]);
        load_f32x4(&ss_part_2[y].v[4], &ss_parts[lane * 8 + group * 64 + y * 2048 + 4]);
      }
    }
    ISSUE_LOADS(ntid.y);
    #pragma unroll
    for (int y = 0; y < 4; ++y) {
      if (y < 3 || group + y * 32 < 100) {
        #pragma unroll
        for (int e = 0; e < 8; ++e) {
          s.v[e] += s_part_2[y].v[e];
        }
        #pragma unroll
        for (int e = 0; e < 8; ++e) {
          ss.v[e] += ss_part_2[y].v[e];
        }
      }
    }
    shared_store_f32x4(&s_groups[lane * 8 + group * 64], &s.v[0]);
    shared_store_f32x4(&s_groups[lane * 8 + group * 64 + 4], &s.v[4]);
    shared_store_f32x4(&ss_groups[lane * 8 + group * 64], &ss.v[0]);
    shared_store_f32x4(&ss_groups[lane * 8 + group * 64 + 4], &ss.v[4]);
    __syncthreads();
    if (group < 16) {
      Vec<float, 8> s_part_3;
      shared_load_f32x4(&s_part_3.v[0], &s_groups[lane * 8 + group * 64 + 1024]);
      shared_load_f32x4(&s_part_3.v[4], &s_groups[lane * 8 + group * 64 + 1028]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        s.v[e] += s_part_3.v[e];
      }
      shared_store_f32x4(&s_groups[lane * 8 + group * 64], &s.v[0]);
      shared_store_f32x4(&s_groups[lane * 8 + group * 64 + 4], &s.v[4]);
      Vec<float, 8> ss_part_3;
      shared_load_f32x4(&ss_part_3.v[0], &ss_groups[lane * 8 + group * 64 + 1024]);
      shared_load_f32x4(&ss_part_3.v[4], &ss_groups[lane * 8 + group * 64 + 1028]);
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        ss.v[e] += ss_part_3.v[e];
      }
      shared_store_f32x4(&ss_groups[lane * 8 + group * 64], &ss.v[0]);
      shared_store_f32x4(&ss_groups[lane * 8 + group * 64 + 4], &ss.v[4]);
    }
    __syncthreads();
    if (group == 0) {
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        s.v[e] = 0.0f;
      }
      #pragma unroll
      for (int p = 0; p < 16; ++p) {
        Vec<float, 8> s_part_4;
        shared_load_f32x4(&s_part_4.v[0], &s_groups[lane * 8 + p * 64]);
        shared_load_f32x4(&s_part_4.v[4], &s_groups[lane * 8 + p * 64 + 4]);
        #pragma unroll
        for (int e = 0; e < 8; ++e) {
          s.v[e] += s_part_4.v[e];
        }
      }
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        ss.v[e] = 0.0f;
      }
      #pragma unroll
      for (int p = 0; p < 16; ++p) {
        Vec<float, 8> ss_part_4;
        shared_load_f32x4(&ss_part_4.v[0], &ss_groups[lane * 8 + p * 64]);
        shared_load_f32x4(&ss_part_4.v[4], &ss_groups[lane * 8 + p * 64 + 4]);
        #pragma unroll
        for (int e = 0; e < 8; ++e) {
          ss.v[e] += ss_part_4.v[e];
        }
      }
    }
    Vec<float, 8> old_1;
    cached_load_f32x4(&old_1.v[0], &old[lane * 8]);
    cached_load_f32x4(&old_1.v[4], &old[lane * 8 + 4]);
    if (group == 0) {
      Vec<float, 8> half_1;
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float half_2 = -old_1.v[e];
        half_1.v[e] = half_2;
      }
      store_f32x4(&half[lane * 8], &half_1.v[0]);
      store_f32x4(&half[lane * 8 + 4], &half_1.v[4]);
    }
    if (group == 0) {
      Vec<float, 8> mean_1;
      Vec<float, 8> var_1;
      Vec<float, 8> ssh_1;
      #pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float mean_2 = s.v[e] * 1.5258789e-05f;
        mean_1.v[e] = mean_2;
        const float square = ss.v[e] * 1.5258789e-05f;
        const float mm = mean_2 * mean_2;
        const float var_2 = square - mm;
        var_1.v[e] = var_2;
        ssh_1.v[e] = ss.v[e];
      }
      store_f32x4(&mean[lane * 8], &mean_1.v[0]);
      store_f32x4(&mean[lane * 8 + 4], &mean_1.v[4]);
      store_f32x4(&var[lane * 8], &var_1.v[0]);
      store_f32x4(&var[lane * 8 + 4], &var_1.v[4]);
      store_f32x4(&ssh[lane * 8], &ssh_1.v[0]);
      store_f32x4(&ssh[lane * 8 + 4], &ssh_1.v[4]);
    }
  }
}

extern "C" __global__ __launch_bounds__(256) void sum_divide_multiply_subtract_column(
    const f16* __restrict__ x,
    const float* __restrict__ old,
    float* __restrict__ mean,
    float* __restrict__ var,
    float* __restrict__ half,
    float* __restrict__ ssh,
    float* __restrict__ s_parts,
    float* __restrict__ ss_parts,
    unsigned int* __restrict__ ticket) {
  sum_divide_multiply_subtract_column_block(blockIdx.x, 100, x, old, mean, var, half, ssh, s_parts, ss_parts, ticket);
}
