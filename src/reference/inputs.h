// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs with which a check says something. Plain random numbers would send most look-ups out of range, square roots
// below zero and quotients to infinity, where any kernel agrees with any other. So what a parameter is used for is
// followed back from those operations: integers that become indices lie inside what they index (those of a scatter
// without repetition where there is room), floats that end under a root, a logarithm or a bar are positive.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/evaluate.h"

namespace tailor::reference {

/// What is asked of a parameter's elements.
struct InputRange {
  std::int64_t limit = 0;  ///< integers from 0 to limit - 1; 0: any small ones
  bool distinct = false;   ///< no integer twice while there are unused ones
  bool positive = false;   ///< floats in [0.5, 2)
};

/// One per parameter, in order of number.
std::vector<InputRange> input_ranges(const ir::Graph& graph);

/// Contents for one parameter. The same seed gives the same tensor.
Tensor input_tensor(const ir::Shape& shape, const InputRange& range, std::uint64_t seed);

/// One per parameter, in order of number.
std::vector<Tensor> sensible_inputs(const ir::Graph& graph, std::uint64_t seed);

}  // namespace tailor::reference
