// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over the pieces of a concatenation. Every small shape is gone through: two, three and five pieces, each
// dimension of one to three, sizes of one, odd and even ones, every type, layouts that agree and differ; plans of each
// are interpreted, compared and counted as every_plan.h says. Which groups have such a loop and what it does for a
// rotary embedding is said in numbers. Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/every_plan.h"
#include "explore/plans/space.h"
#include "explore/plans/tune.h"
#include "ir/device.h"

#include "support/group_family.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

/// A concatenation of so many pieces of this shape, each computed from what all of them read.
struct Joined {
  std::vector<int> dims;
  int axis = 0, pieces = 2;
  std::string_view type = "f32", layout = {}, result_layout = {};
};

std::string text_of(const Joined& joined) {
  std::vector<int> dims = joined.dims;
  const std::string piece = fmt::format("{}[{}]{}", joined.type, fmt::join(dims, ","), joined.layout);
  std::string text = fmt::format("graph joined {{\n  %x = parameter 0 : {0}\n  %y = parameter 1 : {0}\n", piece);
  const bool is_pred = joined.type == "pred";
  // The last piece is a parameter; of five the first one comes again.
  const std::string_view ops[] = {is_pred ? "bit_xor" : "add", is_pred ? "bit_or" : "multiply"};
  for (int k = 0; k < 2; ++k) text += fmt::format("  %v{} = {} %x, %y : {}\n", k, ops[k], piece);
  const std::string_view operands[] = {"%v0", "%y", "%v1", "%x", "%v0"};
  dims[joined.axis] *= joined.pieces;
  text += fmt::format("  %r = concatenate {}, axes={{{}}} : {}[{}]{}\n  output %r\n}}\n",
                      fmt::join(operands, operands + joined.pieces, ", "), joined.axis, joined.type,
                      fmt::join(dims, ","), joined.result_layout);
  return text;
}

int check(const Joined& joined) {
  const std::string text = text_of(joined);
  CAPTURE(text);
  return explore::check_every_plan(ir::make_group({"joined", text}, 1, 1), {testing::effort(5, 1)}, false,
                                   explore::Loop::pieces)
      .programs;
}

/// How the group's loop over pieces goes: "12 a piece: 2 windows"; "none" without.
std::string pieces_of(const std::string& lines) {
  const ir::Group group = ir::make_group({"g", "graph g {\n" + lines + "}\n"}, 1, 1);
  const auto ready = codegen::prepare(group);
  if (const auto* refused = std::get_if<ir::Rejection>(&ready)) return refused->rule;
  const codegen::Prepared* pieces = std::get<codegen::Prepared>(ready).in_pieces.get();
  if (pieces == nullptr) return "none";
  std::vector<int> counts;
  for (const codegen::Windows& windows : pieces->windows) counts.push_back(windows.count);
  return fmt::format("{} a piece: {} windows", pieces->columns, fmt::join(counts, ", "));
}

}  // namespace

TEST_CASE("every loop over two, three and five pieces computes what the evaluator computes") {
  int programs = 0;
  const std::vector<std::vector<int>> shapes = {{1}, {6}, {8}, {1, 5}, {3, 4}, {8, 1}, {1, 1, 8}, {2, 3, 5}, {3, 1, 4}};
  for (const std::vector<int>& dims : shapes)
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis)
      for (const int pieces : {2, 3, 5}) programs += check({dims, axis, pieces});
  CHECK(programs > 60);
}

