// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a broadcast does to the order of elements, from its axes. In: a broadcast and its source's shape. Out: yes or
// no. Axes are walked in the source's order: each must be the next dimension of the result that is not of size 1.
// Called through broadcast.h.
#include "ir/graph/broadcast.h"

namespace tailor::ir {

bool repeats_along_last(const Node& broadcast, const Shape& source) {
  int next = 0;
  for (int i = 0; i < source.rank(); ++i) {
    if (source.dims[i] == 1) continue;
    const auto axis = static_cast<int>(axes(broadcast)[i]);
    for (; next < axis; ++next)
      if (broadcast.shape.dims[next] != 1) return false;
    if (next != axis) return false;
    ++next;
  }
  return true;
}

}  // namespace tailor::ir
