// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving elements without looking at them. In: two strided views. Out: one copied
// onto the other. Called by every operation that moves elements, and by the error
// bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "ir/graph/types.h"

namespace tailor::reference {

/// One side of a copy: the element at index 0 and the distance in elements along each dimension (0 repeats, negative
/// walks backwards).
struct ReadView {
  const std::byte* first = nullptr;
  ir::Dims strides;
};
struct WriteView {
  std::byte* first = nullptr;
  ir::Dims strides;
};

/// to[i] = from[i] for every index i below `dims`. `size`: bytes of an element, 1, 2, 4, 8 or 16. Error(interrupted)
/// when asked to stop.
void copy_strided(const WriteView& to, const ReadView& from, const ir::Dims& dims, int size,
                  const std::stop_token& stop = {});

/// Row-major strides of `dims`, in elements.
ir::Dims row_major(const ir::Dims& dims);

/// Counts through all indices below `dims`, last dimension fastest. Use: do { ... } while (next_index(index, dims)).
/// False after the last one. Not to be started when a dimension is 0.
bool next_index(ir::Dims& index, const ir::Dims& dims);
ir::Dims zero_index(int rank);
std::int64_t linear_offset(const ir::Dims& index, const ir::Dims& strides);

}  // namespace tailor::reference
