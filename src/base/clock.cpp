// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine's clock. In: the standard library's steady clock. Out: its seconds. Called where no test hands in a clock
// of its own.
#include "base/clock.h"

#include <chrono>

namespace tailor {

Clock steady_clock() {
  return [] {
    return Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
  };
}

}  // namespace tailor
