// max_exp_sum_divide_row
//
// Plan: row dominant=%3 threads=512 threads_per_row=512 vector=4 in_flight=2 split=1 cluster=2
//   homes=%0@register,%6@cluster grid=tile index_cache=on value_cache=on arithmetic=xla
// Reads x (3,145,728 f32, 4 at a time); writes y (3,145,728 f32, 4 at a time).
// A block's threads: lane (32) x warp (16).
// Phases: m (maximum), then s (sum), then the results.
// 512 threads per block, 128 virtual blocks, 98,432 bytes of dynamic shared memory per block.
// Blocks form clusters of 2.
// launch: grid=128 block=512 shared=98432 cluster=2
// buffer: x f32[3145728] input random
// buffer: y f32[3145728] output

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

__device__ __forceinline__ float cluster_load_f32(const float* from, unsigned int rank) {
  unsigned int there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))), "r"(rank));
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
  return value;
}

__device__ __forceinline__ void cluster_load_f32x4(float* to, const float* from, unsigned int rank) {
  unsigned int there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(there) : "memory");
}

__device__ __forceinline__ void load_f32x4(float* to, const float* from) {
  asm volatile(ORDERED_LOAD ".v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
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

__device__ __forceinline__ void store_f32x4(float* to, const float* from) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void max_exp_sum_divide_row_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    float* __restrict__ y) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const m_warps = reinterpret_cast<float*>(shared_memory + 0);
  float* const e_shared = reinterpret_cast<float*>(shared_memory + 64);
  float* const s_warps = reinterpret_cast<float*>(shared_memory + 98368);
  const int vc = vb / 2;
  const int rank = vb % 2;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  // Phase: m, a maximum.
  float m = __int_as_float(0xff800000);
  const int i = vc * 49152 + rank * 2048 + lane * 4 + warp * 128;
  Vec<float, 4> x_row[12];
  #pragma unroll
  for (int t = 0; t < 6; ++t) {
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      load_f32x4(&x_row[t * 2 + u].v[0], &x[i + t * 8192 + u * 4096]);
    }
    ISSUE_LOADS(ntid.x);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        m = maximum(m, x_row[t * 2 + u].v[e]);
      }
    }
  }
  // The maximum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) m = maximum(m, __shfl_xor_sync(0xffffffffu, m, offset));
  if (lane == 0) {
    shared_store_f32(&m_warps[warp], m);
  }
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  m = __int_as_float(0xff800000);
  float m_part[1];
  m_part[0] = cluster_load_f32(&m_warps[lane % 16], lane / 16);
  m = maximum(m, m_part[0]);
  // The maximum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) m = maximum(m, __shfl_xor_sync(0xffffffffu, m, offset));

  // Phase: s, a sum.
  float s = 0.0f;
  #pragma unroll
  for (int t = 0; t < 6; ++t) {
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      Vec<float, 4> e_1;
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float d = x_row[t * 2 + u].v[e] - m;
        const float e_2 = quick_exp(d);
        e_1.v[e] = e_2;
        s += e_2;
      }
      shared_store_f32x4(&e_shared[lane * 4 + warp * 128 + t * 4096 + u * 2048], &e_1.v[0]);
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);
  if (lane == 0) {
    shared_store_f32(&s_warps[warp], s);
  }
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  s = 0.0f;
  float s_part[1];
  s_part[0] = cluster_load_f32(&s_warps[lane % 16], lane / 16);
  s += s_part[0];
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);

  // The results.
  #pragma unroll
  for (int t = 0; t < 6; ++t) {
    Vec<float, 4> e_row[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      cluster_load_f32x4(&e_row[u].v[0], &e_shared[-lane * 4 - warp * 128 - t * 4096 - u * 2048 + 24572], -rank + 1);
    }
    ISSUE_LOADS(ntid.y);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      Vec<float, 4> y_1;
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float p = full_divide(e_row[u].v[-e + 3], s);
        y_1.v[e] = p;
      }
      store_f32x4(&y[i + t * 8192 + u * 4096], &y_1.v[0]);
    }
  }
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ __cluster_dims__(2, 1, 1) __launch_bounds__(512) void max_exp_sum_divide_row(
    const float* __restrict__ x,
    float* __restrict__ y) {
  max_exp_sum_divide_row_block(blockIdx.x, 128, x, y);
}
