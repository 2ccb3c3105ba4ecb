// split_rows
//
// Plan: program, by hand
// Launch 1 of 3, in this order and with the same arguments: split_rows, split_rows_2, split_rows_3.
// Reads x (5,120 f32, 4 at a time); writes partials (20 f32, 1 at a time).
// A block's threads: tid (64).
// Phases: sum (sum), then the results.
// 64 threads per block, 20 virtual blocks, 16 bytes of shared memory per block.
// Memory to work in, whatever it holds before: partials, totals.

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

/// What the launches before this one wrote is seen below. Before sm_90 nothing begins while they run.
__device__ __forceinline__ void wait_for_launches_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
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

__device__ __forceinline__ void shared_load_f32x2(float* to, const float* from) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(to[0]), "=f"(to[1])
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
__device__ __forceinline__ void split_rows_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ partials,
    float* __restrict__ totals) {
  __shared__ __align__(16) float s_sum[2];
  const int tid = static_cast<int>(threadIdx.x);

  // Phase: sum, a sum.
  float sum = 0.0f;
  #pragma unroll 1
  for (int t = 0; t < 1; ++t) {
    Vec<float, 4> x_v;
    load_f32x4(&x_v.v[0], &x[tid * 4 + t * 256 + vb * 256]);
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      sum += x_v.v[e];
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
  if (tid % 32 == 0) {
    shared_store_f32(&s_sum[tid / 32], sum);
  }
  __syncthreads();
  sum = 0.0f;
  Vec<float, 2> part_sum;
  shared_load_f32x2(&part_sum.v[0], &s_sum[0]);
  #pragma unroll
  for (int w_1 = 0; w_1 < 2; ++w_1) {
    sum += part_sum.v[w_1];
  }

  // The results.
  if (tid == 0) {
    store_f32(&partials[vb], sum);
  }
}

extern "C" __global__ __launch_bounds__(64) void split_rows(
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ partials,
    float* __restrict__ totals) {
  split_rows_block(blockIdx.x, 20, x, w, y, partials, totals);
}

// split_rows_2
//
// Launch 2 of 3; it may begin while the one before it runs.
// Reads w (5 f32, 1 at a time), partials (20 f32, 1 at a time); writes totals (5 f32, 1 at a time).
// A block's threads: lane (32) x rib (2).
// Phases: sum (sum), then the results.
// 64 threads per block, 3 virtual blocks, 0 bytes of shared memory per block.

/// One virtual block.
__device__ __forceinline__ void split_rows_2_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ partials,
    float* __restrict__ totals) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rib = static_cast<int>(threadIdx.x) / 32;
  float w_row = 0.0f;
  if (rib + vb * 2 < 5) {
    w_row = load_f32(&w[rib + vb * 2]);
  }
  wait_for_launches_before();

  // Phase: sum, a sum.
  float sum = 0.0f;
  if (rib + vb * 2 < 5) {
    if (lane < 4) {
      sum = load_f32(&partials[rib * 4 + vb * 8 + lane]);
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);

  // The results.
  if (rib + vb * 2 < 5) {
    if (lane == 0) {
      store_f32(&totals[rib + vb * 2], sum * w_row);
    }
  }
}

extern "C" __global__ __launch_bounds__(64) void split_rows_2(
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ partials,
    float* __restrict__ totals) {
  split_rows_2_block(blockIdx.x, 3, x, w, y, partials, totals);
}

// split_rows_3
//
// Launch 3 of 3; it may begin while the one before it runs.
// Reads x (5,120 f32, 4 at a time), totals (5 f32, 1 at a time); writes y (5,120 f32, 4 at a time).
// A block's threads: tid (128).
// 128 threads per block, 10 virtual blocks, 0 bytes of shared memory per block.

/// One virtual block.
__device__ __forceinline__ void split_rows_3_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ partials,
    float* __restrict__ totals) {
  const int tid = static_cast<int>(threadIdx.x);
  Vec<float, 4> x_v;
  load_f32x4(&x_v.v[0], &x[tid * 4 + vb * 512]);
  wait_for_launches_before();
  const float total = load_f32(&totals[(tid * 4 + vb * 512) / 1024]);
  Vec<float, 4> y_v;
  #pragma unroll
  for (int e = 0; e < 4; ++e) {
    y_v.v[e] = x_v.v[e] - total;
  }
  store_f32x4(&y[tid * 4 + vb * 512], &y_v.v[0]);
}

extern "C" __global__ __launch_bounds__(128) void split_rows_3(
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ partials,
    float* __restrict__ totals) {
  split_rows_3_block(blockIdx.x, 10, x, w, y, partials, totals);
}
