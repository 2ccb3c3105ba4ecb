// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs something that may not come back (a hang, a crash, an exit) in a child process,
// and tells how that ended, so that the test itself goes on. Used by the tests of
// scripts.
#pragma once

#include <functional>
#include <string>

namespace tailor::fake {

/// "exit N" (0: the body came back), "signal N", or "hangs" when it did not end in time; then it was killed.
std::string ending(const std::function<void()>& body, double seconds = 0.5);

}  // namespace tailor::fake
