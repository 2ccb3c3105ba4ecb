// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums across the rows of a row kernel: blocks that walk several tiles each and meet in several families compute what
// the evaluator computes, the same bits whichever block comes last; what such a sum may not lead to is refused by name;
// and which reductions of a row group are such sums. (The family's members are executed under every plan by
// lower_oracle_test.cpp and by the slow suite.) Part of the suite `codegen lower`.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>

#include "codegen/lower/lower.h"
#include "reference/compare.h"
#include "reference/evaluate.h"
#include "reference/inputs.h"
#include "support/group_family.h"
#include "support/interpret.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

/// A made-up GPU of twenty SMs: 40 blocks of 64 threads, in four families or more.
constexpr Limits twenty{90, 20, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

Plan rows_plan(const Prepared& prepared, int threads, int lanes, int vector, int blocks_per_sm) {
  Plan plan;
  plan.skeleton = Skeleton::row;
  plan.dominant = prepared.dominants.front();
  plan.threads = threads;
  plan.threads_per_row = lanes;
  plan.vector = vector;
  if (blocks_per_sm > 0) {
    plan.grid = GridShape::persistent;
    plan.blocks_per_sm = blocks_per_sm;
  }
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  return plan;
}

std::vector<std::vector<std::byte>> results_of(const Kernel& kernel, const std::vector<reference::Tensor>& inputs,
                                               bool backwards) {
  std::vector<std::vector<std::byte>> buffers;
  for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
  for (const Buffer& buffer : std::span(kernel.buffers).subspan(inputs.size()))
    buffers.emplace_back(static_cast<std::size_t>(bytes(make_shape(buffer.dtype, {buffer.elements}))));
  KernelRun run = interpret(kernel, std::move(buffers), backwards);
  CHECK(run.violations.empty());
  std::vector<std::vector<std::byte>> results;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (is_result(kernel.buffers[i].role)) results.push_back(run.buffers[i]);
    if (kernel.buffers[i].role != BufferRole::ticket) continue;
    for (const std::byte byte : run.buffers[i]) CHECK(byte == std::byte{0});  // ready for the next run
  }
  return results;
}

/// A group of rows with the given end: %m is a number of each row, %y has its elements, %c adds up %y across rows and
/// %n adds up %m.
Group with_end(std::string_view end, std::int64_t rows = 12, std::int64_t columns = 20) {
  return make_group({"across", fmt::format(R"(graph across {{
  %x = parameter 0 : f32[{{R}},{{N}}]
  %w = parameter 1 : f32[{{N}}]
  %zero = constant 0 : f32[]
  %m = reduce add %x, %zero, axes={{1}} : f32[{{R}}]
  %mb = broadcast %m, axes={{0}} : f32[{{R}},{{N}}]
  %y = multiply %x, %mb : f32[{{R}},{{N}}]
  %c = reduce add %y, %zero, axes={{0}} : f32[{{N}}]
  %n = reduce add %m, %zero, axes={{0}} : f32[]
{}
}})",
                                           end)},
                    rows, columns);
}

}  // namespace

TEST_CASE("blocks that walk several tiles and meet in families compute what the evaluator computes, in any order") {
  int judged = 0;
  for (const FamilyMember& member : across_family())
    for (const auto& [threads, lanes, blocks_per_sm] : {std::tuple(64, 8, 1), {64, 32, 2}, {64, 8, 0}, {64, 64, 0}}) {
      CAPTURE(member.name);
      CAPTURE(lanes);
      CAPTURE(blocks_per_sm);
      const Group group = make_group(member, 451, 12);
      const auto ready = prepare(group);
      const Prepared& prepared = std::get<Prepared>(ready);
      if (!prepared.sums_across) continue;
      ++judged;
      LowerScratch scratch;
      const Lowered lowered = lower(prepared, rows_plan(prepared, threads, lanes, 4, blocks_per_sm), twenty, scratch);
      REQUIRE_MESSAGE(std::holds_alternative<Kernel>(lowered), std::get<Rejection>(lowered).reason);
      const Kernel& kernel = std::get<Kernel>(lowered);
      CHECK(kernel.grid == kernel.virtual_blocks);
      if (blocks_per_sm > 0) CHECK(kernel.grid <= std::max(20 * blocks_per_sm, int(prepared.sets.count())));
      const std::vector<reference::Tensor> inputs =
          reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
      const auto expected = reference::evaluate_with_error_bounds(group.graph, inputs);
      const auto found = results_of(kernel, inputs, false);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        const reference::Difference difference = reference::compare(expected[i], found[i]);
        CHECK_MESSAGE(difference.wrong == 0, reference::describe(difference, expected[i].value.shape));
      }
      CHECK((results_of(kernel, inputs, true) == found));
    }
  CHECK(judged == 48);
}

