// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions by regions beyond what the family's members are executed for under every plan (lower_oracle_test.cpp):
// lanes of a row go on with one result though the region's arguments may not change places, regions of random
// operations compute what the evaluator computes, and what no kernel writes is refused with what is in the way.
// Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "codegen/lower/lower.h"
#include "hlo/import.h"
#include "reference/compare.h"
#include "reference/evaluate.h"
#include "reference/inputs.h"
#include "support/group_family.h"
#include "support/interpret.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

constexpr Limits twenty_sms{90, 20, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

struct Threads {
  int of_block, of_row, vector, in_flight;
};

Plan rows_plan(const Prepared& prepared, const Threads& threads) {
  Plan plan;
  plan.skeleton = Skeleton::row;
  plan.dominant = prepared.dominants.front();
  plan.threads = threads.of_block;
  plan.threads_per_row = threads.of_row;
  plan.vector = threads.vector;
  plan.in_flight = threads.in_flight;
  plan.homes = codegen::homes_of(prepared, HomesWord::registers);
  return plan;
}

Kernel lowered(const Group& group, const Threads& threads) {
  const auto ready = prepare(group);
  REQUIRE_MESSAGE(std::holds_alternative<Prepared>(ready), std::get<Rejection>(ready).reason);
  LowerScratch scratch;
  const Lowered made =
      lower(std::get<Prepared>(ready), rows_plan(std::get<Prepared>(ready), threads), twenty_sms, scratch);
  REQUIRE_MESSAGE(std::holds_alternative<Kernel>(made), std::get<Rejection>(made).reason);
  return std::get<Kernel>(made);
}

KernelRun run_on(const Kernel& kernel, const std::vector<reference::Tensor>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
  for (const Buffer& buffer : std::span(kernel.buffers).subspan(inputs.size()))
    buffers.emplace_back(static_cast<std::size_t>(bytes(make_shape(buffer.dtype, {buffer.elements}))));
  KernelRun run = interpret(kernel, std::move(buffers), false);
  CHECK(run.violations.empty());
  return run;
}

std::string refusal_of(const std::string& region, const std::string& entry) {
  Group group;
  group.graph =
      hlo::import_hlo("HloModule m\nregion {\n" + region + "\n}\nENTRY e {\n" + entry + "\n}\n", "test").graph;
  const auto ready = prepare(group);
  const auto* refused = std::get_if<Rejection>(&ready);
  return refused != nullptr ? refused->rule + ": " + refused->reason : "not refused";
}

}  // namespace

TEST_CASE("all lanes of a row go on with one result of a region that gives others when its arguments change places") {
  // The first of two numbers that is not zero.
  const Group group = make_group({"first", R"(graph first {
  graph either {
    %a = parameter 0 : f32[]
    %b = parameter 1 : f32[]
    %z = constant 0 : f32[]
    %n = compare eq %a, %z : pred[]
    %r = select %n, %b, %a : f32[]
    output %r
  }
  %x = parameter 0 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %f = reduce custom %x, %zero, axes={1}, bodies={0} : f32[{R}]
  %fb = broadcast %f, axes={0} : f32[{R},{N}]
  %one = constant 0 : f32[]
  %ones = broadcast %one : f32[{R},{N}]
  %zeros = multiply %x, %ones : f32[{R},{N}]
  %y = add %zeros, %fb : f32[{R},{N}]
  output %y
})"},
                                 5, 128);
  for (const Threads& threads : {Threads{64, 32, 4, 1}, {64, 64, 2, 1}, {64, 16, 1, 2}, {128, 8, 4, 1}}) {
    CAPTURE(threads.of_row);
    std::vector<reference::Tensor> inputs{reference::zeros(make_shape(DType::f32, {5, 128}))};
    for (std::int64_t i = 0; i < 5 * 128; ++i) reference::store(inputs[0], i, static_cast<double>(i + 1));
    const Kernel kernel = lowered(group, threads);
    const KernelRun run = run_on(kernel, inputs);
    std::vector<float> y(5 * 128);
    std::memcpy(y.data(), run.buffers[1].data(), y.size() * sizeof(float));
    for (std::size_t row = 0; row < 5; ++row)
      for (std::size_t i = 0; i < 128; ++i) CHECK(y[row * 128 + i] == y[row * 128]);
  }
}

