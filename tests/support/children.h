// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether this program has children left, running or ended and not asked about.
// In: nothing. Out: that there is none, at once or within two seconds.
// Called by tests of what starts processes.
#pragma once

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace tailor::testing {

/// Soon: a process that was killed may be on its way out of memory. None is taken away here, which is not our business.
inline bool no_child_is_left() {
  constexpr int attempts = 2000;
  for (int i = 0; i < attempts; ++i) {
    siginfo_t one{};
    if (waitid(P_ALL, 0, &one, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace tailor::testing
