// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels executed: those that ship match the reference under every seed, and a kernel that was tampered with
// does not. The reference folders' kernels match where they are at hand, at full shape, the large ones by samples of
// their blocks. Part of the suite `profiler`.
#include "profiler/xla/xla_check.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/text.h"
#include "profiler/xla/shipped.h"
#include "support/paths.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

const std::string check_data = third_party_folder();

/// The check of the kernel with `from` replaced by `to` once in its PTX.
XlaCheck tampered(const std::string& entry, const std::string& from, const std::string& to) {
  const XlaModule module = shipped_module();
  for (XlaKernel kernel : module.kernels) {
    if (kernel.entry != entry) continue;
    std::string ptx = read_file(kernel.ptx);
    const std::size_t at = ptx.find(from);
    REQUIRE(at != ptx.npos);
    ptx.replace(at, from.size(), to);
    kernel.ptx = fs::temp_directory_path() / fmt::format("tailor_tampered_{}.ptx", ::getpid());
    write_file(kernel.ptx, ptx);
    XlaCheck result = check(module, kernel);
    fs::remove(kernel.ptx);
    return result;
  }
  FAIL("no kernel " << entry);
  return {};
}

}  // namespace

TEST_CASE("every kernel that ships matches the reference under every seed, without a finding") {
  const XlaModule module = shipped_module();
  for (const XlaKernel& kernel : module.kernels)
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(kernel.entry);
      CAPTURE(seed);
      XlaCheckOptions options;
      options.seed = seed;
      const XlaCheck found = check(module, kernel, options);
      CHECK_MESSAGE(found.outcome == XlaOutcome::matched, found.reason);
      CHECK(found.executed);
      CHECK(found.unjudged == 0);
      CHECK(found.results > 0);
      CHECK(found.worst <= 1);
      CHECK(found.simulation.counters.global_load_sectors > 0);
    }
}

TEST_CASE("stores of a kernel count every byte of its results") {
  const XlaModule module = shipped_module();
  for (const XlaKernel& kernel : module.kernels) {
    if (kernel.entry == "loop_dynamic_update_slice_fusion") continue;  // writes the update only
    CAPTURE(kernel.entry);
    std::int64_t written = 0;
    for (std::size_t i = static_cast<std::size_t>(kernel.operands); i < kernel.arguments.size(); ++i)
      written += ir::bytes(kernel.arguments[i].shape);
    CHECK(check(module, kernel).simulation.counters.global_store_bytes == written);
  }
}

TEST_CASE("a kernel that was tampered with is told from a right one") {
  CHECK(tampered("input_reduce_fusion_2", "shfl.sync.down.b32", "shfl.sync.up.b32").outcome != XlaOutcome::matched);
  CHECK(tampered("loop_add_fusion", "sub.rn.f32", "add.rn.f32").outcome == XlaOutcome::differs);
  CHECK(tampered("loop_divide_transpose_fusion", "st.global", "ld.global").outcome != XlaOutcome::matched);
  const XlaCheck unknown = tampered("loop_reduce_fusion", "add.rn.f32", "wgmma.mma");
  CHECK(unknown.outcome == XlaOutcome::cannot_simulate);
  CHECK(unknown.reason.find("wgmma") != std::string::npos);
  CHECK(tampered("loop_reduce_fusion", ".entry loop_reduce_fusion(", ".entry loop_other(").outcome ==
        XlaOutcome::cannot_simulate);
}

TEST_CASE("a kernel beyond the limit is left out and says so") {
  const XlaModule module = shipped_module();
  XlaCheckOptions options;
  options.most_elements = 100;
  const XlaCheck found = check(module, module.kernels[0], options);
  CHECK(found.outcome == XlaOutcome::too_large);
  CHECK(found.reason.find("the limit is 100") != std::string::npos);
  CHECK_FALSE(found.executed);
}

TEST_CASE("kernels of the reference folders match, large ones by a sample of their blocks" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const fs::path folder = check_data + "/xla_reference";
  if (check_data.empty() || !fs::exists(folder / "ptx")) return skip("no third-party data");
  std::map<XlaOutcome, std::int64_t> outcomes;
  std::size_t number = 0;
  for (const fs::path& base : {folder, folder / "workloads"})
    for (const XlaSource& source : xla_modules(base)) {
      if (source.ptx.empty()) continue;
      const XlaModule module = read_xla(source);
      for (const XlaKernel& kernel : module.kernels) {
        if (number++ % testing::effort<std::size_t>(9, 3, 1) != 0) continue;
        CAPTURE(source.name);
        CAPTURE(kernel.entry);
        XlaCheckOptions options;
        options.most_elements = 4'000'000;
        options.sample_blocks = 32;
        const XlaCheck found = check(module, kernel, options);
        ++outcomes[found.outcome];
        CHECK_MESSAGE((found.outcome == XlaOutcome::matched || found.outcome == XlaOutcome::too_large), found.reason);
      }
    }
  MESSAGE(outcomes[XlaOutcome::matched] << " matched, " << outcomes[XlaOutcome::too_large] << " left out as too large");
  CHECK(outcomes[XlaOutcome::matched] >= testing::effort(8, 20, 20));
  CHECK(outcomes[XlaOutcome::too_large] * 20 <= outcomes[XlaOutcome::matched]);
}
