// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeping memory for the next array. In: arrays that nobody needs any more, and sizes that are wanted. Out: memory,
// used or fresh. Called by the evaluator while a walk lasts. Each thread has a short list; the smallest array that is
// large enough is handed out.
#include "reference/evaluate_memory.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "ir/graph/number.h"

namespace tailor::reference {

namespace {

using Bytes = std::vector<std::byte>;

/// Below this an allocation costs nothing to speak of.
constexpr std::size_t least_kept = 64 * 1024;
constexpr std::size_t most_arrays = 16;

struct Kept {
  bool active = false;
  std::vector<Bytes> arrays;  ///< ascending by size
  std::size_t bytes = 0;      ///< of all
};
thread_local Kept kept_values;

void keep(Bytes&& bytes) {
  if (!kept_values.active || bytes.size() < least_kept || bytes.capacity() > most_kept_bytes) return;
  const auto place = std::lower_bound(kept_values.arrays.begin(), kept_values.arrays.end(), bytes.size(),
                                      [](const Bytes& one, std::size_t size) { return one.size() < size; });
  kept_values.bytes += bytes.capacity();
  kept_values.arrays.insert(place, std::move(bytes));
  while (kept_values.arrays.size() > most_arrays || kept_values.bytes > most_kept_bytes) {
    kept_values.bytes -= kept_values.arrays.front().capacity();
    kept_values.arrays.erase(kept_values.arrays.begin());
  }
}

/// At most twice as large as asked for, so that small values do not eat the large arrays.
Bytes taken(std::size_t size) {
  const auto place = std::lower_bound(kept_values.arrays.begin(), kept_values.arrays.end(), size,
                                      [](const Bytes& one, std::size_t wanted) { return one.size() < wanted; });
  if (size < least_kept || place == kept_values.arrays.end() || place->size() > 2 * size)
    return large_array<std::byte>(size);
  Bytes bytes = std::move(*place);
  kept_values.arrays.erase(place);
  kept_values.bytes -= bytes.capacity();
  bytes.resize(size);
  return bytes;
}

}  // namespace

KeptMemory::KeptMemory() : outermost_(!kept_values.active) { kept_values.active = true; }

KeptMemory::~KeptMemory() {
  if (outermost_) kept_values = {};
}

Tensor unwritten(const ir::Shape& shape) { return {shape, taken(content_bytes(shape))}; }

Tensor copied(const ir::Shape& shape, const std::vector<std::byte>& bytes) {
  Tensor tensor{shape, taken(bytes.size())};
  std::copy(bytes.begin(), bytes.end(), tensor.bytes.begin());
  return tensor;
}

std::shared_ptr<Tensor> shared(Tensor&& tensor) {
  return {new Tensor(std::move(tensor)), [](Tensor* last) {
            keep(std::move(last->bytes));
            delete last;
          }};
}

}  // namespace tailor::reference
