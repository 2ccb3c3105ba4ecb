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

#include "support/paths.h"

namespace tailor::tests {

inline std::string test_worker() {
  const std::string program = built("tests/profiler/test_worker");
  if (!std::filesystem::exists(program))
    throw std::runtime_error(program + " is not built: ninja -C build tests/profiler/test_worker");
  return program;
}

}  // namespace tailor::tests
