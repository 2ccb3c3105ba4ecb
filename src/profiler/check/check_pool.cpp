// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that take the next kernel. In: requests, those of one group together. Out: verdicts in their order. Requests
// of one group stand together, so that few references live at a time. A thread does not wait for a reference that
// another evaluates while there is a kernel of another group to take.
//
// Memory is shared out before it is taken. A group that opens is given what its references and one execution take, and
// keeps it until its last kernel is done; a further execution of it beside the first needs its own. A group that does
// not fit waits for others to close. Nobody waits for good: the threads of an open group need nothing more to finish
// it, and whoever finishes a kernel takes the next one of an open group first. A group that would not fit alone, or of
// which some blocks run, gets inputs that repeat (repeats.h); when it does not fit so either, it is not executed.
#include "profiler/check/check_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/deadline.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/text.h"
#include "profiler/check/memory_need.h"

namespace tailor::profiler {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Groups of fewer bytes have inputs and a reference of the whole, however few blocks run.
constexpr std::int64_t worth_sampled = std::int64_t{1} << 25;

std::int64_t make_budget(std::int64_t most) {
  const auto free = static_cast<std::int64_t>(static_cast<double>(free_memory()) * share_of_free);
  return std::min((most > 0 ? most : default_check_memory) - held_memory(), free);
}

/// References of one group, one per seed. All but `executing` is guarded by the stage's mutex.
struct Shared {
  enum class State { closed, in_the_making, open } state = State::closed;
  std::vector<Reference> references;
  std::int64_t users = 0;
  bool sampled = true;                  ///< of all its kernels a sample of blocks runs
  bool divisible = true;                ///< of all its kernels one could run
  std::int64_t blocks = 0;              ///< a sample of so many, because all take too much memory; 0: as asked
  std::string sampled_for;              ///< why, in words
  std::int64_t executing = 0;           ///< bytes of the execution that takes most
  std::int64_t given = 0;               ///< of the budget: references and one execution
  bool slot_taken = false;              ///< somebody executes in the memory of that one
  const GivenArrays* arrays = nullptr;  ///< inputs are somebody's and do not repeat
};

/// How a group will be evaluated, and what it holds.
struct Fit {
  std::shared_ptr<const Repeats> repeats;
  std::int64_t bytes = 0;
};

class Stage {
 public:
  Stage(std::span<const CheckRequest> requests, const CheckStage& stage, CheckedAll& to)
      : requests_(requests), stage_(stage), to_(to) {
    to_.verdicts.resize(requests.size());
    taken_.assign(requests.size(), false);
    for (const CheckRequest& request : requests) {
      Shared& shared = shared_[key_of(request)];
      ++shared.users;
      shared.sampled = shared.sampled && blocks_to_run(*request.kernel, stage.each) > 0;
      shared.divisible = shared.divisible && can_sample(*request.kernel);
      shared.executing = std::max(shared.executing, bytes_of(request, shared));
      shared.arrays = request.given;
      work_ += work_of(request);
      if (shared.users == 1) work_ += work_of(*request.group);
    }
    progress_.total = requests.size();
    budget_ = make_budget(stage.memory);
    const int processors = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
    const int threads = stage.workers > 0 ? stage.workers : processors;
    workers_ = std::max(std::min(threads, static_cast<int>(requests.size())), 1);
    inside_ = std::max(threads / workers_, 1);
    threads_ = threads;
  }

  void run() {
    const double started = now();
    std::vector<std::future<void>> running;
    for (int i = 0; i < workers_; ++i)
      running.push_back(std::async(std::launch::async, [this] {
        while (const std::optional<Turn> turn = next()) {
          if (stage_.each.stop.stop_requested()) return;
          take(*turn);
        }
      }));
    for (std::future<void>& one : running)
      while (one.wait_for(between_words) != std::future_status::ready) {
        const std::lock_guard lock(mutex_);
        tell();
      }
    for (std::future<void>& one : running) one.get();
    to_.account.wall.value = now() - started;
  }

 private:
  /// A large reference or launch takes minutes: who looks on is told that it goes on.
  static constexpr std::chrono::milliseconds between_words{500};

  /// Precondition: the mutex is held.
  void tell() {
    if (work_ > 0) progress_.share = std::min(work_done_ / work_, 1.0);
    if (stage_.progress) stage_.progress(progress_);
  }

  /// How long a part takes goes with the bytes it touches, more or less.
  double work_of(const CheckRequest& request) const { return static_cast<double>(bytes_of(request)) * stage_.seeds; }
  double work_of(const ir::Group& group) const {
    return static_cast<double>(reference::bytes_to_evaluate(group.graph)) * stage_.seeds;
  }

  struct Turn {
    std::size_t at = 0;
    bool opens = false;  ///< whoever takes it evaluates the group's references first
  };

