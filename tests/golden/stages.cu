// sum_divide_add_broadcast_stages
//
// Plan: stages threads=128 homes=%3@grid,%4@grid grid=persistent blocks_per_sm=2 index_cache=on value_cache=on
//   arithmetic=xla || pack | row dominant=%3 threads_per_row=128 vector=4 in_flight=1 split=30 | row dominant=%4
//   threads_per_row=128 vector=4 in_flight=1 split=1 || map dominant=%7 vector=4 unroll=1
// Step 1 of 3 of one launch, body 1 of 2 side by side.
// Reads a (76,800 f32, 4 at a time), sa_parts (30 f32, 1 at a time); writes sa (1 f32, 1 at a time), sa_parts (30 f32,
//   1 at a time).
// A block's threads: lane (32) x warp (4).
// Phases: sa_1 (sum), then the results.
// 128 threads per block, 30 virtual blocks looped over by 264 blocks.
// 32 bytes of its launch's dynamic shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.
// ticket must be zero before the first run; every run leaves it zero.
// arrivals must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: sa, sb, sa_parts.
// launch: grid=264 block=128 shared=32 cooperative
// buffer: a f32[76800] input random
// buffer: b f32[5000] input random
// buffer: ya f32[76800] output
// buffer: sa f32[1] scratch
// buffer: sb f32[1] scratch
// buffer: sa_parts f32[30] scratch
// buffer: ticket u32[1] both zero
// buffer: arrivals u32[1] both zero

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

