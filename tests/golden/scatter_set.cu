// scatter_map
//
// Plan: map dominant=%2 threads=128 vector=4 unroll=2 grid=tile index_cache=on value_cache=on arithmetic=xla
// Launch 1 of 2, in this order and with the same arguments: scatter_map, scatter_map_2.
// Reads t (65,728 bf16, 8 at a time); writes y (65,728 bf16, 8 at a time).
// A block's threads: tid (128).
// 128 threads per block, 65 virtual blocks, 0 bytes of shared memory per block.

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

/// A store to where other threads may store meanwhile: that of one of them stays.
#if __CUDA_ARCH__ >= 700
#define STORE_BESIDE "st.relaxed.gpu.global"
#else
#define STORE_BESIDE "st.volatile.global"
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

/// bfloat16 as stored; arithmetic is done in float.
struct bf16 {
  unsigned short bits;
};

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

/// NaN when either is.
template <class T>
__device__ __forceinline__ T minimum(T a, T b) {
  return a != a || a < b ? a : b;
}

__device__ __forceinline__ float minimum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float c;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#else
  return a != a || a < b ? a : b;
#endif
}

template <class T>
__device__ __forceinline__ T clamp(T low, T a, T high) {
  return minimum(maximum(low, a), high);
}

__device__ __forceinline__ void load_bf16x4(bf16* to, const bf16* from) {
  unsigned int words[2];
  asm volatile(ORDERED_LOAD ".v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(from));
  to[0].bits = static_cast<unsigned short>(words[0]);
  to[1].bits = static_cast<unsigned short>(words[0] >> 16);
  to[2].bits = static_cast<unsigned short>(words[1]);
  to[3].bits = static_cast<unsigned short>(words[1] >> 16);
}

__device__ __forceinline__ void load_bf16x8(bf16* to, const bf16* from) {
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

__device__ __forceinline__ int load_s32(const int* from) {
  unsigned int words[1];
  asm volatile(ORDERED_LOAD ".b32 %0, [%1];" : "=r"(words[0]) : "l"(from));
  return static_cast<int>(words[0]);
}

__device__ __forceinline__ void store_beside_bf16x4(bf16* to, const bf16* from) {
  const unsigned int words[2] = {
      static_cast<unsigned int>(from[0].bits) | static_cast<unsigned int>(from[1].bits) << 16,
      static_cast<unsigned int>(from[2].bits) | static_cast<unsigned int>(from[3].bits) << 16};
  asm volatile(STORE_BESIDE ".v2.b32 [%0], {%1, %2};" : : "l"(to), "r"(words[0]), "r"(words[1]) : "memory");
}

__device__ __forceinline__ void store_bf16x8(bf16* to, const bf16* from) {
  const unsigned int words[4] = {
      static_cast<unsigned int>(from[0].bits) | static_cast<unsigned int>(from[1].bits) << 16,
      static_cast<unsigned int>(from[2].bits) | static_cast<unsigned int>(from[3].bits) << 16,
      static_cast<unsigned int>(from[4].bits) | static_cast<unsigned int>(from[5].bits) << 16,
      static_cast<unsigned int>(from[6].bits) | static_cast<unsigned int>(from[7].bits) << 16};
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void scatter_map_block(
    int vb, int n_vblocks,
    const bf16* __restrict__ t,
    const int* __restrict__ at,
    const bf16* __restrict__ x,
    bf16* __restrict__ y) {
  const int tid = static_cast<int>(threadIdx.x);
  const int i = vb * 1024 + tid * 8;
  Vec<bf16, 8> t_row;
  if (vb * 128 + tid < 8216) {
    load_bf16x8(&t_row.v[0], &t[i]);
  }
  if (vb * 128 + tid < 8216) {
    Vec<bf16, 8> t_1;
    #pragma unroll
    for (int e = 0; e < 8; ++e) {
      t_1.v[e] = t_row.v[e];
    }
    store_bf16x8(&y[i], &t_1.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(128) void scatter_map(
    const bf16* __restrict__ t,
    const int* __restrict__ at,
    const bf16* __restrict__ x,
    bf16* __restrict__ y) {
  scatter_map_block(blockIdx.x, 65, t, at, x, y);
}

// scatter_map_2
//
// Launch 2 of 2; it may begin while the one before it runs.
// Reads at (1,024 s32, 1 at a time), x (65,536 bf16, 4 at a time); writes y (65,728 bf16, 4 at a time).
// A block's threads: tid (128).
// 128 threads per block, 64 virtual blocks, 0 bytes of shared memory per block.

/// One virtual block.
__device__ __forceinline__ void scatter_map_2_block(
    int vb, int n_vblocks,
    const bf16* __restrict__ t,
    const int* __restrict__ at,
    const bf16* __restrict__ x,
    bf16* __restrict__ y) {
  const int tid = static_cast<int>(threadIdx.x);
  wait_for_launches_before();
  const int i = vb * 16 + tid / 16;
  int at_row[2];
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    at_row[q] = load_s32(&at[i + q * 8]);
  }
  const int i_1 = vb * 1024 + tid * 4;
  Vec<bf16, 4> x_row[2];
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    load_bf16x4(&x_row[q].v[0], &x[i_1 + q * 512]);
  }
  ISSUE_LOADS(ntid.x);
  const int i_2 = tid % 16 * 4;
  bf16* const y_at_1 = held(y + i_2);
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    const int y_at = static_cast<int>(clamp(0u, static_cast<unsigned int>(at_row[q]), 1027u));
    Vec<bf16, 4> y_1;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      y_1.v[e] = x_row[q].v[e];
    }
    if (y_at < 1027) {
      store_beside_bf16x4(&y_at_1[y_at * 64], &y_1.v[0]);
    }
  }
}

extern "C" __global__ __launch_bounds__(128) void scatter_map_2(
    const bf16* __restrict__ t,
    const int* __restrict__ at,
    const bf16* __restrict__ x,
    bf16* __restrict__ y) {
  scatter_map_2_block(blockIdx.x, 64, t, at, x, y);
}
