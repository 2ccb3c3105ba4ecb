// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Golden files: a text is compared with tests/golden/NAME. With UPDATE_GOLDEN=1 in the environment the file is
// rewritten and the case counts as skipped, so that a rewriting run is never mistaken for a passing one. Used by the
// suites that pin printed kernels, partitions and counters.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/text.h"
#include "support/paths.h"
#include "support/skip.h"

inline void check_golden(const std::string& name, const std::string& found) {
  const std::filesystem::path path = std::filesystem::path(tailor::source_folder()) / "tests" / "golden" / name;
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    tailor::write_file(path, found);
    return skip("golden file rewritten");
  }
  CHECK(found == tailor::read_file(path));
}