  /// The first kernel that nobody has taken and whose reference nobody is evaluating; without one, the first.
  std::optional<Turn> next() {
    const std::lock_guard lock(mutex_);
    std::optional<std::size_t> chosen;
    for (std::size_t i = first_open_; i < requests_.size(); ++i) {
      if (taken_[i]) continue;
      if (!chosen) chosen = first_open_ = i;
      if (shared_.at(key_of(requests_[i])).state == Shared::State::in_the_making) continue;
      chosen = i;
      break;
    }
    if (!chosen) return {};
    taken_[*chosen] = true;
    Shared& shared = shared_.at(key_of(requests_[*chosen]));
    const bool opens = shared.state == Shared::State::closed;
    if (opens) shared.state = Shared::State::in_the_making;
    return Turn{*chosen, opens};
  }

  void take(const Turn& turn) {
    const ThreadLimit own(inside_);
    const CheckRequest& request = requests_[turn.at];
    Shared& shared = shared_.at(key_of(request));
    if (turn.opens) open(shared, request);
    Checked verdict;
    verdict.state = Verdict::stopped;
    const std::optional<std::int64_t> taken = take_slot(shared, request);
    const double started = now();
    if (taken) verdict = guarded(request, shared.references);
    verdict.sampled_for = verdict.counts.blocks_run < verdict.counts.blocks_total ? shared.sampled_for : "";
    const double spent = now() - started;
    const std::lock_guard lock(mutex_);
    if (taken) give_slot(shared, *taken);
    if (--shared.users == 0) close(shared);
    to_.account.executing.value += spent;
    to_.account.lane_instructions += static_cast<double>(verdict.lane_instructions);
    ++progress_.done;
    work_done_ += work_of(request);
    progress_.refuted += is_refuted(verdict.state) ? 1 : 0;
    progress_.late += verdict.state == Verdict::timed_out ? 1 : 0;
    if (verdict.state != Verdict::stopped) {
      if (stage_.reached) stage_.reached(turn.at, verdict);
      to_.verdicts[turn.at] = std::move(verdict);
    }
    tell();
  }

  /// Kernels that share references: of one group, and as exact as one another.
  using Key = std::pair<Id, ir::Arithmetic>;
  static Key key_of(const CheckRequest& request) { return {request.group->id, request.kernel->arithmetic}; }

  std::int64_t bytes_of(const CheckRequest& request, const Shared& shared) const {
    return bytes_to_execute(*request.kernel, stage_.each.sanitize, blocks_to_run(*request.kernel, options_of(shared)));
  }
  std::int64_t bytes_of(const CheckRequest& request) const { return bytes_of(request, shared_.at(key_of(request))); }
  CheckOptions options_of(const Shared& shared) const {
    CheckOptions options = stage_.each;
    if (shared.blocks > 0) options.sample_blocks = shared.blocks;
    return options;
  }

  /// What it may take: as much as was set aside for it, and its share of what nobody holds.
  std::int64_t room_of(const CheckRequest& request) {
    const std::lock_guard lock(mutex_);
    return std::max<std::int64_t>(bytes_of(request) + std::max<std::int64_t>(budget_ - held_, 0) / workers_, 1);
  }

  /// Waits until `ready` says so; false when it was stopped before.
  template <class Ready>
  bool wait(std::unique_lock<std::mutex>& lock, Ready&& ready) {
    constexpr std::chrono::milliseconds between_looks{50};
    while (!ready()) {
      if (stage_.each.stop.stop_requested()) return false;
      changed_.wait_for(lock, between_looks);
    }
    return true;
  }

  /// The memory of the group's own execution when nobody uses it, else as much again; nothing when it was stopped.
  std::optional<std::int64_t> take_slot(Shared& shared, const CheckRequest& request) {
    std::unique_lock lock(mutex_);
    const std::int64_t bytes = bytes_of(request);
    const auto ready = [&] {
      return shared.state == Shared::State::open && (!shared.slot_taken || held_ + bytes <= budget_);
    };
    if (!wait(lock, ready)) return {};
    ++busy_;
    if (!shared.slot_taken) {
      shared.slot_taken = true;
      return 0;
    }
    held_ += bytes;
    return bytes;
  }
  void give_slot(Shared& shared, std::int64_t bytes) {
    --busy_;
    if (bytes == 0)
      shared.slot_taken = false;
    else
      held_ -= bytes;
    changed_.notify_all();
  }
  void close(Shared& shared) {
    shared.references.clear();
    held_ -= shared.given;
    shared.given = 0;
    changed_.notify_all();
  }

