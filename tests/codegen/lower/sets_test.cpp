// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums across sets of the rows of a row kernel: which reductions are such, by an enumeration of all rows; that blocks
// of a set meet and those of others do not; that a set which one block has needs no memory; and what is refused and
// doubted. (The family's members across_batches, across_queries and across_places are executed under every plan by
// lower_oracle_test.cpp and legal_plans_test.cpp, with many tiles and families by across_test.cpp.) Part of the suite
// `codegen lower`.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/lower/lower.h"
#include "codegen/lower/mapping.h"
#include "explore/every_plan.h"
#include "support/group_family.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

constexpr Limits twenty{90, 20, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

/// Which result of the reduction, apart from the column, each row of such an array adds to: rows in the order of
/// memory, dimensions that are reduced by their bits.
std::vector<std::vector<std::int64_t>> coordinates_of_rows(const Dims& dims, unsigned gone) {
  std::vector<std::vector<std::int64_t>> all;
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < dims.size(); ++d) rows *= dims[d];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::int64_t> kept;
    std::int64_t rest = row;
    for (int d = dims.size() - 2; d >= 0; --d) {
      if ((gone >> d & 1U) == 0) kept.push_back(rest % dims[d]);
      rest /= dims[d];
    }
    all.push_back(std::move(kept));
  }
  return all;
}

/// Whether the digits name for each row its result, and results in the order of memory.
bool says(const RowSets& sets, const std::vector<std::vector<std::int64_t>>& results) {
  std::map<std::int64_t, std::set<std::vector<std::int64_t>>> by_number;
  std::set<std::vector<std::int64_t>> all;
  if (sets.outer * sets.members * sets.inner != std::ssize(results)) return false;
  for (std::int64_t row = 0; row < std::ssize(results); ++row) {
    const auto& result = results[static_cast<std::size_t>(row)];
    by_number[row / sets.inner / sets.members * sets.inner + row % sets.inner].insert(result);
    all.insert(result);
  }
  return std::ssize(all) == sets.count() &&
         std::ranges::all_of(by_number, [](const auto& one) { return one.second.size() == 1; });
}

Group sums_over(std::string_view first, std::string_view second, std::string_view dims) {
  return {parse_graph(fmt::format(R"(graph sets {{
  %x = parameter 0 : f32[{0}]
  %zero = constant 0 : f32[]
  %y = exp %x : f32[{0}]
  %m = reduce add %x, %zero, axes={{3}} : f32[2,40,3]
  %a = reduce add %y, %zero, axes={{{1}}} : f32[{3}]
  %b = reduce max %y, %zero, axes={{{2}}} : f32[{4}]
  output %m, %a, %b
}})",
                                  dims, first, second, first == "0" ? "40,3,16" : "2,3,16",
                                  second == "0"   ? "40,3,16"
                                  : second == "1" ? "2,3,16"
                                                  : "16"))};
}

/// Channels of so many pixels, three to a row; and four heads of so many places.
const FamilyMember channels{"channels", R"(graph across_channels {
  %x = parameter 0 : f32[{R},2,3,{N}]
  %dy = parameter 1 : f32[{R},2,3,{N}]
  %g = parameter 2 : f32[2,3]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={2,3} : f32[{R},2]
  %sb = broadcast %s, axes={0,1} : f32[{R},2,3,{N}]
  %xh = subtract %x, %sb : f32[{R},2,3,{N}]
  %dg = multiply %dy, %xh : f32[{R},2,3,{N}]
  %scale = reduce add %dg, %zero, axes={0,3} : f32[2,3]
  %bias = reduce add %dy, %zero, axes={0,3} : f32[2,3]
  %scaled = multiply %scale, %g : f32[2,3]
  output %dg, %scaled, %bias
})"};
const FamilyMember heads{"heads", R"(graph across_heads {
  %in = parameter 0 : f16[{R},4,{N}]
  %w = parameter 1 : f32[4,{N}]
  %x = convert %in : f32[{R},4,{N}]
  %zero = constant 0 : f32[]
  %lowest = constant -inf : f32[]
  %s = reduce add %x, %zero, axes={1,2} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},4,{N}]
  %wb = broadcast %w, axes={1,2} : f32[{R},4,{N}]
  %y = multiply %x, %sb : f32[{R},4,{N}]
  %z = multiply %y, %wb : f32[{R},4,{N}]
  %heads = reduce add %z, %zero, axes={0,1} : f32[{N}]
  %most = reduce max %y, %lowest, axes={0,2} : f32[4]
  %whole = reduce add %y, %zero, axes={0} : f32[4,{N}]
  output %z, %heads, %most, %whole
})"};

