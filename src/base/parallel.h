// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops that use the processors there are. In: how many items, how many of them are worth a thread's while, and what is
// to be done with a range of them. Out: all of it done, by the caller and as many threads beside it as pay. Called by
// the reference evaluator, by comparisons and by whoever makes inputs: their arrays have millions of elements, and a
// GPU waits for them.
//
// What is done with a range may touch only what belongs to its items, and must not depend on where ranges begin and
// end, which differs with the number of threads. Then results are the same bits for any number.
#pragma once

#include <cstdint>
#include <functional>

namespace tailor {

/// While one lives, loops of the thread that made it use so many threads at most, itself among them. 0: one for each
/// processor, as where there is no limit. Of nested ones the innermost counts. Whoever starts threads that work side by
/// side gives each its share.
class ThreadLimit {
 public:
  explicit ThreadLimit(int most);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};

/// What a loop of this thread may use; at least 1. Inside a range of such a loop it is 1.
int threads_allowed();

using OfRange = std::function<void(std::int64_t first, std::int64_t last)>;

/// Calls of(first, last) for ranges that are `total` items together, each a whole number of `grain` but for the last.
/// A thread is started only where it finds two ranges to do. Returns when all are done. What a range throws reaches the
/// caller after the ranges under way have ended; those not begun are left out. To be stopped, `of` asks (base/stop.h).
void in_parallel(std::int64_t total, std::int64_t grain, const OfRange& of);

}  // namespace tailor
