// scatter_negate_map
//
// Plan: map dominant=%2 threads=128 vector=4 unroll=2 grid=tile index_cache=on value_cache=on arithmetic=xla
// Launch 1 of 2, in this order and with the same arguments: scatter_negate_map, scatter_negate_map_2.
// Reads t (65,728 f32, 4 at a time); writes y (65,728 f32, 4 at a time).
// A block's threads: tid (128).
// 128 threads per block, 129 virtual blocks, 0 bytes of shared memory per block.

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

/// A load from where other threads may write meanwhile.
#if __CUDA_ARCH__ >= 700
#define LOAD_BESIDE "ld.relaxed.gpu.global"
#else
#define LOAD_BESIDE "ld.volatile.global"
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

/// The same bits as another type.
template <class To, class From>
__device__ __forceinline__ To bits_as(From a) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To b;
  memcpy(&b, &a, sizeof(b));
  return b;
}

__device__ __forceinline__ void exchange_maximum_f32(float* to, float value) {
  unsigned int seen, expected;
  asm volatile(LOAD_BESIDE ".b32 %0, [%1];" : "=r"(seen) : "l"(to) : "memory");
  do {
    expected = seen;
    const float before = bits_as<float>(seen);
    const unsigned int next = bits_as<unsigned int>(float(maximum(before, value)));
    if (next == expected) break;
    asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(seen)
                 : "l"(to), "r"(expected), "r"(next)
                 : "memory");
  } while (seen != expected);
}

__device__ __forceinline__ void load_f32x4(float* to, const float* from) {
  asm volatile(ORDERED_LOAD ".v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from));
}

__device__ __forceinline__ unsigned int load_u32(const unsigned int* from) {
  unsigned int value;
  asm volatile(ORDERED_LOAD ".b32 %0, [%1];" : "=r"(value) : "l"(from));
  return value;
}

__device__ __forceinline__ void store_f32x4(float* to, const float* from) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void scatter_negate_map_block(
    int vb, int n_vblocks,
    const float* __restrict__ t,
    const unsigned int* __restrict__ at,
    const float* __restrict__ x,
    float* __restrict__ y) {
  const int tid = static_cast<int>(threadIdx.x);
  const int i = vb * 512 + tid * 4;
  Vec<float, 4> t_row;
  if (vb * 128 + tid < 16432) {
    load_f32x4(&t_row.v[0], &t[i]);
  }
  if (vb * 128 + tid < 16432) {
    Vec<float, 4> n;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float n_1 = -t_row.v[e];
      n.v[e] = n_1;
    }
    store_f32x4(&y[i], &n.v[0]);
  }
}

extern "C" __global__ __launch_bounds__(128) void scatter_negate_map(
    const float* __restrict__ t,
    const unsigned int* __restrict__ at,
    const float* __restrict__ x,
    float* __restrict__ y) {
  scatter_negate_map_block(blockIdx.x, 129, t, at, x, y);
}

// scatter_negate_map_2
//
// Launch 2 of 2; it may begin while the one before it runs.
// Reads at (1,024 u32, 1 at a time), x (65,536 f32, 4 at a time); writes y (65,728 f32, 1 at a time).
// A block's threads: tid (128).
// 128 threads per block, 64 virtual blocks, 0 bytes of shared memory per block.

/// One virtual block.
__device__ __forceinline__ void scatter_negate_map_2_block(
    int vb, int n_vblocks,
    const float* __restrict__ t,
    const unsigned int* __restrict__ at,
    const float* __restrict__ x,
    float* __restrict__ y) {
  const int tid = static_cast<int>(threadIdx.x);
  wait_for_launches_before();
  const int i = vb * 16 + tid / 16;
  unsigned int at_row[2];
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    at_row[q] = load_u32(&at[i + q * 8]);
  }
  const int i_1 = vb * 1024 + tid * 4;
  Vec<float, 4> x_row[2];
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    load_f32x4(&x_row[q].v[0], &x[i_1 + q * 512]);
  }
  ISSUE_LOADS(ntid.x);
  const int i_2 = tid % 16 * 4;
  float* const y_at_1 = held(y + i_2);
  #pragma unroll
  for (int q = 0; q < 2; ++q) {
    const int y_at = static_cast<int>(clamp(0u, at_row[q], 1027u));
    Vec<float, 4> y_1;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      y_1.v[e] = x_row[q].v[e];
    }
    if (y_at < 1027) {
      exchange_maximum_f32(&y_at_1[y_at * 64], y_1.v[0]);
      exchange_maximum_f32(&y_at_1[y_at * 64 + 1], y_1.v[1]);
      exchange_maximum_f32(&y_at_1[y_at * 64 + 2], y_1.v[2]);
      exchange_maximum_f32(&y_at_1[y_at * 64 + 3], y_1.v[3]);
    }
  }
}

extern "C" __global__ __launch_bounds__(128) void scatter_negate_map_2(
    const float* __restrict__ t,
    const unsigned int* __restrict__ at,
    const float* __restrict__ x,
    float* __restrict__ y) {
  scatter_negate_map_2_block(blockIdx.x, 64, t, at, x, y);
}
