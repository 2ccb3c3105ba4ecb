// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The mutation score of the check of XLA's kernels: single instructions are changed in kernels of the reference folders
// whose results are judged, and the share that is seen is printed with the survivors by reason. Part of the slow
// suite; skipped where the folders are not at hand.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "profiler/xla/mutation.h"
#include "support/paths.h"
#include "support/skip.h"

using namespace tailor::profiler;
namespace fs = std::filesystem;

TEST_CASE("at least 95 of 100 changed kernels of the reference folders are seen") {
  const fs::path folder = fs::path(tailor::third_party_folder()) / "xla_reference";
  if (tailor::third_party_folder().empty() || !fs::exists(folder / "ptx")) return skip("no third-party data");
  mutation::Score score;
  std::set<std::string> names;  // the same kernel of several machines counts once
  for (const fs::path& base : {folder, folder / "workloads"})
    for (const XlaSource& source : xla_modules(base)) {
      if (source.ptx.empty()) continue;
      const XlaModule module = read_xla(source);
      for (const XlaKernel& kernel : module.kernels)
        if (!kernel.ptx.empty() && names.insert(kernel.entry + std::to_string(fs::file_size(kernel.ptx))).second)
          mutation::try_mutants(score, module, kernel, 12, 8'000'000, 11);
    }
  MESSAGE(mutation::text(score));
  CHECK(score.mutants >= 100);
  CHECK(score.share() >= 0.95);
}
