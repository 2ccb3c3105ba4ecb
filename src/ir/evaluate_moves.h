// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving elements without looking at them: every index operation is one copy between two strided views.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/types.h"

namespace tailor::ir {

/// One side of a copy: the element at index 0 and the distance in elements along each dimension (0 repeats, negative
/// walks backwards).
struct ReadView {
  const std::byte* first = nullptr;
  Dims strides;
};
struct WriteView {
  std::byte* first = nullptr;
  Dims strides;
};

/// to[i] = from[i] for every index i below `dims`. `size`: bytes of an element, 1, 2, 4, 8 or 16.
void copy_strided(const WriteView& to, const ReadView& from, const Dims& dims, int size);

/// Row-major strides of `dims`, in elements.
Dims row_major(const Dims& dims);

/// Counts through all indices below `dims`, last dimension fastest. Use: do { ... } while (next_index(index, dims)).
/// False after the last one. Not to be started when a dimension is 0.
bool next_index(Dims& index, const Dims& dims);
Dims zero_index(int rank);
std::int64_t offset_of(const Dims& index, const Dims& strides);

}  // namespace tailor::ir
