// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stages one behind another compute what the evaluator computes, and are counted as executed: members of the group
// family drawn one behind another, each with plans of its own. Then cuts that a plan chooses, what stages refuse, and
// what the check of kernels has against steps. Part of the suite `codegen lower`.
#include "codegen/lower/lower_stages.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "codegen/lower/lower_pack.h"
#include "explore/every_plan.h"
#include "ir/device.h"
#include "ir/graph/graph_parse.h"
#include "support/group_chain.h"
#include "support/group_family.h"
#include "support/paths.h"
#include "support/text_group.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

const Limits& stages_gpu() {
  static const Limits limits = ir::limits(find_device("h200", source_folder() + "/data/devices"));
  return limits;
}

/// A softmax of rows, divided by the sums of its columns: no loop holds both.
const Group& both_ways() {
  static const Group group = group_of_text(R"(graph both_ways {
  %x = parameter 0 : f32[64,96]
  %low = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %low, axes={1} : f32[64]
  %mb = broadcast %m, axes={0} : f32[64,96]
  %d = subtract %x, %mb : f32[64,96]
  %e = exp %d : f32[64,96]
  %s = reduce add %e, %zero, axes={1} : f32[64]
  %sb = broadcast %s, axes={0} : f32[64,96]
  %y = divide %e, %sb : f32[64,96]
  %c = reduce add %y, %zero, axes={0} : f32[96]
  %cb = broadcast %c, axes={1} : f32[64,96]
  %z = divide %y, %cb : f32[64,96]
  output %z
}
)");
  return group;
}

constexpr std::string_view stages_words =
    "stages threads=128 homes=%3@grid,%7@grid,%10@grid grid=persistent blocks_per_sm=1 index_cache=on value_cache=on "
    "arithmetic=xla || row dominant=%3 threads_per_row=32 vector=1 in_flight=1 split=1 homes=%0@register || map "
    "dominant=%12 vector=2 unroll=1";

Kernel lowered(const Group& group, const std::string& words) {
  codegen::Lowered made = codegen::lower(group, parse_plan(words), stages_gpu());
  if (const auto* refused = std::get_if<Rejection>(&made)) FAIL(refused->rule << ": " << refused->reason);
  return std::get<Kernel>(std::move(made));
}

/// What the lowering says of a plan; empty where it is legal.
std::string stages_refusal(const Group& group, const std::string& words) {
  const codegen::Lowered made = codegen::lower(group, parse_plan(words), stages_gpu());
  const auto* refused = std::get_if<Rejection>(&made);
  return refused == nullptr ? "" : fmt::format("{}: {}", refused->rule, refused->reason);
}

