// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// As flight_test.cpp, over all models at hand. In: the folder that the build option third_party_data names. Out: a
// line for each plan, and the check. A slow suite of its own.
// Skipped without NVRTC and without models.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "flights.h"
#include "folder.h"
#include "support/paths.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::study;

TEST_CASE("the machine code of all models' short lists has the planned loads on their way at once") {
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  if (!compiler) return skip(compiler.reason);
  const std::filesystem::path root = third_party_folder();
  if (root.empty() || !std::filesystem::exists(root / "hlo")) return skip("no folder of models");
  std::vector<PlannedFlight> flights;
  for (const std::filesystem::path& folder : {root / "hlo", root / "workloads" / "hlo"}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".hlo") continue;
      std::vector<PlannedFlight> some = short_listed_flights(*compiler.api, file.path(), 12);
      for (PlannedFlight& flight : some)
        fmt::print("# {} {} {} {} {} {} {}\n", file.path().stem().string(), flight.group, flight.planned,
                   flight.outstanding, flight.planned_registers, flight.registers, flight.plan);
      std::fflush(stdout);
      flights.insert(flights.end(), some.begin(), some.end());
    }
  }
  check_flights(flights);
}