TEST_CASE("the first of equal elements is found whoever goes through them, and whatever they start from") {
  std::mt19937_64 random(8);
  const std::string_view of_rows = "iota, axes={1} : s32[{R},{N}]";
  const std::string_view of_row =
      "broadcast %row, axes={1} : s32[{R},{N}]";  // the same, of one row for all: %row stands before it
  for (const bool is_broadcast : {false, true})
    for (const int start : {0, -3, 500})  // the greatest there is may have no place, or one behind all others
      for (const std::int64_t columns : {33, 64, 96, 260})
        for (const Threads& threads :
             {Threads{64, 32, 1, 1}, Threads{64, 8, 1, 4}, Threads{128, 4, 1, 2}, Threads{64, 8, 4, 1}}) {
          std::string text(family_member("argmax").text);
          text.replace(text.find("constant 0 : s32"), 16, fmt::format("constant {} : s32", start));
          const std::size_t at = text.find(of_rows);
          if (is_broadcast) {
            text.replace(at, of_rows.size(), of_row);
            text.insert(text.rfind("  %places", at), "  %row = iota, axes={0} : s32[{N}]\n");
          }
          const Group group = make_group({"argmax", text}, 5, columns);
          CAPTURE(ir::text(group.graph));
          std::vector<reference::Tensor> inputs{reference::zeros(group.graph[parameters(group.graph)[0]].shape)};
          for (std::size_t i = 0; i < inputs[0].bytes.size(); i += 4) {
            const bool is_least = random() % 4 == 0 || i < 4 * static_cast<std::size_t>(columns);  // a row of them
            const float value = is_least ? -INFINITY : static_cast<float>(random() % 3);
            std::memcpy(inputs[0].bytes.data() + i, &value, 4);
          }
          const Kernel kernel = lowered(group, threads);
          const KernelRun run = run_on(kernel, inputs);
          CHECK(run.violations.empty());
          const std::vector<reference::Tensor> expected = reference::evaluate(group.graph, inputs);
          CHECK(run.buffers[1] == expected[0].bytes);
          CHECK(run.buffers[2] == expected[1].bytes);
        }
}

TEST_CASE("regions of random operations on integers compute what the evaluator computes, whatever they take over") {
  // Each result is made of those of its own kind, by an operation that any order suits; some arrays are one another's
  // copies, and results may be asked for in part.
  constexpr std::string_view operations[] = {"add", "multiply", "maximum", "minimum", "bit_and", "bit_or", "bit_xor"};
  constexpr std::string_view starts[] = {"0", "1", "-2147483648", "2147483647", "-1", "0", "0"};
  std::mt19937 random(5);
  for (int round = 0; round < 12; ++round) {
    const std::size_t count = 1 + random() % 4;
    std::string region, parameters, operands, initial, numbers, types, picked, given;
    for (std::size_t k = 0; k < 2 * count; ++k) region += fmt::format("    %p{0} = parameter {0} : s32[]\n", k);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t op = random() % std::size(operations);
      const bool turned = random() % 2 == 0;
      region += fmt::format("    %r{} = {} %p{}, %p{} : s32[]\n", k, operations[op], turned ? count + k : k,
                            turned ? k : count + k);
      parameters += fmt::format("  %x{0} = parameter {0} : s32[{{R}},{{N}}]\n", k);
      initial += fmt::format("  %i{} = constant {} : s32[]\n", k, starts[op]);
      operands += fmt::format("%x{}, ", random() % 3 == 0 ? 0 : k);
      numbers += fmt::format("{}%i{}", k == 0 ? "" : ", ", k);
      types += fmt::format("{}s32[{{R}}]", k == 0 ? "" : ", ");
      given += fmt::format("{}%r{}", k == 0 ? "" : ", ", k);
      if (k > 0 && random() % 3 == 0) continue;
      picked += fmt::format("  %g{0} = get_tuple_element %t, number={0} : s32[{{R}}]\n  output %g{0}\n", k);
    }
    const std::string text = fmt::format(
        "graph mixed {{\n  graph region {{\n{}    output {}\n  }}\n{}{}  %t = reduce custom {}{}, axes={{1}}, "
        "bodies={{0}}, results={{{}}} : tuple\n{}}}",
        region, given, parameters, initial, operands, numbers, types, picked);
    CAPTURE(text);
    const Group group = make_group({"mixed", text}, 6, 50);
    const auto inputs = reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
    const auto expected = reference::evaluate(group.graph, inputs);
    for (const Threads& threads : {Threads{64, 32, 1, 1}, {64, 64, 2, 1}, {64, 8, 1, 2}}) {
      const Kernel kernel = lowered(group, threads);
      const KernelRun run = run_on(kernel, inputs);
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK((run.buffers[inputs.size() + i] == expected[i].bytes));
    }
  }
}

