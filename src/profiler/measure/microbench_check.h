// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the microbenchmarks must leave behind, one check per family. In: the bytes of the buffers after a run. Out:
// empty, or one sentence that names the first wrong word. Called before any of them is timed. Inputs and expectations
// are functions of a word's index, so nothing is kept between run and check.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "profiler/measure/microbench.h"

namespace tailor::profiler::bench_checks {

using Words = std::span<const std::uint32_t>;

/// Word `at` of an input.
constexpr std::uint32_t input_word(std::uint64_t at) { return gpu::mixed_word(at); }

std::string copied(const Microbench& bench, Words outputs);
std::string read(const Microbench& bench, Words outputs);
std::string written(const Microbench& bench, Words outputs);
std::string nothing(const Microbench& bench, Words outputs);
std::string met(const Microbench& bench, Words outputs);
std::string exchanged(const Microbench& bench, Words outputs);
std::string added_in_shared(const Microbench& bench, Words outputs);
std::string added_in_global(const Microbench& bench, Words outputs);
std::string read_again(const Microbench& bench, Words outputs);
std::string chased(const Microbench& bench, Words outputs);
std::string shuffled(const Microbench& bench, Words outputs);
std::string kept(const Microbench& bench, Words outputs);
std::string counted(const Microbench& bench, Words outputs);

}  // namespace tailor::profiler::bench_checks