std::string with(std::string words, std::string_view from, std::string_view to) {
  const std::size_t at = words.find(from);
  REQUIRE(at != words.npos);
  return words.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("members of the family one behind another compute what the evaluator computes and are counted as executed") {
  std::mt19937_64 random(37);
  std::vector<const FamilyMember*> members;
  for (const FamilyMember& one : group_family()) members.push_back(&one);
  for (const FamilyMember& one : across_family()) members.push_back(&one);
  for (const FamilyMember& one : turned_family()) members.push_back(&one);
  int staged = 0, packs = 0, programs = 0;
  for (int draw = 0; staged < testing::effort(12, 28, 600); ++draw) {
    REQUIRE(draw < testing::effort(20000, 300000));
    const auto rows = static_cast<std::int64_t>(2 + random() % 12),
               columns = static_cast<std::int64_t>(5 + random() % 40);
    std::vector<Group> parts;
    std::string names;
    for (std::size_t wanted = 2 + random() % 2; parts.size() < wanted;) {
      const FamilyMember& one = *members[static_cast<std::size_t>(random() % members.size())];
      const bool square = random() % 4 == 0;  // what is turned may fit
      try {
        parts.push_back(make_group(one, square ? columns : rows, columns));
      } catch (const std::exception&) {
        continue;  // the member asks for other sizes
      }
      names += fmt::format(" {} {}x{}", one.name, square ? columns : rows, columns);
    }
    const std::optional<Group> group = one_behind_another(parts, random() % 2 == 0);
    if (!group) continue;
    // Places that an earlier stage computes are known to nobody who counts.
    const auto places = [](const Node& node) {
      return node.op == Op::gather || node.op == Op::dynamic_slice || node.op == Op::dynamic_update_slice;
    };
    if (std::any_of(parts.begin() + 1, parts.end(), [&](const Group& part) {
          return std::any_of(part.graph.nodes.begin(), part.graph.nodes.end(), places);
        }))
      continue;
    const auto ready = codegen::prepare(*group);
    const auto* prepared = std::get_if<codegen::Prepared>(&ready);
    if (prepared == nullptr || prepared->skeleton != Skeleton::stages) continue;
    CAPTURE(draw);
    CAPTURE(names);
    ++staged;
    for (const codegen::Body& body : prepared->bodies) packs += body.prepared->bodies.empty() ? 0 : 1;
    programs += explore::check_every_plan(*group, {testing::effort(41, 7)}, true).programs;
  }
  MESSAGE(staged << " groups in stages, " << packs << " packs among these, " << programs << " programs");
  CHECK(packs > 0);
  CHECK(programs > testing::effort(50, 100, 100));
}

TEST_CASE("a plan chooses what waits: results of reductions, or an array that is not computed again") {
  const Group& group = both_ways();
  const auto ready = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(ready));
  CHECK((std::get<codegen::Prepared>(ready).waits == std::vector<NodeId>{3, 7, 10}));
  const Kernel usual = lowered(group, std::string(stages_words));
  CHECK(launches_of(usual).size() == 1);
  CHECK(steps_of(launches_of(usual)[0]).size() == 3);
  const std::string other =
      "stages threads=128 homes=%9@grid,%10@grid grid=persistent blocks_per_sm=1 index_cache=on value_cache=on "
      "arithmetic=xla || row dominant=%3 threads_per_row=32 vector=1 in_flight=1 split=1 homes=%0@register || map "
      "dominant=%12 vector=2 unroll=1";
  const Kernel array = lowered(group, other);
  const auto elements_of_workspaces = [](const Kernel& kernel, std::string_view name) {
    std::int64_t found = 0;
    for (const Buffer& buffer : kernel.buffers)
      if (buffer.role == BufferRole::workspace && buffer.name == name) found += buffer.elements;
    return found;
  };
  CHECK(elements_of_workspaces(array, "y") == 64 * 96);
  CHECK(elements_of_workspaces(usual, "y") == 0);
  CHECK(elements_of_workspaces(usual, "m") == 64);
}

TEST_CASE("stages refuse homes that are none, grids that may queue, and what a stage needs a launch of its own for") {
  const Group& group = both_ways();
  const std::string words(stages_words);
  CHECK(stages_refusal(group, words).empty());
  CHECK(stages_refusal(group, with(words, "%3@grid,", "%3@block,")) ==
        "homes: %3@block: what waits between stages waits in global memory, here "
        "%3@grid,%7@grid,%10@grid");
  CHECK(stages_refusal(group, with(words, " homes=%3@grid,%7@grid,%10@grid", "")) ==
        "homes: the plan says no homes; between the stages wait %3@grid,%7@grid,%10@grid");
  CHECK(stages_refusal(group, with(words, "%10@grid", "%99@grid")) == "homes: the group has no %99");
  CHECK(stages_refusal(group, with(words, "%10@grid", "%10@grid,%12@grid"))
            .starts_with("homes: %12 waits for no later stage"));
  CHECK(stages_refusal(group, with(words, "%3@grid,", "%1@grid,"))
            .starts_with("homes: %1 is no value that the group computes"));
  CHECK(stages_refusal(group, with(words, "%3@grid,", "%0@grid,"))
            .starts_with("homes: %0 is no value that the group computes"));
  CHECK(stages_refusal(group, with(words, "grid=persistent blocks_per_sm=1", "grid=tile")).starts_with("persistent: "));
  CHECK(stages_refusal(group, with(words, "blocks_per_sm=1", "blocks_per_sm=17")).starts_with("persistent: "));
  CHECK(stages_refusal(group, with(words, "dominant=%12", "dominant=%2")).starts_with("bodies: %2 is not of stage 2"));
  CHECK(stages_refusal(group, words.substr(0, words.rfind(" ||"))) ==
        "bodies: the plan has 1 stage, with these homes there are 2: row 64 x 96, then map 6144");
}

