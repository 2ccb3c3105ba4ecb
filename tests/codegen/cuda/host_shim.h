// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a printed kernel needs to run on the host: CUDA's words, one fibre per thread of a block, barriers and shuffles
// between them. Put in front of kernels printed with Options::portable and given to the host compiler. Fibres take
// turns on one operating-system thread, so what they do is deterministic; time and memory faults are not modelled.
#pragma once

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <bit>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// Shared arrays live once, inside functions and behind extern alike.
#define __shared__ thread_local

struct Place {
  unsigned int x = 0;
};
static Place threadIdx, blockIdx, gridDim;

namespace host {

/// Threads that wait for one another: all of a block, or one warp.
struct Meeting {
  int members = 0, arrived = 0;
  unsigned int round = 0;
};

struct Fibre {
  ucontext_t context;
  std::vector<char> stack;
  bool done = false;
};

static std::vector<Fibre> fibres;
static ucontext_t scheduler;
static int current = 0, idle_turns = 0;
static Meeting block;
static std::vector<Meeting> warps;
static std::vector<unsigned long long> slots[2];  ///< by parity of the warp's round: what a lane gives in a shuffle
static void (*body)(void*) = nullptr;
static void* argument = nullptr;

inline int next_alive() {
  const int count = static_cast<int>(fibres.size());
  for (int step = 1; step <= count; ++step)
    if (const int other = (current + step) % count; !fibres[static_cast<size_t>(other)].done) return other;
  return -1;
}

inline void go_to(int other, ucontext_t* from) {
  current = other;
  threadIdx.x = static_cast<unsigned int>(other);
  swapcontext(from, &fibres[static_cast<size_t>(other)].context);
}

inline void yield() {
  if (++idle_turns > 100 * static_cast<int>(fibres.size())) {
    fprintf(stderr, "the threads of a printed kernel wait for one another for ever\n");
    abort();
  }
  const int mine = current, other = next_alive();
  if (other != mine) go_to(other, &fibres[static_cast<size_t>(mine)].context);
}

inline void meet(Meeting& meeting) {
  const unsigned int round = meeting.round;
  if (++meeting.arrived == meeting.members) {
    meeting.arrived = 0;
    ++meeting.round;
    idle_turns = 0;
    return;
  }
  while (meeting.round == round) yield();
}

inline void start() {
  body(argument);
  fibres[static_cast<size_t>(current)].done = true;
  idle_turns = 0;
  const int other = next_alive();
  if (other < 0)
    setcontext(&scheduler);
  else
    go_to(other, &fibres[static_cast<size_t>(current)].context);
}

/// Runs `kernel(given)` as every thread of every block.
inline void launch(unsigned int grid, int threads, void (*kernel)(void*), void* given) {
  body = kernel;
  argument = given;
  gridDim.x = grid;
  fibres.resize(static_cast<size_t>(threads));
  for (auto& list : slots) list.assign(static_cast<size_t>(threads), 0);
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x) {
    block = {threads, 0, 0};
    warps.assign(static_cast<size_t>(threads + 31) / 32, Meeting{32, 0, 0});
    for (Fibre& fibre : fibres) {
      fibre.stack.resize(1 << 16);
      fibre.done = false;
      getcontext(&fibre.context);
      fibre.context.uc_stack.ss_sp = fibre.stack.data();
      fibre.context.uc_stack.ss_size = fibre.stack.size();
      fibre.context.uc_link = &scheduler;
      makecontext(&fibre.context, start, 0);
    }
    go_to(0, &scheduler);
  }
}

template <class... Arguments, size_t... I>
void call(void (*kernel)(Arguments...), void** buffers, std::index_sequence<I...>) {
  kernel(static_cast<Arguments>(buffers[I])...);
}

/// Launches a printed kernel on buffers in the order of its arguments.
template <auto kernel, class... Arguments>
void launch_on(void (*)(Arguments...), unsigned int grid, int threads, void** buffers) {
  launch(
      grid, threads, [](void* all) { call(kernel, static_cast<void**>(all), std::index_sequence_for<Arguments...>()); },
      buffers);
}

}  // namespace host

inline void __syncthreads() { host::meet(host::block); }
/// Threads take turns, and so do blocks.
inline void __threadfence() {}
template <class T>
T atomicAdd(T* to, T value) {
  const T before = *to;
  *to += value;
  return before;
}
template <class T>
T atomicMin(T* to, T value) {
  const T before = *to;
  if (value < before) *to = value;
  return before;
}
inline void __syncwarp() { host::meet(host::warps[threadIdx.x / 32]); }
inline unsigned int __activemask() { return ~0u; }

template <class T>
T __shfl_xor_sync(unsigned int, T value, int offset) {
  host::Meeting& warp = host::warps[threadIdx.x / 32];
  std::vector<unsigned long long>& slots = host::slots[warp.round % 2];
  memcpy(&slots[threadIdx.x], &value, sizeof(T));
  host::meet(warp);
  T other;
  memcpy(&other, &slots[threadIdx.x ^ static_cast<unsigned int>(offset)], sizeof(T));
  return other;
}

template <class To, class From>
To host_bits(From a) {
  return std::bit_cast<To>(a);
}
inline float __int_as_float(int a) { return host_bits<float>(a); }
inline float __uint_as_float(unsigned int a) { return host_bits<float>(a); }
inline unsigned int __float_as_uint(float a) { return host_bits<unsigned int>(a); }
inline double __longlong_as_double(long long a) { return host_bits<double>(a); }
inline int __popcll(unsigned long long a) { return std::popcount(a); }
inline int __clzll(long long a) { return std::countl_zero(static_cast<unsigned long long>(a)); }
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline float rsqrt(float a) { return 1.0f / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
