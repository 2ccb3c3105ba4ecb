// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that take the next kernel. In: requests, those of one group together. Out: verdicts in their order. Requests
// of one group stand together, so that few references live at a time. A thread does not wait for a reference that
// another evaluates while there is a kernel of another group to take.
#include "profiler/check/check_pool.h"

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
  bool in_the_making = false;  ///< guarded by the stage's mutex
  std::vector<Reference> references;
  std::atomic<std::int64_t> users{0};
};

class Stage {
 public:
  Stage(std::span<const CheckRequest> requests, const CheckStage& stage, CheckedAll& to)
      : requests_(requests), stage_(stage), to_(to) {
    to_.verdicts.resize(requests.size());
    taken_.assign(requests.size(), false);
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
        while (const std::optional<std::size_t> at = next()) {
          if (stage_.each.stop.stop_requested()) return;
          take(*at);
        }
      }));
    for (std::future<void>& one : running) one.wait();
    for (std::future<void>& one : running) one.get();
    to_.account.wall.value = now() - started;
  }

 private:
  /// The first kernel that nobody has taken and whose reference nobody is evaluating; without one, the first.
  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    std::optional<std::size_t> chosen;
    for (std::size_t i = first_open_; i < requests_.size(); ++i) {
      if (taken_[i]) continue;
      if (!chosen) chosen = first_open_ = i;
      if (shared_.at(requests_[i].group->id).in_the_making) continue;
      chosen = i;
      break;
    }
    if (!chosen) return {};
    taken_[*chosen] = true;
    Shared& shared = shared_.at(requests_[*chosen].group->id);
    shared.in_the_making = shared.references.empty();
    return chosen;
  }

  void take(std::size_t at) {
    const CheckRequest& request = requests_[at];
    Shared& shared = shared_.at(request.group->id);
    std::call_once(shared.made, [&] { make(shared, *request.group); });
    const double started = now();
    std::optional<Checked> verdict = checked(request, shared.references);
    const double spent = now() - started;
    const std::lock_guard lock(mutex_);
    if (--shared.users == 0) shared.references.clear();
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
    std::vector<Reference> references;
    for (int i = 0; i < stage_.seeds; ++i)
      references.push_back(evaluate_reference(group, stage_.each.seed + static_cast<std::uint64_t>(i)));
    const std::lock_guard lock(mutex_);
    shared.references = std::move(references);
    shared.in_the_making = false;
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
  std::vector<bool> taken_;
  std::size_t first_open_ = 0;
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
