// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of a sequence that launch no kernel. In: places, sizes. Out: a step with all that it must have. They are
// counted too, so that a table can say how many of its launches they are. Called by who makes sequences of another
// compiler's program (profiler/xla) and by who shows their times (study/module).
#include "profiler/gpu/request/sequence.h"

#include <algorithm>
#include <utility>

namespace tailor::gpu {

Launch copy_step(std::string name, Argument to, Argument from, std::int64_t bytes) {
  Launch step;
  step.kind = StepKind::copy;
  step.entry = std::move(name);
  step.arguments = {std::move(to), std::move(from)};
  step.bytes = bytes;
  return step;
}

Launch fill_step(std::string name, Argument to, std::int64_t bytes, std::uint32_t word) {
  Launch step;
  step.kind = StepKind::fill;
  step.entry = std::move(name);
  step.arguments = {std::move(to)};
  step.bytes = bytes;
  step.word = word;
  return step;
}

std::int64_t transfers(const Sequence& sequence) {
  return std::count_if(sequence.launches.begin(), sequence.launches.end(),
                       [](const Launch& launch) { return !is_kernel(launch); });
}

}  // namespace tailor::gpu
