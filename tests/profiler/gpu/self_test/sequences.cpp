// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The sequences of the self-test: each joins a kernel of ptx.cpp to its buffers, their roles and a launch shape.
// Inputs hold the words 0, 1, 2, ..., so that every result is known. Called by the rows of right.cpp, faults.cpp and
// times.cpp.
#include <algorithm>

#include "profiler/gpu/self_test/kernels.h"

namespace tailor::tests {

namespace {

using gpu::BufferRole;

constexpr std::uint32_t usual_threads = 256;

std::uint32_t blocks_for(std::uint32_t threads) { return (threads + usual_threads - 1) / usual_threads; }

}  // namespace

gpu::Image ptx_image(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {"self-test", {first, first + text.size()}};
}

gpu::Argument buffer_argument(int buffer) { return {buffer, 0, {}}; }

gpu::Launch plain_launch(std::string entry, std::vector<gpu::Argument> arguments, std::uint32_t blocks,
                         std::uint32_t threads) {
  gpu::Launch launch;
  launch.entry = std::move(entry);
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.arguments = std::move(arguments);
  return launch;
}

gpu::Sequence on_x(BufferRole role, gpu::Launch launch) {
  return {{ptx_image(plain_kernels)}, {{"x", 4096, role}}, {std::move(launch)}};
}

gpu::Sequence addition(std::uint32_t n) {
  const std::int64_t bytes = 4 * std::int64_t{n};
  gpu::Sequence made;
  made.images = {ptx_image(plain_kernels)};
  made.buffers = {{"a", bytes, BufferRole::input}, {"b", bytes, BufferRole::input}, {"out", bytes, BufferRole::output}};
  made.launches = {plain_launch("add", {buffer_argument(0), buffer_argument(1), buffer_argument(2), plain_argument(n)},
                                blocks_for(n), usual_threads)};
  return made;
}

gpu::Sequence copying(std::int64_t bytes) {
  const auto n = static_cast<std::uint32_t>(bytes / 16);
  gpu::Sequence made;
  made.images = {ptx_image(plain_kernels)};
  made.buffers = {{"in", bytes, BufferRole::input}, {"out", bytes, BufferRole::output}};
  made.launches = {plain_launch("copy16", {buffer_argument(0), buffer_argument(1), plain_argument(n)}, blocks_for(n),
                                usual_threads)};
  return made;
}

gpu::Sequence empties(int count) {
  gpu::Sequence made;
  made.images = {ptx_image(plain_kernels)};
  made.launches.assign(static_cast<std::size_t>(count), plain_launch("empty", {}));
  return made;
}

gpu::Sequence exchanging(std::uint32_t blocks) {
  constexpr std::uint32_t clusters = 2;
  gpu::Sequence made;
  made.images = {ptx_image(cluster_kernels)};
  made.buffers = {{"out", 4 * std::int64_t{clusters * blocks}, BufferRole::output}};
  made.launches = {plain_launch("exchange", {buffer_argument(0)}, clusters * blocks)};
  made.launches[0].cluster = {blocks, 1, 1};
  return made;
}

gpu::Sequence meeting(std::uint32_t blocks, std::uint32_t threads) {
  const std::int64_t bytes = 4 * std::int64_t{blocks};
  gpu::Sequence made;
  made.images = {ptx_image(plain_kernels)};
  made.buffers = {{"cells", bytes, BufferRole::workspace},
                  {"counter", 4, BufferRole::workspace},
                  {"out", bytes, BufferRole::output}};
  made.launches = {plain_launch(
      "meet", {buffer_argument(0), buffer_argument(1), buffer_argument(2), plain_argument(blocks)}, blocks, threads)};
  made.launches[0].cooperative = true;
  return made;
}

gpu::Sequence with_shared(std::int64_t bytes) {
  gpu::Sequence made =
      on_x(BufferRole::output,
           plain_launch("farthest", {buffer_argument(0), plain_argument(static_cast<int>(bytes))}, 1, 64));
  made.launches[0].dynamic_shared = bytes;
  return made;
}

std::vector<std::byte> contents_of(const gpu::Sequence& sequence) {
  std::size_t bytes = 0;
  for (const gpu::Buffer& buffer : sequence.buffers)
    if (buffer.role == BufferRole::input || buffer.role == BufferRole::in_place)
      bytes += static_cast<std::size_t>(buffer.bytes);
  std::vector<std::byte> contents(bytes);
  for (std::uint32_t i = 0; 4 * std::size_t{i} + 4 <= bytes; ++i)
    std::memcpy(contents.data() + 4 * std::size_t{i}, &i, sizeof i);
  return contents;
}

}  // namespace tailor::tests
