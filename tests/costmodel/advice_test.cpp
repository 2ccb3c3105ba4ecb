// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Advice, a row for each rule on both sides of its threshold. In: estimates and work made here. Out: checks that the
// whole sentence with its numbers is said where a rule speaks, and nothing where it does not. Part of the suite
// `costmodel`.
#include <doctest/doctest.h>

#include <functional>

#include "costmodel/model.h"
#include "round_device.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::costmodel;
using ir::Part;

namespace {

/// A kernel of 100 us on as many SMs as there are, of which nothing is worth saying.
struct Case {
  ir::Estimate estimate;
  Work work;
  CalibratedDevice device = shipped("h200");

  Case() {
    estimate.total = {100e-6};
    estimate.bottleneck = Part::l2;
    estimate.occupancy = 0.625;
    estimate.registers = 40;
    work.virtual_blocks = 132;
    work.pipes.fma = 750;
    work.buffers.resize(2);
    work.buffers[0].load = {10, 100, 3200};
    work.buffers[1].store = {10, 100, 3200};
  }
  void takes(Part which, double microseconds) {
    estimate.parts[static_cast<std::size_t>(which)] = {microseconds * 1e-6};
  }
  /// Of each of two buffers half of so many bytes.
  void moves_once(std::int64_t bytes) {
    device.dram_bandwidth = 1e12;
    work.buffers[0].read_bytes = work.buffers[1].written_bytes = bytes / 2;
    work.buffers[0].read_sectors = work.buffers[1].written_sectors = bytes / 64;
  }
  /// Code of so many instructions, of which those seen first take `first`.
  void code_takes(double microseconds, std::int64_t instructions, double first) {
    takes(Part::code, microseconds);
    work.code_instructions = instructions;
    device.cold_code = first * 1e-6 * device.clock / static_cast<double>(instructions);
    device.code_room = 2048;
  }
  /// A chain of arithmetic alone, of which `turns` are copies that wait for one another.
  void waits_in_turn(double microseconds, double turns) {
    estimate.bottleneck = Part::latency;
    estimate.waves = 1;
    takes(Part::latency, microseconds);
    const double steps = microseconds * 1e-6 * device.clock / device.fma_latency;
    work.critical_path.arithmetic = steps;
    work.critical_path.turns = steps * turns / microseconds;
  }
  std::vector<std::string> said() const { return advice(estimate, work, device); }
};

struct Rule {
  std::string_view sentence;
  std::function<void(Case&)> speaks, silent;
};

const std::vector<Rule>& advice_rules() {
  static const std::vector<Rule> all = {
      {"50 % of the time is launch and ramp: fuse the kernel into a neighbour",
       [](Case& c) { c.takes(Part::launch, 50.1); }, [](Case& c) { c.takes(Part::launch, 49.9); }},
      {"15.0 us of 100 us go to fetching 1,000 instructions that an SM sees for the first time: fewer copies (unroll, "
       "vector, in_flight) are less code, and wait less",
       [](Case& c) { c.code_takes(15.01, 1000, 15); }, [](Case& c) { c.code_takes(14.99, 1000, 15); }},
      {"40.0 us of 100 us go to fetching 5,000 instructions that an SM sees for the first time, or again for lack of "
       "room: fewer copies (unroll, vector, in_flight) are less code, and wait less",
       [](Case& c) { c.code_takes(40, 5000, 10); }, [](Case&) {}},
      {"latency binds: of its 10.0 us 5.00 us are copies of operations that branch (sine, power, division), one after "
       "the other: fewer copies (unroll, vector, in_flight) are less code, and wait less",
       [](Case& c) { c.waits_in_turn(10, 5); }, [](Case& c) { c.work.critical_path.turns = 1; }},
      {"81 % of the time is memory bandwidth at its reachable peak: only moving fewer bytes helps",
       [](Case& c) {
         c.estimate.bottleneck = Part::dram;
         c.takes(Part::dram, 81);
       },
       [](Case& c) {
         c.estimate.bottleneck = Part::dram;
         c.takes(Part::dram, 79);
       }},
      {"85 % of the time is memory bandwidth, for 85.0 MB where 66.0 MB have to be moved once: what is read again "
       "comes "
       "from memory again, unless caches hold more of it than the model takes them to",
       [](Case& c) {
         c.estimate.bottleneck = Part::dram;
         c.takes(Part::dram, 85);
         c.moves_once(66'000'000);
       },
       [](Case& c) {
         c.estimate.bottleneck = Part::dram;
         c.takes(Part::dram, 79);
         c.moves_once(66'000'000);
       }},
      {"131 blocks leave 1 of 132 SMs idle: smaller blocks, or each with less to do",
       [](Case& c) { c.work.virtual_blocks = 131; }, [](Case& c) { c.work.virtual_blocks = 133; }},
      {"131 blocks leave 1 of 132 SMs idle: smaller blocks, or each with less to do",
       [](Case& c) {
         c.work.virtual_blocks = 131;
         c.work.followers.assign(1, c.work);
         c.work.followers[0].begins = ir::Begins::launch;
       },
       [](Case& c) {
         c.work.virtual_blocks = 131;
         c.work.followers.assign(1, c.work);
         c.work.followers[0].begins = ir::Begins::launch;
         c.work.followers[0].virtual_blocks = 133;
       }},
      {"latency binds with 24 B per thread in flight at 62 % occupancy and 40 registers: more loads on their way at "
       "once "
       "or fewer registers",
       [](Case& c) {
         c.estimate.bottleneck = Part::latency;
         c.work.bytes_in_flight = 24;
       },
       [](Case& c) { c.work.bytes_in_flight = 24; }},
      {"25 % of issue slots are address arithmetic: wider vectors or a flatter index",
       [](Case& c) { c.work.pipes.address = 250; }, [](Case& c) { c.work.pipes.address = 240; }},
      {"only 70 % of the bytes in the sectors moved are used: neighbouring lanes should write neighbouring elements",
       [](Case& c) {
         c.work.buffers[0].load.bytes = 3000;
         c.work.buffers[1].store.bytes = 1470;
       },
       [](Case& c) {
         c.work.buffers[0].load.bytes = 3000;
         c.work.buffers[1].store.bytes = 1490;
       }},
      {"shared memory takes 15.0 passes where 1.0 would do: pad or swizzle its rows",
       [](Case& c) {
         c.estimate.bottleneck = Part::shared;
         c.work.shared_load = {10, 640, 100};
         c.work.shared_store = {10, 640, 50};
       },
       [](Case& c) {
         c.estimate.bottleneck = Part::shared;
         c.work.shared_load = {10, 640, 10};
         c.work.shared_store = {10, 640, 4};
       }},
      {"spills take 3 % of the time at 40 registers: keep fewer values in registers",
       [](Case& c) { c.takes(Part::spill, 3); }, [](Case&) {}},
      {"60 % of the time the transcendental and conversion pipe is full: 1100 transcendental and 350 conversion "
       "instructions",
       [](Case& c) {
         c.estimate.bottleneck = Part::xu;
         c.takes(Part::xu, 60);
         c.work.pipes.xu = 1100;
         c.work.pipes.narrow = 150;
         c.work.pipes.widen = 200;
       },
       [](Case& c) { c.takes(Part::xu, 60); }},
  };
  return all;
}

}  // namespace

