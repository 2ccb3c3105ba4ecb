// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: whatever bytes stand where machine code should, they are read and followed, or refused, in bounded time.
// The first byte chooses an architecture and the extents of a launch, the rest is code. An exception, a crash or a leak
// is a bug. Run by libFuzzer as machine_fuzz, and over corpus/machine with mutants in the suite `fuzz` (replay.cpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "profiler/compile/machine_work.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 17) return 0;
  constexpr std::array<int, 4> archs = {75, 80, 90, 120};
  const unsigned choice = bytes[0];
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(bytes), size);
  const std::span<const std::byte> code = all.subspan(1, (size - 1) / 16 * 16);
  const tailor::ir::LaunchShape shape{.grid = {1 + choice % 13, 1 + choice / 128, 1}, .block = {1 + choice / 2, 1, 1}};
  const tailor::ir::MachineWork work =
      tailor::profiler::machine_work(code, archs[choice % archs.size()], {shape, nullptr, false});
  return work.counted || !work.note.empty() ? 0 : 1;
}