TEST_CASE("a stage of several loops has none that needs a launch of its own") {
  const Group group = group_of_text(R"(graph sums {
  %a = parameter 0 : f32[64,96]
  %b = parameter 1 : f32[40,500]
  %zero = constant 0 : f32[]
  %s = reduce add %a, %zero, axes={0,1} : f32[]
  %t = reduce add %b, %zero, axes={0,1} : f32[]
  %n = add %s, %t : f32[]
  %nb = broadcast %n : f32[64,96]
  %y = divide %a, %nb : f32[64,96]
  output %y
}
)");
  const std::string words =
      "stages threads=128 homes=%3@grid,%4@grid grid=persistent blocks_per_sm=1 index_cache=on value_cache=on "
      "arithmetic=xla || pack | row dominant=%4 threads_per_row=128 vector=4 in_flight=1 split=1 | row dominant=%3 "
      "threads_per_row=128 vector=4 in_flight=1 split=1 || map dominant=%7 vector=2 unroll=1";
  CHECK(stages_refusal(group, words).empty());
  CHECK(stages_refusal(group, with(words, "split=1", "split=2 meet=kernel")) ==
        "bodies: stage 1: body 1 goes on in another launch, which needs a launch of its own");
  CHECK(stages_refusal(group, with(words, "split=1", "split=4 cluster=2")) ==
        "bodies: stage 1: body 1 has clusters of blocks, which needs a launch of its own");
  CHECK(stages_refusal(group, with(words, "dominant=%4", "dominant=%3")) == "bodies: stage 1: %3 is not of body 1");
}

TEST_CASE("as many blocks as must be resident fit the SMs, or the plan is refused") {
  const Group& group = both_ways();
  const Plan plan = parse_plan(with(std::string(stages_words), "blocks_per_sm=1", "blocks_per_sm=4"));
  const auto refused_on = [&](const Limits& limits) {
    const codegen::Lowered made = codegen::lower(group, plan, limits);
    const auto* refused = std::get_if<Rejection>(&made);
    return refused == nullptr ? std::string() : refused->rule;
  };
  Limits limits = stages_gpu();
  CHECK(refused_on(limits).empty());
  limits.shared_per_sm = 4 * 1024;
  CHECK(refused_on(limits) == "resident");
  const codegen::Lowered made = codegen::lower(group, plan, stages_gpu());
  const LaunchShape shape = launch_shape(launches_of(std::get<Kernel>(made))[0]);
  CHECK(shape.grid[0] == static_cast<std::uint32_t>(4 * stages_gpu().sms));
  CHECK(shape.min_blocks == 4);
  CHECK(shape.cooperative);
  // The compiler may be bound to registers for more.
  Plan more = plan;
  more.min_blocks = 6;
  copy_fields(more, more, more.skeleton);
  const codegen::Lowered bound = codegen::lower(group, more, stages_gpu());
  REQUIRE(std::holds_alternative<Kernel>(bound));
  verify(std::get<Kernel>(bound));
  CHECK(launch_shape(launches_of(std::get<Kernel>(bound))[0]).min_blocks == 6);
}

TEST_CASE("the check of kernels refuses steps between which somebody should wait") {
  const Kernel stages = lowered(both_ways(), std::string(stages_words));
  const auto complaint = [&](auto change) -> std::string {
    Kernel changed = stages;
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
  REQUIRE(stages.followers.size() == 2);
  REQUIRE(is_meeting(stages.followers[0]));
  says([](Kernel& k) { k.followers.erase(k.followers.begin()); },
       "is written by one body of a launch and used by another");
  says([](Kernel& k) { k.followers[1].begins = Begins::beside; }, "is written by one body of a launch");
  says([](Kernel& k) { k.followers[1].cooperative = false; }, "blocks that may queue");
  says([](Kernel& k) { k.followers[1].grid = k.followers[1].virtual_blocks; }, "blocks that may queue");
  says([](Kernel& k) { k.followers[1].persistent = false; }, "a grid that does not fit");
  says([](Kernel& k) { k.followers[1].min_blocks = 3; }, "differ in their threads or in the blocks");
  says(
      [](Kernel& k) {
        for (Stmt& s : k.followers[1].body)
          if (s.kind == StmtKind::load && s.space == Space::global && s.policy == Policy::fresh)
            s.policy = Policy::again;
      },
      "promises that nobody does");
  // Steps are another program than launches.
  Kernel apart = stages;
  apart.followers[1].begins = Begins::launch;
  CHECK(id_of(apart) != id_of(stages));
  CHECK(text(stages).find("\nbehind ") != std::string::npos);
}
