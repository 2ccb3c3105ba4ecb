// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Why a group cannot be lowered, in words: what the operation is, not what its result is made of. Modules of one
// operation each, imported from HLO text; the expected words are written down here.
// Part of the suite `codegen`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "codegen/lower/lower.h"
#include "codegen/lower/prepare.h"
#include "hlo/import.h"

using namespace tailor;

namespace {

ir::Group group_of_entry(const std::string& entry) {
  const std::string text =
      "HloModule m\nless { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT "
      "}\n"
      "keys { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)\n"
      "  ROOT c = pred[] compare(a, b), direction=LT }\n"
      "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
      "last { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)\n"
      "  g = pred[] compare(a, b), direction=LE v = f32[] select(g, a, b) k = s32[] select(g, i, j)\n"
      "  ROOT t = (f32[], s32[]) tuple(v, k) }\n"
      "first { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)\n"
      "  g = pred[] compare(a, b), direction=GE v = f32[] select(g, a, b) k = s32[] select(g, i, j)\n"
      "  ROOT t = (f32[], s32[]) tuple(v, k) }\nENTRY e {\n" +
      entry + "}\n";
  ir::Group group;
  group.graph = hlo::import_hlo(text, "test").graph;
  return group;
}

std::string refusal_of(const std::string& entry) {
  const auto prepared = codegen::prepare(group_of_entry(entry));
  const auto* refused = std::get_if<ir::Rejection>(&prepared);
  return refused != nullptr ? refused->rule + ": " + refused->reason : "not refused";
}

}  // namespace

TEST_CASE("an operation that gives several results is refused for what it is") {
  const std::string argmax = refusal_of(
      "  x = f32[8,64]{1,0} parameter(0)\n  n = s32[8,64]{1,0} iota(), iota_dimension=1\n"
      "  low = f32[] parameter(1)\n  zero = s32[] constant(0)\n"
      "  r = (f32[8]{0}, s32[8]{0}) reduce(x, n, low, zero), dimensions={1}, to_apply=first\n"
      "  ROOT place = s32[8]{0} get-tuple-element(r), index=1\n");
  CHECK(argmax == "skeleton-variadic-reduction: reduce %r: it starts from %low, which is no constant");
  const std::string sort =
      refusal_of("  x = f32[64]{0} parameter(0)\n  ROOT y = f32[64]{0} sort(x), dimensions={0}, to_apply=less\n");
  CHECK(sort.starts_with("skeleton-sort: sort %y f32[64] needs a skeleton of its own"));
  const std::string top = refusal_of(
      "  x = f32[8,64]{1,0} parameter(0)\n"
      "  ROOT y = (f32[8,20]{1,0}, s32[8,20]{1,0}) topk(x), k=20, largest=true\n");
  CHECK(top.starts_with("skeleton-topk: topk %y needs a skeleton of its own"));
  const std::string random = refusal_of(
      "  s = u64[2]{0} parameter(0)\n"
      "  r = (u64[2]{0}, u32[64]{0}) rng-bit-generator(s), algorithm=rng_default\n"
      "  ROOT y = u32[64]{0} get-tuple-element(r), index=1\n");
  CHECK(random.starts_with("skeleton-rng-bit-generator: rng-bit-generator %r needs a skeleton of its own"));
  const std::string running = refusal_of(
      "  x = f32[64]{0} parameter(0)\n  zero = f32[] constant(0)\n"
      "  ROOT y = f32[64]{0} reduce-window(x, zero), window={size=65 pad=64_0 rhs_reversal=1}, to_apply=sum\n");
  CHECK(running.starts_with("skeleton-reduce-window: reduce-window %y f32[64] needs a skeleton of its own"));
  for (const std::string& said : {argmax, sort, top, random, running}) {
    CHECK_MESSAGE(said.find("tuple") == std::string::npos, said);
    CHECK_MESSAGE(said.find("the window") == std::string::npos, said);
  }
}