TEST_CASE("a reduction that no kernel writes is refused with the line, the type or the initial value in the way") {
  const std::string sum = "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] add(a, b)\n";
  const std::string entry =
      "  x = f32[8,64]{1,0} parameter(0)\n  z = f32[] constant(0)\n"
      "  ROOT r = f32[8]{0} reduce(x, z), dimensions={1}, to_apply=region\n";
  const std::string twice = sum + "  ROOT d = f32[] add(c, c)\n";
  CHECK(refusal_of(twice, entry) == "not refused");
  CHECK(refusal_of(sum + "  d = f32[1]{0} reshape(c)\n  s = f32[1]{0} sort(d), dimensions={0}, to_apply=less\n"
                         "  ROOT e = f32[] reshape(s)\n}\nless {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
                         "  ROOT l = pred[] compare(p, q), direction=LT\n",
                   entry)
            .starts_with("skeleton-custom-reduction: reduce %r: "));
  CHECK(refusal_of(twice,
                   "  x = f32[8,64]{1,0} parameter(0)\n  z = f32[] parameter(1)\n"
                   "  ROOT r = f32[8]{0} reduce(x, z), dimensions={1}, to_apply=region\n") ==
        "skeleton-custom-reduction: reduce %r: it starts from %z, which is no constant");
  const Graph none = parse_graph(
      "graph g {\n  graph region {\n    %a = parameter 0 : f32[]\n    %b = parameter 1 : f32[]\n    %c = abs %a : "
      "f32[]\n"
      "    output %c, %b\n  }\n  %x = parameter 0 : f32[8,64]\n  %z = constant 0 : f32[]\n"
      "  %r = reduce custom %x, %z, axes={1}, bodies={0} : f32[8]\n  output %r\n}");
  const Classified other = analyse_loop(none, whole_border(none));
  REQUIRE(std::holds_alternative<Rejection>(other));
  CHECK(std::get<Rejection>(other).reason == "reduce %r: its function takes or gives another number of values");
  // Across the rows of a row group: two loops can do that, one cannot.
  const Group both = make_group({"both", R"(graph both {
  graph region {
    %a = parameter 0 : f32[]
    %b = parameter 1 : f32[]
    %c = abs %a : f32[]
    %r = maximum %c, %b : f32[]
    output %r
  }
  %x = parameter 0 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %m = reduce add %x, %zero, axes={1} : f32[{R}]
  %c = reduce custom %x, %zero, axes={0}, bodies={0} : f32[{N}]
  output %m, %c
})"},
                                256, 64);
  const Classified loop = analyse_loop(both.graph, whole_border(both.graph));
  REQUIRE(std::holds_alternative<Rejection>(loop));
  CHECK(std::get<Rejection>(loop).reason == "reduce %c runs across the rows of the group, by a function of its own");
  CHECK(std::holds_alternative<Prepared>(prepare(both)));
}
