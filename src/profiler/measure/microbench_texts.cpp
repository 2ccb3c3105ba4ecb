// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA of the microbenchmarks, one text each. In: nothing. Out: texts that microbench.cpp completes with constants.
// Inputs are words that depend on their index, so an output can be checked word by word, and data is as random to the
// memory as data of a model; all results are integers, so no order of arithmetic matters.
#include "profiler/measure/microbench_texts.h"

namespace tailor::profiler::bench_texts {

constinit const std::string_view copy = R"(
__device__ __forceinline__ uint4 loaded(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

// Each thread has `loads` vectors under way, neighbours side by side, and writes them after the last was asked for.
extern "C" __global__ void __launch_bounds__(threads) copy(const uint4* from, uint4* to, unsigned vectors) {
  const unsigned first = blockIdx.x * (threads * loads) + threadIdx.x;
  if (first + (loads - 1) * threads < vectors) {
    uint4 part[loads];
#pragma unroll
    for (unsigned u = 0; u < loads; ++u) part[u] = loaded(from + first + u * threads);
#pragma unroll
    for (unsigned u = 0; u < loads; ++u) to[first + u * threads] = part[u];
  } else {
    for (unsigned at = first; at < vectors; at += threads) to[at] = loaded(from + at);
  }
}
)";

constinit const std::string_view read = R"(
__device__ __forceinline__ uint4 loaded(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

// As many blocks as stay resident walk over the input; each thread has `loads` vectors under way. A word per block, the
// exclusive or of all it saw, keeps the compiler honest.
extern "C" __global__ void __launch_bounds__(threads) read(const uint4* from, unsigned* to, unsigned vectors) {
  const unsigned stride = gridDim.x * threads;
  unsigned seen = 0, at = blockIdx.x * threads + threadIdx.x;
  for (; at + (loads - 1) * stride < vectors; at += stride * loads) {
    uint4 part[loads];
#pragma unroll
    for (unsigned u = 0; u < loads; ++u) part[u] = loaded(from + at + u * stride);
#pragma unroll
    for (unsigned u = 0; u < loads; ++u) seen ^= part[u].x ^ part[u].y ^ part[u].z ^ part[u].w;
  }
  for (; at < vectors; at += stride) {
    const uint4 part = loaded(from + at);
    seen ^= part.x ^ part.y ^ part.z ^ part.w;
  }
  __shared__ unsigned of_warp[32];
  for (unsigned lane = 16; lane > 0; lane /= 2) seen ^= __shfl_xor_sync(0xffffffffu, seen, lane);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = seen;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < threads / 32; ++warp) seen ^= of_warp[warp];
  to[blockIdx.x] = seen;
}
)";

constinit const std::string_view write = R"(
// Word i becomes i.
extern "C" __global__ void __launch_bounds__(threads) write(uint4* to, unsigned vectors) {
  const unsigned first = blockIdx.x * (threads * loads) + threadIdx.x;
#pragma unroll
  for (unsigned u = 0; u < loads; ++u) {
    const unsigned at = first + u * threads;
    if (at < vectors) to[at] = make_uint4(4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3);
  }
}
)";

constinit const std::string_view empty = R"(
extern "C" __global__ void empty() {}
)";

constinit const std::string_view barrier = R"(
// One counter that never needs a reset: each round adds exactly half of its range, so its highest bit turns over when
// the last block has arrived. Block 0 adds what the others leave.
__device__ __forceinline__ void grid_barrier(unsigned* counter) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned share = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
    unsigned before, now;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(share) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    } while (((before ^ now) & 0x80000000u) == 0);
  }
  __syncthreads();
}

// In the first rounds each block also reads what its neighbour wrote before the barrier; later rounds are barriers
// alone. Two places in turn, so that a round's word is not overwritten while it is read.
extern "C" __global__ void __launch_bounds__(threads) barrier(unsigned* counter, unsigned* words, unsigned* to) {
  constexpr unsigned checked = 4;
  unsigned sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned* const place = words + round % 2 * gridDim.x;
    if (round < checked && threadIdx.x == 0) place[blockIdx.x] = round + 1;
    grid_barrier(counter);
    if (round < checked && threadIdx.x == 0) sum += place[(blockIdx.x + 1) % gridDim.x];
  }
  if (threadIdx.x == 0) to[blockIdx.x] = sum;
}
)";

