// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of a sweep, each over what the one before left: load the models and fuse them, score every distinct group
// on every device, compile the short lists, execute them, measure them. A step runs the pipeline's stages over batches
// of candidates, commits batch by batch and asks the stop token between them. What a candidate lowers to stays in
// memory from step to step; only a sweep that goes on from a database lowers again, once. Private to the room.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/calibration.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "profiler/compile/nvrtc.h"
#include "store/store.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/observer.h"
#include "study/pipeline/recorder.h"
#include "study/pipeline/stages.h"
#include "study/sweep/config.h"
#include "study/sweep/sweep.h"

namespace tailor::study {

/// A group on a device: what a step is done with or not.
struct Place {
  const PreparedGroup* group = nullptr;
  const Target* target = nullptr;
  auto operator<=>(const Place&) const = default;
};

struct Sweep {
  const SweepOptions& options;
  SweepConfig config;
  std::string space;  ///< id of the plan space: axes, limits, model; see space_on()
  const costmodel::Model* model = nullptr;
  ir::Calibration calibration;
  std::vector<Target> devices;
  Recorder recorder;
  const Watch& watch;
  std::vector<std::unique_ptr<PreparedGroup>> groups = {};
  std::set<Id> graphs = {};                                  ///< ids of the models' graphs
  std::vector<store::FusionRow> fusions = {};                ///< of its models and strategies, without edges
  std::map<const Target*, std::int64_t> changed = {};        ///< groups that other numbers were known of
  std::map<Place, std::vector<Candidate>> chosen = {};       ///< short lists that were scored in this run
  std::map<Place, std::vector<Candidate>> short_lists = {};  ///< filled by short_list()
  SweepOutcome outcome = {};
  std::optional<Seconds> scoring_limit = {};  ///< no group is begun after so long: of a dry run

  store::Store& store() { return recorder.store(); }
};

/// What is read and checked before a database is opened.
struct SweepSetup {
  SweepConfig config;
  const costmodel::Model* model = nullptr;
  ir::Calibration calibration;
  std::vector<Target> devices;
  bool compiles = false;       ///< the file and the command line want kernels compiled
  profiler::FoundNvrtc nvrtc;  ///< looked for where they do
};
/// Of the file's configuration, or of a point of its grid. Throws as effective_config() does.
SweepSetup sweep_setup(const SweepOptions& options, SweepConfig config);
/// A sweep before its first step; its rows go to `database`, whose folder is there.
Sweep begun_sweep(const SweepOptions& options, SweepSetup setup, const std::filesystem::path& database,
                  const Watch& watch);

/// What an estimate of `model` is stored as: with the calibration it rests on.
inline std::string model_name(const Sweep& sweep, std::string_view model) {
  return costmodel::estimate_name(model, sweep.calibration.name);
}

/// What must be equal for stored work on a device to count as done: the space of plans and the models' numbers.
inline std::string space_on(const Sweep& sweep, const Target& target) {
  return hex(tailor::id_of(std::string_view(sweep.space + hex(target.figures))));
}

/// Imports every model, stores graphs, fusions, groups, library calls and bounds; fills `groups`.
void load_and_fuse(Sweep& sweep);
/// Enumerates, lowers and scores; stores plans, estimates, rejections and the kernels of the short lists.
void score_groups(Sweep& sweep);
/// Compiles every stored kernel of a device that has no binary for it yet; stores binaries and compiled estimates.
void compile_short_lists(Sweep& sweep, const profiler::Nvrtc& api);
/// Executes every stored binary of the short lists that was not yet; stores verdicts, counters, estimates of `counted`,
/// and rejects plans whose kernels are wrong.
void check_short_lists(Sweep& sweep, const profiler::Nvrtc& api);
/// Measures every kernel of the short lists that was not yet, on the device's GPU or from records; stores measurements
/// and profiled estimates, and rejects plans whose kernels are wrong.
void profile_short_lists(Sweep& sweep, const profiler::Nvrtc& api);

/// The stored short list of a place: plans whose lowering was kept, in the database's order. Those that were scored in
/// this run are as they were then; the others come from the database, not lowered.
std::vector<Candidate>& short_list(Sweep& sweep, const Place& place);
/// An estimate as far as a row has it.
ir::Estimate estimate_of(const store::EstimateRow& row);
/// The places where a step is not done yet. `key` names the step.
std::vector<Place> open_places(Sweep& sweep, const std::function<std::string(const Target&)>& key);
void mark_done(Sweep& sweep, const Place& place, const std::string& key, std::int64_t legal = 0,
               std::int64_t rejected = 0);
/// Whether kernels will run on the devices themselves, so that no other architecture will do.
bool runs_on_device(const Sweep& sweep);
/// How a step compiles: `done` of `total` kernels are behind it.
Compiling compiling(const Sweep& sweep, const profiler::Nvrtc& api, Shapes shapes, std::int64_t done,
                    std::int64_t total);

/// Runs `stage` over these candidates as one batch; what it leaves goes back to where they came from.
template <class Stage>
void with_batch(std::span<Candidate* const> all, std::span<const std::size_t> numbers, Stage&& stage) {
  std::vector<Candidate> batch;
  for (const std::size_t i : numbers) batch.push_back(std::move(*all[i]));
  stage(std::span(batch));
  for (std::size_t k = 0; k < numbers.size(); ++k) *all[numbers[k]] = std::move(batch[k]);
}

/// Those that XLA would write, and were not refuted, behind the numbers that are there.
void add_xla(std::span<Candidate* const> all, std::vector<std::size_t>& numbers);

/// Runs `stage` over the `top` best by the compiled estimate of each short list and XLA's plans, as one batch.
template <class Stage>
void with_best_compiled(std::span<std::vector<Candidate>* const> lists, std::int64_t top, Stage&& stage) {
  std::vector<Candidate*> all;
  std::vector<const explore::Standing*> standings;
  for (std::vector<Candidate>* list : lists)
    for (Candidate& candidate : *list) {
      all.push_back(&candidate);
      standings.push_back(&candidate.standing);
    }
  std::vector<std::size_t> numbers = explore::best_by(standings, ir::Level::compiled, top);
  add_xla(all, numbers);
  with_batch(all, numbers, stage);
}

}  // namespace tailor::study
