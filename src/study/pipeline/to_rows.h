// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From records to rows: how graphs, groups, plans, estimates and binaries stand in the database. In: records of ir and
// results of the profiler. Out: rows of the store. One direction only; the way back is the summary's. Called by the
// recorder, by sweeps and by commands that store.
#pragma once

#include <string>

#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/plans/tune.h"
#include "hlo/import.h"
#include "ir/binary.h"
#include "ir/kernel/kernel.h"
#include "profiler/check/check.h"
#include "store/rows.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/xla_beside.h"

namespace tailor::study {

store::DeviceRow device_row(const ir::Device& device, const std::string& file_text);
store::GraphRow graph_row(const hlo::Imported& imported, const std::string& name, const std::string& source,
                          const std::stop_token& stop = {});
/// The id alone.
Id graph_id(const ir::Graph& graph, const std::stop_token& stop = {});
store::GroupRow group_row(const ir::Group& group, const costmodel::GroupWork& work, const std::string& title);
store::FusionRow fusion_row(Id graph, const ir::Graph& nodes, const ir::Fusion& fusion,
                            const explore::Partition& partition);
store::PlanRow plan_row(const ir::Plan& plan, const codegen::Prepared& prepared);
store::XlaPlanRow xla_plan_row(const XlaBeside& xla, Id group, Id device);
store::EstimateRow estimate_row(Id plan, Id device, const ir::Estimate& estimate, std::string_view model);
store::PredictionRow prediction_row(Id plan, Id device, const ir::Estimate& estimate, std::string_view model,
                                    const ir::Regime& regime);
store::KernelRow kernel_row(const ir::Kernel& kernel, Id id, std::string cuda);
store::BinaryRow binary_row(const ir::Binary& binary, Id kernel);

/// "simulator, seed 1", "simulator, seeds 1 to 3, 64 blocks sampled": who executed a kernel, and on what.
std::string check_method(const profiler::CheckOptions& options, int seeds);
/// The same of one kernel, with the sample of its blocks that such a check runs.
std::string check_method(profiler::CheckOptions options, int seeds, const Candidate& executed);
store::CheckRow check_row(const profiler::Checked& checked, Id kernel, const std::string& method);
/// An execution with what it counted, per buffer too. Only of a kernel that was executed.
store::MeasurementRow measurement_row(const profiler::Checked& checked, const ir::Kernel& kernel, Id run, Id binary,
                                      Id device, const std::string& method);
/// The rejection of a plan whose kernel was refuted.
store::PlanRejectionRow plan_rejection_row(const profiler::Checked& checked, Id plan, Id device);

}  // namespace tailor::study