TEST_CASE("a group's name begins with the operation that it is there for") {
  const auto title = [](const std::string& entry) { return codegen::title_of(group_of_entry(entry).graph); };
  const auto pair = [&](std::string_view by) {
    return title(
        fmt::format("  x = f32[8,64]{{1,0}} parameter(0)\n  n = s32[8,64]{{1,0}} iota(), iota_dimension=1\n"
                    "  low = f32[] constant(-inf)\n  zero = s32[] constant(0)\n  y = f32[8,64]{{1,0}} exponential(x)\n"
                    "  r = (f32[8]{{0}}, s32[8]{{0}}) reduce(y, n, low, zero), dimensions={{1}}, to_apply={}\n"
                    "  ROOT place = s32[8]{{0}} get-tuple-element(r), index=1\n",
                    by));
  };
  CHECK(pair("first") == "exp_argmax_iota");
  CHECK(pair("last") == "exp_argmin_iota");
  CHECK(title("  x = f32[64]{0} parameter(0)\n  i = s32[64]{0} iota(), iota_dimension=0\n"
              "  s = (f32[64]{0}, s32[64]{0}) sort(x, i), dimensions={0}, to_apply=keys\n"
              "  ROOT y = s32[64]{0} get-tuple-element(s), index=1\n") == "sort_iota");
  CHECK(title("  x = f32[8,64]{1,0} parameter(0)\n"
              "  ROOT y = (f32[8,20]{1,0}, s32[8,20]{1,0}) topk(x), k=20, largest=true\n") == "topk");
  CHECK(title("  x = f32[64,8]{1,0} parameter(0)\n  i = s32[4]{0} parameter(1)\n"
              "  g = f32[4,8]{1,0} gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
              "index_vector_dim=1, slice_sizes={1,8}\n"
              "  ROOT y = f32[32]{0} reshape(g)\n") == "gather_reshape");
}

TEST_CASE("bits read as another type: at their place a conversion, elsewhere refused by name") {
  const auto of = [](std::string_view to) {
    return refusal_of(
        fmt::format("  x = f32[8,64]{{1,0}} parameter(0)\n  n = f32[8,64]{{1,0}} negate(x)\n"
                    "  y = {0} bitcast(n)\n  ROOT z = {0} negate(y)\n",
                    to));
  };
  CHECK(of("s32[8,64]{1,0}") == "not refused");
  CHECK(of("s32[512]{0}")
            .starts_with("operation-bitcast: bitcast %y from f32[8,64] to s32[512] changes type and places"));
  CHECK(of("f32[512]{0}") == "not refused");
}

TEST_CASE("a hundred reductions of one row across warps are lowered: their loops share variables") {
  std::string lines = "graph g {\n  %zero = constant 0 : f32[]\n", outputs;
  for (int i = 0; i < 100; ++i) {
    lines += fmt::format(
        "  %x{0} = parameter {0} : f32[4,4096]\n  %s{0} = reduce add %x{0}, %zero, axes={{1}} : f32[4]\n", i);
    outputs += fmt::format("{}%s{}", i == 0 ? "" : ", ", i);
  }
  ir::Group group;
  group.graph = ir::parse_graph(lines + "  output " + outputs + "\n}\n");
  const auto prepared = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
  const auto& ready = std::get<codegen::Prepared>(prepared);
  constexpr ir::Limits limits{90,  2, 32, 1024,   2048,  32,     65536, 65536, 255,
                              256, 4, 8,  233472, 49152, 232448, 1024,  128};
  for (const int threads : {64, 512}) {
    ir::Plan plan;
    plan.skeleton = ir::Skeleton::row;
    plan.dominant = ready.dominants.front();
    plan.threads = plan.threads_per_row = threads;
    plan.vector = 1;
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(ready, plan, limits, scratch);
    if (const auto* no = std::get_if<ir::Rejection>(&lowered)) FAIL(no->rule << ": " << no->reason);
    const auto& kernel = std::get<ir::Kernel>(lowered);
    CHECK_NOTHROW(ir::verify(kernel));
    CHECK(kernel.indices.vars.size() < 20);
  }
}
