// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the GPU's self-test, as PTX by hand: what a compiler would make of a text is no question here, and a
// machine without NVRTC is tested too. And the sequences that launch them. Used by all tests of gpu_self_test;
// sequences.cpp and ptx.cpp hold what is declared here.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/gpu/request/sequence.h"

namespace tailor::tests {

/// add(a, b, out, n) of f32; copy16(in, out, n) of 16 bytes a thread; empty(); poke(at, offset) turns over a byte;
/// endless(at); trapping(); wild() stores where nothing is; crooked(at) stores misaligned;
/// farthest(out, bytes): the last word of dynamic shared memory, written by a thread and read by another;
/// meet(cells, counter, out, blocks): each block writes its cell, all wait for all, each reads its neighbour's.
extern const std::string_view plain_kernels;
/// failing(): an assertion that does not hold, as compilers write it.
extern const std::string_view asserting_kernels;
/// exchange(out), for sm_90: each block of a cluster reads the shared memory of the next.
extern const std::string_view cluster_kernels;

gpu::Image ptx_image(std::string_view text);
gpu::Argument buffer_argument(int buffer);
template <class Value>
gpu::Argument plain_argument(Value value) {
  gpu::Argument argument;
  argument.value.resize(sizeof value);
  std::memcpy(argument.value.data(), &value, sizeof value);
  return argument;
}
gpu::Launch plain_launch(std::string entry, std::vector<gpu::Argument> arguments, std::uint32_t blocks = 1,
                         std::uint32_t threads = 1);

/// One launch of a kernel of plain_kernels over one buffer "x" of 4096 bytes in this role.
gpu::Sequence on_x(gpu::BufferRole role, gpu::Launch launch);
/// out = a + b of `n` numbers.
gpu::Sequence addition(std::uint32_t n);
/// Copies `bytes`, a multiple of 16, by threads that move 16 each.
gpu::Sequence copying(std::int64_t bytes);
/// `count` launches of a kernel that does nothing.
gpu::Sequence empties(int count);
/// Exchanges in one cluster of `blocks`, twice.
gpu::Sequence exchanging(std::uint32_t blocks);
/// All blocks of a cooperative launch meet; `threads` of each.
gpu::Sequence meeting(std::uint32_t blocks, std::uint32_t threads);
/// A block with so much dynamic shared memory.
gpu::Sequence with_shared(std::int64_t bytes);

/// The contents that every sequence wants: words 0, 1, 2, ... over all inputs.
std::vector<std::byte> contents_of(const gpu::Sequence& sequence);

}  // namespace tailor::tests
