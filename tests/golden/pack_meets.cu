// sum_divide_negate_broadcast_pack
//
// Plan: pack threads=128 index_cache=on value_cache=on arithmetic=xla | map dominant=%6 vector=1 unroll=1
//   grid=persistent blocks_per_sm=1 | row dominant=%3 threads_per_row=128 vector=4 in_flight=1 split=8 meet=grid
//   homes=%0@register grid=tile
// Body 1 of 2 side by side in one launch.
// Reads w (40,000 f32, 1 at a time); writes n (40,000 f32, 1 at a time).
// A block's threads: tid (128).
// 128 threads per block, 313 virtual blocks looped over by 132 blocks.
// 0 bytes of its launch's dynamic shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.
// ticket must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: s_parts.
// launch: grid=164 block=128 shared=16 cooperative
// buffer: x f32[20000] input random
// buffer: w f32[40000] input random
// buffer: y f32[20000] output
// buffer: n f32[40000] output
// buffer: s_parts f32[32] scratch
// buffer: ticket u32[4] both zero

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

/// Over the whole range, within 2 units in the last place: a scale that is a power of two, 1 for normal numbers up to
/// 2^126, keeps the reciprocal normal. Elements with one divisor share scale and reciprocal.
__device__ __forceinline__ float full_divide(float a, float b) {
  const float size = fabsf(b);
  const float scale = size > 8.50705917e+37f ? 0.25f : size < 1.17549435e-38f ? 16777216.0f : 1.0f;
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b * scale));
  return a * scale * reciprocal;
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
__device__ __forceinline__ void sum_divide_negate_broadcast_pack_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ n,
    float* __restrict__ s_parts,
    unsigned int* __restrict__ ticket) {
  const int tid = static_cast<int>(threadIdx.x);
  const int i = vb * 128 + tid;
  float w_row;
  if (i < 40000) {
    w_row = load_f32(&w[i]);
  }
  if (i < 40000) {
    const float n_1 = -w_row;
    store_f32(&n[i], n_1);
  }
}

// sum_divide_broadcast_row_2
//
// Body 2 of 2 side by side in one launch.
// Reads x (20,000 f32, 4 at a time), s_parts (32 f32, 1 at a time); writes y (20,000 f32, 4 at a time), s_parts (32
//   f32, 1 at a time).
// A block's threads: lane (32) x warp (4).
// Phases: s (sum), then the results.
// 128 threads per block, 32 virtual blocks, 16 bytes of its launch's dynamic shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.

/// One virtual block.
__device__ __forceinline__ void sum_divide_broadcast_row_2_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ n,
    float* __restrict__ s_parts,
    unsigned int* __restrict__ ticket) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const s_warps = reinterpret_cast<float*>(shared_memory + 0);
  const int tile = vb / 8;
  const int rank = vb % 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  // Phase: s, a sum.
  float s = 0.0f;
  const int i = tile * 5000 + rank * 512 + lane * 4 + warp * 128;
  const float* const x_at = held(x + i);
  float* const y_at = held(y + i);
  Vec<float, 4> x_row[2];
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    if (t < 1 || rank * 128 + lane + warp * 32 + t * 1024 < 1250) {
      load_f32x4(&x_row[t].v[0], &x_at[t * 4096]);
    }
  }
  ISSUE_LOADS(ntid.x);
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    if (t < 1 || rank * 128 + lane + warp * 32 + t * 1024 < 1250) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        s += x_row[t].v[e];
      }
    }
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
    Vec<float, 4> s_part;
    shared_load_f32x4(&s_part.v[0], &s_warps[0]);
    #pragma unroll
    for (int w_1 = 0; w_1 < 4; ++w_1) {
      s += s_part.v[w_1];
    }
  }
  if (lane + warp * 32 == 0) {
    store_f32(&s_parts[tile * 8 + rank], s);
  }
  meet(ticket + tile, rank == 0 ? 4294967289u : 1u, 1u, 4294967295u);
  s = 0.0f;
  float s_part_1[1];
  if (lane < 8) {
    s_part_1[0] = load_f32(&s_parts[tile * 8 + lane]);
  }
  if (lane < 8) {
    s += s_part_1[0];
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s = s + __shfl_xor_sync(0xffffffffu, s, offset);

  // The results.
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    if (t < 1 || rank * 128 + lane + warp * 32 + t * 1024 < 1250) {
      Vec<float, 4> y_1;
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float y_2 = full_divide(x_row[t].v[e], s);
        y_1.v[e] = y_2;
      }
      store_f32x4(&y_at[t * 4096], &y_1.v[0]);
    }
  }
}

extern "C" __global__ __launch_bounds__(128, 2) void sum_divide_negate_broadcast_pack(
    const float* __restrict__ x,
    const float* __restrict__ w,
    float* __restrict__ y,
    float* __restrict__ n,
    float* __restrict__ s_parts,
    unsigned int* __restrict__ ticket) {
  if (blockIdx.x < 132) {
    #pragma unroll 1
    for (int vb = blockIdx.x; vb < 313; vb += 132)
      sum_divide_negate_broadcast_pack_block(vb, 313, x, w, y, n, s_parts, ticket);
  } else {
    sum_divide_broadcast_row_2_block(blockIdx.x - 132, 32, x, w, y, n, s_parts, ticket);
  }
}
