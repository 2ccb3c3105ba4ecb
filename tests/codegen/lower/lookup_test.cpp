// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places that data decides: which indices take a variable, what verify() asks of one, how wide accesses stay, where
// indices of every type are clamped, how many a kernel holds. What whole kernels compute and how they are counted is
// the business of lower_oracle_test.cpp (the members window_* and update_* of the family). Part of the suite
// `codegen`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "codegen/lower/lower.h"
#include "codegen/structure/structure.h"
#include "reference/evaluate.h"
#include "support/cells.h"
#include "support/interpret.h"
#include "support/text_group.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits limits{90, 2, 32, 1024, 2048, 32, 65536, 65536, 255, 256, 4, 8, 233472, 49152, 232448, 1024, 128};

Kernel kernel_of(const Group& group, std::string_view plan) {
  codegen::Lowered lowered = codegen::lower(group, parse_plan(plan), limits);
  if (const auto* no = std::get_if<Rejection>(&lowered)) FAIL(no->rule << ": " << no->reason);
  return std::get<Kernel>(std::move(lowered));
}

std::int64_t variables(const Kernel& kernel) {
  return std::count_if(kernel.indices.vars.begin(), kernel.indices.vars.end(),
                       [](const Var& var) { return var.kind == VarKind::data; });
}

int widest_load(const Kernel& kernel) {
  int widest = 0;
  for (const Stmt& s : kernel.body)
    if (s.kind == StmtKind::load) widest = std::max(widest, static_cast<int>(s.width));
  return widest;
}

constexpr std::string_view plan_form =
    "map dominant=%{} threads=64 vector=4 unroll=1 grid=tile index_cache=on "
    "value_cache=on";

Kernel slice_of(std::string_view shape, std::string_view starts, std::string_view window) {
  const std::string lines = fmt::format(
      "  %x = parameter 0 : {}\n  %i = parameter 1 : s32[]\n  %k = constant 3 : s32[]\n"
      "  %y = dynamic_slice %x, {} : {}\n  output %y\n",
      shape, starts, window);
  return kernel_of(group_of_lines(lines), fmt::format(fmt::runtime(plan_form), 3));
}

}  // namespace

TEST_CASE("an index takes a variable where data decides it") {
  CHECK(variables(slice_of("f32[8,16]", "%i, %k", "f32[2,16]")) == 1);
  CHECK(variables(slice_of("f32[8,16]", "%i, %i", "f32[2,8]")) == 2);
  CHECK(variables(slice_of("f32[8,16]", "%i, %i", "f32[8,16]")) == 0);  // the window is all there is
  CHECK(variables(slice_of("f32[8,16]", "%k, %k", "f32[4,8]")) == 0);   // a number that is known
}

TEST_CASE("rows at a place from memory are read in wide accesses, columns at one are not") {
  CHECK(widest_load(slice_of("f32[8,16]", "%i, %k", "f32[2,16]")) == 4);
  CHECK(widest_load(slice_of("f32[8,16]", "%k, %i", "f32[4,8]")) == 1);
}

TEST_CASE("a bind must clamp to what addresses rely on, in front of its use") {
  const Kernel good = slice_of("f32[8,16]", "%i, %k", "f32[2,16]");
  CHECK_NOTHROW(verify(good));
  const auto at = static_cast<std::size_t>(
      std::find_if(good.body.begin(), good.body.end(), [](const Stmt& s) { return s.kind == StmtKind::bind; }) -
      good.body.begin());
  const auto broken = [&](auto&& change) {
    Kernel kernel = good;
    change(kernel, kernel.body[at]);
    CHECK_THROWS_AS(verify(kernel), std::logic_error);
  };
  broken([](Kernel& k, Stmt& s) { k.indices.vars[s.var].extent += 1; });
  broken([](Kernel& k, Stmt& s) { k.values[k.values[s.value].operands[2]].integer += 1; });
  broken([](Kernel& k, Stmt& s) { k.values[k.values[s.value].operands[0]].integer = -1; });
  broken([](Kernel& k, Stmt& s) { s.value = k.values[s.value].operands[1]; });
  broken([](Kernel& k, Stmt& s) { k.indices.vars[s.var].kind = VarKind::loop; });
  broken([](Kernel& k, Stmt&) { std::rotate(k.body.begin(), k.body.begin() + 2, k.body.end()); });
  Kernel other = good;
  other.indices.vars[other.body[at].var].extent += 1;
  CHECK(id_of(other) != id_of(good));
}

