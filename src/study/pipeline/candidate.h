// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan on its way from a choice to a measured kernel: one record, filled by the stages (stages.h) as far as somebody
// asks. What it hangs on, the group and the device, is made once and shared by all of its plans. Made by choose() and
// named_plan(), read by every stage, table and recorder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "codegen/lower/prepare.h"
#include "costmodel/calibration.h"
#include "costmodel/model.h"
#include "costmodel/work.h"
#include "explore/partition.h"
#include "explore/plans/climb.h"
#include "ir/binary.h"
#include "ir/device.h"
#include "ir/fusion.h"
#include "ir/kernel/kernel.h"
#include "ir/machine_work.h"
#include "ir/plan.h"
#include "profiler/check/check.h"
#include "profiler/check/small_shape.h"
#include "profiler/measure/measure.h"

namespace tailor::study {

/// A device that is asked about, with the text of its file. Its id in a database is that of its name.
struct Target {
  ir::Device device;
  ir::Limits limits;
  costmodel::CalibratedDevice calibrated;  ///< as models see it
  std::string file;
  Id id;
  Id figures = {};  ///< hash of all that file and calibration say to models: estimates rest on it
};

/// A distinct group, prepared once for all plans of it. Neither copied nor moved: the preparation points into it.
struct PreparedGroup {
  PreparedGroup(const explore::DistinctGroup& distinct, std::size_t number_in_partition);
  PreparedGroup(const PreparedGroup&) = delete;
  PreparedGroup& operator=(const PreparedGroup&) = delete;

  ir::Group group;
  std::size_t number = 0;     ///< in its partition, from 0
  costmodel::GroupWork work;  ///< what it needs however it is written
  double bytes = 0;           ///< of one run: inputs and outputs once
  std::variant<codegen::Prepared, ir::Rejection> prepared;

  /// Null where no plan of it can be made.
  const codegen::Prepared* ready() const { return std::get_if<codegen::Prepared>(&prepared); }
  /// Its telling operations; the graph's name where no plan of it can be made.
  const std::string& title() const { return ready() != nullptr ? ready()->title : group.graph.name; }
};

/// The same plan at fewer rows of its group, which is another kernel.
struct OtherShape {
  profiler::SmallShape shape;
  std::string cuda;
  std::optional<ir::Binary> binary;
};

/// A plan with what is known of it so far. Stages leave what they cannot fill: empty is "nobody asked" or "stopped".
struct Candidate {
  const PreparedGroup* of = nullptr;  ///< outlives it
  const Target* on = nullptr;         ///< outlives it
  std::int64_t rank = 0;              ///< by the model that chose it, from 1; 0: it was named, or is XLA's
  bool is_xla = false;                ///< its kernel is the one that XLA would write (xla_beside.h)
  /// By that model, among all different kernels of its group; plans it cannot tell apart share. Place 0: nobody asked.
  ir::Placed placed = {.place = 0};
  ir::Plan plan;
  Id kernel_id;
  bool lowered = false;  ///< `kernel` and `work` are there: false for one that was only found in a database
  ir::Kernel kernel;
  costmodel::Work work;
  std::string cuda;                        ///< the kernel as CUDA C++
  std::optional<OtherShape> other;         ///< executed in the kernel's place, or checked beside it
  std::string other_is;                    ///< "64 of 4,096 rows"; without one: why
  std::optional<ir::Binary> binary;        ///< of the kernel at the group's own shape
  std::optional<ir::Rejection> refused;    ///< what its binary needs is not what the plan says
  std::optional<ir::MachineWork> machine;  ///< what its launch executes; there once `binary` has compiled
  std::optional<profiler::Checked> verdict;
  bool verdict_is_of_other = false;  ///< what was executed and counted is the other shape's kernel
  std::optional<profiler::CandidateResult> measured;
  explore::Standing standing;  ///< its estimates, level by level, and whether it is out

  /// Id in a database.
  Id plan_id() const { return id_of(plan, of->group.id); }
  /// Whether it has a binary that may run.
  bool compiled() const { return binary && binary->outcome == ir::CompileOutcome::ok && !refused; }
  /// Whether an execution counted this kernel, and not that of another shape.
  bool counted() const { return verdict && verdict->counts.blocks_run > 0 && !verdict_is_of_other; }

  /// Whether a sample of the launch's blocks was executed, and the results of the others were not looked at.
  bool sampled() const {
    return verdict && verdict->counts.blocks_run > 0 && verdict->counts.blocks_run < verdict->counts.blocks_total;
  }

  // What a check executes: the other shape where there is one.
  const ir::Group& executed_group() const { return other ? other->shape.group : of->group; }
  const ir::Kernel& executed_kernel() const { return other ? other->shape.kernel : kernel; }
  const std::string& executed_cuda() const { return other ? other->cuda : cuda; }
  const std::optional<ir::Binary>& executed_binary() const { return other ? other->binary : binary; }
};

}  // namespace tailor::study
