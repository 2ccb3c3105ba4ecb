// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which results may be written over parameters: a cache that a step of decoding extends, a stack of gradients that a
// loop fills. In: a normalised graph and the module it came from. Out: the lists Graph::in_place of the graph and of
// the bodies of its loops. Called by the import when all passes are done.
#pragma once

#include "hlo/hlo_module.h"
#include "ir/graph/graph.h"

namespace tailor::hlo {

/// Pairs that the module's `input_output_alias` names, and the states of loops. Only outputs that update a part of an
/// array (dynamic-update-slice, scatter) are listed: for the others nothing would follow from it. Parts of the alias
/// list that do not read are left out with a warning in `warnings`.
void find_in_place(ir::Graph& graph, const HloModule& module, std::vector<std::string>& warnings);

}  // namespace tailor::hlo
