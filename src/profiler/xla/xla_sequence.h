// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels as a GPU is asked to run them: one with its case, or all of a module in the order of its launch list.
// In: cases or a module. Out: sequences (gpu/request/sequence.h). Called by xla_measure.cpp. The driver compiles the
// PTX, and copies and fills memory where XLA has it do so. Library calls of a module are left out: what they would have
// written is random numbers.
//
// Memory of a module is XLA's own where the buffer assignment is at hand: values that lie in one place one after the
// other do so here too. Else every value has memory of its own but for results written in place. A loop's body repeats
// on the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "profiler/gpu/request/sequence.h"
#include "profiler/xla/xla_case.h"

namespace tailor::profiler {

/// The kernel alone. Buffers are the case's memory, number by number.
gpu::Sequence sequence_of(const XlaKernel& kernel, const XlaCase& one);
/// What LoadRequest wants beside it.
std::vector<std::byte> contents_of(const XlaCase& one);
/// Holds what RunRequest fetched of such a sequence against the reference. Error(interrupted) when asked to stop.
XlaVerdict judge_fetched(const XlaCase& one, std::span<const std::byte> blob, const std::stop_token& stop = {});

struct XlaLeftOut {
  std::string reason;
  std::int64_t launches = 0;
};

struct XlaModuleSequence {
  gpu::Sequence sequence;
  std::vector<std::byte> contents;
  std::int64_t launches = 0;          ///< launches of the list that are there, copies and fills too, a loop's once
  std::vector<XlaLeftOut> left_out;   ///< kernels, copies and fills that are not bound, by reason
  std::int64_t library_launches = 0;  ///< launches that are none of these
  std::int64_t shortened_loops = 0;   ///< loops whose body runs once because all trips would be too many launches
  std::int64_t buffer_bytes = 0;
  bool assignment_known = true;  ///< all memory by the buffer assignment
};

/// Never throws for what is wrong with one kernel. Loops whose trips would lead beyond `most_launches` run once.
XlaModuleSequence module_sequence(const XlaModule& module, std::uint64_t seed, std::int64_t most_launches = 20'000);

}  // namespace tailor::profiler
