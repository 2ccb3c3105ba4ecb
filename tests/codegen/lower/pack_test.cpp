// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies side by side compute what the evaluator computes, and are counted as executed: members of the group family
// drawn together, each with plans of its own. Then what a pack refuses, and that its text says whose each node is. Part
// of the suite `codegen lower`.
#include "codegen/lower/lower_pack.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "explore/every_plan.h"
#include "ir/device.h"
#include "ir/graph/graph_parse.h"
#include "support/group_family.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

const Limits& h200() {
  static const Limits limits = ir::limits(find_device("h200", source_folder() + "/data/devices"));
  return limits;
}

Group member(std::string_view name, std::int64_t rows, std::int64_t columns) {
  return make_group(family_member(name), rows, columns);
}

/// Sums of long columns (a ticket where blocks share them), a softmax of other rows, a map of 16-bit elements.
Group three_bodies() {
  return side_by_side({member("column_sum", 4096, 96), member("softmax", 50, 96), member("bias_gelu_f16", 9, 64)});
}

/// What the lowering says of a plan; empty where it is legal.
std::string refusal(const Group& group, const std::string& words) {
  const codegen::Lowered lowered = codegen::lower(group, parse_plan(words), h200());
  const auto* refused = std::get_if<Rejection>(&lowered);
  return refused == nullptr ? "" : fmt::format("{}: {}", refused->rule, refused->reason);
}

}  // namespace

TEST_CASE("members of the family side by side compute what the evaluator computes and are counted as executed") {
  std::mt19937_64 random(47);
  std::vector<const FamilyMember*> members;
  for (const FamilyMember& one : group_family()) members.insert(members.end(), 3, &one);  // some of these have clusters
  for (const FamilyMember& one : across_family()) members.push_back(&one);
  int packs = 0, programs = 0, clustered = 0, met = 0, looping = 0;
  for (int draw = 0; draw < testing::effort(44, 64, 1500); ++draw) {
    std::vector<Group> parts;
    std::string names;
    const std::size_t wanted = 2 + random() % 2;
    while (parts.size() < wanted) {
      const FamilyMember& one = *members[static_cast<std::size_t>(random() % members.size())];
      const auto rows = static_cast<std::int64_t>(2 + random() % 12),
                 columns = static_cast<std::int64_t>(5 + random() % 40);
      try {
        parts.push_back(make_group(one, rows, columns));
      } catch (const std::exception&) {
        continue;  // the member asks for other sizes
      }
      names += fmt::format(" {} {}x{}", one.name, rows, columns);
    }
    CAPTURE(draw);
    CAPTURE(names);
    const Group group = side_by_side(parts);
    const auto ready = codegen::prepare(group);
    const auto* prepared = std::get_if<codegen::Prepared>(&ready);
    if (prepared == nullptr || prepared->bodies.empty()) continue;
    ++packs;
    const explore::SpaceRun run = explore::check_every_plan(group, {testing::effort(53, 17)}, true);
    programs += run.programs, clustered += run.clustered, met += run.met, looping += run.looping;
  }
  MESSAGE(packs << " packs, " << programs << " programs, " << clustered << " with clusters, " << met << " that meet, "
                << looping << " that loop");
  CHECK(packs > testing::effort(7, 20, 30));
  CHECK(programs > testing::effort(40, 100, 150));
  for (const int some : {clustered, met, looping}) CHECK(some > testing::effort(5, 15, 30));
}

TEST_CASE("a plan's bodies go back and forth between the numbers of the pack and their own") {
  const Group group = three_bodies();
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  REQUIRE(prepared.bodies.size() == 3);
  for (std::size_t number = 0; number < prepared.bodies.size(); ++number) {
    const codegen::Body& body = prepared.bodies[number];
    CHECK(body.nodes.size() == body.group->graph.nodes.size());
    for (std::size_t id = 0; id < body.nodes.size(); ++id)
      CHECK(body.group->graph.nodes[id].shape == group.graph[body.nodes[id]].shape);
    Plan own;
    own.skeleton = body.prepared->skeleton;
    own.dominant = body.prepared->dominants.front();
    own.homes = codegen::homes_of(*body.prepared, HomesWord::registers);
    Plan pack;
    pack.skeleton = Skeleton::pack;
    pack.bodies.assign(3, own);
    pack.bodies[number] = codegen::plan_in_whole(body, own);
    const auto back = codegen::plan_of_body(prepared, pack, number);
    REQUIRE(std::holds_alternative<Plan>(back));
    CHECK((std::get<Plan>(back) == own));
  }
}