constinit const std::string_view exchange = R"(
// Each round a block puts a word into the shared memory of the next block of its cluster and waits for the cluster; the
// word it got, plus one, is what it sends on. Two places in turn, as one may be read while the next round's arrives.
extern "C" __global__ void __launch_bounds__(threads) exchange(unsigned* to) {
  __shared__ unsigned got[2];
  unsigned rank, blocks, there, word = blockIdx.x;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  const unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(got));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"((rank + 1) % blocks));
  asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned place = round % 2 * 4;
    if (threadIdx.x == 0) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there + place), "r"(word) : "memory");
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(here + place) : "memory");
    ++word;
  }
  if (threadIdx.x == 0) to[blockIdx.x] = word;
}
)";

constinit const std::string_view shared_atomics = R"(
// Additions to shared memory whose result nobody wants.
extern "C" __global__ void __launch_bounds__(threads) shared_atomics(unsigned* to) {
  __shared__ unsigned cells[threads];
  cells[threadIdx.x] = 0;
  __syncthreads();
  const unsigned cell = static_cast<unsigned>(__cvta_generic_to_shared(cells + threadIdx.x * spread % threads));
  for (unsigned round = 0; round < rounds; ++round) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(cell) : "memory");
  __syncthreads();
  to[blockIdx.x * threads + threadIdx.x] = cells[threadIdx.x];
}
)";

constinit const std::string_view global_atomics = R"(
// Additions to global memory whose result nobody wants.
extern "C" __global__ void __launch_bounds__(threads) global_atomics(unsigned* cells) {
  unsigned* const cell = cells + (blockIdx.x * threads + threadIdx.x) * spread;
  for (unsigned round = 0; round < rounds; ++round)
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(cell) : "memory");
}
)";

constinit const std::string_view read_again = R"(
__device__ __forceinline__ uint4 loaded(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

// The whole input again and again, past L1. A word per block, the sum of all it saw, keeps the compiler honest.
extern "C" __global__ void __launch_bounds__(threads) read_again(const uint4* from, unsigned* to, unsigned vectors) {
  const unsigned stride = gridDim.x * threads;
  unsigned seen = 0;
  for (unsigned pass = 0; pass < rounds; ++pass) {
    unsigned at = blockIdx.x * threads + threadIdx.x;
    for (; at + (loads - 1) * stride < vectors; at += stride * loads) {
      uint4 part[loads];
#pragma unroll
      for (unsigned u = 0; u < loads; ++u) part[u] = loaded(from + at + u * stride);
#pragma unroll
      for (unsigned u = 0; u < loads; ++u) seen += part[u].x + part[u].y + part[u].z + part[u].w;
    }
    for (; at < vectors; at += stride) {
      const uint4 part = loaded(from + at);
      seen += part.x + part.y + part.z + part.w;
    }
  }
  __shared__ unsigned of_warp[32];
  for (unsigned lane = 16; lane > 0; lane /= 2) seen += __shfl_xor_sync(0xffffffffu, seen, lane);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = seen;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < threads / 32; ++warp) seen += of_warp[warp];
  to[blockIdx.x] = seen;
}
)";

constinit const std::string_view chase = R"(
// One thread, past L1; each word says where the next one is.
extern "C" __global__ void chase(const unsigned* from, unsigned* to, unsigned mask) {
  if (threadIdx.x != 0) return;
  unsigned at = 1;
  for (unsigned hop = 0; hop < rounds; ++hop) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(from + at));
    at &= mask;
  }
  to[0] = at;
}
)";

constinit const std::string_view dispatch = R"(
extern "C" __global__ void dispatch() {}
)";

constinit const std::string_view special = R"(
// Four chains, so that the unit is the limit and not its latency. 0 becomes 1 and 1 becomes 0, exactly. The assembler
// folds both of a constant, and with them the whole loop: that 0 comes in is not told to it.
extern "C" __global__ void __launch_bounds__(threads) special(unsigned* to) {
  const float start = (float)(blockDim.x - threads);
  float x[4] = {start, start, start, start};
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned chain = 0; chain < 4; ++chain) {
      asm volatile("ex2.approx.f32 %0, %0;" : "+f"(x[chain]));
      asm volatile("lg2.approx.f32 %0, %0;" : "+f"(x[chain]));
    }
  }
  unsigned right = 0;
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) right += x[chain] == 0 ? 1 : 0;
  to[blockIdx.x * threads + threadIdx.x] = right;
}
)";

constinit const std::string_view pipes = R"(
// What an instruction does to 0 gives 0. That 0 comes in, and into every thread of a warp, is not told to the assembler,
// which would fold it or compute once for the warp.
template <unsigned kind>
__device__ __forceinline__ void step(unsigned& x) {
  float& f = reinterpret_cast<float&>(x);
  if constexpr (kind == 1) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(f));
  if constexpr (kind == 2) asm volatile("shf.l.wrap.b32 %0, %0, %0, %0;" : "+r"(x));
