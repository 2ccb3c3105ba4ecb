// layernorm
//
// Plan: row, by hand
// Reads x (3,145,728 f32, 4 at a time), gamma (768 f32, 4 at a time), beta (768 f32, 4 at a time); writes y (3,145,728
//   f32, 4 at a time).
// A block's threads: lane (32) x rib (4).
// Phases: sum (sum), then sumsq (sum), then the results.
// 128 threads per block, 1,024 virtual blocks, 0 bytes of shared memory per block.
// launch: grid=1024 block=128
// buffer: x f32[3145728] input random
// buffer: gamma f32[768] input random
// buffer: beta f32[768] input random
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

__device__ __forceinline__ void cached_load_f32x4(float* to, const float* from) {
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
}

__device__ __forceinline__ void load_f32x4(float* to, const float* from) {
  asm volatile(ORDERED_LOAD ".v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
}

__device__ __forceinline__ void store_f32x4(float* to, const float* from) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void layernorm_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    const float* __restrict__ gamma,
    const float* __restrict__ beta,
    float* __restrict__ y) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rib = static_cast<int>(threadIdx.x) / 32;
  Vec<float, 4> x_row[6];

  // Phase: sum, a sum.
  float sum = 0.0f;
  const int i = rib * 768 + vb * 3072 + lane * 4;
  #pragma unroll
  for (int t = 0; t < 6; ++t) {
    load_f32x4(&x_row[t].v[0], &x[i + t * 128]);
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      sum += x_row[t].v[e];
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
  const float mean = sum * 0.0013020834f;

  // Phase: sumsq, a sum.
  float sumsq = 0.0f;
  #pragma unroll
  for (int t = 0; t < 6; ++t) {
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float centred = x_row[t].v[e] - mean;
      sumsq += centred * centred;
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sumsq = sumsq + __shfl_xor_sync(0xffffffffu, sumsq, offset);

  // The results.
  const float rstd = rsqrt((sumsq * 0.0013020834f) + 1e-05f);
  #pragma unroll
  for (int t = 0; t < 6; ++t) {
    Vec<float, 4> gamma_v;
    cached_load_f32x4(&gamma_v.v[0], &gamma[t * 128 + lane * 4]);
    Vec<float, 4> beta_v;
    cached_load_f32x4(&beta_v.v[0], &beta[t * 128 + lane * 4]);
    Vec<float, 4> y_v;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float centred_1 = x_row[t].v[e] - mean;
      y_v.v[e] = ((centred_1 * rstd) * gamma_v.v[e]) + beta_v.v[e];
    }
    store_f32x4(&y[i + t * 128], &y_v.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(128) void layernorm(
    const float* __restrict__ x,
    const float* __restrict__ gamma,
    const float* __restrict__ beta,
    float* __restrict__ y) {
  layernorm_block(blockIdx.x, 1024, x, gamma, beta, y);
}
