// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A group evaluated in parts of its outermost dimension. In: a group whose rows do not depend on one another, some of
// its steps, and the inputs as a whole. Out: the reference of these steps alone. Called by check.cpp where the
// reference of all rows would take more memory than there is, and where a sample of the blocks wrote a few rows only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codegen/lower/shrink.h"
#include "ir/fusion.h"
#include "reference/error_bound.h"

namespace tailor::profiler {

/// Where the steps of the outermost dimension lie in inputs and outputs.
struct Parts {
  ir::Graph graph;
  codegen::OuterExtent extent;
  std::vector<int> input_dims;   ///< by parameter: the dimension that is taken apart; -1: it is the same for all steps
  std::vector<int> output_dims;  ///< by output
  std::int64_t steps_at_once = 1;  ///< in one evaluation
  std::int64_t bytes = 0;          ///< that an evaluation of so many takes
};

/// Nothing where a step of the outputs is not the same function of that step of the inputs, whichever step it is: where
/// rows are summed over, reversed, numbered, or read from a constant of one value for each.
std::optional<Parts> parts_of(const ir::Graph& graph);

/// The elements of some steps along `dim`, in their order. -1: all elements.
reference::Tensor part_of(const reference::Tensor& whole, int dim, std::int64_t steps,
                          std::span<const std::int64_t> wanted);

/// The reference of the wanted steps, one tensor per output, the steps next to one another.
std::vector<reference::BoundedTensor> evaluate_part(const Parts& parts, std::span<const reference::Tensor> inputs,
                                                    std::span<const std::int64_t> wanted);

/// The row-major place in the whole of element `index` of such a part.
std::int64_t place_in_whole(const ir::Shape& whole, int dim, std::int64_t steps, std::span<const std::int64_t> wanted,
                            std::int64_t index);

}  // namespace tailor::profiler
