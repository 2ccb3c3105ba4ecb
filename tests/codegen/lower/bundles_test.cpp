// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns in bundles: rows whose elements lie in short runs, gone through as columns whose neighbours are put together.
// Every small bundle is gone through: two to twelve elements, in vectors that hold several bundles and in vectors that
// break them, columns that fill the last tile and that do not, one batch and several, each reducer, several types,
// results alone, results beside elements, and what is gone through again once and twice; plans of each are interpreted,
// compared and counted as every_plan.h says. Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <variant>

#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "explore/plans/space.h"
#include "ir/device.h"

#include "support/group_family.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

constexpr ir::Limits bundle_limits{90,  132, 32, 1024,   2048,  32,     65536, 65536, 255,
                                   256, 4,   8,  233472, 49152, 232448, 1024,  128};

/// What a group does with the sums.
enum class Use : std::uint8_t {
  numbers,  ///< writes them and what follows from them
  beside,   ///< writes them, and as many numbers that do not follow from them
  again,    ///< takes them from the elements, and writes them too
  twice,    ///< the same again with what that leaves
};

/// [batch, length, groups, size], reduced over length and size.
struct Bundled {
  int batch = 2, length = 19, groups = 3, size = 4;
  std::string_view type = "f32", reducer = "add", start = "0";
  Use use = Use::numbers;
};

std::string text_of(const Bundled& of) {
  const std::string all = fmt::format("{}[{},{},{},{}]", of.type, of.batch, of.length, of.groups, of.size);
  const std::string kept = fmt::format("{}[{},{}]", of.type, of.batch, of.groups);
  const std::string_view takes = of.type == "pred" ? "bit_xor" : "subtract";
  std::string text = fmt::format(R"(graph bundled {{
  %x = parameter 0 : {0}
  %start = constant {1} : {2}[]
  %s = reduce {3} %x, %start, axes={{1,3}} : {4}
)",
                                 all, of.start, of.type, of.reducer, kept);
  if (of.use == Use::beside)
    return text + fmt::format("  %v = parameter 1 : {0}[{1}]\n  %w = {2} %v, %v : {0}[{1}]\n  output %s, %w\n}}",
                              of.type, of.batch * of.groups, of.type == "pred" ? "bit_or" : "add");
  if (of.use == Use::numbers)
    return text + fmt::format("  %t = {} %s, %s : {}\n  output %s, %t\n}}", of.type == "pred" ? "bit_or" : "add", kept);
  text += fmt::format("  %sb = broadcast %s, axes={{0,2}} : {0}\n  %c = {1} %x, %sb : {0}\n", all, takes);
  if (of.use == Use::again) return text + "  output %c, %s\n}";
  return text + fmt::format(R"(  %l = reduce {0} %c, %start, axes={{1,3}} : {1}
  %lb = broadcast %l, axes={{0,2}} : {2}
  %y = {3} %c, %lb : {2}
  output %y, %l
}})",
                            of.reducer, kept, all, takes);
}

ir::Group group_of(const Bundled& of) { return ir::make_group({"bundled", text_of(of)}, 1, 1); }

codegen::Prepared prepared(const ir::Group& group) {
  auto ready = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(ready));
  return std::get<codegen::Prepared>(std::move(ready));
}

explore::SpaceRun check(const Bundled& of, int one_in) {
  const std::string text = text_of(of);
  CAPTURE(text);
  return explore::check_every_plan(group_of(of), {testing::effort(one_in, 1)}, false, explore::Loop::bundles);
}

}  // namespace

TEST_CASE("every small bundle computes what the evaluator computes and is counted as executed") {
  int programs = 0, met = 0, clustered = 0, several = 0;
  for (const int size : {2, 3, 5, 6, 9, 12})
    for (const Use use : {Use::numbers, Use::beside, Use::again, Use::twice}) {
      Bundled of{.groups = size % 3 == 0 ? 2 : 5, .size = size, .use = use};
      const bool walks_once = use == Use::numbers || use == Use::beside;
      of.batch = 1 + size % 2, of.length = walks_once ? 67 : 40;
      const explore::SpaceRun run = check(of, use == Use::numbers ? 3 : walks_once ? 9 : 30);
      CHECK(run.programs > 0);
      programs += run.programs, met += run.met, clustered += run.clustered, several += run.programs_of_several;
    }
  CHECK(programs > 300);
  CHECK(met > 10);
  CHECK(clustered > 10);
  CHECK(several > 10);
}

TEST_CASE("bundles of every reducer and type") {
  struct Kind {
    std::string_view type, reducer, start;
    int size;
  };
  for (const Kind& kind : {Kind{"f32", "max", "-inf", 4}, Kind{"f32", "min", "inf", 3}, Kind{"f32", "multiply", "1", 2},
                           Kind{"f32", "add", "5", 4}, Kind{"bf16", "max", "-inf", 4}, Kind{"f16", "min", "inf", 10},
                           Kind{"s32", "add", "0", 6}, Kind{"s32", "max", "-7", 4}, Kind{"u8", "min", "255", 24},
                           Kind{"s8", "max", "-128", 3}, Kind{"f64", "add", "0", 3}, Kind{"pred", "or", "false", 5},
                           Kind{"pred", "and", "true", 16}})
    for (const Use use : {Use::numbers, Use::beside, Use::again}) {
      Bundled of{.size = kind.size, .type = kind.type, .reducer = kind.reducer, .start = kind.start, .use = use};
      CHECK(check(of, use == Use::again ? 50 : 8).programs > 0);
    }
}

