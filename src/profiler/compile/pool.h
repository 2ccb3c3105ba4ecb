// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The compile stage: many texts, a few threads, answers in the order of the questions. NVRTC compiles different
// programs at the same time without a lock that shows, so threads do; equal requests are compiled once. The stage keeps
// account of where its time went: all but a sliver should be spent inside the compiler.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/units.h"
#include "profiler/compile/cache.h"
#include "profiler/compile/compile.h"
#include "profiler/compile/compiler.h"

namespace tailor::profiler {

struct CompileProgress {
  std::size_t done = 0, total = 0;  ///< distinct requests
  std::size_t cached = 0;           ///< of `done`
};

struct CompileStage {
  int workers = 0;                     ///< threads; 0: one for each processor
  const BinaryCache* cache = nullptr;  ///< none: nothing is read or kept
  CompilerSetup compiler = {};         ///< of each worker
  std::stop_token stop = {};           ///< what is not begun when it is asked to stop stays empty
  /// Called when the stage begins, then one at a time from the workers' threads.
  std::function<void(const CompileProgress&)> progress = {};
};

struct CompileAccount {
  Seconds wall;         ///< of the stage
  Seconds in_compiler;  ///< inside NVRTC, summed over workers
  Seconds worker_time;  ///< wall time of all workers together, idle tails counted
  std::size_t requests = 0, distinct = 0, compiled = 0, cached = 0;
  /// Fraction of the workers' time spent inside NVRTC; 0 when there was no work.
  double compiler_share() const { return worker_time.value > 0 ? in_compiler / worker_time : 0; }
};

struct CompiledAll {
  std::vector<std::optional<ir::Binary>> binaries;  ///< as many as requests, in their order; empty where stopped
  CompileAccount account;
  std::string cache_fault;  ///< why the cache could not be written; empty: it could, or nothing was to be kept
};

/// Throws what compile() and the cache throw, after the other workers have ended.
CompiledAll compile_all(const Nvrtc& api, std::span<const CompileRequest> requests, const CompileStage& stage);

}  // namespace tailor::profiler
