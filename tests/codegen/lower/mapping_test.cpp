// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Mappings: every plan of small axes of groups of each skeleton. In: a group, a plan, a small machine. Out: nothing but
// checks. The oracle is counting: blocks, threads and loops are gone through one by one, and what they name is written
// down: each position once, neighbours by neighbouring threads, tiles and trips as the digits say. Part of the suite
// `codegen lower`.
#include "codegen/lower/mapping.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/lower_loops.h"
#include "codegen/lower/skeletons.h"
#include "support/group_family.h"
#include "support/interpret.h"

using namespace tailor;
using namespace tailor::codegen;

namespace {

/// A small machine: warps of four lanes, nothing else that binds.
ir::Limits small_limits() {
  ir::Limits of_machine;
  of_machine.warp_size = 4;
  of_machine.sms = 2;
  of_machine.threads_per_block = of_machine.threads_per_sm = of_machine.blocks_per_sm = 1024;
  of_machine.registers_per_sm = of_machine.registers_per_block = of_machine.registers_per_thread = 1 << 20;
  return of_machine;
}

/// Calls visit(prepared, plan) for plans of small axes that no refusal of the skeleton's drops. Combinations are
/// thinned by a step that has no factor in common with the axes.
template <class Visit>
void each_plan(const char* member, std::int64_t rows, std::int64_t columns, Visit visit) {
  const ir::Group group = ir::make_group(ir::family_member(member), rows, columns);
  const auto prepared = std::get<Prepared>(prepare(group));
  const bool has_homes = row(prepared.skeleton).has(ir::PlanField::homes);
  for (int number = 0; number < 3 * 5 * 3 * 3 * 3 * 2; number += 7) {
    int left = number;
    const auto choose = [&](std::initializer_list<int> values) {
      const int chosen = values.begin()[static_cast<std::size_t>(left) % values.size()];
      left /= static_cast<int>(values.size());
      return chosen;
    };
    ir::Plan plan;
    plan.skeleton = prepared.skeleton;
    plan.dominant = prepared.dominants.front();
    plan.threads = choose({4, 8, 16});
    plan.threads_per_row = choose({1, 2, 4, 8, 16});
    plan.vector = choose({1, 2, 4});
    plan.in_flight = plan.unroll = choose({1, 2, 3});
    plan.split = choose({1, 2, 3});
    if (choose({0, 1}) != 0 && has_homes) plan.homes = homes_of(prepared, ir::HomesWord::registers);
    if (!lowering(plan.skeleton).refuse(prepared, plan, small_limits())) visit(prepared, plan);
  }
}

/// The families with what they look like: rows one walk, rows that are gone through again, rows in runs, columns, maps.
template <class Visit>
void each_plan_of_all(Visit visit) {
  for (const auto& [rows, columns] : {std::pair{5, 12}, {3, 13}, {9, 8}})
    for (const char* member : {"row_sum", "softmax", "column_sum", "column_softmax", "two_outputs"})
      each_plan(member, rows, columns, visit);
}

/// Goes through all values of these variables; the others are 0.
template <class Visit>
void each_value(const ir::IndexPool& pool, const std::vector<ir::VarId>& vars, Visit visit) {
  std::vector<std::int64_t> values(pool.vars.size(), 0);
  for (std::size_t turned = 0; turned < vars.size();) {
    visit(std::span<const std::int64_t>(values));
    for (turned = 0; turned < vars.size(); ++turned) {
      if (++values[vars[turned]] < pool.vars[vars[turned]].extent) break;
      values[vars[turned]] = 0;
    }
  }
}

bool holds(const ir::IndexPool& pool, const ir::Condition& c, std::span<const std::int64_t> values) {
  const std::int64_t a = evaluate(pool, c.a, values), b = evaluate(pool, c.b, values);
  return c.equal ? a == b : a < b;
}

/// The elements that one walk over the segment names.
template <class Name>
void name_all(const ir::IndexPool& pool, const Loops& loops, const Segment& segment, Name name) {
  std::vector<ir::VarId> vars;
  for (std::size_t v = 0; v < pool.vars.size(); ++v)
    if (pool.vars[v].kind != ir::VarKind::loop) vars.push_back(static_cast<ir::VarId>(v));
  if (loops.flight != 0) vars.push_back(loops.flight);
  if (loops.round != 0) vars.push_back(loops.round);
  for (int i = 0; i < segment.trip_loops; ++i) vars.push_back(segment.trips[i]);
  if (segment.vector > 1) vars.push_back(segment.element);
  each_value(pool, vars, [&](std::span<const std::int64_t> values) {
    if (loops.ragged && !holds(pool, loops.exists, values)) return;
    for (int i = 0; i < segment.guard_count; ++i)
      if (!holds(pool, segment.guards[i], values)) return;
    name(evaluate(pool, loops.kept, values), evaluate(pool, segment.along, values));
  });
}

/// The values of a thread's variables; all others are 0.
std::vector<std::int64_t> values_of_thread(const ir::IndexPool& pool, std::int64_t thread) {
  std::vector<std::int64_t> values(pool.vars.size(), 0);
  for (std::size_t v = 0; v < pool.vars.size(); ++v)
    if (pool.vars[v].kind == ir::VarKind::thread) values[v] = thread / pool.vars[v].divisor % pool.vars[v].extent;
  return values;
}

}  // namespace

