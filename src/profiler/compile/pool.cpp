// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that compile. In: distinct requests. Out: a binary for each, in order. Workers take the next request from a
// shared counter. Each has its own slot for the result, so the only lock is around the progress call. std::async
// carries a worker's exception to the caller.
#include "profiler/compile/pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <thread>

namespace tailor::profiler {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) { return {std::chrono::duration<double>(Clock::now() - start).count()}; }

/// One stage under way, shared by its workers.
struct Work {
  const Nvrtc& api;
  std::span<const CompileRequest> requests;
  const CompileStage& stage;
  std::vector<std::size_t> distinct = {};               // index of the first request of each kind
  std::vector<Id> sources = {};                         // of the distinct ones
  std::vector<std::optional<ir::Binary>> answers = {};  // of the distinct ones
  std::atomic<std::size_t> next = 0;
  std::mutex progress_lock = {};
  CompileProgress progress = {};
  std::atomic<bool> cache_failed = false;  ///< from then on nothing is kept
  std::string cache_fault = {};            ///< written once, read when all workers have ended
};

ir::Binary answer(Work& work, Compiler& compiler, std::size_t which) {
  const BinaryCache* cache = work.stage.cache;
  if (cache != nullptr) {
    std::optional<ir::Binary> kept = cache->find(work.sources[which]);
    if (kept && compiler.accepts(*kept)) return *std::move(kept);
  }
  ir::Binary binary = compiler.compile(work.requests[work.distinct[which]], work.stage.stop);
  if (cache == nullptr || !is_final(binary) || work.cache_failed) return binary;
  if (std::string reason = cache->keep(binary); !reason.empty() && !work.cache_failed.exchange(true))
    work.cache_fault = std::move(reason);
  return binary;
}

/// One worker's life; returns the seconds it spent inside the compiler.
Seconds serve(Work& work) {
  Seconds in_compiler;
  Compiler compiler(work.api, work.stage.compiler);
  while (!work.stage.stop.stop_requested()) {
    const std::size_t which = work.next.fetch_add(1);
    if (which >= work.distinct.size()) break;
    ir::Binary binary = answer(work, compiler, which);
    const bool cut_short = work.stage.stop.stop_requested() && !is_final(binary);
    if (!binary.cached) in_compiler += binary.compile_time;
    if (cut_short) break;
    const bool cached = binary.cached;
    work.answers[which] = std::move(binary);
    const std::lock_guard lock(work.progress_lock);
    work.progress.done += 1;
    work.progress.cached += cached ? 1 : 0;
    if (work.stage.progress) work.stage.progress(work.progress);
  }
  return in_compiler;
}

std::size_t workers_for(const CompileStage& stage, std::size_t tasks) {
  const std::size_t wanted =
      stage.workers > 0 ? static_cast<std::size_t>(stage.workers) : std::thread::hardware_concurrency();
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(tasks, 1));
}

}  // namespace

CompiledAll compile_all(const Nvrtc& api, std::span<const CompileRequest> requests, const CompileStage& stage) {
  const Clock::time_point start = Clock::now();
  Work work{api, requests, stage};
  std::map<Id, std::size_t> place;  // of each source among the distinct ones
  std::vector<std::size_t> place_of(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Id source = source_id(api, requests[i]);
    const auto [at, is_new] = place.try_emplace(source, work.distinct.size());
    place_of[i] = at->second;
    if (!is_new) continue;
    work.distinct.push_back(i);
    work.sources.push_back(source);
  }
  work.answers.resize(work.distinct.size());
  work.progress.total = work.distinct.size();
  if (stage.progress && work.progress.total > 0) stage.progress(work.progress);

  const std::size_t workers = workers_for(stage, work.distinct.size());
  std::vector<std::future<Seconds>> running;
  for (std::size_t i = 0; i < workers; ++i) running.push_back(std::async(std::launch::async, serve, std::ref(work)));

  CompiledAll all;
  for (std::future<Seconds>& worker : running) all.account.in_compiler += worker.get();
  for (std::size_t at : place_of) all.binaries.push_back(work.answers[at]);
  all.cache_fault = std::move(work.cache_fault);
  all.account.wall = since(start);
  all.account.worker_time = all.account.wall * static_cast<double>(workers);
  all.account.requests = requests.size();
  all.account.distinct = work.distinct.size();
  all.account.cached = work.progress.cached;
  all.account.compiled = work.progress.done - work.progress.cached;
  return all;
}

}  // namespace tailor::profiler
