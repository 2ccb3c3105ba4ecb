// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scatters that an elementwise choice stands for.
// In: a scatter that was read. Out: its value in the graph, or nothing where it stays a scatter.
// Called by resolve_scatter(); the method is described in scatter_choices.cpp.
#pragma once

#include <optional>

#include "hlo/graph_builder.h"

namespace tailor::hlo {

/// `scatter`: of one array, with shapes that its updates fit. `combine`: what its region makes of an element and an
/// update; none where the update takes the element's place.
std::optional<HloValue> choose_updates(GraphBuilder& builder, const HloInstruction& instruction,
                                       const ir::Node& scatter, std::optional<ir::Op> combine);

}  // namespace tailor::hlo
