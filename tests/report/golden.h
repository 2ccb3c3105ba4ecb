// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Golden files of the report: the text is compared with tests/golden/NAME. With UPDATE_GOLDEN=1 in the environment the
// file is rewritten and the case counts as skipped, so a rewriting run is never mistaken for a passing one. Called by
// the suites `report` and `cli`.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "base/text.h"
#include "support/paths.h"
#include "support/skip.h"

inline void check_golden(const std::string& name, const std::string& found) {
  const std::string path = tailor::source_folder() + "/tests/golden/" + name;
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    tailor::write_file(path, found);
    skip("rewrote " + name);
    return;
  }
  const std::string expected = tailor::read_file(path);
  CHECK_MESSAGE(found == expected, name, " differs; UPDATE_GOLDEN=1 rewrites it");
}
