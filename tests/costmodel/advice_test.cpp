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
  ir::Device device = ir::find_device("h200", source_folder() + "/data/devices");

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
      {"81 % of the time is memory bandwidth at its reachable peak: only moving fewer bytes helps",
       [](Case& c) {
         c.estimate.bottleneck = Part::dram;
         c.takes(Part::dram, 81);
       },
       [](Case& c) {
         c.estimate.bottleneck = Part::dram;
         c.takes(Part::dram, 79);
       }},
      {"131 blocks leave 1 of 132 SMs idle: smaller blocks, or each with less to do",
       [](Case& c) { c.work.virtual_blocks = 131; }, [](Case& c) { c.work.virtual_blocks = 133; }},
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
      {"only 70 % of the bytes in the sectors moved are used: neighbouring lanes should read neighbouring elements",
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