#if __CUDA_ARCH__ >= 750
  if constexpr (kind == 3) asm volatile("tanh.approx.f32 %0, %0;" : "+f"(f));
#endif
  if constexpr (kind == 4)
    asm volatile("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(f) : "r"(x));
#if __CUDA_ARCH__ >= 800
  if constexpr (kind == 5) asm volatile("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(x) : "f"(f));
#endif
  if constexpr (kind == 6) asm volatile("cvt.rn.f32.s32 %0, %1;" : "=f"(f) : "r"(x));
  if constexpr (kind == 7) asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(x) : "f"(f));
#if __CUDA_ARCH__ >= 700
  if constexpr (kind == 8) asm volatile("fma.rn.f16x2 %0, %0, %0, %0;" : "+r"(x));
#endif
  if constexpr (kind == 9) asm volatile("mad.lo.s32 %0, %0, %0, %0;" : "+r"(x));
}

// Four chains of each kind, so that the unit is the limit and not its latency.
extern "C" __global__ void __launch_bounds__(threads) pipes(unsigned* to) {
  unsigned x[4], y[4];
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) x[chain] = y[chain] = (blockDim.x - threads) * threadIdx.x;
#pragma unroll 4
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned chain = 0; chain < 4; ++chain) {
      step<instruction>(x[chain]);
      step<beside>(y[chain]);
    }
  }
  unsigned right = 0;
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) right += x[chain] == 0 && y[chain] == 0 ? 1 : 0;
  to[blockIdx.x * threads + threadIdx.x] = right;
}
)";

constinit const std::string_view code = R"(
// Four chains, so that no warp waits for its own results. What an fma does to 0 gives 0; that 0 comes in, and into all
// chains, is not told to the assembler.
#define FOUR \
  "fma.rn.f32 %0, %0, %0, %0; fma.rn.f32 %1, %1, %1, %1; fma.rn.f32 %2, %2, %2, %2; fma.rn.f32 %3, %3, %3, %3;\n"
#define SIXTEEN FOUR FOUR FOUR FOUR
#define SIXTY_FOUR SIXTEEN SIXTEEN SIXTEEN SIXTEEN

// `steps` of them in a row, a multiple of 64, again and again: what the size of code costs.
extern "C" __global__ void __launch_bounds__(threads) code(unsigned* to) {
  float x[4];
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) x[chain] = (float)((blockDim.x - threads) * (threadIdx.x + chain));
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned step = 0; step < steps; step += 64)
      asm volatile(SIXTY_FOUR : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]));
  }
  unsigned right = 0;
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) right += x[chain] == 0 ? 1 : 0;
  to[blockIdx.x * threads + threadIdx.x] = right;
}
)";

constinit const std::string_view shuffle = R"(
// Four chains of exchanges with the neighbour.
extern "C" __global__ void __launch_bounds__(threads) shuffle(unsigned* to) {
  unsigned x[4];
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) x[chain] = threadIdx.x + chain;
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned chain = 0; chain < 4; ++chain) {
      asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x[chain]));
      ++x[chain];
    }
  }
  to[blockIdx.x * threads + threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}
)";

constinit const std::string_view convert = R"(
// Four chains from integer to float and back. Of numbers that are known to be small the assembler knows that they come
// back the same: that what is added is 0 is not told to it.
extern "C" __global__ void __launch_bounds__(threads) convert(unsigned* to) {
  unsigned x[4];
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) x[chain] = threadIdx.x + chain + (blockDim.x - threads) * 0x01000001;
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned chain = 0; chain < 4; ++chain) {
      float there;
      asm volatile("cvt.rn.f32.u32 %0, %1;" : "=f"(there) : "r"(x[chain]));
      asm volatile("cvt.rzi.u32.f32 %0, %1;" : "=r"(x[chain]) : "f"(there));
    }
  }
  unsigned right = 0;
#pragma unroll
  for (unsigned chain = 0; chain < 4; ++chain) right += x[chain] == threadIdx.x + chain ? 1 : 0;
  to[blockIdx.x * threads + threadIdx.x] = right;
}
)";

constinit const std::string_view block_barrier = R"(
// A word goes once around the threads of a block, one step between two barriers.
extern "C" __global__ void __launch_bounds__(threads) block_barrier(unsigned* to) {
  __shared__ unsigned word;
  if (threadIdx.x == 0) word = 0;
  __syncthreads();
  for (unsigned round = 0; round < rounds; ++round) {
    if (threadIdx.x == round % threads) ++word;
    __syncthreads();
  }
  if (threadIdx.x == 0) to[blockIdx.x] = word;
}
)";

}  // namespace tailor::profiler::bench_texts
