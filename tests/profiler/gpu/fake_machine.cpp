// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Each machine is a copy of the fake driver's library in a folder of its own under the system's temporary one, with
// its configuration beside it: to the loader each copy is another library, so a machine of one test leaves nothing to
// the next. Also the PTX of the small kernels and the sequences that launch them.
#include "profiler/gpu/fake_machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace tailor::tests {

namespace {

std::filesystem::path fresh_folder() {
  static int made = 0;
  return std::filesystem::temp_directory_path() / fmt::format("tailor_fake_{}_{}", getpid(), made++);
}

}  // namespace

FakeMachine::FakeMachine(std::string_view configuration, const std::vector<std::string>& without)
    : gpu_(fake_gpu(fresh_folder(), configuration, without)) {}

FakeMachine::~FakeMachine() {
  std::error_code none;
  std::filesystem::remove_all(gpu_.folder, none);
}

gpu::LibraryPaths FakeMachine::library_paths() const { return {gpu_.library, gpu_.library, gpu_.library, {}, {}}; }

std::string failing(std::string_view call, int error, int nth) {
  // A small L2, so that overwriting it takes no time of the test.
  return fmt::format(R"({{"chip": {{"l2_bytes": 1048576}}, "failures": [{{"call": "{}", "error": {}, "nth": {}}}]}})",
                     call, error, nth);
}

gpu::Image test_image() {
  constexpr std::string_view text = R"(.version 7.8
.target sm_75
.address_size 64

.visible .entry twice(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 bra done;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d0, %d0, %d2;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r5, [%d0];
  add.u32 %r5, %r5, %r5;
  st.global.u32 [%d1], %r5;
done:
  ret;
}

.visible .entry plus_one(.param .u64 both, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [both];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 bra done;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d0, %d0, %d2;
  ld.global.u32 %r5, [%d0];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%d0], %r5;
done:
  ret;
}

.visible .entry poke(.param .u64 at, .param .u64 offset)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [at];
  ld.param.u64 %d1, [offset];
  add.u64 %d0, %d0, %d1;
  ld.global.u8 %r0, [%d0];
  xor.b32 %r0, %r0, 255;
  st.global.u8 [%d0], %r0;
  ret;
}

.visible .entry trapping()
{
  trap;
}

.visible .entry wild()
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  mov.u64 %d0, 4096;
  mov.u32 %r0, 1;
  st.global.u32 [%d0], %r0;
  ret;
}

.visible .entry crooked(.param .u64 at)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [at];
  ld.global.u32 %r0, [%d0+2];
  st.global.u32 [%d0+2], %r0;
  ret;
}

.extern .shared .align 16 .b8 room[];

.visible .entry much_shared(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, 7;
  st.shared.u32 [room], %r0;
  ld.shared.u32 %r1, [room];
  st.global.u32 [%d0], %r1;
  ret;
}
)";
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {"test kernels", {first, first + text.size()}};
}

gpu::Sequence doubling(std::uint32_t n) {
  const std::int64_t bytes = 4 * std::int64_t{n};
  constexpr std::uint32_t threads = 128;
  gpu::Sequence sequence;
  sequence.images = {test_image()};
  sequence.buffers = {{"in", bytes, gpu::BufferRole::input}, {"out", bytes, gpu::BufferRole::output}};
  sequence.launches = {
      launch_of("twice", {of_buffer(0), of_buffer(1), of_value(n)}, (n + threads - 1) / threads, threads)};
  return sequence;
}

std::vector<std::byte> counting(std::uint32_t n) {
  std::vector<std::byte> bytes(4 * std::size_t{n});
  for (std::uint32_t i = 0; i < n; ++i) std::memcpy(bytes.data() + 4 * std::size_t{i}, &i, sizeof i);
  return bytes;
}

gpu::Argument of_buffer(int buffer, std::int64_t offset) { return {buffer, offset, {}}; }

gpu::Launch launch_of(std::string entry, std::vector<gpu::Argument> arguments, std::uint32_t blocks,
                      std::uint32_t threads) {
  gpu::Launch launch;
  launch.entry = std::move(entry);
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.arguments = std::move(arguments);
  return launch;
}

}  // namespace tailor::tests
