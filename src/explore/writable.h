// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Somebody's groups as far as kernels of today can hold them. In: a graph and groups that may overlap. Out: the same
// cover with every group fallen apart whose kernel could be written in parts but not whole. Called by strategy "tailor"
// for the groups of the file, and by tests and measurements that hold "tailor" against others over the same groups.
#pragma once

#include <stop_token>
#include <vector>

#include "ir/fusion.h"

namespace tailor::explore {

/// What counts as written.
struct Writable {
  bool stages = false;    ///< loops that wait for one another in a launch are a kernel too
  bool unplanned = true;  ///< what no kernel of today can hold, whatever stands around it, has no plan in parts either
};

/// Every working node of `groups` is in a group of the result, groups may overlap as before. A group stays whole when a
/// kernel can be written for it, or when it holds an operation that no kernel of today can hold, if such are `wanted`.
/// A group with a library call in it falls apart. Asked to stop it returns single nodes for what it did not look at.
std::vector<std::vector<ir::NodeId>> writable(const ir::Graph& graph, const ir::DefUse& def_use,
                                              const std::vector<std::vector<ir::NodeId>>& groups,
                                              const std::stop_token& stop = {}, const Writable& wanted = {});

}  // namespace tailor::explore