TEST_CASE("parts of up to four sums across rows travel together, and what comes of more is the same") {
  for (const auto& [sums, trips] : {std::pair(1, 4), {4, 4}, {5, 6}, {9, 8}}) {  // two of each number's sum
    CAPTURE(sums);
    std::string end;
    for (int i = 2; i <= sums; ++i)
      end += fmt::format(
          "  %s{0} = constant {0} : f32[]\n  %t{0} = broadcast %s{0} : f32[{{R}},{{N}}]\n"
          "  %y{0} = multiply %y, %t{0} : f32[{{R}},{{N}}]\n"
          "  %c{0} = reduce add %y{0}, %zero, axes={{0}} : f32[{{N}}]\n",
          i);
    end += "  output %y\n  output %c";
    for (int i = 2; i <= sums; ++i) end += fmt::format("\n  output %c{}", i);
    const Group group = with_end(end, 451, 12);
    const auto ready = prepare(group);
    REQUIRE(std::holds_alternative<Prepared>(ready));
    const Prepared& prepared = std::get<Prepared>(ready);
    LowerScratch scratch;
    const Lowered lowered = lower(prepared, rows_plan(prepared, 64, 8, 4, 1), twenty, scratch);
    REQUIRE_MESSAGE(std::holds_alternative<Kernel>(lowered), std::get<Rejection>(lowered).reason);
    const Kernel& kernel = std::get<Kernel>(lowered);
    int met = 0;  // loads of parts that are waited for at once
    bool open = false;
    for (const Stmt& stmt : kernel.body) {
      open = open || (stmt.kind == StmtKind::load && stmt.space == Space::global && stmt.policy == Policy::reload);
      if (stmt.kind != StmtKind::issue || !open) continue;
      ++met;
      open = false;
    }
    CHECK(met == trips);
    const std::vector<reference::Tensor> inputs =
        reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
    const auto expected = reference::evaluate_with_error_bounds(group.graph, inputs);
    const auto found = results_of(kernel, inputs, false);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(reference::compare(expected[i], found[i]).wrong == 0);
  }
}

TEST_CASE(
    "threads that have several results each add up as many at once as loads can travel, and none that is not there") {
  // Sums of each column beside a result made of one, with more columns than threads: few blocks leave few parts.
  std::int64_t seen = 0;  // by the number of results at once, a bit each
  for (const std::int64_t rows : {3, 5, 16, 451})
    for (const std::int64_t columns : {64, 65, 128, 129, 200, 257, 520, 1100}) {
      if (!testing::broad() && rows == 451 && columns > 128) continue;  // these take nine tenths of the time
      CAPTURE(rows);
      CAPTURE(columns);
      const Group group =
          with_end("  %e = exp %c : f32[{N}]\n  output %y\n  output %n\n  output %c\n  output %e", rows, columns);
      const auto ready = prepare(group);
      REQUIRE(std::holds_alternative<Prepared>(ready));
      const Prepared& prepared = std::get<Prepared>(ready);
      LowerScratch scratch;
      const Lowered lowered = lower(prepared, rows_plan(prepared, 64, 64, 1, 0), twenty, scratch);
      REQUIRE_MESSAGE(std::holds_alternative<Kernel>(lowered), std::get<Rejection>(lowered).reason);
      const Kernel& kernel = std::get<Kernel>(lowered);
      for (const Array& array : kernel.arrays) {
        if (!array.name.ends_with("c_part")) continue;
        CHECK(std::max<std::int64_t>(1, array.dims[0]) * array.vector <= 32);
        seen |= array.vector;
      }
      const std::vector<reference::Tensor> inputs =
          reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
      const auto expected = reference::evaluate_with_error_bounds(group.graph, inputs);
      const auto found = results_of(kernel, inputs, false);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(reference::compare(expected[i], found[i]).wrong == 0);
      CHECK((results_of(kernel, inputs, true) == found));
    }
  CHECK(seen == (1 | 2 | 4 | 8));
}

