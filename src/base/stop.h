// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ending work that somebody asked to stop. In: the token that the command line hands down, by which whoever listens for
// Ctrl-C asks. Out: an Error(interrupted) from inside a loop, which unwinds to main like any other, or to a stage that
// keeps what is finished. Called by every loop that may run longer than a moment, about once in a millisecond or for
// each item; asking costs one load.
//
// Two ways to end. A function whose partial result is of use (candidates that were scored, kernels that were checked)
// looks at the token, returns what it has and says so. All others throw here.
#pragma once

#include <stop_token>

#include "base/error.h"

namespace tailor {

/// Throws Error(interrupted) when it was asked for.
inline void stop_if_asked(const std::stop_token& stop) {
  if (stop.stop_requested()) [[unlikely]]
    throw Error(Fault::interrupted, "interrupted");
}

/// Does the work; false when a stop ended it before it was done. What it has stored or returned through references
/// until then stays. Other errors pass.
template <class Work>
bool done_unless_stopped(Work&& work) {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const Error& error) {
    if (error.fault != Fault::interrupted) throw;
    return false;
  }
}

}  // namespace tailor
