// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The thread of a deadline. In: a limit. Out: a stop that was asked for when the time is up. Called by whoever makes a
// Deadline. The thread sleeps until then, or until nobody waits for it any more: it ends with the object, and who asked
// first, the time or somebody else, is what the source of the token says.
#include "base/deadline.h"

#include <algorithm>
#include <chrono>

namespace tailor {

Deadline::Deadline(const std::stop_token& asked, Seconds limit)
    : asked_(asked, Ask{&source_}), timer_([this, limit](const std::stop_token& ended) {
        // A clock counts nanoseconds in 64 bits; a hundred years are within them, and as good as no limit.
        constexpr double longest = 100 * 365.0 * 86400;
        const auto until = std::chrono::steady_clock::now() +
                           std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                               std::chrono::duration<double>(std::clamp(limit.value, 0.0, longest)));
        std::unique_lock lock(mutex_);
        woken_.wait_until(lock, ended, until, [] { return false; });
        if (!ended.stop_requested()) end();
      }) {
  if (limit.value <= 0) end();
}

void Deadline::end() {
  if (source_.stop_requested()) return;
  over_ = true;  // before anybody is told to stop, who may ask at once
  source_.request_stop();
}

}  // namespace tailor
