// argmax_iota_row
//
// Plan: row dominant=%4 threads=128 threads_per_row=128 vector=4 in_flight=1 split=1 grid=tile index_cache=on
//   value_cache=on arithmetic=xla
// Reads x (2,097,152 f32, 4 at a time); writes m (512 f32, 1 at a time), n (512 s32, 1 at a time).
// A block's threads: lane (32) x warp (4).
// 128 threads per block, 512 virtual blocks, 32 bytes of shared memory per block.
// launch: grid=512 block=128
// buffer: x f32[2097152] input random
// buffer: m f32[512] output
// buffer: n s32[512] output

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

template <class T>
__device__ __forceinline__ T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}

template <class T>
__device__ __forceinline__ T bit_or(T a, T b) {
  return static_cast<T>(a | b);
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

__device__ __forceinline__ void shared_load_s32x4(int* to, const int* from) {
  unsigned int words[4];
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
  to[0] = static_cast<int>(words[0]);
  to[1] = static_cast<int>(words[1]);
  to[2] = static_cast<int>(words[2]);
  to[3] = static_cast<int>(words[3]);
}

__device__ __forceinline__ void shared_store_f32(float* to, float value) {
  asm volatile("st.shared.f32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "f"(value) : "memory");
}

__device__ __forceinline__ void shared_store_s32(int* to, int value) {
  const unsigned int words[1] = {
      static_cast<unsigned int>(value)};
  asm volatile("st.shared.b32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "r"(words[0]) : "memory");
}

__device__ __forceinline__ void store_f32(float* to, float value) {
  asm volatile("st.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
}

__device__ __forceinline__ void store_s32(int* to, int value) {
  const unsigned int words[1] = {
      static_cast<unsigned int>(value)};
  asm volatile("st.global.b32 [%0], %1;" : : "l"(to), "r"(words[0]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void argmax_iota_row_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    float* __restrict__ m,
    int* __restrict__ n) {
  __shared__ __align__(16) float r_0_warps[4];
  __shared__ __align__(16) int r_1_warps[4];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  float r_0 = __int_as_float(0xff800000);
  int r_1 = 0;
  const int i = vb * 4096 + lane * 4 + warp * 128;
  #pragma unroll 1
  for (int t = 0; t < 8; ++t) {
    Vec<float, 4> x_row;
    load_f32x4(&x_row.v[0], &x[i + t * 512]);
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const bool r_compare = r_0 > x_row.v[e];
      const bool r_compare_1 = r_0 != r_0;
      const bool r_bit_or = bit_or(r_compare, r_compare_1);
      const bool r_compare_2 = r_0 == x_row.v[e];
      const bool r_bit_or_1 = bit_or(r_bit_or, r_compare_2);
      const float r_select = r_bit_or ? r_0 : x_row.v[e];
      const int r_select_1 = r_bit_or_1 ? r_1 : static_cast<int>(lane * 4 + warp * 128 + t * 512 + e);
      r_0 = r_select;
      r_1 = r_select_1;
    }
  }
  // Together with the lane 1 away, of 32.
  const float r_other = __shfl_xor_sync(0xffffffffu, r_0, 1);
  const int r_other_1 = __shfl_xor_sync(0xffffffffu, r_1, 1);
  const bool r_compare_3 = r_0 > r_other;
  const bool r_compare_4 = r_0 != r_0;
  const bool r_bit_or_2 = bit_or(r_compare_3, r_compare_4);
  const bool r_compare_5 = r_0 == r_other;
  const bool r_compare_6 = r_1 < r_other_1;
  const bool r_bit_and = bit_and(r_compare_5, r_compare_6);
  const bool r_bit_or_3 = bit_or(r_bit_or_2, r_bit_and);
  const float r_select_2 = r_bit_or_2 ? r_0 : r_other;
  const int r_select_3 = r_bit_or_3 ? r_1 : r_other_1;
  r_0 = r_select_2;
  r_1 = r_select_3;
  // Together with the lane 2 away, of 32.
  const float r_other_2 = __shfl_xor_sync(0xffffffffu, r_0, 2);
  const int r_other_3 = __shfl_xor_sync(0xffffffffu, r_1, 2);
  const bool r_compare_7 = r_0 > r_other_2;
  const bool r_compare_8 = r_0 != r_0;
  const bool r_bit_or_4 = bit_or(r_compare_7, r_compare_8);
  const bool r_compare_9 = r_0 == r_other_2;
  const bool r_compare_10 = r_1 < r_other_3;
  const bool r_bit_and_1 = bit_and(r_compare_9, r_compare_10);
  const bool r_bit_or_5 = bit_or(r_bit_or_4, r_bit_and_1);
  const float r_select_4 = r_bit_or_4 ? r_0 : r_other_2;
  const int r_select_5 = r_bit_or_5 ? r_1 : r_other_3;
  r_0 = r_select_4;
  r_1 = r_select_5;
  // Together with the lane 4 away, of 32.
  const float r_other_4 = __shfl_xor_sync(0xffffffffu, r_0, 4);
  const int r_other_5 = __shfl_xor_sync(0xffffffffu, r_1, 4);
  const bool r_compare_11 = r_0 > r_other_4;
  const bool r_compare_12 = r_0 != r_0;
  const bool r_bit_or_6 = bit_or(r_compare_11, r_compare_12);
  const bool r_compare_13 = r_0 == r_other_4;
  const bool r_compare_14 = r_1 < r_other_5;
  const bool r_bit_and_2 = bit_and(r_compare_13, r_compare_14);
  const bool r_bit_or_7 = bit_or(r_bit_or_6, r_bit_and_2);
  const float r_select_6 = r_bit_or_6 ? r_0 : r_other_4;
  const int r_select_7 = r_bit_or_7 ? r_1 : r_other_5;
  r_0 = r_select_6;
  r_1 = r_select_7;
  // Together with the lane 8 away, of 32.
  const float r_other_6 = __shfl_xor_sync(0xffffffffu, r_0, 8);
  const int r_other_7 = __shfl_xor_sync(0xffffffffu, r_1, 8);
  const bool r_compare_15 = r_0 > r_other_6;
  const bool r_compare_16 = r_0 != r_0;
  const bool r_bit_or_8 = bit_or(r_compare_15, r_compare_16);
  const bool r_compare_17 = r_0 == r_other_6;
  const bool r_compare_18 = r_1 < r_other_7;
  const bool r_bit_and_3 = bit_and(r_compare_17, r_compare_18);
  const bool r_bit_or_9 = bit_or(r_bit_or_8, r_bit_and_3);
  const float r_select_8 = r_bit_or_8 ? r_0 : r_other_6;
  const int r_select_9 = r_bit_or_9 ? r_1 : r_other_7;
  r_0 = r_select_8;
  r_1 = r_select_9;
  // Together with the lane 16 away, of 32.
  const float r_other_8 = __shfl_xor_sync(0xffffffffu, r_0, 16);
  const int r_other_9 = __shfl_xor_sync(0xffffffffu, r_1, 16);

  // The results.
  const bool r_compare_19 = r_0 > r_other_8;
  const bool r_compare_20 = r_0 != r_0;
  const bool r_bit_or_10 = bit_or(r_compare_19, r_compare_20);
  const bool r_compare_21 = r_0 == r_other_8;
  const bool r_compare_22 = r_1 < r_other_9;
  const bool r_bit_and_4 = bit_and(r_compare_21, r_compare_22);
  const bool r_bit_or_11 = bit_or(r_bit_or_10, r_bit_and_4);
  const float r_select_10 = r_bit_or_10 ? r_0 : r_other_8;
  const int r_select_11 = r_bit_or_11 ? r_1 : r_other_9;
  r_0 = r_select_10;
  r_1 = r_select_11;
  if (lane == 0) {
    shared_store_f32(&r_0_warps[warp], r_0);
  }
  if (lane == 0) {
    shared_store_s32(&r_1_warps[warp], r_1);
  }
  __syncthreads();
  r_0 = __int_as_float(0xff800000);
  r_1 = 0;
  Vec<float, 4> r_0_part;
  shared_load_f32x4(&r_0_part.v[0], &r_0_warps[0]);
  Vec<int, 4> r_1_part;
  shared_load_s32x4(&r_1_part.v[0], &r_1_warps[0]);
  #pragma unroll
  for (int w = 0; w < 4; ++w) {
    const bool r_compare_23 = r_0 > r_0_part.v[w];
    const bool r_compare_24 = r_0 != r_0;
    const bool r_bit_or_12 = bit_or(r_compare_23, r_compare_24);
    const bool r_compare_25 = r_0 == r_0_part.v[w];
    const bool r_compare_26 = r_1 < r_1_part.v[w];
    const bool r_bit_and_5 = bit_and(r_compare_25, r_compare_26);
    const bool r_bit_or_13 = bit_or(r_bit_or_12, r_bit_and_5);
    const float r_select_12 = r_bit_or_12 ? r_0 : r_0_part.v[w];
    const int r_select_13 = r_bit_or_13 ? r_1 : r_1_part.v[w];
    r_0 = r_select_12;
    r_1 = r_select_13;
  }
  if (lane == 0 && warp == 0) {
    store_f32(&m[vb], r_0);
  }
  if (lane == 0 && warp == 0) {
    store_s32(&n[vb], r_1);
  }
}

extern "C" __global__ __launch_bounds__(128) void argmax_iota_row(
    const float* __restrict__ x,
    float* __restrict__ m,
    int* __restrict__ n) {
  argmax_iota_row_block(blockIdx.x, 512, x, m, n);
}
