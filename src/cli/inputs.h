// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What commands read: models, devices, calibrations, and one group of a fused model. Names are looked up in the data
// folder, which lies beside an installed program or in the sources it was built from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "costmodel/calibration.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/space.h"
#include "hlo/import.h"
#include "ir/device.h"
#include "profiler/compile/nvrtc.h"
#include "profiler/gpu/request/request.h"

namespace tailor::cli {

/// ../share/tailor beside the program when it is there, else data/ of the sources.
std::filesystem::path default_data_folder();

/// Imports a file; warnings go to the console. Throws Error(failed), for a file that is not there with the nearest
/// name.
hlo::Imported load_model(const Context& context, const std::string& path);
/// Throws Error(missing) naming the nearest, Error(failed) for a file that is not sound.
ir::Device load_device(const Context& context, const std::string& name);
/// `name` is a file stem in calibrations/ or a path.
ir::Calibration load_calibration(const Context& context, const std::string& name);
/// A cost model that needs no compiled kernel. Throws Error(usage) naming the nearest.
const costmodel::Model& projecting_model(const std::string& name);

/// "f32 [4096,768] row", or what keeps a group from being planned.
std::string needs_text(const codegen::Classified& needs);

/// One group of a model, ready to be planned. Neither copied nor moved: `prepared` points into `partition`.
struct Chosen {
  explicit Chosen(const Context& context, const GroupOptions& options);
  /// Of a whole model: no group is chosen until select_group().
  struct WholeModel {};
  Chosen(const Context& context, const GroupOptions& options, WholeModel);
  /// Chooses another group; when it cannot be planned says why and leaves `prepared` and `axes` undefined.
  std::optional<ir::Rejection> select_group(std::size_t group);
  Chosen(const Chosen&) = delete;
  Chosen& operator=(const Chosen&) = delete;

  ir::Device device;
  ir::Limits limits;
  costmodel::CalibratedDevice calibrated;  ///< `device` as models see it
  const costmodel::Model* model = nullptr;
  explore::Partition partition;
  std::size_t number = 0;  ///< index into partition.groups
  codegen::Prepared prepared;
  explore::Axes axes;
  std::vector<explore::AxisLimit> restrictions;

  const explore::DistinctGroup& group() const { return partition.groups[number]; }
  /// "group 3 of 12, 5f0c..., 24 places: sum_exp_divide, rows of 128".
  std::string title() const;
};

/// Where compiled kernels are kept unless the command line says otherwise; empty without a home.
std::filesystem::path default_cache_folder();

/// Where NVRTC is looked for.
profiler::NvrtcPaths nvrtc_paths(const std::string& library);
/// NVRTC from the named file or the usual places: the project's own environment, toolkits, the system's loader.
profiler::FoundNvrtc find_compiler(const std::string& library);

/// Where a GPU's libraries are looked for: as above, or `cupti` when it is named.
gpu::LibraryPaths library_paths(const std::string& cupti = {});

}  // namespace tailor::cli