Plan tiles_plan(const Prepared& prepared, int threads, int lanes) {
  Plan plan;
  plan.skeleton = Skeleton::row;
  plan.dominant = prepared.dominants.front();
  plan.threads = threads;
  plan.threads_per_row = lanes;
  plan.vector = 4;
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  return plan;
}

}  // namespace

TEST_CASE("a sum is across sets of rows where their numbers have digits of which it takes one, and nowhere else") {
  int judged = 0, sets_seen = 0;
  for (const Dims& dims : {Dims{2, 5, 3, 4}, Dims{2, 1, 3, 4}, Dims{7, 2, 2, 3}})
    for (unsigned gone = 1; gone < 8; ++gone) {
      CAPTURE(gone);
      std::vector<int> axes;
      std::vector<std::int64_t> left;
      for (int d = 0; d < 4; ++d) {
        if ((gone >> d & 1U) != 0)
          axes.push_back(d);
        else
          left.push_back(dims[d]);
      }
      const Graph graph = parse_graph(fmt::format(
          "graph kinds {{\n  %x = parameter 0 : f32[{}]\n  %z = constant 0 : f32[]\n  %s = reduce add %x, %z, "
          "axes={{{}}} : f32[{}]\n  output %s\n}}",
          fmt::join(dims.begin(), dims.end(), ","), fmt::join(axes, ","), fmt::join(left, ",")));
      const std::int64_t rows = dims[0] * dims[1] * dims[2];
      const Layout layout{Skeleton::row, rows, dims[3], Domain{{dims[3], rows}, true}};
      const Node& sum = graph.nodes[2];
      if (elements(sum.shape) == elements(graph[sum.operands[0]].shape)) continue;  // of dimensions of size 1
      ++judged;
      const std::vector<std::vector<std::int64_t>> results = coordinates_of_rows(dims, gone);
      bool possible = false;  // some digits say it
      for (std::int64_t outer = 1; outer <= rows; ++outer)
        for (std::int64_t members = 1; members <= rows / outer; ++members)
          possible =
              possible || (rows % (outer * members) == 0 && says({outer, members, rows / outer / members}, results));
      CHECK((row_reduction(graph, sum, layout) == RowReduction::columns) == possible);
      if (!possible) continue;
      const RowSets sets = across_sum(graph, sum, layout)->sets;
      CHECK(says(sets, results));
      sets_seen += sets.count() > 1 ? 1 : 0;
    }
  CHECK(judged == 20);
  CHECK(sets_seen == 14);
}

TEST_CASE("blocks of a set meet apart from others, and a block that has a set alone meets nobody") {
  const Group group = make_group(family_member("across_batches"), 451, 12);
  const auto ready = prepare(group);
  const Prepared& prepared = std::get<Prepared>(ready);
  CHECK(prepared.sets == RowSets{3, 451, 1});
  const auto kernel_of = [&](const Plan& plan) {
    LowerScratch scratch;
    const Lowered lowered = lower(prepared, plan, twenty, scratch);
    REQUIRE_MESSAGE(std::holds_alternative<Kernel>(lowered), std::get<Rejection>(lowered).reason);
    return std::get<Kernel>(lowered);
  };
  const auto tickets = [](const Kernel& kernel) {
    std::vector<std::int64_t> counts;
    for (const Buffer& buffer : kernel.buffers)
      if (buffer.role == BufferRole::ticket) counts.push_back(buffer.elements);
    return counts;
  };
  Plan plan = tiles_plan(prepared, 64, 8);  // 57 tiles of 8 rows: 8 families of 8 blocks, of each set
  CHECK(kernel_of(plan).virtual_blocks == 3 * 64);
  CHECK(tickets(kernel_of(plan)) == std::vector<std::int64_t>{3 * 8, 3});
  plan.grid = GridShape::persistent;
  plan.blocks_per_sm = 1;  // 20 blocks of three sets: 6 each
  CHECK(kernel_of(plan).virtual_blocks == 3 * 6);
  CHECK(tickets(kernel_of(plan)) == std::vector<std::int64_t>{3});
  const auto few = make_group(family_member("across_batches"), 8, 12);
  const auto few_ready = prepare(few);
  LowerScratch scratch;
  const Lowered alone =
      lower(std::get<Prepared>(few_ready), tiles_plan(std::get<Prepared>(few_ready), 64, 8), twenty, scratch);
  const Kernel& kernel = std::get<Kernel>(alone);
  CHECK(kernel.virtual_blocks == 3);
  CHECK(std::ranges::none_of(kernel.buffers, [](const Buffer& buffer) {
    return buffer.role == BufferRole::ticket || buffer.role == BufferRole::workspace;
  }));
}

