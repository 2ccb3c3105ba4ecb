// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A group evaluated in parts of its outermost dimension. In: a group whose rows do not depend on one another, some of
// its steps, and the inputs as a whole. Out: the reference of these steps alone, or of all of them put together. Called
// by make_reference.cpp: a part stays in the cache while operation after operation passes over it, which the whole does
// not. That rows do not depend on one another is also what lets inputs repeat (repeats.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "codegen/lower/shrink.h"
#include "ir/fusion.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"

namespace tailor::profiler {

/// Where the steps of the outermost dimension lie in inputs and outputs.
struct Parts {
  ir::Graph graph;
  codegen::OuterExtent extent;
  std::vector<int> input_dims;   ///< by parameter: the dimension that is taken apart; -1: it is the same for all steps
  std::vector<int> output_dims;  ///< by output, the same
  std::int64_t steps_at_once = 1;  ///< in one evaluation
  std::int64_t bytes = 0;          ///< that an evaluation of so many takes
};

/// Nothing where a step of the outputs is not the same function of that step of the inputs, whichever step it is: where
/// rows are summed over, reversed, numbered, or read from a constant of one value for each.
std::optional<Parts> parts_of(const ir::Graph& graph);
/// The same along another dimension. Of an output that is the same for all steps the dimension is -1.
std::optional<Parts> parts_along(const ir::Graph& graph, codegen::OuterExtent extent);

/// The elements of some steps along `dim`, in their order. -1: all elements.
reference::Tensor part_of(const reference::Tensor& whole, int dim, std::int64_t steps,
                          std::span<const std::int64_t> wanted);

/// Evaluates one part after the other; what is the same for all parts is made once. Both arguments outlive it.
class PartEvaluator {
 public:
  PartEvaluator(const Parts& parts, std::span<const reference::Tensor> inputs,
                const reference::ErrorBoundOptions& bounds = {}, std::stop_token stop = {});
  /// The reference of the wanted steps, one tensor per output, the steps next to one another. Error(interrupted) when
  /// asked to stop.
  std::vector<reference::BoundedTensor> operator()(std::span<const std::int64_t> wanted);

 private:
  const Parts& parts_;
  std::span<const reference::Tensor> inputs_;
  reference::ErrorBoundOptions bounds_;
  std::stop_token stop_;
  reference::KeptMemory kept_;
  std::vector<reference::Tensor> some_;  ///< of the inputs
  std::int64_t steps_ = 0;               ///< of `graph_`
  ir::Graph graph_;
};

/// How many parts may be evaluated side by side: what they take together stays small beside the arrays.
std::int64_t parts_at_once(const Parts& parts);

/// The reference of all steps, evaluated part by part, several at once where threads are allowed: the same as of the
/// whole, in less time and memory.
std::vector<reference::BoundedTensor> evaluate_all(const Parts& parts, std::span<const reference::Tensor> inputs,
                                                   const reference::ErrorBoundOptions& bounds = {},
                                                   const std::stop_token& stop = {});

}  // namespace tailor::profiler