TEST_CASE("a pack refuses what a launch has once, and says which body") {
  const Group group = side_by_side({member("column_sum", 4096, 96), member("softmax", 50, 96)});
  const std::string head = "pack threads=256 index_cache=on value_cache=on arithmetic=xla | ";
  const std::string column = "column dominant=%2 threads_per_row=8 vector=4 in_flight=4 split=8 grid=tile";
  const std::string row = "row dominant=%6 threads_per_row=32 vector=1 in_flight=1 split=1 grid=tile";
  CHECK(refusal(group, head + column + " | " + row).empty());
  CHECK(refusal(group, head + column) == "bodies: the plan has 1 body, the group 2");
  CHECK(refusal(group, head + row + " | " + column) == "bodies: %6 is not of body 1");
  CHECK(refusal(group, "map dominant=%2") == "skeleton: the group needs skeleton pack, the plan says map");
}

TEST_CASE("a body that goes on in another launch is refused, whichever it is") {
  const Group group = side_by_side({member("softmax", 3000, 96), member("column_sum", 40, 96)});
  const std::string head = "pack threads=128 index_cache=on value_cache=on arithmetic=xla | ";
  const std::string column = " | column dominant=%12 threads_per_row=8 vector=4 in_flight=1 split=1 grid=tile";
  const auto row = [&](std::string_view words) {
    return refusal(group, head + fmt::format("row dominant=%3 {}", words) + column);
  };
  CHECK(row("threads_per_row=32 vector=1 in_flight=1 split=1 grid=tile") == "");
  CHECK(row("threads_per_row=32 vector=1 in_flight=1 split=1 grid=persistent blocks_per_sm=1") == "");
  CHECK(row("threads_per_row=32 vector=1 in_flight=1 split=2 meet=kernel grid=tile") ==
        "bodies: body 1 goes on in another launch, which needs a launch of its own");
  // That is what is said, whatever else is wrong with the body.
  CHECK(row("threads_per_row=32 vector=1 in_flight=64 split=2 meet=kernel grid=tile") ==
        "bodies: body 1 goes on in another launch, which needs a launch of its own");
  CHECK(row("threads_per_row=48 vector=1 in_flight=1 split=1 grid=tile").starts_with("threads-per-row: body 1: "));
  const std::string last = " | column dominant=%11 threads_per_row=8 vector=4 in_flight=1 split=1 grid=tile";
  CHECK(refusal(group, head + "row dominant=%3 threads_per_row=32 vector=1 in_flight=1 split=1 grid=tile" + last) ==
        "dominant: body 2: %11 cannot be the dominant node of this group: %12 can");  // as the pack's plan numbers it
}

namespace {

/// A map, and rows of two sizes that clusters or blocks which meet can share.
Group shared_rows(std::int64_t map_rows) {
  return side_by_side(
      {member("two_outputs", map_rows, 96), member("split_rows", 6, 1024), member("split_rows", 2, 1024)});
}

/// Its plan, with what each body has.
std::string shared_rows_plan(const Group& group, std::string_view map, std::string_view first,
                             std::string_view second) {
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  std::string words = "pack threads=128 index_cache=on value_cache=on arithmetic=xla";
  std::string_view of_rows = first;
  for (const codegen::Body& body : prepared.bodies) {
    const NodeId dominant = body.nodes[index(body.prepared->dominants.front())];
    if (body.prepared->skeleton == Skeleton::map)
      words += fmt::format(" | map dominant=%{} vector=1 unroll=1 {}", dominant, map);
    else
      words += fmt::format(" | row dominant=%{} threads_per_row=128 vector=1 in_flight=1 {}", dominant,
                           std::exchange(of_rows, second));
  }
  return words;
}

}  // namespace

TEST_CASE("clusters of a launch have one size, and every body has whole ones") {
  const Group group = shared_rows(90);
  const auto plan = [&](std::string_view first, std::string_view second) {
    return shared_rows_plan(group, "grid=tile", first, second);
  };
  CHECK(refusal(group, plan("split=1 cluster=2", "split=1 cluster=4")).starts_with("bodies: body "));
  CHECK(refusal(group, plan("split=1 cluster=2", "split=1 cluster=4")).ends_with(": those of a launch have one size"));
  CHECK(refusal(group, plan("split=1 cluster=2", "split=4 meet=grid")).ends_with(": a launch has one or the other"));
  CHECK(refusal(group, plan("split=1 cluster=4", "split=1")).empty());
  const codegen::Lowered lowered = codegen::lower(group, parse_plan(plan("split=1 cluster=4", "split=1")), h200());
  const auto& kernel = std::get<Kernel>(lowered);
  verify(kernel);
  const LaunchShape shape = launch_shape(launches_of(kernel)[0]);
  CHECK(shape.cluster[0] == 4);
  std::int64_t blocks = 0;
  for (const Kernel& body : kernels_of(kernel)) {
    CHECK(body.grid % 4 == 0);
    CHECK(body.grid - body.virtual_blocks < 4);
    blocks += body.grid;
  }
  CHECK(shape.grid[0] == blocks);
}