TEST_CASE("each rule of advice says its sentence with its numbers beyond its threshold, and nothing below") {
  CHECK(Case().said().empty());
  for (const Rule& rule : advice_rules()) {
    CAPTURE(rule.sentence);
    Case loud, quiet;
    rule.speaks(loud);
    rule.silent(quiet);
    REQUIRE(loud.said().size() == 1);
    CHECK(loud.said()[0] == rule.sentence);
    CHECK(quiet.said().empty());
  }
}

TEST_CASE("nothing is said of banks where shuffles bind and shared memory holds nothing") {
  Case c;
  c.estimate.bottleneck = Part::shared;
  c.work.pipes.shuffle = 1000;
  CHECK(c.said().empty());
}

TEST_CASE("advice names only what can be changed: a neighbour where there is one, rows where the plan has rows") {
  Case c;
  c.work.virtual_blocks = 1;
  ir::Plan plan;
  const auto said = [&](ir::Skeleton skeleton, std::int32_t threads, std::int32_t per_row, std::int32_t vector) {
    plan.skeleton = skeleton;
    plan.threads = threads;
    plan.threads_per_row = per_row;
    plan.vector = vector;
    return advice(c.estimate, c.work, c.device, {true, &plan}).at(0);
  };
  const std::string idle = "1 block leaves 131 of 132 SMs idle: ";
  CHECK(said(ir::Skeleton::map, 256, 1, 4) == idle + "smaller blocks (threads) or narrower vectors make more of them");
  CHECK(said(ir::Skeleton::map, 32, 1, 1) == idle + "the arrays are too small to fill the GPU; a larger batch does");
  CHECK(said(ir::Skeleton::row, 256, 32, 4) ==
        idle + "give each row more threads (threads_per_row), or each block fewer rows (threads)");
  CHECK(said(ir::Skeleton::row, 256, 256, 4).find("(split)") != std::string::npos);
  CHECK(said(ir::Skeleton::column, 256, 32, 4) ==
        idle + "smaller blocks (threads), or blocks that share columns (split)");
  Case launch;
  launch.takes(Part::launch, 60);
  CHECK(launch.said().at(0).find("fuse the kernel") != std::string::npos);
  CHECK(advice(launch.estimate, launch.work, launch.device, {false, nullptr}).at(0).find("no other kernel") !=
        std::string::npos);
}

