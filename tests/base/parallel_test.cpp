// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops by several threads: every item is done once, whatever the numbers, ranges begin at whole grains, an exception
// reaches the caller, a loop inside a loop starts no threads, and limits nest. Oracle: counting. Part of the suite
// `base`.
#include "base/parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/stop.h"

using namespace tailor;

TEST_CASE("every item is done once, in ranges that begin at whole grains") {
  for (const int threads : {1, 2, 3, 8})
    for (const std::int64_t total : {0, 1, 5, 64, 1000, 1001})
      for (const std::int64_t grain : {1, 4, 7, 2000}) {
        CAPTURE(threads);
        CAPTURE(total);
        CAPTURE(grain);
        const ThreadLimit limit(threads);
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(total));
        std::atomic<bool> whole = true;
        in_parallel(total, grain, [&](std::int64_t first, std::int64_t last) {
          if (first % grain != 0 || (last % grain != 0 && last != total) || first >= last) whole = false;
          for (std::int64_t i = first; i < last; ++i) ++done[static_cast<std::size_t>(i)];
        });
        CHECK(whole);
        CHECK(std::all_of(done.begin(), done.end(), [](const std::atomic<int>& times) { return times == 1; }));
      }
}

TEST_CASE("what a range throws reaches the caller, and ranges not begun are left out") {
  const ThreadLimit limit(4);
  std::stop_source source;
  std::atomic<std::int64_t> done = 0;
  const auto loop = [&] {
    in_parallel(1 << 20, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        stop_if_asked(source.get_token());
        if (++done == 1000) source.request_stop();
      }
    });
  };
  CHECK_THROWS_AS(loop(), Error);
  CHECK(done < 1 << 20);
}

TEST_CASE("a loop inside a loop starts no threads, and limits nest") {
  const ThreadLimit limit(3);
  CHECK(threads_allowed() == 3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> elsewhere = 0;
  in_parallel(64, 1, [&](std::int64_t, std::int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    elsewhere += threads_allowed() != 1;
    in_parallel(64, 1, [&](std::int64_t, std::int64_t) { elsewhere += std::this_thread::get_id() != outer; });
    const std::lock_guard lock(mutex);
    threads.insert(outer);
  });
  CHECK(elsewhere == 0);
  CHECK(threads.size() <= 3);
  {
    const ThreadLimit all(0);
    CHECK(threads_allowed() == static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U)));
  }
  CHECK(threads_allowed() == 3);
}
