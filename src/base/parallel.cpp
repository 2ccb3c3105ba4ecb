// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over ranges by several threads. In: items and what to do with a range of them. Out: all done. Called as
// parallel.h says. Threads are started for each loop and end with it: that takes a few hundredths of a millisecond,
// where a loop that is worth threads takes milliseconds, and nothing waits in the background. They take the next range
// from a shared counter, so that one that is held up does not hold up the others. std::async carries what a range
// throws to the caller.
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace tailor {

namespace {

thread_local int most_threads = 0;  // 0: as many as there are processors

/// A few ranges for each thread: enough to even out their paces.
constexpr std::int64_t ranges_of_thread = 8;

/// One loop under way.
struct Loop {
  std::int64_t total, step;
  const OfRange& of;
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> failed = false;
};

/// Tells the others of an exception without catching it.
struct Leaving {
  std::atomic<bool>& failed;
  bool done = false;
  ~Leaving() {
    if (!done) failed = true;
  }
};

void serve(Loop& loop) {
  const ThreadLimit alone(1);
  Leaving leaving{loop.failed};
  while (!loop.failed) {
    const std::int64_t first = loop.next.fetch_add(loop.step);
    if (first >= loop.total) break;
    loop.of(first, std::min(first + loop.step, loop.total));
  }
  leaving.done = true;
}

}  // namespace

ThreadLimit::ThreadLimit(int most) : before_(most_threads) { most_threads = std::max(most, 0); }
ThreadLimit::~ThreadLimit() { most_threads = before_; }

int threads_allowed() {
  static const int processors = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  return most_threads > 0 ? most_threads : processors;
}

void in_parallel(std::int64_t total, std::int64_t grain, const OfRange& of) {
  if (total <= 0) return;
  const std::int64_t grains = (total + grain - 1) / grain;
  const std::int64_t threads = std::min<std::int64_t>(threads_allowed(), grains / 2);
  if (threads <= 1) return of(0, total);
  Loop loop{total, std::max<std::int64_t>(grains / (threads * ranges_of_thread), 1) * grain, of};
  std::vector<std::future<void>> others;
  for (std::int64_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, [&loop] { serve(loop); }));
  serve(loop);
  for (std::future<void>& one : others) one.get();
}

}  // namespace tailor
