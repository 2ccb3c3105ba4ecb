// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a plan asks for at once is on its way at once in the machine code. In: the models that ship. Checked: the short
// lists of their largest groups.
// Part of the suite `study`; skipped without NVRTC.
#include <doctest/doctest.h>

#include "flights.h"
#include "folder.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::study;

TEST_CASE("the machine code has the loads of a short-listed plan on their way at once" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  if (!compiler) return skip(compiler.reason);
  std::vector<PlannedFlight> flights;
  for (const auto& file : std::filesystem::directory_iterator(source / "data/models"))
    if (file.path().extension() == ".hlo")
      for (PlannedFlight& flight : short_listed_flights(*compiler.api, file.path(), 8))
        flights.push_back(std::move(flight));
  check_flights(flights);
}
