// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Asking the system for huge pages. In: a range of fresh memory. Out: nothing; the range is the same without it. Called
// by the makers of large arrays: the evaluator and the simulator. Only whole huge pages inside the range are announced,
// because others may share its ends.
#include "base/memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace tailor {

void expect_all(const void* first, std::size_t bytes) {
  constexpr std::uintptr_t huge = std::uintptr_t{1} << 21;
  const auto from = (reinterpret_cast<std::uintptr_t>(first) + huge - 1) & ~(huge - 1);
  const auto to = (reinterpret_cast<std::uintptr_t>(first) + bytes) & ~(huge - 1);
  if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

}  // namespace tailor