TEST_CASE("an index of any type is clamped as the evaluator clamps it, whatever its type can hold") {
  for (const DType dtype :
       {DType::s8, DType::u8, DType::s16, DType::u16, DType::s32, DType::u32, DType::s64, DType::u64}) {
    const Group group =
        group_of_lines(fmt::format("  %x = parameter 0 : s32[1000]\n  %i = parameter 1 : {0}[]\n"
                                   "  %y = dynamic_slice %x, %i : s32[4]\n  output %y\n",
                                   name(dtype)));
    const Kernel kernel = kernel_of(group, fmt::format(fmt::runtime(plan_form), 2));
    for (const std::int64_t place :
         {std::int64_t{0}, std::int64_t{5}, std::int64_t{127}, std::int64_t{255}, std::int64_t{-1}, std::int64_t{-128},
          std::int64_t{996}, std::int64_t{997}, std::int64_t{65535}, std::int64_t{1} << 31, std::int64_t{1} << 62}) {
      std::vector<reference::Tensor> inputs{reference::random_tensor(group.graph.nodes[0].shape, 1),
                                            reference::zeros(group.graph.nodes[1].shape)};
      for (int i = 0; i < 1000; ++i) write_cell(DType::s32, inputs[0].bytes.data() + 4 * i, integer_cell(i));
      write_cell(dtype, inputs[1].bytes.data(), fitted(dtype, integer_cell(place)));
      const std::vector<reference::Tensor> expected = reference::evaluate(group.graph, inputs);
      const KernelRun run = interpret(kernel, {inputs[0].bytes, inputs[1].bytes, std::vector<std::byte>(16)});
      CAPTURE(name(dtype));
      CAPTURE(place);
      CHECK(run.violations.empty());
      CHECK(run.buffers[2] == expected[0].bytes);
    }
  }
}

TEST_CASE("a known index of 2^63 and more is beyond the end, not before the beginning") {
  for (const auto& [dtype, place] : {std::pair{"u64", "18446744073709551615"},
                                     {"u64", "9223372036854775808"},
                                     {"u32", "4294967295"},
                                     {"s64", "-1"},
                                     {"u8", "255"}}) {
    const Group group =
        group_of_lines(fmt::format("  %x = parameter 0 : s32[300]\n  %i = constant {1} : {0}[]\n"
                                   "  %y = dynamic_slice %x, %i : s32[4]\n  output %y\n",
                                   dtype, place));
    const Kernel kernel = kernel_of(group, fmt::format(fmt::runtime(plan_form), 2));
    reference::Tensor x = reference::zeros(group.graph.nodes[0].shape);
    for (int i = 0; i < 300; ++i) write_cell(DType::s32, x.bytes.data() + 4 * i, integer_cell(i));
    CAPTURE(dtype);
    CHECK(interpret(kernel, {x.bytes, std::vector<std::byte>(16)}).buffers[1] ==
          reference::evaluate(group.graph, std::vector{x})[0].bytes);
  }
}

