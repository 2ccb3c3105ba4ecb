// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The cost models: pure functions from work, calibrated device and regime to an Estimate, and the table that lists
// them. Each level sees more than the one before; none of ours is ever below sol (xla-model says what XLA says).
// Thread-safe: nothing is kept between calls.
// docs/model.md has the mathematics with the same symbols.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/calibration.h"
#include "costmodel/group_summary.h"
#include "costmodel/work.h"
#include "ir/binary.h"
#include "ir/counters.h"
#include "ir/device.h"
#include "ir/estimate.h"
#include "ir/fusion.h"
#include "ir/machine_work.h"
#include "ir/plan.h"
#include "ir/regime.h"

namespace tailor::costmodel {

/// What a group needs however it is written: each input read once, each output written once, each operation done once.
struct GroupWork {
  double bytes_read = 0, bytes_written = 0;
  double fma = 0, alu = 0, xu = 0, f64 = 0;  ///< lane instructions
  bool operator==(const GroupWork&) const = default;
};
GroupWork group_work(const ir::Group& group);
/// The part of a kernel's work that no plan avoids, or of all kernels of a program; `projected` is never below its sol.
GroupWork compulsory_work(const Work& work);

/// A library call: what goes in and out once, and its operations (2 for a multiply-add).
struct LibraryWork {
  double bytes = 0, flops = 0;
  bool operator==(const LibraryWork&) const = default;
};

// Each level answers for a regime: launch gap, ramp and dispatch floor are in the total only where the regime's time
// includes them, and what L2 holds at the start is the regime's cache state.

/// The bound: bytes over the specified bandwidth, operations over the pipes, launch. No efficiency, no latency.
ir::Estimate sol(const GroupWork& work, const CalibratedDevice& device, const ir::Regime& regime = {});
/// A group that is not lowered yet, as one kernel with the grid barriers it needs: bytes, instructions, launch,
/// barriers and what crosses them. Never below sol of the group.
ir::Estimate group(const GroupSummary& summary, const CalibratedDevice& device, const ir::Regime& regime = {});
// Of a program all but sol, group and library add up its kernels: times, parts, the part that binds in the sum; the
// occupancy, waves and registers shown are the worst of any. Each follower takes its launch, and finds in L2 what the
// kernels before it left there.

/// Throughput view (busiest pipe) and latency view (waves times one warp's chain), combined by the device's knee.
ir::Estimate projected(const Work& work, const CalibratedDevice& device, const ir::Regime& regime = {});
/// The requests that a work has, as machine code is to make them. Of this kernel, without followers.
ir::MachineRequests program_requests(const Work& work);
/// The work with the instructions that its machine code executes, launch by launch, by pipe; as it is where none were
/// counted. Of a program whose bodies are as one (by_launch).
Work with_machine(const Work& work, const ir::MachineWork& machine);
/// The steps of a program with what the machine code of its launches executes, in the proportion of its own counts.
Work executed_by_step(const Work& program, const ir::MachineWork& machine);
/// projected with the compiler's registers, spills as traffic and, where `machine` is given and was counted, the
/// instructions that the machine code executes. `binary` must have compiled, and have an entry for each kernel.
ir::Estimate compiled(const Work& work, const ir::Binary& binary, const CalibratedDevice& device,
                      const ir::Regime& regime = {}, const ir::MachineWork* machine = nullptr);

/// The work as an execution counted it: memory requests, sectors, bytes, shuffles, barriers and instructions by pipe.
/// Counts are of all launches of a program together, so each gets its share by what the program says of it.
Work with_counts(const Work& work, const ir::LaunchCounts& counts);
/// compiled on with_counts(work, counts).
ir::Estimate counted(const Work& work, const ir::Binary& binary, const ir::LaunchCounts& counts,
                     const CalibratedDevice& device, const ir::Regime& regime = {});
/// The bound of a library call: its bytes over the specified bandwidth, launch.
ir::Estimate library(const LibraryWork& work, const CalibratedDevice& device, const ir::Regime& regime = {});

/// What XLA's own performance model says of the group as one of its kernels (costmodel/xla/price.h). Its launch
/// overhead is in the total where the regime's time includes the launch gap. No interval: XLA claims none. Throws
/// Error(missing) for a device that has no description of XLA's.
ir::Estimate xla_model(const ir::Graph& group, const CalibratedDevice& device, const ir::Regime& regime = {});

/// What a model may look at; absent ones are nullptr. The regime says what the answer is to contain.
struct ModelInputs {
  const GroupWork* group = nullptr;
  const Work* work = nullptr;
  const ir::Binary* binary = nullptr;
  const ir::MachineWork* machine = nullptr;
  const CalibratedDevice* device = nullptr;
  const ir::LaunchCounts* counts = nullptr;
  const LibraryWork* library = nullptr;
  const GroupSummary* summary = nullptr;
  const ir::Graph* graph = nullptr;  ///< the group
  ir::Regime regime = {};
};

struct Model {
  std::string_view name;
  ir::Level level;
  std::string_view sees;
  std::string_view accounts_for;
  bool ranks_plans;  ///< needs nothing but the program: a search may ask it for every plan
  ir::Estimate (*estimate)(const ModelInputs& inputs);
};
std::span<const Model> models();
/// nullptr when there is none of that name.
const Model* find_model(std::string_view name);

/// What can be changed about a kernel: advice names nothing else.
struct Changeable {
  bool has_neighbours = true;      ///< the model has other kernels, into which it could be fused
  const ir::Plan* plan = nullptr;  ///< how it is written; null: not known
  /// What the same model says of another plan of the group; nothing where that has no kernel. Where it can be asked,
  /// advice names no plan that it does not predict to be faster.
  std::function<std::optional<Seconds>(const ir::Plan&)> price = {};
  /// Why the lists of explore lack a plan and how they get it, in words that advice then adds; empty: they have it.
  std::function<std::string(const ir::Plan&)> left_out = {};
};

/// At most two sentences on what would make the kernel faster, each resting on a number that was counted or estimated.
std::vector<std::string> advice(const ir::Estimate& estimate, const Work& work, const CalibratedDevice& device,
                                const Changeable& changeable = {});

}  // namespace tailor::costmodel
