// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of values that nobody needs any more, for the values to come. Used by the evaluator while it walks a graph. An
// evaluation at full shape makes arrays of tens of megabytes at every node; fresh ones would cost more time in page
// faults than the arithmetic in them.
#pragma once

#include <memory>

#include "reference/evaluate.h"

namespace tailor::reference {

/// What a thread keeps at most. Larger arrays come from the system in huge pages, whose faults are few.
inline constexpr std::size_t most_kept_bytes = std::size_t{1} << 28;

/// While one lives, this thread keeps the memory of dropped values, the largest few of them. May be nested: the
/// outermost counts.
class KeptMemory {
 public:
  KeptMemory();
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

 private:
  bool outermost_;
};

/// As zeros(), with any contents: for those who write every element.
Tensor unwritten(const ir::Shape& shape);
/// A copy of `bytes` under another shape of as many bytes.
Tensor copied(const ir::Shape& shape, const std::vector<std::byte>& bytes);
/// A value whose memory is kept when its last owner drops it.
std::shared_ptr<Tensor> shared(Tensor&& tensor);

}  // namespace tailor::reference
