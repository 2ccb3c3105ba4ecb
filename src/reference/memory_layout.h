// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors as bytes of device memory. A Tensor holds its elements row-major in logical order; memory holds them by the
// layout of its shape. In: one of the two. Out: the other. Called by whoever fills buffers before a launch and reads
// them after: the checks, the worker's sequences, XLA's kernels.
#pragma once

#include <cstddef>
#include <span>

#include "ir/graph/types.h"
#include "reference/evaluate.h"

namespace tailor::reference {

/// Bytes of one element in memory and in a Tensor; 0 where the two differ (types below a byte).
std::size_t element_width(const ir::Shape& shape);
/// Bytes of all elements.
std::size_t memory_bytes(const ir::Shape& shape);

/// Writes the tensor's bytes as they lie in memory by its shape's layout. `memory` has at least as many bytes.
void to_memory(const Tensor& tensor, std::span<std::byte> memory);
/// Reads them back.
Tensor from_memory(const ir::Shape& shape, std::span<const std::byte> memory);

}  // namespace tailor::reference