TEST_CASE("blocks, threads, loops and vectors name each position of a domain once") {
  int judged = 0;
  each_plan_of_all([&](const Prepared& prepared, const ir::Plan& plan) {
    INFO(text(plan));
    LowerScratch scratch;
    ProgramBuilder builder(prepared, plan, scratch.state());
    const Mapping map = mapping(prepared, plan, small_limits());
    Loops loops = make_loops(builder, map, false);
    const ir::IndexPool& pool = builder.build().pool();
    const std::int64_t kept = map[Side::kept].size, along = map[Side::along].size;
    std::vector<int> named(static_cast<std::size_t>(kept * along), 0);
    const auto name = [&](std::int64_t i, std::int64_t k) {
      REQUIRE((i >= 0 && i < kept && k >= 0 && k < along));
      ++named[static_cast<std::size_t>(i * along + k)];
    };
    for (const Segment& segment : loops.segments()) name_all(pool, loops, segment, name);
    if (map.is_flat() && rest(map) != 0) {
      loops = make_tail(builder, map, loops);
      name_all(pool, loops, loops.segments().front(), name);
    }
    CHECK(std::set<int>(named.begin(), named.end()) == std::set<int>{1});
    ++judged;
  });
  CHECK(judged > 250);
}

TEST_CASE("threads next to each other take neighbours, and as many of them as the mapping says") {
  each_plan_of_all([&](const Prepared& prepared, const ir::Plan& plan) {
    INFO(text(plan));
    LowerScratch scratch;
    ProgramBuilder builder(prepared, plan, scratch.state());
    const Mapping map = mapping(prepared, plan, small_limits());
    const Loops loops = make_loops(builder, map, false);
    const ir::IndexPool& pool = builder.build().pool();
    const Segment& body = loops.segments().front();
    const ir::ExprId position = map.fast == Side::kept ? loops.kept : body.along;
    std::set<std::int64_t> taken;
    for (std::int64_t thread = 0; thread < taken_together(map) / body.vector; ++thread)
      for (int e = 0; e < body.vector; ++e) {
        std::vector<std::int64_t> values = values_of_thread(pool, thread);
        if (body.vector > 1) values[body.element] = e;
        taken.insert(evaluate(pool, builder.build().expand(position), values));
      }
    CHECK(std::ssize(taken) == taken_together(map));
    CHECK(*taken.rbegin() - *taken.begin() + 1 == taken_together(map));
    CHECK(stride_of(map, map.fast, Level::lane) == body.vector);
    // Slots of values that wait in shared memory: a thread's vector behind that of the thread before it, so lanes of a
    // pass never meet in a bank.
    for (std::int64_t thread = 0; thread < plan.threads; ++thread) {
      const std::vector<std::int64_t> values = values_of_thread(pool, thread);
      CHECK(evaluate(pool, loops.thread, values) == thread);
      CHECK(evaluate(pool, body.thread_slot, values) == thread);
    }
  });
}

TEST_CASE("tiles, trips and idle blocks are what counting digits finds") {
  std::set<bool> idle, ragged;
  each_plan_of_all([&](const Prepared& prepared, const ir::Plan& wanted) {
    for (int split = 1; split <= 5; ++split) {
      ir::Plan plan = wanted;
      plan.split = row(plan.skeleton).has(ir::PlanField::split) ? split : 1;
      INFO(text(plan));
      const Mapping map = mapping(prepared, plan, small_limits());
      for (const Side side : {Side::kept, Side::along}) {
        const std::int64_t vector = extent(map, side, Level::vector);
        const std::int64_t tile = stride_of(map, side, Level::block), trip = stride_of(map, side, Level::section);
        std::set<std::int64_t> blocks, turns, parts;
        for (std::int64_t at = 0; at < units(map, side) * vector; ++at) {
          REQUIRE(at < covered(map, side));
          blocks.insert(at / tile);
          turns.insert(at / trip);
          parts.insert(at / tile % extent(map, side, Level::block));
        }
        if (side == Side::kept) CHECK(tiles(map) == std::ssize(blocks));
        if (side == Side::along) CHECK(trips(map) == std::ssize(turns));
        if (side == Side::along && extent(map, side, Level::block) > 1) {
          CHECK(leaves_blocks_idle(map) == (std::ssize(parts) < extent(map, side, Level::block)));
          idle.insert(leaves_blocks_idle(map));
        }
        CHECK(is_ragged(map, side) == (covered(map, side) > units(map, side) * vector));
        ragged.insert(is_ragged(map, side));
      }
    }
  });
  CHECK(idle.size() == 2);
  CHECK(ragged.size() == 2);
}

