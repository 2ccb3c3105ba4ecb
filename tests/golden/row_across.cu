// sum_rsqrt_multiply_add_row
//
// Plan: row dominant=%6 threads=256 threads_per_row=128 vector=4 in_flight=1 split=1
//   homes=%0@register,%1@register,%11@register,%16@register grid=persistent blocks_per_sm=2 index_cache=on
//   value_cache=on arithmetic=xla
// Reads x (8,388,608 f32, 4 at a time), dy (8,388,608 f32, 4 at a time), g (1,024 f32, 4 at a time); writes dx
//   (8,388,608 f32, 4 at a time), both (1,024 f32, 1 at a time), db (1,024 f32, 1 at a time).
// A block's threads: lane (32) x warp (4) x rib (2).
// Phases: db_own (sum), then dgs_own (sum), then ss (sum), then ps (sum), then db_all (sum), then dgs_all (sum), then
//   db_all_1 (sum), then dgs_all_1 (sum), then db_all_2 (sum), then dgs_all_2 (sum), then the results.
// 256 threads per block, 264 virtual blocks, 16,480 bytes of shared memory per block.
// ticket must be zero before the first run; every run leaves it zero.
// ticket_1 must be zero before the first run; every run leaves it zero.
// Memory to work in, whatever it holds before: db_blocks, dgs_blocks, db_families, dgs_families.
// launch: grid=264 block=256
// buffer: x f32[8388608] input random
// buffer: dy f32[8388608] input random
// buffer: g f32[1024] input random
// buffer: dx f32[8388608] output
// buffer: both f32[1024] output
// buffer: db f32[1024] output
// buffer: db_blocks f32[270336] scratch
// buffer: dgs_blocks f32[270336] scratch
// buffer: ticket u32[12] both zero
// buffer: db_families f32[12288] scratch
// buffer: dgs_families f32[12288] scratch
// buffer: ticket_1 u32[1] both zero

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

__device__ __forceinline__ float cached_load_f32(const float* from) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
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

__device__ __forceinline__ float shared_load_f32(const float* from) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];"
               : "=f"(value)
               : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(from))) : "memory");
  return value;
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

__device__ __forceinline__ void store_f32(float* to, float value) {
  asm volatile("st.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
}

__device__ __forceinline__ void store_f32x4(float* to, const float* from) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               : : "l"(to),
                   "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
}

