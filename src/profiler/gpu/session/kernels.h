// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that measuring itself needs, as PTX that every GPU since Maxwell takes: one that touches memory, one that
// only reads it, one that sums it up, one that reads clocks, one that does nothing. The driver compiles them when a GPU
// is opened (open.cpp); queue.cpp and sampling.cpp launch them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tailor::gpu {

/// touch(address, words): reads and writes back 16-byte words, so that a kernel just wrote them.
/// sweep(address, words): reads 16-byte words and writes nothing, so that L2 holds them as they are in DRAM.
/// generate(address, words, counted): 4-byte word i becomes i, or mixed_word(i).
/// differ(address, words, counted, count): adds to the 8-byte `count` how many words are not what generate makes.
/// digest(address, words, sums): a sum for each digest_words 8-byte words, added to what lies at `sums`; another for
/// other contents, but for chance.
/// clock(address): 24 bytes: SM cycles, nanoseconds, number of the SM and 0 (ClockReading in timing.h).
/// empty(): nothing.
std::string_view own_kernels();
/// The same as machine code for sm_90; nothing where the build had no assembler (assemble.py).
std::span<const std::byte> own_kernels_sm_90();

constexpr std::string_view touch_name = "tailor_touch", sweep_name = "tailor_sweep", digest_name = "tailor_digest",
                           generate_name = "tailor_generate", differ_name = "tailor_differ",
                           clock_name = "tailor_clock", empty_name = "tailor_empty";
constexpr std::int64_t digest_words = 8192;
/// How many sums a buffer of so many bytes has.
constexpr std::int64_t digests_of(std::int64_t bytes) { return (bytes + digest_words * 8 - 1) / (digest_words * 8); }

}  // namespace tailor::gpu
