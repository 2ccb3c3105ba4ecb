// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA of the microbenchmarks: one text per question, without the constants that microbench.cpp writes above it
// (threads, loads, rounds, spread, instruction, beside, steps). Accesses that are the question are written in PTX, so
// that the compiler can neither merge nor move them.
#pragma once

#include <string_view>

namespace tailor::profiler::bench_texts {

extern const std::string_view copy, read, write, empty, barrier, exchange, shared_atomics, global_atomics, read_again,
    chase, dispatch, special, pipes, code, shuffle, convert, block_barrier;

}  // namespace tailor::profiler::bench_texts