TEST_CASE("of several sentences the two most telling are said") {
  Case c;
  c.takes(Part::spill, 3);
  c.takes(Part::launch, 60);
  c.work.virtual_blocks = 100;
  const std::vector<std::string> said = c.said();
  REQUIRE(said.size() == 2);
  CHECK(said[0].starts_with("spills take 3 %"));
  CHECK(said[1].starts_with("100 blocks leave 32 of 132 SMs idle"));
}

TEST_CASE("two reasons for one proposal are one sentence") {
  Case c;
  c.takes(Part::latency, 90);
  c.estimate.bottleneck = Part::latency;
  c.work.virtual_blocks = 100;
  ir::Plan plan;
  plan.skeleton = ir::Skeleton::map;
  plan.unroll = 8;
  Changeable changeable{true, &plan, {}};
  changeable.price = [](const ir::Plan& other) { return std::optional(Seconds{other.unroll < 8 ? 50e-6 : 101e-6}); };
  const std::vector<std::string> said = advice(c.estimate, c.work, c.device, changeable);
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("100 blocks leave 32 of 132 SMs idle, and latency binds with "));
  CHECK(said[0].ends_with(" in place of 8 would take 50.0 us"));
  CHECK(said[0].find("would take") == said[0].rfind("would take"));
}

TEST_CASE("advice proposes the fastest plan that the model knows, names both values and the time, and no slower one") {
  Case c;
  c.takes(Part::code, 60);
  c.work.code_instructions = 1000;
  c.estimate.bottleneck = Part::code;
  ir::Plan plan;
  plan.skeleton = ir::Skeleton::map;
  plan.unroll = 8;
  plan.vector = 4;
  Changeable changeable{true, &plan, {}};
  const auto said = [&] { return advice(c.estimate, c.work, c.device, changeable).at(0); };
  // Times fall with the copies; two copies are as few as there may be.
  const auto copies = [](const ir::Plan& of) { return of.unroll * of.vector; };
  changeable.price = [&](const ir::Plan& other) -> std::optional<Seconds> {
    CHECK(other.skeleton == plan.skeleton);
    if (copies(other) < 8) return std::nullopt;
    return Seconds{10e-6 * copies(other)};
  };
  CHECK(said().ends_with(": unroll=2 in place of 8 would take 80.0 us"));
  changeable.left_out = [](const ir::Plan& other) { return other.unroll == 2 ? "rule few-copies leaves it out" : ""; };
  CHECK(said().ends_with(" would take 80.0 us (rule few-copies leaves it out)"));
  changeable.left_out = {};
  // A plan that cannot be told from this one is not proposed, nor is what has no kernel.
  changeable.price = [](const ir::Plan&) { return std::optional(Seconds{99.95e-6}); };
  CHECK(said().ends_with(": no plan that differs in unroll or vector alone is predicted to be faster"));
  changeable.price = [](const ir::Plan&) { return std::optional<Seconds>(); };
  CHECK(said().ends_with(": no other plan that could help can be written"));
  // Fields are named of which another value can be written.
  changeable.price = [&](const ir::Plan& other) {
    return other.unroll == plan.unroll ? std::optional<Seconds>() : std::optional(Seconds{100e-6});
  };
  CHECK(said().ends_with(": no plan that differs in unroll alone is predicted to be faster"));
  // Simpler arithmetic changes results: it comes after all else.
  changeable.price = [&](const ir::Plan& other) {
    return std::optional(Seconds{other.arithmetic == ir::Arithmetic::approx ? 20e-6 : 101e-6});
  };
  CHECK(said().ends_with(": arithmetic=approx in place of xla, less exact, would take 20.0 us"));
  changeable.price = [&](const ir::Plan& other) {
    return std::optional(Seconds{other.arithmetic == ir::Arithmetic::approx ? 20e-6 : 90e-6});
  };
  CHECK(said().find("arithmetic") == std::string::npos);
}

TEST_CASE("of a pack a proposal names the body, and what holds for all bodies changes in all of them") {
  Case c;
  c.takes(Part::code, 60);
  ir::Plan plan = ir::parse_plan(
      "pack threads=256 index_cache=on value_cache=on arithmetic=xla | map dominant=%3 vector=4 unroll=8 grid=tile | "
      "map "
      "dominant=%4 vector=4 unroll=4 grid=tile");
  Changeable changeable{true, &plan, {}};
  const auto said = [&] { return advice(c.estimate, c.work, c.device, changeable).at(0); };
  changeable.price = [](const ir::Plan& other) { return std::optional(Seconds{other.bodies[1].unroll * 10e-6}); };
  CHECK(said().ends_with(": unroll=1 in place of 4 in body 2 would take 10.0 us"));
  changeable.price = [](const ir::Plan& other) {
    const bool all = other.arithmetic == ir::Arithmetic::approx && other.bodies[0].arithmetic == other.arithmetic &&
                     other.bodies[1].arithmetic == other.arithmetic;
    return std::optional(Seconds{all ? 10e-6 : 100e-6});
  };
  CHECK(said().ends_with(": arithmetic=approx in place of xla, less exact, would take 10.0 us"));
}
