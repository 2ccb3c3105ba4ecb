// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From nouns to rows: how graphs, groups, plans, estimates and binaries stand in the database. One direction only.
#pragma once

#include <string>

#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/tune.h"
#include "ir/binary.h"
#include "ir/import.h"
#include "store/rows.h"

namespace tailor::cli {

store::DeviceRow device_row(const ir::Device& device, const std::string& file_text);
store::GraphRow graph_row(const ir::Imported& imported, const std::string& name, const std::string& source);
store::GroupRow group_row(const ir::Group& group, const costmodel::GroupWork& work, const std::string& title);
store::FusionRow fusion_row(Id graph, const ir::Graph& nodes, const ir::Fusion& fusion,
                            const explore::Partition& partition);
store::PlanRow plan_row(const ir::Plan& plan, Id group);
store::EstimateRow estimate_row(Id plan, Id device, const ir::Estimate& estimate, std::string_view model);
store::KernelRow kernel_row(const ir::Kernel& kernel, Id id, std::string cuda);
store::BinaryRow binary_row(const ir::Binary& binary, Id kernel);

}  // namespace tailor::cli
