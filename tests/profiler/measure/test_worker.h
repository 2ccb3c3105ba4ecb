// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The program that plays the worker in tests. In: nothing. Out: its path. Called by the tests of measure. It is a
// target of its own, so a test program that was built alone may find it missing: then each test that needs it fails
// with the command that builds it.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace tailor::tests {

inline std::string test_worker() {
  if (!std::filesystem::exists(TAILOR_TEST_WORKER))
    throw std::runtime_error(TAILOR_TEST_WORKER " is not built: ninja -C build tests/profiler/test_worker");
  return TAILOR_TEST_WORKER;
}

}  // namespace tailor::tests
