// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work with a time limit: who ended it, the time or somebody else, is told apart; a limit that was never reached asks
// for nothing; and the thread that waits for it ends with the object, however long the limit is.
// Oracle: the order of events, with limits so far apart that no load of the machine brings them together. Part of the
// suite `base`.
#include "base/deadline.h"

#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <thread>

using namespace tailor;

namespace {

bool stops_within(const std::stop_token& token, std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!token.stop_requested() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return token.stop_requested();
}

}  // namespace

TEST_CASE("a deadline asks to stop when its time is up, and says that it was the time") {
  const Deadline limit({}, {0.01});
  CHECK(stops_within(limit.token(), std::chrono::seconds(30)));
  CHECK(limit.is_over());
}

TEST_CASE("a limit of nothing, or of less, is over at once") {
  for (const double seconds : {0.0, -1.0}) {
    const Deadline limit({}, {seconds});
    CHECK(stops_within(limit.token(), std::chrono::seconds(30)));
    CHECK(limit.is_over());
  }
}

TEST_CASE("who was asked to stop before the time was up was not late") {
  std::stop_source source;
  const Deadline limit(source.get_token(), {std::numeric_limits<double>::max()});
  CHECK_FALSE(limit.token().stop_requested());
  source.request_stop();
  CHECK(limit.token().stop_requested());
  CHECK_FALSE(limit.is_over());
}

TEST_CASE("a deadline that nobody waits for any more ends, and leaves the other token alone") {
  std::stop_source source;
  const auto started = std::chrono::steady_clock::now();
  { const Deadline limit(source.get_token(), {3600}); }
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::minutes(1));
  CHECK_FALSE(source.stop_requested());
}