__device__ __forceinline__ unsigned int shared_load_u32(const unsigned int* from) {
  unsigned int value;
  asm volatile("ld.shared.b32 %0, [%1];"
               : "=r"(value)
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
  return value;
}

__device__ __forceinline__ void shared_store_f32(float* to, float value) {
  asm volatile("st.shared.f32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "f"(value) : "memory");
}

__device__ __forceinline__ void shared_store_u32(unsigned int* to, unsigned int value) {
  asm volatile("st.shared.b32 [%0], %1;"
               : : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
                   "r"(value) : "memory");
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
__device__ __forceinline__ void sum_divide_add_broadcast_stages_block(
    int vb, int n_vblocks,
    const float* __restrict__ a,
    const float* __restrict__ b,
    float* __restrict__ ya,
    float* __restrict__ sa,
    float* __restrict__ sb,
    float* __restrict__ sa_parts,
    unsigned int* __restrict__ ticket,
    unsigned int* __restrict__ arrivals) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const sa_warps = reinterpret_cast<float*>(shared_memory + 0);
  unsigned int* const number = reinterpret_cast<unsigned int*>(shared_memory + 16);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  // Phase: sa_1, a sum.
  float sa_1 = 0.0f;
  const int i = vb * 512 + lane * 4 + warp * 128;
  #pragma unroll 1
  for (int t = 0; t < 5; ++t) {
    Vec<float, 4> a_row;
    load_f32x4(&a_row.v[0], &a[i + t * 15360]);
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      sa_1 += a_row.v[e];
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sa_1 = sa_1 + __shfl_xor_sync(0xffffffffu, sa_1, offset);
  if (lane == 0) {
    shared_store_f32(&sa_warps[warp], sa_1);
  }
  __syncthreads();
  sa_1 = 0.0f;
  Vec<float, 4> sa_part;
  shared_load_f32x4(&sa_part.v[0], &sa_warps[0]);
  #pragma unroll
  for (int w = 0; w < 4; ++w) {
    sa_1 += sa_part.v[w];
  }
  if (lane + warp * 32 == 0) {
    store_f32(&sa_parts[vb], sa_1);
  }
  __syncthreads();
  if (lane + warp * 32 == 0) {
    __threadfence();
    const unsigned int taken = atomicAdd(&ticket[0], 1u);
    __threadfence();
    shared_store_u32(&number[0], taken);
  }
  __syncthreads();
  const unsigned int arrived = shared_load_u32(&number[0]);
  if (arrived == 29u) {
    if (lane + warp * 32 == 0) {
      atomicMin(&ticket[0], 0u);
    }
    sa_1 = 0.0f;
    float sa_part_1[1];
    if (lane + warp * 32 < 30) {
      sa_part_1[0] = load_f32(&sa_parts[lane + warp * 32]);
    }
    if (lane + warp * 32 < 30) {
      sa_1 += sa_part_1[0];
    }
    // The sum of 32 lanes, for each of them.
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sa_1 = sa_1 + __shfl_xor_sync(0xffffffffu, sa_1, offset);
    if (lane == 0) {
      shared_store_f32(&sa_warps[warp], sa_1);
    }
    __syncthreads();
    sa_1 = 0.0f;
    Vec<float, 4> sa_part_2;
    shared_load_f32x4(&sa_part_2.v[0], &sa_warps[0]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      sa_1 += sa_part_2.v[w];
    }
    if (lane == 0 && warp == 0) {
      store_f32(&sa[0], sa_1);
    }
  }
}

// sum_row_2_2
//
// Step 1 of 3 of one launch, body 2 of 2 side by side.
// Reads b (5,000 f32, 4 at a time); writes sb (1 f32, 1 at a time).
// A block's threads: lane (32) x warp (4).
// Phases: sb_1 (sum), then the results.
// 128 threads per block, 1 virtual block looped over by 264 blocks.
// 16 bytes of its launch's dynamic shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.

/// One virtual block.
__device__ __forceinline__ void sum_row_2_2_block(
    int vb, int n_vblocks,
    const float* __restrict__ a,
    const float* __restrict__ b,
    float* __restrict__ ya,
    float* __restrict__ sa,
    float* __restrict__ sb,
    float* __restrict__ sa_parts,
    unsigned int* __restrict__ ticket,
    unsigned int* __restrict__ arrivals) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const sb_warps = reinterpret_cast<float*>(shared_memory + 0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  // Phase: sb_1, a sum.
  float sb_1 = 0.0f;
  const int i = lane * 4 + warp * 128;
  #pragma unroll 1
  for (int t = 0; t < 10; ++t) {
    Vec<float, 4> b_row;
    if (lane + warp * 32 + t * 128 < 1250) {
      load_f32x4(&b_row.v[0], &b[i + t * 512]);
    }
    if (lane + warp * 32 + t * 128 < 1250) {
      #pragma unroll
      for (int e = 0; e < 4; ++e) {
        sb_1 += b_row.v[e];
      }
    }
  }
  // The sum of 32 lanes, for each of them.
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sb_1 = sb_1 + __shfl_xor_sync(0xffffffffu, sb_1, offset);
  if (lane == 0) {
    shared_store_f32(&sb_warps[warp], sb_1);
  }
  __syncthreads();
  sb_1 = 0.0f;
  Vec<float, 4> sb_part;
  shared_load_f32x4(&sb_part.v[0], &sb_warps[0]);
  #pragma unroll
  for (int w = 0; w < 4; ++w) {
    sb_1 += sb_part.v[w];
  }

  // The results.
  if (lane == 0 && warp == 0) {
    store_f32(&sb[0], sb_1);
  }
}

// sum_divide_add_broadcast_stages_meet_3
//
// Step 2 of 3 of one launch: all of its blocks meet.
// 128 threads per block, 264 blocks, 0 bytes of its launch's dynamic shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.

/// One virtual block.
__device__ __forceinline__ void sum_divide_add_broadcast_stages_meet_3_block(
    int vb, int n_vblocks,
    const float* __restrict__ a,
    const float* __restrict__ b,
    float* __restrict__ ya,
    float* __restrict__ sa,
    float* __restrict__ sb,
    float* __restrict__ sa_parts,
    unsigned int* __restrict__ ticket,
    unsigned int* __restrict__ arrivals) {
  meet(arrivals, vb == 0 ? 4294967033u : 1u, 1u, 4294967295u);
}

// divide_add_broadcast_map_4
//
// Step 3 of 3 of one launch.
// Reads a (76,800 f32, 4 at a time), sa (1 f32, 1 at a time), sb (1 f32, 1 at a time); writes ya (76,800 f32, 4 at a
//   time).
// A block's threads: tid (128).
// 128 threads per block, 150 virtual blocks looped over by 264 blocks.
// 0 bytes of its launch's dynamic shared memory per block.
// All blocks must be resident at once: launch it as a cooperative kernel.

/// One virtual block.
__device__ __forceinline__ void divide_add_broadcast_map_4_block(
    int vb, int n_vblocks,
    const float* __restrict__ a,
    const float* __restrict__ b,
    float* __restrict__ ya,
    float* __restrict__ sa,
    float* __restrict__ sb,
    float* __restrict__ sa_parts,
    unsigned int* __restrict__ ticket,
    unsigned int* __restrict__ arrivals) {
  const int tid = static_cast<int>(threadIdx.x);
  const int i = vb * 512 + tid * 4;
  Vec<float, 4> a_row;
  load_f32x4(&a_row.v[0], &a[i]);
  float sa_row;
  sa_row = load_f32(&sa[0]);
  float sb_row;
  sb_row = load_f32(&sb[0]);
  ISSUE_LOADS(ntid.x);
  const float s = sa_row + sb_row;
  Vec<float, 4> ya_1;
  #pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float ya_2 = full_divide(a_row.v[e], s);
    ya_1.v[e] = ya_2;
  }
  store_f32x4(&ya[i], &ya_1.v[0]);
}

extern "C" __global__ __launch_bounds__(128, 2) void sum_divide_add_broadcast_stages(
    const float* __restrict__ a,
    const float* __restrict__ b,
    float* __restrict__ ya,
    float* __restrict__ sa,
    float* __restrict__ sb,
    float* __restrict__ sa_parts,
    unsigned int* __restrict__ ticket,
    unsigned int* __restrict__ arrivals) {
  #pragma unroll 1
  for (int vb = blockIdx.x; vb < 31; vb += gridDim.x)
    if (vb < 30) {
      sum_divide_add_broadcast_stages_block(vb, 30, a, b, ya, sa, sb, sa_parts, ticket, arrivals);
    } else {
      sum_row_2_2_block(vb - 30, 1, a, b, ya, sa, sb, sa_parts, ticket, arrivals);
    }
  sum_divide_add_broadcast_stages_meet_3_block(blockIdx.x, 264, a, b, ya, sa, sb, sa_parts, ticket, arrivals);
  #pragma unroll 1
  for (int vb = blockIdx.x; vb < 150; vb += gridDim.x)
    divide_add_broadcast_map_4_block(vb, 150, a, b, ya, sa, sb, sa_parts, ticket, arrivals);
}
