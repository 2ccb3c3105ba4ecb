// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which atomics without a result a GPU has. In: an operation, a type, a compute capability. Out: how many neighbouring
// elements one instruction changes, or that it takes a compare-and-swap, or that there is neither. Asked by the
// lowering, which says in each statement what it is; whoever reads the statement need not know the GPU.
#pragma once

#include "ir/graph/op.h"
#include "ir/graph/types.h"

namespace tailor::ir {

/// Elements of the widest instruction, each of them changed by itself; 0: no instruction does it.
int widest_reduction(Op op, DType dtype, int compute_capability);
/// Whether a compare-and-swap takes so wide a type.
bool has_exchange(DType dtype, int compute_capability);

}  // namespace tailor::ir
