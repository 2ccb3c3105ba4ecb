// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations and bytes of a kernel as XLA counts them. In: a kernel, XLA's view of a GPU (its table of operation
// costs). Out: clocks of all threads together ("flops" in XLA's words), bytes read of each operand and how often it is
// read over, bytes written, how large the code becomes. Called by the price and by the strategy xla-priority.
//
// Numbers are float where XLA's are, so that large counts round as they do there.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/xla/kernel.h"
#include "costmodel/xla/target.h"

namespace tailor::costmodel::xla {

struct Work {
  float flops = 0;
  float written = 0;               ///< bytes
  std::vector<float> read;         ///< bytes, one per Kernel::operands, repeats counted
  std::vector<float> utilization;  ///< of each operand: elements needed over elements there, above 1 when read again
  float code = 1;                  ///< instructions emitted, repeats counted
  /// Of a fusion, per item: how often its code is emitted, and the places whose elements it is computed at (items whose
  /// users are not elementwise), with how much of each is needed.
  std::vector<float> emitted;
  std::vector<std::vector<std::int32_t>> roots;
  std::vector<float> root_utilization;
};
Work work_of(const Kernel& kernel, const Target& target);

/// How much of two items of a fusion is computed at the same places.
float common_utilization(const Work& work, std::int32_t a, std::int32_t b);

}  // namespace tailor::costmodel::xla
