// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of reductions by a function of one's own: Welford's variance, sums of logarithms, an online softmax.
// In: a reduction with its values and the bounds of what it reads, and its function on arrays with bounds. Out: the
// bounds of its results. Called by error_bound.cpp for what bounds/reduction.h has no rule for. fold.cpp has the model.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"
#include "reference/bounds/elementwise.h"

namespace tailor::reference {

/// One number of each array, of many places: arrays of one dimension with their bounds.
struct FoldedArrays {
  std::vector<Tensor> values;
  std::vector<Errors> errors;
};

/// The function, of `first` and `second`, element by element; nothing where a line of it has no rule.
using FoldStep = std::function<std::optional<FoldedArrays>(const FoldedArrays& first, const FoldedArrays& second)>;

/// `operands` parallel to call.operands: arrays, then initial values. Nothing where a step has no rule.
std::optional<std::vector<Errors>> fold_errors(const Call& call, const std::vector<Errors>& operands,
                                               std::span<const Tensor* const> results, const FoldStep& step);

/// Bytes that fold_errors() holds at most beside its operands and results, for a node `reduce` of a graph.
std::int64_t bytes_to_fold(const ir::Graph& graph, const ir::Node& reduce);

}  // namespace tailor::reference