TEST_CASE("sums of several sets have the same ones, others beside them add up all rows; every plan of them is right") {
  const auto rule_of = [](std::string_view first, std::string_view second) -> std::string {
    const Group group = sums_over(first, second, "2,40,3,16");
    const Classified found = analyse(group.graph, whole_border(group.graph));
    const auto* refused = std::get_if<Rejection>(&found);
    return refused == nullptr ? "" : refused->rule;
  };
  CHECK(rule_of("0", "1") == "across-sets");
  CHECK(rule_of("1", "0") == "across-sets");
  for (const auto& [first, second] : {std::pair("0", "0"), {"1", "1"}, {"0", "0,1,2"}, {"1", "0,1,2"}}) {
    CHECK(rule_of(first, second).empty());
    const explore::SpaceRun run = explore::check_every_plan(sums_over(first, second, "2,40,3,16"), {5}, true);
    CHECK(run.programs > 20);
  }
}

TEST_CASE("sets with few elements, of which a block has one at a time, are stages where they are many") {
  const auto rule_of = [](std::int64_t members, std::int64_t sets, std::int64_t columns) -> std::string {
    const Group group{parse_graph(fmt::format(R"(graph short {{
  %x = parameter 0 : f32[{0},{1},{2}]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={{2}} : f32[{0},{1}]
  %sb = broadcast %s, axes={{0,1}} : f32[{0},{1},{2}]
  %y = multiply %x, %sb : f32[{0},{1},{2}]
  %b = reduce add %y, %zero, axes={{0}} : f32[{1},{2}]
  output %b
}})",
                                              members, sets, columns))};
    const Classified found = analyse(group.graph, whole_border(group.graph));
    const auto* refused = std::get_if<Rejection>(&found);
    return refused == nullptr ? "" : refused->rule;
  };
  CHECK(rule_of(4, 32, 512).empty());  // little work in all
  CHECK(rule_of(4, 64, 512).empty());
  CHECK(rule_of(4, 64, 511) == "across-short");
  CHECK(rule_of(511, 64, 4) == "across-short");
  CHECK(rule_of(512, 64, 4).empty());
}

TEST_CASE("elements of a row that are added up together come to the same result from every lane, trip and vector") {
  struct Folded {
    const FamilyMember& member;
    std::int64_t rows, columns;
    Folding columns_of;  ///< of one of its sums
  };
  for (const Folded& one : {Folded{channels, 4, 16, {3, 16, 1}},
                            {channels, 3, 512, {3, 512, 1}},
                            {channels, 3, 384, {3, 384, 1}},
                            {heads, 6, 4, {1, 4, 4}},
                            {heads, 5, 128, {1, 4, 128}},
                            {heads, 3, 384, {1, 4, 384}},
                            {family_member("across_fast_channels"), 5, 12, {1, 12, 8}},
                            {family_member("across_channels"), 5, 12, {12, 4, 1}},
                            {family_member("across_heads"), 5, 12, {1, 12, 8}},
                            {family_member("across_images"), 5, 33, {1, 33, 1}}}) {
    CAPTURE(one.member.name);
    CAPTURE(one.columns);
    const Group group = make_group(one.member, one.rows, one.columns);
    const auto ready = prepare(group);
    REQUIRE(std::holds_alternative<Prepared>(ready));
    CHECK(std::ranges::any_of(std::get<Prepared>(ready).across,
                              [&](const auto& sum) { return sum.second.columns == one.columns_of; }));
    CHECK(explore::check_every_plan(group, {testing::effort(11, 3)}, true).programs > 2);
  }
}

