// layernorm
//
// Plan: row, by hand
// Reads x (37,888 f32, 4 at a time), gamma (1,024 f32, 4 at a time), beta (1,024 f32, 4 at a time); writes y (37,888
//   f32, 4 at a time).
// A block's threads: lane (128).
// Phases: sum (sum), then sumsq (sum), then the results.
// 128 threads per block, 37 virtual blocks, 32 bytes of shared memory per block.
// launch: grid=37 block=128
// buffer: x f32[37888] input random
// buffer: gamma f32[1024] input random
// buffer: beta f32[1024] input random
// buffer: y f32[37888] output

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
  __shared__ __align__(16) float s_sum[4];
  __shared__ __align__(16) float s_sumsq[4];
  const int lane = static_cast<int>(threadIdx.x);
  const int rib = static_cast<int>(threadIdx.x) / 128;
  Vec<float, 4> x_row[2];

  // Phase: sum, a sum.
  float sum = 0.0f;
  const int i = rib * 1024 + vb * 1024 + lane * 4;
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    load_f32x4(&x_row[t].v[0], &x[i + t * 512]);
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      sum += x_row[t].v[e];
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane % 32 == 0) {
    shared_store_f32(&s_sum[lane / 32], sum);
  }
  __syncthreads();
  sum = 0.0f;
  Vec<float, 4> part_sum;
  shared_load_f32x4(&part_sum.v[0], &s_sum[0]);
  #pragma unroll
  for (int w = 0; w < 4; ++w) {
    sum += part_sum.v[w];
  }
  const float mean = sum * 0.0009765625f;

  // Phase: sumsq, a sum.
  float sumsq = 0.0f;
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float centred = x_row[t].v[e] - mean;
      sumsq += centred * centred;
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sumsq = sumsq + __shfl_xor_sync(0xffffffffu, sumsq, offset);
  if (lane % 32 == 0) {
    shared_store_f32(&s_sumsq[lane / 32], sumsq);
  }
  __syncthreads();
  sumsq = 0.0f;
  Vec<float, 4> part_sumsq;
  shared_load_f32x4(&part_sumsq.v[0], &s_sumsq[0]);
  #pragma unroll
  for (int w_1 = 0; w_1 < 4; ++w_1) {
    sumsq += part_sumsq.v[w_1];
  }

  // The results.
  const float rstd = rsqrt((sumsq * 0.0009765625f) + 1e-05f);
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    Vec<float, 4> gamma_v;
    cached_load_f32x4(&gamma_v.v[0], &gamma[t * 512 + lane * 4]);
    Vec<float, 4> beta_v;
    cached_load_f32x4(&beta_v.v[0], &beta[t * 512 + lane * 4]);
    Vec<float, 4> y_v;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float centred_1 = x_row[t].v[e] - mean;
      y_v.v[e] = ((centred_1 * rstd) * gamma_v.v[e]) + beta_v.v[e];
    }
    store_f32x4(&y[i + t * 512], &y_v.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(128) void layernorm(
    const float* __restrict__ x,
    const float* __restrict__ gamma,
    const float* __restrict__ beta,
    float* __restrict__ y) {
  layernorm_block(blockIdx.x, 37, x, gamma, beta, y);
}