  /// What a group holds whose references are made of `graph`.
  std::int64_t bytes_with(const ir::Graph& graph, const Shared& shared) const {
    const std::int64_t inputs = bytes_of_inputs(graph), outputs = reference::bytes_of_outputs(graph);
    // Results of a sample are held against outputs in the order of memory.
    const std::int64_t judging = shared.sampled ? 2 * outputs : outputs;
    const std::int64_t of_a_seed = shared.arrays != nullptr && !shared.arrays->expected.empty() ? 2 : 1;
    return (stage_.seeds * of_a_seed - 1) * (inputs + outputs) + inputs +
           std::max(bytes_to_evaluate(graph, parts_of(graph)), judging + shared.executing);
  }

  /// Whole where that fits and is not more than a sample asks for, else with inputs that repeat where these can and
  /// take less; `bytes` may be more than there is.
  Fit fit_of(const ir::Graph& graph, const Shared& shared) const {
    Fit whole{nullptr, bytes_with(graph, shared)};
    if (shared.arrays != nullptr) return whole;
    const bool sampled = shared.sampled && reference::bytes_to_evaluate(graph) >= worth_sampled;
    if (whole.bytes <= budget_ && !sampled) return whole;
    Fit some{repeats_of(graph), 0};
    if (!some.repeats) return whole;
    some.bytes = bytes_with(kept_graph(*some.repeats), shared);
    return some.bytes < whole.bytes ? some : whole;
  }

  /// Where all blocks of a group's kernels take more memory than there is, and nobody asked for all of them, the
  /// largest sample of them that fits. What is still too large then stays as it was asked for, and is refused.
  void sample_to_fit(const CheckRequest& of, Shared& shared) {
    if (stage_.each.most_elements == 0 || shared.sampled || !shared.divisible) return;
    const std::int64_t whole = fit_of(of.group->graph, shared).bytes;
    if (whole <= budget_) return;
    Shared some;
    some.arrays = shared.arrays;
    for (const std::int64_t blocks : {4096, 1024, 256, 64, 16, 1}) {
      some.blocks = blocks;
      some.executing = 0;
      for (const CheckRequest& request : requests_) {
        if (key_of(request) != key_of(of)) continue;
        some.executing = std::max(some.executing, bytes_of(request, some));
        some.sampled = some.sampled && blocks_to_run(*request.kernel, options_of(some)) > 0;
      }
      const bool fits = fit_of(of.group->graph, some).bytes <= budget_;
      if (!std::exchange(some.sampled, true) || !fits) continue;
      const std::lock_guard lock(mutex_);
      shared.blocks = blocks;
      shared.executing = some.executing;
      shared.sampled = true;
      shared.sampled_for = fmt::format("all need {} of memory, {} are free", humane_bytes(static_cast<double>(whole)),
                                       humane_bytes(static_cast<double>(std::max<std::int64_t>(budget_, 0))));
      return;
    }
    const std::lock_guard lock(mutex_);
    shared.divisible = false;  // not even a block: it is the reference that takes so much
  }

  /// Evaluates the group's references; who comes meanwhile waits for a slot.
  void open(Shared& shared, const CheckRequest& request) {
    const ir::Group& group = *request.group;
    double started = now();
    std::vector<Reference> references;
    std::int64_t given = 0;
    bool evaluates = false, late = false;
    const std::optional<std::string> failure = failure_of([&] {
      sample_to_fit(request, shared);
      const Fit fit = fit_of(group.graph, shared);
      if (fit.bytes > budget_) {
        references.push_back(refused(out_of_memory(fit.bytes, budget_, remedies_of(request, shared))));
      } else if (std::unique_lock lock(mutex_); wait(lock, [&] { return held_ + fit.bytes <= budget_; })) {
        held_ += given = fit.bytes;
        evaluates = true;
        // Who waits for this reference leaves its processor to it.
        const ThreadLimit share(std::max(threads_ / ++busy_, 1));
        lock.unlock();
        started = now();
        references = evaluated(request, fit.repeats, late);
      }
    });
    if (stage_.each.stop.stop_requested())
      references.clear();
    else if (late)
      references.assign(1, refused(too_late(request, shared), true));
    else if (failure)
      references.assign(1, refused(in_words(*failure, request, shared)));
    const std::lock_guard lock(mutex_);
    shared.references = std::move(references);
    shared.given = given;
    busy_ -= evaluates ? 1 : 0;
    shared.state = Shared::State::open;
    to_.account.reference.value += now() - started;
    ++to_.account.references;
    work_done_ += work_of(group);
    changed_.notify_all();
  }

