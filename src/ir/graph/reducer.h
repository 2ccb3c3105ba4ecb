// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a reduction starts from. In: a reducer and a type. Out: its neutral element, which leaves every
// value it is combined with as it is. Called by the passes that simplify reductions and by the
// lowering.
#pragma once

#include <cstdint>

#include "ir/graph/graph.h"
#include "ir/graph/types.h"

namespace tailor::ir {

/// The neutral element, for floating types in `real`, for the others in `integer`.
struct Neutral {
  double real = 0;
  std::int64_t integer = 0;
};
Neutral neutral(Reducer reducer, DType dtype);
/// Whether the node is a constant of one element that is it; of a sum either zero.
bool is_neutral(const Node& initial, Reducer reducer);

}  // namespace tailor::ir