TEST_CASE("a norm of groups of channels has bundles, in any order of its dimensions") {
  for (const explore::SpaceCase& which : explore::bundles_cases())
    CHECK(explore::check_every_plan(which, {testing::effort(600, 7)}).programs > 0);
  // Two runs that are reduced behind the bundle.
  const ir::Group runs = ir::make_group({"runs", R"(graph runs {
  %x = parameter 0 : f32[3,5,2,7,6,3]
  %start = constant 0 : f32[]
  %s = reduce add %x, %start, axes={1,3,5} : f32[3,2,6]
  %sb = broadcast %s, axes={0,2,4} : f32[3,5,2,7,6,3]
  %c = subtract %x, %sb : f32[3,5,2,7,6,3]
  output %c, %s
})"},
                                        1, 1);
  CHECK(explore::check_every_plan(runs, {testing::effort(300, 2)}, false, explore::Loop::bundles).programs > 0);
  // The first dimension lies fastest.
  const ir::Group turned = ir::make_group({"turned", R"(graph turned {
  %x = parameter 0 : f32[3,40,6]{0,2,1}
  %start = constant 0 : f32[]
  %s = reduce add %x, %start, axes={0,1} : f32[6]
  output %s
})"},
                                          1, 1);
  CHECK(explore::check_every_plan(turned, {testing::effort(20, 1)}, false, explore::Loop::bundles).programs > 0);
}

TEST_CASE("rows have bundles where their runs break sectors and are short, whatever they are computed in") {
  const auto bundle = [](const Bundled& of) {
    const codegen::Prepared ready = prepared(group_of(of));
    CHECK(ready.skeleton == ir::Skeleton::row);
    if (ready.in_bundles == nullptr) return std::int64_t{0};
    CHECK(ready.in_bundles->rows == std::int64_t{of.batch} * of.groups * of.size);
    CHECK(ready.in_bundles->columns == of.length);
    return ready.in_bundles->bundle;
  };
  for (const int size : {2, 3, 4, 5, 7, 9, 15}) CHECK(bundle({.size = size}) == size);  // of 4 bytes
  for (const int size : {8, 16, 17, 24, 100}) CHECK(bundle({.size = size}) == 0);       // 32 bytes, 64 and more
  CHECK(bundle({.size = 10, .type = "bf16"}) == 10);
  CHECK(bundle({.size = 16, .type = "bf16"}) == 0);
  CHECK(bundle({.size = 31, .type = "bf16"}) == 31);
  CHECK(bundle({.size = 33, .type = "u8"}) == 33);
  CHECK(bundle({.groups = 1}) == 0);  // one run
}

TEST_CASE("lanes side by side have whole bundles") {
  const ir::Group group = group_of({.batch = 2, .length = 4096, .groups = 32, .size = 10, .type = "bf16"});
  const codegen::Prepared ready = prepared(group);
  REQUIRE(ready.in_bundles != nullptr);
  CHECK(codegen::lanes_of_bundles(*ready.in_bundles, 8) == 5);
  CHECK(codegen::lanes_of_bundles(*ready.in_bundles, 1) == 10);
  ir::Plan plan;
  plan.skeleton = ir::Skeleton::column;
  plan.dominant = ready.in_bundles->dominants.front();
  CHECK(codegen::loop_words(ready, plan) == "column in bundles");
  codegen::LowerScratch scratch;
  const auto refused = [&](int lanes, int vector) {
    plan.threads_per_row = lanes, plan.vector = vector, plan.threads = lanes * 8;
    const codegen::Lowered lowered = codegen::lower(ready, plan, bundle_limits, scratch);
    if (std::holds_alternative<ir::Kernel>(lowered)) return std::string();
    return fmt::format("{}: {}", std::get<ir::Rejection>(lowered).rule, std::get<ir::Rejection>(lowered).reason);
  };
  CHECK(refused(40, 8).empty());
  CHECK(refused(5, 8).empty());
  CHECK(refused(8, 8) == "bundle: 64 columns side by side are no whole number of the bundles of 10 that make a result");
  CHECK(refused(8, 4) == "bundle: 32 columns side by side are no whole number of the bundles of 10 that make a result");
  // Such lanes are asked about.
  const explore::Axes axes =
      explore::axes_of_structure(ready, *ready.in_bundles, explore::default_axes(ready, bundle_limits), bundle_limits);
  const std::vector<int>& lanes = axes[ir::PlanField::threads_per_row];
  for (const int one : {5, 10, 20}) CHECK(std::find(lanes.begin(), lanes.end(), one) != lanes.end());
}