TEST_CASE("beside blocks that meet all blocks are resident, or the plan is refused") {
  const Group group = shared_rows(9000);  // 6750 blocks of 128 threads
  const auto plan = [&](std::string_view map, std::string_view second = "split=8 meet=grid") {
    return shared_rows_plan(group, map, "split=8 meet=grid", second);
  };
  CHECK(refusal(group, plan("grid=tile")).starts_with("resident: "));
  CHECK(refusal(group, plan("grid=persistent blocks_per_sm=2")).empty());
  CHECK(refusal(group, plan("grid=persistent blocks_per_sm=16")).starts_with("resident: "));
  const codegen::Lowered lowered =
      codegen::lower(group, parse_plan(plan("grid=persistent blocks_per_sm=2", "split=1")), h200());
  const auto& kernel = std::get<Kernel>(lowered);
  verify(kernel);
  const LaunchShape shape = launch_shape(launches_of(kernel)[0]);
  CHECK(shape.cooperative);
  CHECK(shape.min_blocks == (shape.grid[0] + h200().sms - 1) / h200().sms);
  for (const Kernel& body : kernels_of(kernel)) CHECK(body.min_blocks == shape.min_blocks);
  // A smaller GPU holds fewer blocks, or fewer registers beside so many.
  Limits few = h200();
  few.registers_per_sm = shape.min_blocks * 128;
  const codegen::Lowered crowded =
      codegen::lower(group, parse_plan(plan("grid=persistent blocks_per_sm=2", "split=1")), few);
  REQUIRE(std::holds_alternative<Rejection>(crowded));
  CHECK(std::get<Rejection>(crowded).rule == "min-blocks");
}

TEST_CASE("the check of kernels refuses bodies that are not beside one another") {
  const Group group = three_bodies();
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  Plan plan = parse_plan(fmt::format(
      "pack threads=256 index_cache=on value_cache=on arithmetic=xla | column dominant=%2 threads_per_row=8 "
      "vector=4 in_flight=4 split=8 grid=tile | row dominant=%6 threads_per_row=256 vector=1 in_flight=1 "
      "split=1 grid=tile | map dominant=%{} vector=4 unroll=1 grid=tile",
      group.graph.outputs.back()));
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered = codegen::lower(prepared, plan, h200(), scratch);
  if (const auto* refused = std::get_if<Rejection>(&lowered)) FAIL(refused->reason);
  const Kernel& pack = std::get<Kernel>(lowered);
  const auto complaint = [&](auto change) -> std::string {
    Kernel changed = pack;
    change(changed);
    try {
      verify(changed);
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return {};
  };
  const auto says = [&](auto change, std::string_view words) {
    const std::string found = complaint(change);
    CAPTURE(found);
    CHECK(found.find(words) != found.npos);
  };
  CHECK(complaint([](Kernel&) {}) == "");
  says([](Kernel& k) { k.followers[0].min_blocks = 2; }, "differ in their threads or in the blocks");
  says([](Kernel& k) { k.followers[0].grid = 51; }, "a grid that does not fit");
  says([](Kernel& k) { k.followers[0].cooperative = true; }, "beside others that may queue");
  says([](Kernel& k) { k.followers[1].dynamic_shared = false; }, "shared memory of which it is not told");
  says([](Kernel& k) { k.followers[1].begins = Begins::launch; },
       "a store before the launches before it are waited for");
  BufferId of_columns = no_id;
  for (const Stmt& s : pack.body)
    if (s.kind == StmtKind::store && s.space == Space::global) of_columns = s.memory;
  REQUIRE(of_columns != no_id);
  says(
      [&](Kernel& k) {  // a body that names what another one writes
        for (Stmt& s : k.followers[1].body)
          if (s.kind == StmtKind::load && s.space == Space::global) {
            s.memory = of_columns;
            s.policy = Policy::reload;
          }
      },
      "is written by one body of a launch and used by another");
  // Beside clusters each body has whole ones, and those of a launch have one size.
  Kernel even = pack;
  even.cluster = 4;
  REQUIRE(even.virtual_blocks % 4 == 0);
  for (Kernel& body : even.followers) body.grid = (body.virtual_blocks + 3) / 4 * 4;
  CHECK_NOTHROW(verify(even));
  Kernel cut = even;
  --cut.followers[0].grid;
  CHECK_THROWS_WITH_AS(verify(cut), doctest::Contains("ends within a cluster"), std::logic_error);
  Kernel two_sizes = even;
  two_sizes.followers[0].cluster = 2;
  two_sizes.followers[0].grid = two_sizes.followers[0].virtual_blocks;
  CHECK_THROWS_WITH_AS(verify(two_sizes), doctest::Contains("clusters of two sizes"), std::logic_error);
  // A body that is launched behind the others is another program, and so is another order of bodies.
  Kernel behind = pack;
  behind.followers[1].begins = Begins::launch;
  CHECK(id_of(behind) != id_of(pack));
  Kernel turned = pack;
  std::swap(turned.followers[0], turned.followers[1]);
  CHECK(id_of(turned) != id_of(pack));
  CHECK(text(pack).find("\nbeside ") != std::string::npos);
}
