// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks at small shapes: a plan at fewer rows gives the verdict that it gives at all of them, and a mistake planted
// in the text of the kernel shows there too. Kernels of the group family are compiled by NVRTC and executed on the
// simulator, whole and shrunk. A group whose outer dimension cannot shrink stays whole and says why. Part of the suite
// `profiler`; skipped without NVRTC.
#include "profiler/check/small_shape.h"

#include <doctest/doctest.h>

#include <array>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/shrink.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/compile.h"
#include "support/group_family.h"
#include "support/kernel_cache.h"
#include "support/thorough.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

constexpr ir::Limits shape_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 1024, 15360, 0, 128};

struct Whole {
  ir::Group group;
  ir::Plan plan;
  ir::Kernel kernel;
};

std::optional<Whole> whole_of(std::string_view member, std::int64_t rows, int threads_per_row, int vector) {
  Whole whole{ir::make_group(ir::family_member(member), rows, 96), {}, {}};
  const auto ready = codegen::prepare(whole.group);
  const auto* prepared = std::get_if<codegen::Prepared>(&ready);
  if (prepared == nullptr) return {};
  whole.plan.skeleton = prepared->skeleton;
  whole.plan.dominant = prepared->dominants.front();
  whole.plan.vector = vector;
  whole.plan.threads_per_row = row(whole.plan.skeleton).has(ir::PlanField::threads_per_row) ? threads_per_row : 1;
  whole.plan.homes = codegen::homes_of(*prepared, ir::HomesWord::registers);
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(*prepared, whole.plan, shape_limits, scratch);
  if (!std::holds_alternative<ir::Kernel>(lowered)) return {};
  whole.kernel = std::get<ir::Kernel>(std::move(lowered));
  return whole;
}

Checked executed(const Nvrtc& api, const ir::Group& group, const ir::Kernel& kernel, std::string cuda) {
  const ir::Binary binary = kernels::compiled(api, {.cuda = std::move(cuda)});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  return check(kernel, evaluate_reference(group, 1), make_simulator(kernel, binary), CheckOptions{});
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  INFO(text);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("kernels of the family get the same verdict at fewer rows, where they can have fewer" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  int shrunk = 0, whole_only = 0;
  std::size_t number = 0;
  for (const ir::FamilyMember& member : ir::group_family()) {
    constexpr std::array mappings = {std::pair(32, 1), std::pair(128, 1), std::pair(8, 4)};
    if (++number % 2 == 0 && !testing::broad()) continue;
    for (std::size_t i = 0; i < mappings.size(); ++i) {
      const auto& [lanes, vector] = mappings[i];
      if (!testing::thorough() && (number + i) % mappings.size() != 0) continue;  // one for each member, by turns
      const std::optional<Whole> whole = whole_of(member.name, 250, lanes, vector);
      if (!whole) continue;
      CAPTURE(member.name);
      CAPTURE(lanes);
      const auto found = small_shape(whole->group, whole->plan, whole->kernel, shape_limits);
      if (const auto* why = std::get_if<std::string>(&found)) {
        CHECK(!why->empty());
        ++whole_only;
        continue;
      }
      const auto& small = std::get<SmallShape>(found);
      CHECK(2 * small.kept <= small.of);
      const bool is_one_block = whole->kernel.grid == 1;  // columns that fill no tile
      CHECK((small.kernel.grid < whole->kernel.grid || is_one_block));
      CHECK(small.kernel.threads == whole->kernel.threads);
      CHECK(ir::id_of(small.kernel) != ir::id_of(whole->kernel));
      const Checked few = executed(*api, small.group, small.kernel, codegen::cuda(small.kernel, &whole->plan));
      const Checked all = executed(*api, whole->group, whole->kernel, codegen::cuda(whole->kernel, &whole->plan));
      CHECK_MESSAGE(few.state == all.state, few.reason, all.reason);
      CHECK(few.state == Verdict::passed);
      CHECK(few.lane_instructions < all.lane_instructions);
      ++shrunk;
    }
  }
  MESSAGE(shrunk << " kernels at fewer rows, " << whole_only << " only whole");
  CHECK(shrunk > 10);
}

TEST_CASE("mistakes in a kernel's text are found at fewer rows") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const std::optional<Whole> whole = whole_of("layernorm_f16", 250, 32, 1);
  REQUIRE(whole);
  const auto found = small_shape(whole->group, whole->plan, whole->kernel, shape_limits);
  REQUIRE(std::holds_alternative<SmallShape>(found));
  const auto& small = std::get<SmallShape>(found);
  CHECK(small.text().ends_with(" of 250 rows"));
  CHECK(small.kept % 4 != 0);  // four rows a block: the last one stays ragged
  const std::string cuda = codegen::cuda(small.kernel, &whole->plan);
  CHECK(executed(*api, small.group, small.kernel, replaced(cuda, "0.001", "0.002")).state == Verdict::wrong);
  const std::string guard = fmt::format(" < {})", small.kept);
  const std::string loose = fmt::format(" < {})", small.kept + 1);
  CHECK(executed(*api, small.group, small.kernel, replaced(cuda, guard, loose)).state == Verdict::unsound);
}

TEST_CASE("a group whose outer dimension is summed stays whole, and says why") {
  const ir::Group group{ir::parse_graph("graph g {\n  %x = parameter 0 : f32[64,4]\n  %z = constant 0 : f32[]\n"
                                        "  %s = reduce add %x, %z, axes={0} : f32[4]\n"
                                        "  %b = broadcast %s, axes={1} : f32[64,4]\n"
                                        "  %y = add %x, %b : f32[64,4]\n  output %y\n}\n"),
                        {}};
  const auto found = small_shape(group, {}, {}, shape_limits);
  REQUIRE(std::holds_alternative<std::string>(found));
  CHECK(std::get<std::string>(found).find("summed over") != std::string::npos);
}
