// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A resumable study: import, fuse, enumerate, score, compile the short list, execute it on the simulator, measure it
// where somebody can, store; all from one file. What is in the database already is not done again, so a sweep that was
// interrupted goes on where it stopped; Ctrl-C commits what is finished. A model that cannot be read is left out. A
// group that cannot be planned, a kernel that does not compile or computes something else is stored as such and does
// not end it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "profiler/check/check.h"
#include "profiler/compile/nvrtc.h"
#include "store/rows.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/observer.h"
#include "study/sweep/claim.h"
#include "study/sweep/config.h"

namespace tailor::study {

/// Who measures the short lists of a device, and how.
struct SweepMeasurer {
  Measurer who;
  profiler::MeasureOptions how;
};

struct SweepOptions {
  std::filesystem::path config;
  std::filesystem::path data;                     ///< folder with devices/ and calibrations/
  std::filesystem::path cache;                    ///< compiled kernels
  profiler::NvrtcPaths nvrtc;                     ///< where to look for the compiler
  profiler::CompilerSetup compiler = {};          ///< how it is started
  std::optional<std::filesystem::path> database;  ///< instead of the file's
  std::optional<std::string> calibration;         ///< likewise
  bool compile = true;                            ///< false: stop after scoring
  bool check = true;                              ///< false: stop after compiling
  int workers = 0;                                ///< 0: one per processor
  std::string command;                            ///< as typed, for the manifest
  /// Who measures: the profiler, its records or its GPU; the file says the rest. Empty: nobody.
  std::optional<MeasureWords> measure = {};
  /// Instead of that, asked once for each device. May throw Error(missing).
  std::function<SweepMeasurer(const ir::Device&, const ProfileConfig&, const Watch&)> measurer = {};
  /// Executes kernels; empty: the simulator.
  std::function<profiler::Executor(const ir::Kernel&, const ir::Binary&)> executor = {};
};

/// A model that could not be read.
struct LeftOutModel {
  std::filesystem::path model;
  std::string reason;
};

/// What a sweep did, for the closing notes and for tests.
struct SweepOutcome {
  /// 0 done, 1 a model was left out, some kernel did not compile or the axes leave no plan, 3 no compiler or claim not
  /// judged, 4 claim not met, 130 interrupted
  int exit_code = 0;
  std::string reason, hint;                              ///< of another exit code than 0
  std::vector<store::StrategyTotals> strategies;         ///< of its models, devices and strategies, as they are stored
  std::vector<store::StrategySearchAdded> search_added;  ///< of these and more, where kernels have plans as XLA's
  std::string baseline;                                  ///< the strategy that speed-ups are over
  /// Where the file has one, the sweep was not stopped and no model was left out.
  std::optional<JudgedClaim> claim;
  std::string claim_not_judged;  ///< why such a claim has no verdict; empty: it has one
  std::vector<LeftOutModel> left_out;
  std::filesystem::path database, report;
  std::int64_t models = 0, distinct_groups = 0;
  std::int64_t plans_scored = 0, plans_rejected = 0, groups_resumed = 0;
  std::int64_t plans_lowered =
      0;  ///< each once: those that were scored or refused, and the stored ones of a resumed sweep
  std::int64_t kernels_compiled = 0, kernels_cached = 0, kernels_failed = 0;
  std::int64_t kernels_passed = 0, kernels_refuted = 0, kernels_not_judged = 0, kernels_not_executed = 0;
  std::int64_t kernels_judged_in_part = 0;  ///< of the passed: some results had no bound to be held against
  std::int64_t kernels_sampled = 0;         ///< of the passed: some of their blocks were executed
  std::int64_t kernels_measured = 0, kernels_failed_on_gpu = 0, kernels_unmeasured = 0;
  Seconds scoring, compiling, in_compiler, checking, measuring;
  std::optional<gpu::Response> opened_gpu;  ///< that measured, when one did
  double compiler_share = 0;                ///< of the compile stage's worker time inside the compiler
  std::string setting;                      ///< of a point of a grid: label() of its configuration
  /// Of a grid: what each point did, as far as the sweep came. The counts above are their sums, the claim is that of
  /// the point where it comes out least, and the strategies are the points' own.
  std::vector<SweepOutcome> points = {};
};

/// The point of a grid whose claim is nearest to not holding; null where none was judged.
const SweepOutcome* least_claim(const SweepOutcome& grid);

/// The file as a sweep takes it: with the command line's changes, and with pages kept apart from another database's.
/// Throws Error(usage) for a file that asks for what there is not.
SweepConfig effective_config(const SweepOptions& options, const Watch& watch);

/// Throws as effective_config() does, before anything is written.
SweepOutcome run_sweep(const SweepOptions& options, const Watch& watch);

}  // namespace tailor::study
