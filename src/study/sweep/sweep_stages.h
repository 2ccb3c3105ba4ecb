// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The stages of a sweep, each over what the one before stored: load the models, fuse them, score every distinct group
// on every device, compile the short lists, execute them. A stage commits unit by unit and asks the stop token between
// units.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "costmodel/calibration.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/tune.h"
#include "ir/device.h"
#include "profiler/compile/nvrtc.h"
#include "store/store.h"
#include "study/pipeline/observer.h"
#include "study/sweep/config.h"
#include "study/sweep/sweep.h"

namespace tailor::study {

struct SweepDevice {
  ir::Device device;
  ir::Limits limits;
  std::string file;  ///< text of the device file
  Id id;
};

/// A distinct group of the whole sweep with what planning it found.
struct SweepGroup {
  ir::Group group;
  costmodel::GroupWork work;
  std::variant<codegen::Prepared, ir::Rejection> prepared;
};

struct Sweep {
  const SweepOptions& options;
  SweepConfig config;
  std::string space;  ///< id of the plan space: axes, limits, model
  const costmodel::Model* model = nullptr;
  costmodel::Calibration calibration;
  std::vector<SweepDevice> devices;
  std::vector<std::unique_ptr<SweepGroup>> groups;  ///< stable addresses: Prepared points at its group
  std::set<Id> graphs;                              ///< ids of the models' graphs
  store::Store store;
  Observer& console;
  std::stop_token stop;
  SweepOutcome outcome;
  Id run;
};

/// Imports every model, stores graphs, fusions, groups, library calls and bounds; fills `groups`.
void load_and_fuse(Sweep& sweep);
/// Enumerates, lowers and scores; stores plans, estimates, rejections and the kernels of the short lists.
void score_groups(Sweep& sweep);
/// Compiles every stored kernel of a device that has no binary for it yet; stores binaries and compiled estimates.
void compile_short_lists(Sweep& sweep, const profiler::Nvrtc& api);

/// Executes every stored binary of the short lists that was not yet; stores verdicts, counters and simulated estimates,
/// and rejects plans whose kernels are wrong.
void check_short_lists(Sweep& sweep, const profiler::Nvrtc& api);

/// Measures every kernel of the short lists that was not yet, on the device's GPU or from records; stores measurements
/// and profiled estimates, and rejects plans whose kernels are wrong.
void profile_short_lists(Sweep& sweep, const profiler::Nvrtc& api);

/// One kernel of a short list: the plan it came from and where it shall run.
struct ShortListed {
  const SweepGroup* group = nullptr;
  const SweepDevice* device = nullptr;
  ir::Plan plan;
  Id kernel;
};
/// The stored short list of a group on a device: plans whose lowering was kept.
std::vector<ShortListed> short_list(Sweep& sweep, const SweepGroup& group, const SweepDevice& device);
/// Of it the compiled plans that nobody refuted, the `top` fastest by the compiled estimate.
std::vector<ShortListed> best_compiled(Sweep& sweep, const SweepGroup& group, const SweepDevice& device,
                                       std::int64_t top);
std::string arch_of(const Sweep& sweep, const SweepDevice& device);
ir::Kernel lowered_again(const ShortListed& task);

/// Applies the config's restrictions to the default axes of a group.
explore::Axes restricted_axes(const Sweep& sweep, const codegen::Prepared& prepared, const ir::Limits& limits);

}  // namespace tailor::study
