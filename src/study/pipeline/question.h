// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is asked, in words, and what the words mean: a model, a device, a strategy, a group, a plan. Names and paths
// come in; the model fused for the device, its groups prepared when they are first asked for, and candidates go out.
// Names are looked up in a data folder; one that is not there is answered with the nearest that is. Called by every
// command that looks at plans.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "costmodel/calibration.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/plans/space.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/observer.h"
#include "study/pipeline/stages.h"

namespace tailor::study {

/// Imports a file, or standard input for "-"; the watch's observer is told its warnings. `data` is the folder with
/// models/. Throws Error(failed), for a file that is not there with the nearest name.
hlo::Imported load_model(const std::filesystem::path& data, const std::string& path, const Watch& watch);
/// `name` is a file stem in data/devices or a path. Throws Error(missing) naming the nearest, Error(failed) for a file
/// that is not sound.
ir::Device load_device(const std::filesystem::path& data, const std::string& name);
/// The same with the text of its file, its limits and the calibration that models see it through.
Target load_target(const std::filesystem::path& data, const std::string& name, const ir::Calibration& calibration);
/// `name` is a file stem in data/calibrations or a path.
ir::Calibration load_calibration(const std::filesystem::path& data, const std::string& name);
/// Devices to compare, seen through one calibration, in the order of their names. Throws as load_target() does,
/// Error(usage) for a GPU that is named twice.
std::vector<costmodel::CalibratedDevice> load_devices(const std::filesystem::path& data,
                                                      const std::vector<std::string>& names,
                                                      const ir::Calibration& calibration);
/// Names of the cost models that may rank plans: what --cost-model takes.
std::vector<std::string_view> ranking_models();
/// One of them. Throws Error(usage) naming the nearest.
const costmodel::Model& projecting_model(const std::string& name);

/// What a strategy is told wherever one is asked: the device where there is one (it outlives the setting), the model
/// that prices groups, when to stop. Without a limit and with seed 0.
explore::FusionSetting fusion_setting(const costmodel::CalibratedDevice* device, const Watch& watch);

/// "f32 [4096,768] row", or what keeps a group from being planned.
std::string needs_text(const codegen::Classified& needs);

/// Which group of which model, on which device.
struct Question {
  std::string model;
  std::string device;
  std::string strategy{explore::default_strategy};
  std::string group;  ///< number in the listing of `fuse`, or the beginning of its id; empty: the one that moves most
  std::string calibration = "uncalibrated";
  std::string cost_model = "projected";
  std::vector<std::string> axes;  ///< "threads=128,256"
};

/// A model as a strategy cuts it, for one device. Each group is prepared once, when it is first asked for. Neither
/// copied nor moved: candidates point into it.
class FusedModel {
 public:
  /// Throws as the functions above do, Error(failed) for a model without groups, Error(interrupted).
  FusedModel(const Question& question, const std::filesystem::path& data, const Watch& watch);
  FusedModel(const FusedModel&) = delete;
  FusedModel& operator=(const FusedModel&) = delete;

  /// Whether the question names a group.
  bool names_group() const { return !wanted_.empty(); }
  /// Precondition: `number` is below partition.groups.size().
  const PreparedGroup& group(std::size_t number);
  /// Why no plan of a group can be made; nothing where one can.
  std::optional<ir::Rejection> refused(std::size_t number);
  /// The number of the group that the question names; without a name that of the group that moves most. Throws
  /// Error(usage) for a name that fits none or several.
  std::size_t asked_group() const;
  /// The same, for a group that can be planned; says in a note which it is where the question does not.
  /// Throws Error(usage) for a name that fits none or several, Error(failed) for a group that cannot be planned.
  std::size_t chosen_group();
  /// "group 3 of 12, 5f0c..., 24 places: sum_exp_divide, rows of 128".
  std::string title(std::size_t number);
  /// How its plans are chosen: by the question's model and axes, `top` different kernels of a group; 0: all. `random`
  /// and `seed` as in Choosing.
  Choosing choosing(std::int64_t top, std::int64_t random = 0, std::uint64_t seed = 1) const;

  ir::Calibration calibration;  ///< that `target` is calibrated by
  Target target;
  const costmodel::Model* model = nullptr;
  ir::Graph graph;  ///< of the model, which `partition` is of
  explore::Partition partition;

 private:
  std::string wanted_;  ///< the group's name
  std::vector<explore::AxisLimit> limits_;
  std::vector<std::unique_ptr<PreparedGroup>> groups_;  ///< by number
  Watch watch_;
};

/// Which of its plans.
struct PlanChoice {
  /// A plan's text, or its rank; empty: the best `top`. "xla" is the one that XLA would write, of every group where the
  /// question names none.
  std::string plan;
  std::int64_t top = 4;     ///< of each group; 0: all
  bool whole = false;       ///< every group of the model instead of the chosen one
  std::int64_t random = 0;  ///< more of each group, drawn from the rest of the ranking
  std::int64_t seed = 1;    ///< of the draw
};

/// What runs where a model has no group, in a sentence without its point; empty where it has one.
std::string nothing_to_fuse(const explore::Partition& partition);

/// Why a space that was searched holds no plan, to throw: the rule that refused most, in its words.
Error no_plan_error(const explore::Tuned& tuned);

/// One plan of a group. `plan` is its text, its rank in `explore`, or empty for the best. Throws Error(usage) for text
/// that is no plan, Error(failed) for a plan that cannot be lowered, Error(interrupted) when asked to stop.
Candidate choose_plan(FusedModel& model, std::size_t group, const std::string& plan, const Watch& watch);
/// Gives plans of one group the places that tailor explore shows them at, XLA's plan among the others. A kernel that
/// the search does not reach has place 0.
void place_among_all(FusedModel& model, std::size_t group, std::span<Candidate> plans, const Watch& watch);

/// A group without a plan, and why: the structure that is not written yet, or the rule that refuses its plans.
struct Unplanned {
  std::size_t number = 0;  ///< in its partition, from 0
  Id id;
  std::string title;
  std::string rule, why;  ///< the rule or structure, and all that is said of it
};

/// Candidates of different kernels, printed; those of a group stand next to one another. Groups that cannot be planned
/// are counted in a note. Throws Error(failed) when there is no plan at all; what was chosen so far when asked to stop.
/// With `unplanned`, groups without a plan are put there, and neither noted nor thrown for.
std::vector<Candidate> choose_plans(FusedModel& model, const PlanChoice& choice, const Watch& watch,
                                    std::vector<Unplanned>* unplanned = nullptr);

}  // namespace tailor::study
