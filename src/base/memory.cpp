// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole huge pages inside the range are announced, not the ends, which others may share.
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