TEST_CASE("what needs a sum across rows is a number for each column, or one, made of the like") {
  struct End {
    std::string_view text, rule;
  };
  for (const End& end : {
           End{"  %e = multiply %c, %w : f32[{N}]\n  output %e, %y", ""},
           {"  %e = sqrt %n : f32[]\n  output %e, %m", ""},
           {"  %e = reshape %c : f32[1,{N}]\n  output %e, %n", ""},
           {"  %b = broadcast %c, axes={1} : f32[{R},{N}]\n  %e = add %b, %x : f32[{R},{N}]\n  output %e",
            "across-moved"},
           {"  %b = broadcast %n : f32[{N}]\n  %e = add %b, %c : f32[{N}]\n  output %e", "across-moved"},
           {"  %e = reduce max %c, %zero, axes={0} : f32[]\n  output %e", "across-reduced"},
           {"  %e = reduce add %c, %zero, axes={0} : f32[]\n  output %e, %y",
            ""},  // two steps of one sum over everything
           {"  %s = slice %m, ranges={3:4:1} : f32[1]\n  %r = reshape %s : f32[]\n  %e = add %r, %n : f32[]\n  output "
            "%e",
            "across-mix"},
           {"  %e = slice %c, ranges={0:4:1} : f32[4]\n  output %e", "across-moved"},
       }) {
    CAPTURE(end.text);
    const Group group = with_end(end.text);
    // What no loop holds may still be cut into stages.
    const Classified found = end.rule.empty() ? classify(group) : analyse(group.graph, whole_border(group.graph));
    const auto* refused = std::get_if<Rejection>(&found);
    CHECK((refused == nullptr ? "" : refused->rule) == end.rule);
  }
}

TEST_CASE("rows that hardly fit a block with their sums, and few long rows, are doubted, not refused") {
  const auto doubt_of = [](std::int64_t rows, std::int64_t columns) -> std::string {
    const Group group =
        make_group(family_member("across_columns"), rows, columns);  // x, dy, g and two sums: 5 registers
    const Boundary border = whole_border(group.graph);
    const Classified found = analyse(group.graph, border);
    REQUIRE(std::holds_alternative<Layout>(found));
    const std::optional<Rejection> doubt = find_doubt(group.graph, border, std::get<Layout>(found));
    return doubt ? doubt->rule : "";
  };
  CHECK(doubt_of(128, 9830).empty());
  CHECK(doubt_of(128, 9831) == "across-long");
  CHECK(doubt_of(127, 516).empty());
  CHECK(doubt_of(127, 517) == "across-few");
}

TEST_CASE("a reduction is along rows or across them by where its dimensions lie, and by nothing else") {
  const Graph graph = parse_graph(R"(graph kinds {
  %x = parameter 0 : f32[1,6,4,1,6]
  %v = parameter 1 : f32[6,4]
  %z = constant 0 : f32[]
  %row = reduce add %x, %z, axes={4} : f32[1,6,4,1]
  %columns = reduce add %x, %z, axes={0,1,2} : f32[1,6]
  %everything = reduce add %x, %z, axes={0,1,2,3,4} : f32[]
  %numbers = reduce add %v, %z, axes={0,1} : f32[]
  %between = reduce add %x, %z, axes={1} : f32[1,4,1,6]
  %both = reduce add %x, %z, axes={1,4} : f32[1,4,1]
  %some = reduce add %v, %z, axes={1} : f32[6]
  output %row, %columns, %everything, %numbers, %between, %both, %some
})");
  const Layout layout{Skeleton::row, 24, 6, Domain{{6, 24}, true}};
  const auto kind = [&](std::string_view name) {
    for (const Node& node : graph.nodes)
      if (node.name == name) return row_reduction(graph, node, layout);
    return RowReduction::none;
  };
  CHECK(kind("row") == RowReduction::row);
  CHECK(kind("columns") == RowReduction::columns);
  CHECK(kind("everything") == RowReduction::everything);
  CHECK(kind("numbers") == RowReduction::numbers);
  CHECK(kind("between") == RowReduction::columns);
  CHECK(kind("both") == RowReduction::folded);
  CHECK(kind("some") == RowReduction::none);
}

TEST_CASE("plans that cannot add up across rows are refused by the field that stands against it") {
  const Group group = with_end("  output %c, %y");
  const auto ready = prepare(group);
  const Prepared& prepared = std::get<Prepared>(ready);
  LowerScratch scratch;
  const auto rule = [&](auto change) -> std::string {
    Plan plan = rows_plan(prepared, 64, 8, 4, 0);
    change(plan);
    const Lowered lowered = lower(prepared, plan, twenty, scratch);
    return std::holds_alternative<Kernel>(lowered) ? "" : std::get<Rejection>(lowered).rule;
  };
  CHECK(rule([](Plan&) {}).empty());
  CHECK(rule([](Plan& plan) { plan.split = 2; }) == "split");
  CHECK(rule([](Plan& plan) { plan.vector = 8, plan.threads_per_row = 32; }) != "");
  CHECK(rule([](Plan& plan) { plan.grid = GridShape::persistent, plan.blocks_per_sm = 1; }) == "persistent");
}
