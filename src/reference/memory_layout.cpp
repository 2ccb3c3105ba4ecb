// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Between a tensor and device memory. In: a tensor, or bytes in the layout of a shape. Out: the other. Called by
// whoever fills buffers before a launch and reads them after it. It is one walk over the runs of elements that are
// neighbours in both orders; each run is one copy.
#include "reference/memory_layout.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tailor::reference {

namespace {

/// Calls visit(row-major place, place in memory) for runs of `run` elements that are neighbours in both.
template <class Visit>
void each_run(const ir::Shape& shape, Visit&& visit) {
  const std::int64_t total = ir::elements(shape);
  if (total == 0) return;
  if (ir::is_row_major(shape) || shape.rank() == 0) return visit(std::int64_t{0}, std::int64_t{0}, total);
  const ir::Dims strides = ir::strides(shape);
  ir::Dims at = shape.dims;
  std::fill(at.begin(), at.end(), 0);
  std::int64_t memory = 0;
  for (std::int64_t i = 0; i < total; ++i) {
    visit(i, memory, std::int64_t{1});
    for (int d = shape.rank() - 1; d >= 0; --d) {
      memory += strides[d];
      if (++at[d] < shape.dims[d]) break;
      memory -= strides[d] * shape.dims[d];
      at[d] = 0;
    }
  }
}

}  // namespace

std::size_t element_width(const ir::Shape& shape) {
  const int bits = ir::row(shape.dtype).bits;
  if (shape.dtype == ir::DType::pred) return 1;
  return bits % 8 == 0 ? static_cast<std::size_t>(bits) / 8 : 0;
}

std::size_t memory_bytes(const ir::Shape& shape) { return element_count(shape) * element_width(shape); }

void to_memory(const Tensor& tensor, std::span<std::byte> memory) {
  const std::size_t width = element_width(tensor.shape);
  each_run(tensor.shape, [&](std::int64_t logical, std::int64_t physical, std::int64_t count) {
    std::memcpy(memory.data() + static_cast<std::size_t>(physical) * width,
                tensor.bytes.data() + static_cast<std::size_t>(logical) * width,
                static_cast<std::size_t>(count) * width);
  });
}

Tensor from_memory(const ir::Shape& shape, std::span<const std::byte> memory) {
  Tensor tensor{shape, std::vector<std::byte>(memory_bytes(shape))};
  const std::size_t width = element_width(shape);
  each_run(shape, [&](std::int64_t logical, std::int64_t physical, std::int64_t count) {
    std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(logical) * width,
                memory.data() + static_cast<std::size_t>(physical) * width, static_cast<std::size_t>(count) * width);
  });
  return tensor;
}

}  // namespace tailor::reference