TEST_CASE("more indices from memory than a kernel has variables for are refused by their number") {
  const auto many = [](int count) {
    std::string lines = "  %x = parameter 0 : f32[100]\n", sum = "%s0";
    for (int i = 0; i < count; ++i)
      lines += fmt::format("  %i{0} = parameter {1} : s32[]\n  %s{0} = dynamic_slice %x, %i{0} : f32[8]\n", i, i + 1);
    for (int i = 1; i < count; ++i) {
      lines += fmt::format("  %t{0} = add {1}, %s{0} : f32[8]\n", i, sum);
      sum = fmt::format("%t{}", i);
    }
    return group_of_lines(lines + "  output " + sum + "\n");
  };
  constexpr int count = codegen::most_open_starts;
  const Group most = many(count), beyond = many(count + 1);
  CHECK(std::holds_alternative<codegen::Layout>(codegen::classify(most)));
  std::string narrow = fmt::format(fmt::runtime(plan_form), most.graph.nodes.size() - 1);
  narrow.replace(narrow.find("vector=4"), 8, "vector=1");
  const Kernel kernel = kernel_of(most, narrow);
  CHECK(variables(kernel) == count);
  std::vector<reference::Tensor> inputs{reference::zeros(most.graph.nodes[0].shape)};
  for (int i = 0; i < 100; ++i) write_cell(DType::f32, inputs[0].bytes.data() + 4 * i, real_cell(1.0 + i));
  for (int i = 0; i < count; ++i) {  // each its own place
    inputs.push_back(reference::zeros(make_shape(DType::s32, {})));
    write_cell(DType::s32, inputs.back().bytes.data(), integer_cell(i * 7 % 93));
  }
  std::vector<std::vector<std::byte>> buffers;
  for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
  buffers.emplace_back(32);
  const KernelRun run = interpret(kernel, std::move(buffers));
  CHECK(run.violations.empty());
  CHECK(run.buffers.back() == reference::evaluate(most.graph, inputs)[0].bytes);
  const codegen::Classified refused = codegen::classify(beyond);
  REQUIRE(std::holds_alternative<Rejection>(refused));
  CHECK(std::get<Rejection>(refused).rule == "indices");
  CHECK(std::get<Rejection>(refused).reason == "97 indices from memory, a kernel holds at most 96");
}

TEST_CASE("a place that a reduction of the group gives is refused, and doubted before") {
  const Group group = group_of_lines(
      "  %x = parameter 0 : f32[8,16]\n  %n = parameter 1 : s32[8,16]\n  %low = constant 0 : s32[]\n"
      "  %m = reduce max %n, %low, axes={0,1} : s32[]\n  %zero = constant 0 : s32[]\n"
      "  %y = dynamic_slice %x, %m, %zero : f32[1,16]\n  output %y\n");
  CHECK(std::holds_alternative<Rejection>(codegen::classify(group)));
  const Boundary border = codegen::whole_border(group.graph);
  const codegen::Classified found = codegen::analyse(group.graph, border);
  if (const auto* layout = std::get_if<codegen::Layout>(&found)) {
    const auto doubt = codegen::find_doubt(group.graph, border, *layout);
    REQUIRE(doubt);
    CHECK(doubt->rule == "index-place");
  }
}

TEST_CASE("a kernel that writes in place and reads none of it may run again") {
  const Group group = group_of_lines(
      "  %c = parameter 0 : f32[8,16]\n  %n = parameter 1 : f32[1,16]\n  %i = parameter 2 : s32[]\n"
      "  %zero = constant 0 : s32[]\n  %u = dynamic_update_slice %c, %n, %i, %zero : f32[8,16]\n"
      "  output %u\n  in_place 0 of 0\n");
  const Kernel kernel = kernel_of(group, fmt::format(fmt::runtime(plan_form), 1));
  CHECK(kernel.buffers[3].role == BufferRole::in_place);
  CHECK(kernel.buffers[3].of == 0);
  CHECK(is_idempotent(kernel));
  std::int64_t stored = 0;
  for (const Stmt& s : kernel.body)
    if (s.kind == StmtKind::store) stored += s.width;
  CHECK(stored == 4);
  CHECK(kernel.virtual_blocks == 1);
}
