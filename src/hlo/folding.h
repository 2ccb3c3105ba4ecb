// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of constant folding share. In: a graph while it is rewritten. Out: small arrays that are known,
// as constants; the operations whose result a GPU and the evaluator agree on. Called by the pass that folds constants
// (pass_constants.cpp).
#pragma once

#include "hlo/normalise.h"
#include "ir/graph/graph.h"

namespace tailor::hlo {

/// Whether a GPU gives the correctly rounded result of this floating operation, as the evaluator does.
bool is_rounded_exactly(ir::Op op);
/// Arrays of at most so many elements are folded.
inline constexpr std::int64_t most_folded_elements = 1024;
/// Nodes that are small known arrays become constants where they stand (pass_constant_arrays.cpp).
void fold_small_arrays(Rewrite& rewrite, PassCount& count);

}  // namespace tailor::hlo