TEST_CASE("a reduction is put together at the widest level that its elements are dealt to") {
  each_plan_of_all([&](const Prepared& prepared, const ir::Plan& plan) {
    const Mapping map = mapping(prepared, plan, small_limits());
    if (map.is_flat()) return;
    INFO(text(plan));
    // Threads that have parts of the first result: all that differ in their digits along it alone.
    std::set<std::int64_t> warps, threads;
    for (std::int64_t lane = 0; lane < extent(map, Side::along, Level::lane); ++lane)
      for (std::int64_t group = 0; group < extent(map, Side::along, Level::group); ++group) {
        const std::int64_t thread =
            lane * thread_stride(map, Side::along, Level::lane) + group * thread_stride(map, Side::along, Level::group);
        threads.insert(thread);
        warps.insert(thread / small_limits().warp_size);
      }
    CHECK(std::ssize(threads) == threads_on(map, Side::along));
    const ir::StitchLevel level = stitch_level(map);
    CHECK((level == ir::StitchLevel::registers) == (threads.size() == 1));
    if (level == ir::StitchLevel::warp) CHECK(warps.size() == 1);
    if (warps.size() > 1) CHECK(level == ir::StitchLevel::block);
  });
}

TEST_CASE("a map stores each element once, or says that threads lack for those behind its vectors") {
  int stored = 0, refused = 0;
  for (std::int64_t elements = 1; elements < 80; ++elements) {
    const ir::Group group = ir::make_group({"negated", fmt::format(R"(graph negated {{
  %x = parameter 0 : s32[{0}]
  %y = negate %x : s32[{0}]
  output %y
}})",
                                                                   elements)},
                                           1, 1);
    std::vector<std::byte> numbers(static_cast<std::size_t>(elements) * sizeof(std::int32_t)), expected = numbers;
    for (std::int32_t i = 0; i < elements; ++i) {
      const std::int32_t number = i + 1, negated = -number;
      std::memcpy(&numbers[static_cast<std::size_t>(i) * sizeof i], &number, sizeof i);
      std::memcpy(&expected[static_cast<std::size_t>(i) * sizeof i], &negated, sizeof i);
    }
    for (const int threads : {4, 8, 16})
      for (const int vector : {1, 2, 8, 16, 32}) {
        if (vector > elements) continue;
        const ir::Plan plan = ir::parse_plan(fmt::format("map dominant=%1 threads={} vector={}", threads, vector));
        const Lowered made = lower(group, plan, small_limits());
        if (const auto* rejection = std::get_if<ir::Rejection>(&made)) {
          CHECK(rejection->rule == "peel");
          CHECK(elements % vector > threads);
          ++refused;
          continue;
        }
        const ir::KernelRun run =
            ir::interpret(std::get<ir::Kernel>(made), {numbers, std::vector<std::byte>(numbers.size())});
        REQUIRE(run.violations.empty());
        REQUIRE(run.buffers[1] == expected);
        ++stored;
      }
  }
  CHECK(stored > 500);
  CHECK(refused > 50);
}

TEST_CASE("a number of resident blocks is of a persistent grid") {
  const ir::Group group = ir::make_group(ir::family_member("bias_gelu_f16"), 8, 64);
  const auto refusal = [&](const char* plan) {
    const Lowered made = lower(group, ir::parse_plan(plan), small_limits());
    const auto* refused = std::get_if<ir::Rejection>(&made);
    return refused == nullptr ? "" : fmt::format("{}: {}", refused->rule, refused->reason);
  };
  const std::string dominant = fmt::format("%{}", std::get<Prepared>(prepare(group)).dominants.front());
  CHECK(refusal(fmt::format("map dominant={} threads=16 grid=tile blocks_per_sm=3", dominant).c_str()) ==
        "persistent: blocks_per_sm=3 says how many blocks of a persistent grid an SM has, and the plan says grid=tile");
  CHECK(refusal(fmt::format("map dominant={} threads=16 grid=persistent blocks_per_sm=3", dominant).c_str()).empty());
}
