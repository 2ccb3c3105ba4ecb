// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine's clock, which is what most callers hand in. In: the standard library's steady clock. Out: its seconds,
// which count from an arbitrary moment and never go back. Called by the console of the program and by every session on
// a GPU, except where a test brings a clock of its own.
#include "base/clock.h"

#include <chrono>

namespace tailor {

Clock steady_clock() {
  return [] {
    return Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
  };
}

}  // namespace tailor
