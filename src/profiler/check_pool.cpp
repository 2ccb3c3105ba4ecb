// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that take the next kernel. Requests of one group stand together, so that few references live at a time.
#include "profiler/check_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <thread>

namespace tailor::profiler {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// References of one group, one per seed.
struct Shared {
  std::once_flag made;
  std::vector<Reference> references;
  std::atomic<std::int64_t> users{0};
};

class Stage {
 public:
  Stage(std::span<const CheckRequest> requests, const CheckStage& stage, CheckedAll& to)
      : requests_(requests), stage_(stage), to_(to) {
    to_.verdicts.resize(requests.size());
    for (const CheckRequest& request : requests) ++shared_[request.group->id].users;
    const int processors = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
    const int threads = stage.workers > 0 ? stage.workers : processors;
    workers_ = std::max(std::min(threads, static_cast<int>(requests.size())), 1);
    inside_ = std::max(threads / workers_, 1);
  }

  void run() {
    const double started = now();
    std::vector<std::future<void>> running;
    for (int i = 0; i < workers_; ++i)
      running.push_back(std::async(std::launch::async, [this] {
        for (std::size_t at = next_++; at < requests_.size(); at = next_++) {
          if (stage_.each.stop.stop_requested()) return;
          take(at);
        }
      }));
    for (std::future<void>& one : running) one.wait();
    for (std::future<void>& one : running) one.get();
    to_.account.wall.value = now() - started;
  }

 private:
  void take(std::size_t at) {
    const CheckRequest& request = requests_[at];
    Shared& shared = shared_.at(request.group->id);
    std::call_once(shared.made, [&] { make(shared, *request.group); });
    const double started = now();
    std::optional<Checked> verdict = checked(request, shared.references);
    const double spent = now() - started;
    if (--shared.users == 0) shared.references.clear();
    const std::lock_guard lock(mutex_);
    to_.account.executing.value += spent;
    to_.account.lane_instructions += static_cast<double>(verdict->lane_instructions);
    ++progress_.done;
    progress_.total = requests_.size();
    progress_.refuted += is_refuted(verdict->state) ? 1 : 0;
    if (verdict->state != Verdict::stopped) to_.verdicts[at] = std::move(verdict);
    if (stage_.progress) stage_.progress(progress_);
  }

  void make(Shared& shared, const ir::Group& group) {
    const double started = now();
    for (int i = 0; i < stage_.seeds; ++i)
      shared.references.push_back(reference_of(group, stage_.each.seed + static_cast<std::uint64_t>(i)));
    const std::lock_guard lock(mutex_);
    to_.account.reference.value += now() - started;
    ++to_.account.references;
  }

  /// The first verdict that is not `passed`, else the first with the worst error of all.
  Checked checked(const CheckRequest& request, const std::vector<Reference>& references) const {
    const Executor execute = stage_.executor(*request.kernel, *request.binary);
    Checked all;
    for (const Reference& reference : references) {
      CheckOptions options = stage_.each;
      options.seed = reference.seed;
      options.threads = inside_;
      options.machine = request.machine;
      Checked one = check(*request.kernel, reference, execute, options);
      const bool first = &reference == &references.front();
      one.worst = first ? one.worst : std::max(one.worst, all.worst);
      one.time += all.time;
      one.lane_instructions += all.lane_instructions;
      if (first || one.state != Verdict::passed) {
        all = std::move(one);
      } else {
        all.worst = one.worst;
        all.time = one.time;
        all.lane_instructions = one.lane_instructions;
      }
      if (all.state != Verdict::passed) break;
    }
    return all;
  }

  std::span<const CheckRequest> requests_;
  const CheckStage& stage_;
  CheckedAll& to_;
  std::map<Id, Shared> shared_;
  int workers_ = 1, inside_ = 1;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  CheckProgress progress_;
};

}  // namespace

CheckedAll check_all(std::span<const CheckRequest> requests, const CheckStage& stage) {
  CheckedAll all;
  if (!requests.empty()) Stage(requests, stage, all).run();
  return all;
}

}  // namespace tailor::profiler