  /// One for each seed; on given inputs two where results are given too. Each may take as long as an execution: `late`
  /// says that one was given up.
  std::vector<Reference> evaluated(const CheckRequest& request, const std::shared_ptr<const Repeats>& repeats,
                                   bool& late) const {
    std::vector<Reference> references;
    const reference::ErrorBoundOptions bounds{.arithmetic = request.kernel->arithmetic};
    for (int i = 0; i < stage_.seeds; ++i) {
      const std::uint64_t seed = stage_.each.seed + static_cast<std::uint64_t>(i);
      const Deadline limit(stage_.each.stop, stage_.each.time_limit);
      const bool done = done_unless_stopped([&] {
        if (request.given == nullptr)
          references.push_back(evaluate_reference(*request.group, seed, repeats, limit.token(), bounds));
        else
          for (Reference& one : evaluate_given(*request.group, *request.given, seed, limit.token(), bounds))
            references.push_back(std::move(one));
      });
      late = limit.is_over() && !done;
      if (!done) break;
    }
    return references;
  }
  std::string too_late(const CheckRequest& request, const Shared& shared) const {
    const std::string less = takes_less(remedies_of(request, shared));
    return fmt::format("its reference takes longer than {:.3g} s; a larger --time-limit{} allows it{}{}",
                       stage_.each.time_limit.value, stage_.each.has_limits ? "" : " of tailor check",
                       less.empty() ? "" : ", ", less);
  }

  Remedies remedies_of(const CheckRequest& request, const Shared& shared) const {
    return {.raised = true,
            .sampled = !shared.sampled && shared.divisible,
            .elsewhere = !stage_.each.has_limits,
            .smaller = stage_.each.may_shrink && can_shrink(request.group->graph, *request.kernel)};
  }

  static Reference refused(std::string why, bool late = false) {
    Reference reference;
    reference.late = late;
    reference.reason = std::move(why);
    return reference;
  }
  /// What somebody may do about it beside.
  std::string in_words(const std::string& failure, const CheckRequest& request, const Shared& shared) const {
    const std::string less = failure == no_memory ? takes_less(remedies_of(request, shared)) : "";
    return less.empty() ? failure : failure + "; " + less;
  }

  static constexpr std::string_view no_memory = "the machine gave no more memory";

  /// Does the work; what it failed for, in words, or nothing.
  template <class Work>
  static std::optional<std::string> failure_of(Work&& work) {
    try {
      work();
      return std::nullopt;
    } catch (const Error& error) {
      return error.message;
    } catch (const std::bad_alloc&) {
      return std::string(no_memory);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  /// What goes wrong with one kernel is its verdict, and not the end of the others.
  Checked guarded(const CheckRequest& request, const std::vector<Reference>& references) {
    Checked verdict;
    bool done = false;
    const std::optional<std::string> failure =
        failure_of([&] { done = done_unless_stopped([&] { verdict = checked(request, references); }); });
    if (done) return verdict;
    verdict = {};
    verdict.state = failure ? Verdict::not_executed : Verdict::stopped;
    verdict.reason = failure ? in_words(*failure, request, shared_.at(key_of(request))) : "";
    return verdict;
  }

  /// The first verdict that is not `passed`, else the first with the worst error of all.
  Checked checked(const CheckRequest& request, const std::vector<Reference>& references) {
    const Executor execute = stage_.executor(*request.kernel, *request.binary);
    Checked all;
    if (references.empty()) all.state = Verdict::stopped;
    for (const Reference& reference : references) {
      CheckOptions options = options_of(shared_.at(key_of(request)));
      options.seed = reference.seed;
      options.threads = inside_;
      options.machine = request.machine;
      options.most_memory = room_of(request);
      Checked one = check(*request.kernel, reference, execute, options);
      const bool first = &reference == &references.front();
      one.worst = first ? one.worst : std::max(one.worst, all.worst);
      one.judged = first || one.state == Verdict::not_judged ? one.judged : std::max(one.judged, all.judged);
      one.time += all.time;
      one.lane_instructions += all.lane_instructions;
      if (first || one.state != Verdict::passed) {
        all = std::move(one);
      } else {
        all.worst = one.worst;
        all.judged = one.judged;
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
  std::map<Key, Shared> shared_;
  int workers_ = 1, inside_ = 1, threads_ = 1;
  int busy_ = 0;  ///< workers that evaluate or execute, and do not wait
  std::vector<bool> taken_;
  std::size_t first_open_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;     ///< memory or references
  std::int64_t budget_ = 0, held_ = 0;  ///< bytes
  CheckProgress progress_;
  double work_ = 0, work_done_ = 0;  ///< all, and what is done
};

}  // namespace

CheckAccount& CheckAccount::operator+=(const CheckAccount& more) {
  wall += more.wall;
  reference += more.reference;
  executing += more.executing;
  references += more.references;
  lane_instructions += more.lane_instructions;
  return *this;
}

CheckedAll check_all(std::span<const CheckRequest> requests, const CheckStage& stage) {
  CheckedAll all;
  if (!requests.empty()) Stage(requests, stage, all).run();
  return all;
}

}  // namespace tailor::profiler