TEST_CASE("loops over pieces hold every type and every layout") {
  int programs = 0;
  for (const std::string_view type :
       {"pred", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64"})
    for (const int axis : {0, 1}) programs += check({{3, 8}, axis, 2, type});
  for (const std::string_view layout : {"", "{0,1}"})
    for (const std::string_view result : {"", "{0,1}"})
      for (const int axis : {0, 1}) {
        programs += check({{4, 6}, axis, 3, "f16", layout, result});
        programs += check({{5, 3}, axis, 2, "f32", layout, result});
      }
  CHECK(programs > 60);
}

TEST_CASE("a loop goes over pieces where the root joins equal ones, whatever follows element by element") {
  const std::string x = "  %x = parameter 0 : f32[3,4]\n  %e = exp %x : f32[3,4]\n";
  const std::string c = x + "  %c = concatenate %e, %x, axes={1} : f32[3,8]\n";
  CHECK(pieces_of(c + "  output %c\n") == "12 a piece: 2 windows");
  CHECK(pieces_of(c + "  %h = convert %c : f16[3,8]\n  %t = transpose %h, axes={1,0} : f16[8,3]\n  output %t\n") ==
        "12 a piece: 2 windows");
  CHECK(pieces_of(c + "  %r = reshape %c : f32[24]\n  output %r, %e, %c\n") == "12 a piece: 2, 1, 2 windows");
  CHECK(pieces_of(c + "  %r = reverse %c, axes={1} : f32[3,8]\n  output %c, %r\n") == "12 a piece: 2, 2 windows");
  // Nothing is stored that follows from it, or something that no loop over pieces reaches.
  CHECK(pieces_of(c + "  %r = reverse %c, axes={1} : f32[3,8]\n  output %r\n") == "none");
  CHECK(pieces_of(c + "  %b = slice %c, ranges={0:3:1, 0:5:1} : f32[3,5]\n  output %c, %b\n") == "none");
  CHECK(pieces_of(x + "  %c = concatenate %e, %x, %x, axes={1} : f32[3,12]\n  output %c\n") == "12 a piece: 3 windows");
  CHECK(pieces_of(x + "  %c = concatenate %x, %x, axes={0} : f32[6,4]\n  output %c\n") == "12 a piece: 2 windows");
  CHECK(pieces_of(x + "  %y = parameter 1 : f32[3,5]\n  %c = concatenate %e, %y, axes={1} : f32[3,9]\n"
                      "  output %c\n") == "none");
  CHECK(pieces_of(x + "  %c = concatenate %e, axes={1} : f32[3,4]\n  output %c\n") == "none");
  CHECK(pieces_of(x + "  %n = parameter 1 : f32[3,0]\n  %c = concatenate %n, %n, axes={1} : f32[3,0]\n"
                      "  output %c\n") == "empty");
  const auto of = [](int pieces) {
    std::vector<std::string_view> operands(static_cast<std::size_t>(pieces), "%e");
    return fmt::format(
        "  %x = parameter 0 : f32[4]\n  %e = exp %x : f32[4]\n"
        "  %c = concatenate {}, axes={{0}} : f32[{}]\n  output %c\n",
        fmt::join(operands, ", "), 4 * pieces);
  };
  CHECK(pieces_of(of(16)) == "4 a piece: 16 windows");
  CHECK(pieces_of(of(17)) == "none");
}

TEST_CASE("a plan's dominant says which loop it means, and each loop is asked about with its own") {
  const ir::Group group = ir::make_group(ir::family_member("rope"), 64, 32);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  REQUIRE(prepared.in_pieces != nullptr);
  CHECK(codegen::structures_of(prepared).size() == 2);
  ir::Plan plan;
  plan.dominant = prepared.dominants.front();
  CHECK(&codegen::prepared_for(prepared, plan) == &prepared);
  plan.dominant = prepared.in_pieces->dominants.front();
  CHECK(&codegen::prepared_for(prepared, plan) == prepared.in_pieces.get());
  CHECK(2 * prepared.in_pieces->columns == prepared.columns);

  const ir::Limits limits = ir::limits(ir::find_device("h200", source_folder() + "/data/devices"));
  explore::Axes axes = explore::default_axes(prepared, limits);
  axes[ir::PlanField::dominant] = {plan.dominant};
  CHECK(explore::axes_of_structure(prepared, prepared, axes, limits)[ir::PlanField::dominant].empty());
  CHECK(explore::axes_of_structure(prepared, *prepared.in_pieces, axes, limits)[ir::PlanField::dominant] ==
        std::vector<int>{plan.dominant});

  axes = explore::default_axes(prepared, limits);
  const auto dominants_of = [&](const codegen::Prepared& loop) {
    return explore::axes_of_structure(prepared, loop, axes, limits)[ir::PlanField::dominant];
  };
  CHECK(dominants_of(prepared) == prepared.dominants);
  CHECK(dominants_of(*prepared.in_pieces) == prepared.in_pieces->dominants);
  REQUIRE(prepared.dominants.size() == 1);
  explore::restrict_axis(axes, {"dominant", {fmt::format("%{}", prepared.dominants.front())}});
  CHECK(dominants_of(prepared) == prepared.dominants);
  CHECK(dominants_of(*prepared.in_pieces).empty());
}

TEST_CASE("what all pieces read is on its way before any of it is used") {
  const ir::Group group = ir::make_group({"g", R"(graph g {
  %x = parameter 0 : f32[64,8]
  %y = parameter 1 : f32[64,8]
  %e = exp %x : f32[64,8]
  %c = concatenate %e, %y, axes={1} : f32[64,16]
  output %c
})"},
                                         1, 1);
  const ir::Limits limits = ir::limits(ir::find_device("h200", source_folder() + "/data/devices"));
  const auto lowered = codegen::lower(group, ir::parse_plan("map dominant=%2 threads=64 vector=4 unroll=1"), limits);
  const std::vector<ir::Stmt>& body = std::get<ir::Kernel>(lowered).body;
  const auto is_load = [](const ir::Stmt& stmt) { return stmt.kind == ir::StmtKind::load; };
  const auto issue =
      std::find_if(body.begin(), body.end(), [](const ir::Stmt& stmt) { return stmt.kind == ir::StmtKind::issue; });
  REQUIRE(issue != body.end());
  CHECK(std::count_if(body.begin(), issue, is_load) == 2);
  CHECK(std::none_of(issue, body.end(), is_load));
}

TEST_CASE("over pieces the halves of a rotary embedding share what they read, under no guard") {
  const ir::Group group = ir::make_group(ir::family_member("rope"), 64, 32);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  const ir::Limits limits = ir::limits(ir::find_device("h200", source_folder() + "/data/devices"));
  const auto kernel_of = [&](ir::NodeId dominant) {
    ir::Plan plan = ir::parse_plan("map threads=128 vector=8 unroll=1 grid=tile");
    plan.dominant = dominant;
    codegen::LowerScratch scratch;
    return std::get<ir::Kernel>(codegen::lower(prepared, plan, limits, scratch));
  };
  const ir::Kernel whole = kernel_of(prepared.dominants.front()),
                   pieces = kernel_of(prepared.in_pieces->dominants.front());
  const auto guards = [](const ir::Kernel& kernel) {
    return std::count_if(kernel.body.begin(), kernel.body.end(),
                         [](const ir::Stmt& stmt) { return stmt.kind == ir::StmtKind::guard; });
  };
  CHECK(guards(whole) > 0);
  CHECK(guards(pieces) == 0);
  const auto requests = [](const ir::Kernel& kernel) {
    std::pair<std::int64_t, std::int64_t> both{0, 0};
    costmodel::count(kernel, costmodel::Mode::exact).buffers.each([&](std::size_t, const costmodel::BufferWork& one) {
      both.first += one.load.requests;
      both.second += one.store.requests;
    });
    return both;
  };
  CHECK(2 * requests(pieces).first == requests(whole).first / 2);
  CHECK(requests(pieces).second == requests(whole).second);
}

TEST_CASE("a plan that names no right dominant node is told those of every loop of its skeleton, of many the first") {
  const auto complaint = [](const std::string& lines, const std::string& plan) {
    const ir::Group group = ir::make_group({"g", "graph g {\n" + lines + "}\n"}, 1, 1);
    const ir::Device device = ir::find_device("h200", source_folder() + "/data/devices");
    const codegen::Lowered lowered = codegen::lower(group, ir::parse_plan(plan), ir::limits(device));
    const auto* refused = std::get_if<ir::Rejection>(&lowered);
    return refused == nullptr ? std::string("lowered") : refused->rule + ": " + refused->reason;
  };
  const std::string x = "  %x = parameter 0 : f32[3,4]\n  %e = exp %x : f32[3,4]\n";
  const std::string c = x + "  %c = concatenate %e, %x, axes={1} : f32[3,8]\n  output %c\n";
  CHECK(complaint(c, "map dominant=%7 threads=32 vector=1 unroll=1 grid=tile") ==
        "dominant: %7 cannot be the dominant node of this group: %1 and %2 can");
  CHECK(complaint(c, "map dominant=%2 threads=32 vector=1 unroll=1 grid=tile") == "lowered");
  CHECK(complaint(c, "map threads=32 vector=1 unroll=1 grid=tile") ==
        "dominant: the plan says no dominant=%N, the node whose elements its threads are for: %1 and %2 can be it");
  const std::vector<ir::NodeId> few = {1, 2, 3, 4, 5, 6, 7, 8}, many = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(codegen::node_list(few) == "%1, %2, %3, %4, %5, %6, %7 and %8");
  CHECK(codegen::node_list(many) == "%1, %2, %3, %4, %5, %6 and 3 more");
  CHECK(codegen::node_list(std::span(few).first(1)) == "%1");
}