TEST_CASE("a sum that folds rows has results set by set, of equal parts of lanes") {
  const auto sum_over = [](std::string_view dims, std::string_view axes, std::string_view left, const Domain& rows) {
    const Graph graph = parse_graph(fmt::format(
        "graph folded {{\n  %x = parameter 0 : f32[{}]\n  %z = constant 0 : f32[]\n  %s = reduce add %x, %z, "
        "axes={{{}}} : f32[{}]\n  output %s\n}}",
        dims, axes, left));
    return across_sum(graph, graph.nodes[2], Layout{Skeleton::row, rows.kept(), rows.reduced(), rows});
  };
  // Rows of [5] x 16 by [4]: what is left of rows lies in front of what is left of elements, and behind it.
  const Domain apart{{4, 16, 2, 5}, true};
  CHECK(!sum_over("5,2,16,4", "0,3", "2,16", apart));
  CHECK(sum_over("5,2,16,4", "0,1", "16,4", apart) == AcrossSum{{1, 5, 16}, {1, 2, 4}});
  CHECK(sum_over("5,2,16,4", "0,1,3", "16", apart) == AcrossSum{{1, 5, 16}, {1, 8, 1}});
  // Runs that are no power of two and no multiple of 128; both a piece and places in it; a longer row of its own.
  const Domain together{{2 * 49, 12}, true};
  CHECK(!sum_over("12,2,49", "0,2", "2", together));
  CHECK(!sum_over("12,2,49", "0,1", "49", together));
  CHECK(sum_over("12,2,49", "0", "2,49", together) == AcrossSum{{1, 12, 1}, {1, 1, 98}});
  CHECK(!sum_over("12,2,4,8", "0,2", "2,8", Domain{{64, 12}, true}));
  CHECK(!sum_over("3,4,64", "1,2", "3", Domain{{64, 12}, true}));
  CHECK(sum_over("3,4,64", "0,2", "4", Domain{{64, 12}, true}) == AcrossSum{{1, 3, 4}, {1, 64, 1}});
}

TEST_CASE("chunks of rows that are folded have lanes where each is a part of the other, and no row kernel else") {
  // Rows of two pieces, each with a number of its own for chunks of it; pieces are added up over rows and elements.
  const auto group_of = [](std::int64_t chunk, std::int64_t piece) {
    return Group{parse_graph(fmt::format(R"(graph quantised {{
  %x = parameter 0 : f16[2,3,{0}]
  %zero = constant 0 : f16[]
  %s = reduce add %x, %zero, axes={{2}} : f16[2,3]
  %sb = broadcast %s, axes={{0,1}} : f16[2,3,{0}]
  %y = multiply %x, %sb : f16[2,3,{0}]
  %c = reshape %y : f16[2,3,{1},{2}]
  %a = abs %c : f16[2,3,{1},{2}]
  %m = reduce maximum %a, %zero, axes={{3}} : f16[2,3,{1}]
  %mb = broadcast %m, axes={{0,1,2}} : f16[2,3,{1},{2}]
  %q = add %c, %mb : f16[2,3,{1},{2}]
  %p = reshape %q : f16[2,3,2,{3}]
  %t = reduce add %p, %zero, axes={{1,3}} : f16[2,2]
  output %q, %t
}})",
                                         2 * piece, 2 * piece / chunk, chunk, piece))};
  };
  int rows = 0, refused = 0;
  for (const std::int64_t chunk : {4, 32, 128, 256})
    for (const std::int64_t piece : {8, 64, 128, 192, 256, 320, 384, 640}) {
      if (2 * piece % chunk != 0 || 2 * piece == chunk) continue;
      CAPTURE(chunk);
      CAPTURE(piece);
      const Group group = group_of(chunk, piece);
      const Classified found = analyse(group.graph, whole_border(group.graph));  // by structure, tried by none
      const auto* layout = std::get_if<Layout>(&found);
      const bool holds = piece % chunk == 0 || chunk % piece == 0;
      const bool folds = holds && (piece % 128 == 0 || std::has_single_bit(static_cast<std::uint64_t>(piece)));
      CHECK((layout != nullptr && layout->skeleton == Skeleton::row) == folds);
      if (!folds) ++refused;
      if (!folds) continue;
      ++rows;
      CHECK(std::holds_alternative<Layout>(classify(group)));
      CHECK(explore::check_every_plan(group, {testing::effort(7, 2)}, true).programs > 0);
    }
  CHECK(rows == 16);
  CHECK(refused == 8);
}

TEST_CASE("rows that change their order in memory on the way to a sum of sets are no row kernel with it") {
  const auto rule_of = [](std::string_view layout) -> std::string {
    const Group group{parse_graph(fmt::format(R"(graph turned {{
  %x = parameter 0 : f32[4,3,8]{0}
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={{2}} : f32[4,3]
  %sb = broadcast %s, axes={{0,1}} : f32[4,3,8]{0}
  %y = multiply %x, %sb : f32[4,3,8]{0}
  %z = negate %y : f32[4,3,8]
  %c = reduce add %z, %zero, axes={{0}} : f32[3,8]
  output %z, %c
}})",
                                              layout))};
    const Classified found = analyse(group.graph, whole_border(group.graph));
    const auto* refused = std::get_if<Rejection>(&found);
    return refused == nullptr ? "" : refused->rule;
  };
  CHECK(rule_of("").empty());
  CHECK(rule_of("{2,0,1}") == "skeleton-transpose");
}
