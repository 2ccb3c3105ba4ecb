// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole models timed: all memory-bound kernels of a model, in order, as one stream of launches and as one CUDA graph,
// for several strategies in turns, in one run on one GPU. A question comes in; times, a table and rows of a database go
// out. Library calls are left out of all strategies, so what differs between the rows is the fusion. Called by
// tailor profile --module.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo/import.h"
#include "profiler/measure/sequence_cache.h"
#include "profiler/xla/xla_measure.h"
#include "report/table.h"
#include "store/rows.h"
#include "study/module/module_sequence.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/observer.h"
#include "study/pipeline/question.h"
#include "study/pipeline/stages.h"

namespace tailor::study {

/// What is to be compared.
struct ModuleQuestion {
  Question what;  ///< its strategy and group are not looked at
  /// The first is what others are compared with. NAME:xla: its groups with the plans that are as XLA would write them.
  std::vector<std::string> strategies;
  std::int64_t top = 4;       ///< plans of each group that race for the module's kernel
  std::int64_t consider = 0;  ///< that are compiled, for the best `top` by their machine code; at most `top`: these
  std::int64_t rounds = 30;   ///< samples of each strategy and way
  bool odd_shapes = true;     ///< check each plan at an odd shape too
  std::string xla;            ///< a dump of the same model, whose kernels run in turn with ours; empty: none
  MeasureWords measure;
  Compiling compiling;
};

/// The strategies that were named, separated by commas, or all but those that ask for XLA's description of the device.
std::vector<std::string> named_strategies(const std::string& words);

/// A strategy of the comparison, or XLA with its own kernels.
struct ModuleVariant {
  std::unique_ptr<FusedModel> model;  ///< null of XLA's kernels
  bool as_xla = false;                ///< groups that have a plan as XLA would write it run that one
  ModuleSequence module;
  WorkPlaces left_out;  ///< of our kernels; of XLA's only their number is known (module.groups_left_out)
  int number = -1;      ///< of its sequence on the worker

  std::string name() const;
};

/// All samples of one strategy under one way to launch it and to find the cache.
struct ModuleTimes {
  std::size_t variant = 0;
  ir::CacheState cache = ir::CacheState::cold;
  ir::LaunchMode launch = ir::LaunchMode::stream;
  ir::Outcome outcome = ir::Outcome::ok;
  std::string reason;
  std::vector<store::ModuleSampleRow> samples;

  std::vector<double> seconds() const;
};

/// The protocol. Every distinct group of every strategy is measured first, so that each strategy runs its fastest plans
/// that are right; each sequence runs once between guard zones; then the strategies take turns in an order that is
/// drawn anew for every round.
class ModuleComparison {
 public:
  /// Loads the model once a strategy and opens the GPU. Throws Error(usage) for words that mean nothing, Error(missing)
  /// without a GPU. The observer of `watch` outlives it.
  ModuleComparison(ModuleQuestion question, const std::filesystem::path& data, const Watch& watch);
  void measure();
  const ir::Device& device() const { return variants_.front().model->target.device; }
  /// One row a strategy and way.
  report::Table table() const;
  /// Stores plans, kernels, measurements and the times of the whole model.
  void save(const std::filesystem::path& database, const std::string& command) const;
  /// Throws Error(failed) for a strategy whose kernels are wrong, Error(missing) for one without times.
  void refuse_bad() const;

 private:
  void measure_groups();
  void choose_groups();
  void race(std::size_t first, std::size_t count, std::map<Id, std::size_t>& fastest);
  void build_sequences();
  void add_xla();
  void take_turns();
  std::string why_none() const;
  void check_once(ModuleTimes& times);
  void take_one(ModuleTimes& times, std::int64_t round, std::size_t place);
  Spread spread(const ModuleTimes& times) const;
  double baseline_of(const ModuleTimes& way) const;
  std::string incomparable(const ModuleVariant& one) const;
  store::ModuleTimeRow row_of(const ModuleTimes& times, Id run, Id graph) const;

  ModuleQuestion question_;
  Watch watch_;
  hlo::Imported graph_;
  std::optional<profiler::XlaModule> xla_;
  std::vector<ModuleVariant> variants_;
  profiler::MeasureOptions how_;
  Measurer measurer_;
  std::vector<Candidate> candidates_;
  std::size_t searched_ = 0;                     ///< so many of them are the best plans; the others are as XLA's
  std::map<Id, std::size_t> fastest_, as_xlas_;  ///< group -> candidate
  std::unique_ptr<profiler::SequenceCache> sequences_;
  std::vector<ModuleTimes> times_;
};

/// The same table from records, without a GPU and a compiler.
struct ReplayedModule {
  std::string device;
  report::Table table;
  std::vector<std::string> missing;  ///< strategies that were asked for and were not recorded
};
/// Throws Error(missing) when there is no time of the model.
ReplayedModule replay_module(const ModuleQuestion& question, const std::filesystem::path& data, const Watch& watch);

/// Of both tables; `baseline` is the strategy that others are compared with.
std::vector<report::Column> module_columns(const std::string& baseline);

}  // namespace tailor::study