/// One virtual block.
__device__ __forceinline__ void sum_rsqrt_multiply_add_row_block(
    int vb, int n_vblocks,
    const float* __restrict__ x,
    const float* __restrict__ dy,
    const float* __restrict__ g,
    float* __restrict__ dx,
    float* __restrict__ both,
    float* __restrict__ db,
    float* __restrict__ db_blocks,
    float* __restrict__ dgs_blocks,
    unsigned int* __restrict__ ticket,
    float* __restrict__ db_families,
    float* __restrict__ dgs_families,
    unsigned int* __restrict__ ticket_1) {
  __shared__ __align__(16) float ss_warps[8];
  __shared__ __align__(16) float ps_warps[8];
  __shared__ __align__(16) float db_slots[2048];
  __shared__ __align__(16) float dgs_slots[2048];
  __shared__ __align__(16) unsigned int number[1];
  __shared__ __align__(16) unsigned int number_1[1];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int rib = static_cast<int>(threadIdx.x) / 128;
  const int i = lane * 4 + warp * 128;
  Vec<float, 4> g_row[2];
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    load_f32x4(&g_row[t].v[0], &g[i + t * 512]);
  }
  ISSUE_LOADS(ntid.x);

  // Phase: db_own, a sum.
  Vec<float, 4> db_own[2];
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 2; ++entry_0) {
    #pragma unroll
    for (int entry_1 = 0; entry_1 < 4; ++entry_1) {
      db_own[entry_0].v[entry_1] = 0.0f;
    }
  }

  // Phase: dgs_own, a sum.
  Vec<float, 4> dgs_own[2];
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 2; ++entry_0) {
    #pragma unroll
    for (int entry_1 = 0; entry_1 < 4; ++entry_1) {
      dgs_own[entry_0].v[entry_1] = 0.0f;
    }
  }
  const int i_1 = i + vb * 2048 + rib * 1024;
  #pragma unroll 1
  for (int r = 0; r < 16; ++r) {

    // Phase: ss, a sum.
    float ss = 0.0f;
    Vec<float, 4> x_row[2];
    Vec<float, 4> dy_row[2];
    if (vb * 2 + r * 528 + rib < 8192) {
      #pragma unroll
      for (int t = 0; t < 2; ++t) {
        load_f32x4(&x_row[t].v[0], &x[i_1 + r * 540672 + t * 512]);
        load_f32x4(&dy_row[t].v[0], &dy[i_1 + r * 540672 + t * 512]);
      }
    }
    ISSUE_LOADS(ntid.y);
    if (vb * 2 + r * 528 + rib < 8192) {
      #pragma unroll
      for (int t = 0; t < 2; ++t) {
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float sq = x_row[t].v[e] * x_row[t].v[e];
          ss += sq;
          db_own[t].v[e] += dy_row[t].v[e];
        }
      }
    }
    // The sum of 32 lanes, for each of them.
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) ss = ss + __shfl_xor_sync(0xffffffffu, ss, offset);
    if (lane == 0) {
      shared_store_f32(&ss_warps[warp + rib * 4], ss);
    }
    __syncthreads();
    ss = 0.0f;
    Vec<float, 4> ss_part;
    shared_load_f32x4(&ss_part.v[0], &ss_warps[rib * 4]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      ss += ss_part.v[w];
    }

    // Phase: ps, a sum.
    float ps = 0.0f;
    const float st = ss + 0.5f;
    const float r_1 = rsqrt(st);
    Vec<float, 4> xh_row[2];
    Vec<float, 4> dxh_row[2];
    if (vb * 2 + r * 528 + rib < 8192) {
      #pragma unroll
      for (int t = 0; t < 2; ++t) {
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float xh = x_row[t].v[e] * r_1;
          xh_row[t].v[e] = xh;
          const float dxh = dy_row[t].v[e] * g_row[t].v[e];
          dxh_row[t].v[e] = dxh;
          const float p = dxh * xh;
          ps += p;
          const float dg = dy_row[t].v[e] * xh;
          dgs_own[t].v[e] += dg;
        }
      }
    }
    // The sum of 32 lanes, for each of them.
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) ps = ps + __shfl_xor_sync(0xffffffffu, ps, offset);
    if (lane == 0) {
      shared_store_f32(&ps_warps[warp + rib * 4], ps);
    }
    __syncthreads();
    ps = 0.0f;
    Vec<float, 4> ps_part;
    shared_load_f32x4(&ps_part.v[0], &ps_warps[rib * 4]);
    #pragma unroll
    for (int w = 0; w < 4; ++w) {
      ps += ps_part.v[w];
    }
    if (vb * 2 + r * 528 + rib < 8192) {
      #pragma unroll
      for (int t = 0; t < 2; ++t) {
        Vec<float, 4> dx_1;
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float q = xh_row[t].v[e] * ps;
          const float d = dxh_row[t].v[e] - q;
          const float dx_2 = d * r_1;
          dx_1.v[e] = dx_2;
        }
        store_f32x4(&dx[i_1 + r * 540672 + t * 512], &dx_1.v[0]);
      }
    }
    __syncthreads();
  }
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    shared_store_f32x4(&db_slots[i + rib * 1024 + t * 512], &db_own[t].v[0]);
  }
  #pragma unroll
  for (int t = 0; t < 2; ++t) {
    shared_store_f32x4(&dgs_slots[i + rib * 1024 + t * 512], &dgs_own[t].v[0]);
  }
  __syncthreads();

  // Phase: db_all, a sum.
  Vec<float, 4> db_all;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 4; ++entry_0) {
    db_all.v[entry_0] = 0.0f;
  }

  // Phase: dgs_all, a sum.
  Vec<float, 4> dgs_all;
  #pragma unroll
  for (int entry_0 = 0; entry_0 < 4; ++entry_0) {
    dgs_all.v[entry_0] = 0.0f;
  }
  Vec<float, 4> db_part[2];
  Vec<float, 4> dgs_part[2];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    #pragma unroll
    for (int y = 0; y < 2; ++y) {
      db_part[y].v[k] = shared_load_f32(&db_slots[lane + warp * 32 + rib * 128 + k * 256 + y * 1024]);
      dgs_part[y].v[k] = shared_load_f32(&dgs_slots[lane + warp * 32 + rib * 128 + k * 256 + y * 1024]);
    }
  }
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    #pragma unroll
    for (int y = 0; y < 2; ++y) {
      db_all.v[k] += db_part[y].v[k];
      dgs_all.v[k] += dgs_part[y].v[k];
    }
  }
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    store_f32(&db_blocks[vb * 1024 + lane + warp * 32 + rib * 128 + k * 256], db_all.v[k]);
    store_f32(&dgs_blocks[vb * 1024 + lane + warp * 32 + rib * 128 + k * 256], dgs_all.v[k]);
  }
  __syncthreads();
  if (lane + warp * 32 + rib * 128 == 0) {
    __threadfence();
    const unsigned int taken = atomicAdd(&ticket[vb / 22], 1u);
    __threadfence();
    shared_store_u32(&number[0], taken);
  }
  __syncthreads();
  const unsigned int arrived = shared_load_u32(&number[0]);
  const int i_2 = lane + warp * 32 + rib * 128;
  if (arrived == 21u) {
    if (i_2 == 0) {
      atomicMin(&ticket[vb / 22], 0u);
    }
    #pragma unroll 1
    for (int j_1 = 0; j_1 < 4; ++j_1) {

      // Phase: db_all_1, a sum.
      float db_all_1 = 0.0f;

      // Phase: dgs_all_1, a sum.
      float dgs_all_1 = 0.0f;
      #pragma unroll 1
      for (int s = 0; s < 2; ++s) {
        float db_part_1[11];
        float dgs_part_1[11];
        #pragma unroll
        for (int y_1 = 0; y_1 < 11; ++y_1) {
          db_part_1[y_1] = load_f32(&db_blocks[i_2 + vb / 22 * 22528 + j_1 * 256 + y_1 * 1024 + s * 11264]);
          dgs_part_1[y_1] = load_f32(&dgs_blocks[i_2 + vb / 22 * 22528 + j_1 * 256 + y_1 * 1024 + s * 11264]);
        }
        ISSUE_LOADS(ntid.z);
        #pragma unroll
        for (int y_1 = 0; y_1 < 11; ++y_1) {
          db_all_1 += db_part_1[y_1];
          dgs_all_1 += dgs_part_1[y_1];
        }
      }
      store_f32(&db_families[i_2 + vb / 22 * 1024 + j_1 * 256], db_all_1);
      store_f32(&dgs_families[i_2 + vb / 22 * 1024 + j_1 * 256], dgs_all_1);
    }
    __syncthreads();
    if (i_2 == 0) {
      __threadfence();
      const unsigned int taken_1 = atomicAdd(&ticket_1[0], 1u);
      __threadfence();
      shared_store_u32(&number_1[0], taken_1);
    }
    __syncthreads();
    const unsigned int arrived_1 = shared_load_u32(&number_1[0]);
    if (arrived_1 == 11u) {
      if (i_2 == 0) {
        atomicMin(&ticket_1[0], 0u);
      }
      #pragma unroll 1
      for (int j_1 = 0; j_1 < 4; ++j_1) {

        // Phase: db_all_2, a sum.
        float db_all_2 = 0.0f;

        // Phase: dgs_all_2, a sum.
        float dgs_all_2 = 0.0f;
        float db_part_2[12];
        float dgs_part_2[12];
        #pragma unroll
        for (int y_2 = 0; y_2 < 12; ++y_2) {
          db_part_2[y_2] = load_f32(&db_families[i_2 + j_1 * 256 + y_2 * 1024]);
          dgs_part_2[y_2] = load_f32(&dgs_families[i_2 + j_1 * 256 + y_2 * 1024]);
        }
        ISSUE_LOADS(nctaid.x);
        #pragma unroll
        for (int y_2 = 0; y_2 < 12; ++y_2) {
          db_all_2 += db_part_2[y_2];
          dgs_all_2 += dgs_part_2[y_2];
        }
        const float g_1 = cached_load_f32(&g[i_2 + j_1 * 256]);
        const float scaled = dgs_all_2 * g_1;
        const float both_1 = scaled + db_all_2;
        store_f32(&both[i_2 + j_1 * 256], both_1);
        store_f32(&db[i_2 + j_1 * 256], db_all_2);
      }
    }
  }
}

extern "C" __global__ __launch_bounds__(256) void sum_rsqrt_multiply_add_row(
    const float* __restrict__ x,
    const float* __restrict__ dy,
    const float* __restrict__ g,
    float* __restrict__ dx,
    float* __restrict__ both,
    float* __restrict__ db,
    float* __restrict__ db_blocks,
    float* __restrict__ dgs_blocks,
    unsigned int* __restrict__ ticket,
    float* __restrict__ db_families,
    float* __restrict__ dgs_families,
    unsigned int* __restrict__ ticket_1) {
  sum_rsqrt_multiply_add_row_block(blockIdx.x, 264, x, dy, g, dx, both, db, db_blocks, dgs_blocks, ticket, db_families,
      dgs_families, ticket_1);
}
