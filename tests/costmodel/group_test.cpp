// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The price of a group on paper: its formula with every part and on both sides of each room that a crossing value may
// have, and what a summary says of small groups whose phases, bytes and instructions can be counted by hand. In:
// summaries and graphs written here, a device with round numbers. Part of the suite `costmodel`.
#include "costmodel/group_summary.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "costmodel/model.h"
#include "lowered.h"
#include "round_device.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::costmodel;
using ir::Part;

namespace {

/// Ten SMs with 1,000 bytes of shared memory to a block and 1 MB of L2.
CalibratedDevice device_of_groups() {
  CalibratedDevice d = round_device();
  d.dram_efficiency = 0.5;
  d.shared_per_block_optin = 1000;
  d.shared_bandwidth = 128;
  d.fma_rate = 64;
  d.alu_rate = 32;
  d.xu_rate = 8;
  d.f64_rate = 2;
  d.issue_rate = 4;
  d.blocks_per_cluster = 1;
  d.launch_overhead = 3e-6;
  d.ramp = 1e-6;
  d.sol_low = 0.1;
  d.sol_high = 0.3;
  return d;
}

/// The same, on which blocks of the grid that meet wait for a second: no price has them.
CalibratedDevice lonely(CalibratedDevice device) {
  device.barrier_latency = 0.5 * device.clock;
  return device;
}

GroupSummary summary_of_phases(std::vector<std::int64_t> phases) {
  GroupSummary s;
  s.read = 3e6;
  s.written = 2e6;
  s.fma = 640e6;
  s.alu = 64e6;
  s.xu = 8e6;
  s.f64 = 3e6;
  s.phases = std::move(phases);
  return s;
}

GroupSummary summary_of(const std::string& lines) { return summarise(group_of("graph g {\n" + lines + "}\n").graph); }

}  // namespace

TEST_CASE("a group is its busiest part, its barriers with their refill, what crosses them, and a launch") {
  const CalibratedDevice d = device_of_groups();
  GroupSummary s = summary_of_phases({3, 2, 1});
  s.tails = 2;
  s.crossing = 2000;
  s.read_again = 3000;
  const ir::Estimate e = group(s, d);
  CHECK(part_of(e, Part::launch) == approx(4e-6).epsilon(last_digits));
  CHECK(part_of(e, Part::dram) == approx(5e6 / 0.5e12).epsilon(last_digits));
  CHECK(part_of(e, Part::l2) == approx(5e6 / 2e12).epsilon(last_digits));
  CHECK(part_of(e, Part::fma) == approx(640e6 / 64 / 10e9).epsilon(last_digits));
  CHECK(part_of(e, Part::alu) == approx(64e6 / 32 / 10e9).epsilon(last_digits));
  CHECK(part_of(e, Part::xu) == approx(8e6 / 8 / 10e9).epsilon(last_digits));
  CHECK(part_of(e, Part::issue) == approx(712e6 / (4 * d.warp_size) / 10e9).epsilon(last_digits));
  // Two barriers: there and back to L2, and a trip to memory; one round trip for results that need all blocks.
  CHECK(part_of(e, Part::barrier) == approx(2 * (400e-9 + 400e-9) + 400e-9).epsilon(last_digits));
  CHECK(part_of(e, Part::shared) == approx(2 * 5000 / (10e9 * 128)).epsilon(last_digits));
  const double total = 4e-6 + 1e-3 + 2e-6 + 2 * 5000 / 1280e9;
  CHECK(e.total.value == approx(total).epsilon(last_digits));
  CHECK(e.low.value == approx(0.9 * total).epsilon(last_digits));
  CHECK(e.high.value == approx(1.3 * total).epsilon(last_digits));
  CHECK(e.bottleneck == Part::fma);
  s.fma = 0;
  CHECK(part_of(group(s, d), Part::fma) == approx(3e6 / 2 / 10e9).epsilon(last_digits));
  CHECK(group(s, d).bottleneck == Part::alu);
  s.phases = {6};
  s.tails = 0;
  s.alu = s.xu = s.f64 = 0;
  CHECK(part_of(group(s, d), Part::barrier) == 0);
  CHECK(part_of(group(s, d), Part::shared) == 0);  // nothing to cross
  CHECK(group(s, d).bottleneck == Part::dram);
  CHECK(group(s, d).total.value == approx(14e-6).epsilon(last_digits));
  ir::Regime activity;
  activity.includes = {false, true, false};
  CHECK(group(s, d, activity).total.value == approx(11e-6).epsilon(last_digits));
}

TEST_CASE("what crosses a barrier stays in shared memory, in L2 or goes to memory, by the room of each") {
  const CalibratedDevice d = device_of_groups();
  struct Row {
    double crossing, again, seconds;
  };
  // A crossing value is written and read; an array from outside is read once more. 10,000 bytes of shared memory, 1 MB.
  for (const Row& row : {Row{0, 0, 0},
                         {4000, 6000, 2 * 10000 / 1280e9},
                         {4000, 6001, (8000 + 6001) / 2e12},
                         {4001, 6000, (8002 + 6000) / 2e12},
                         {400e3, 600e3, (800e3 + 600e3) / 2e12},
                         {400e3 + 1, 600e3, (800e3 + 2 + 600e3) / 0.5e12},
                         {0, 1e6 + 1, (1e6 + 1) / 0.5e12}}) {
    CAPTURE(row.crossing);
    CAPTURE(row.again);
    GroupSummary s = summary_of_phases({1, 1});
    s.crossing = row.crossing;
    s.read_again = row.again;
    CHECK(part_of(group(s, d), Part::shared) == approx(row.seconds).epsilon(last_digits));
  }
}

TEST_CASE("a warm group finds in L2 what it reads, and where the same ran before, room for what it writes") {
  CalibratedDevice d = device_of_groups();
  d.warm_share = 0.8;
  d.l2_bytes = 5e6;
  const GroupSummary s = summary_of_phases({1});
  const auto dram = [&](ir::CacheState cache) {
    ir::Regime regime = bare_regime();
    regime.cache = cache;
    return part_of(group(s, d, regime), Part::dram) * 0.5e12;
  };
  CHECK(dram(ir::CacheState::cold) == approx(5e6).epsilon(last_digits));
  CHECK(dram(ir::CacheState::produced) == approx(5e6 - 0.4 * 3e6).epsilon(last_digits));  // 5 of 5 MB: half of 0.8
  CHECK(dram(ir::CacheState::warm) == approx(5e6 * 0.6).epsilon(last_digits));
}

TEST_CASE("a row among others is a block's and reduced at once, one alone is the whole grid's") {
  const GroupSummary several = summarise(group_of(graph_text("softmax", 4, 1000, "f32")).graph);
  CHECK(several.phases == std::vector<std::int64_t>{5});
  CHECK(several.walks == std::vector<RowWalk>{{1}, {3}, {1}});
  CHECK(several.tails == 0);
  CHECK(several.crossing == 0);
  CHECK(several.read_again == 0);
  const GroupSummary alone = summarise(group_of(graph_text("softmax", 1, 4000, "f32")).graph);
  CHECK(alone.phases == std::vector<std::int64_t>{1, 3, 1});
  CHECK(alone.walks == std::vector<RowWalk>{{5}});
  CHECK(alone.tails == 2);
  CHECK(alone.crossing == 4 + 16000 + 4);  // both numbers, and the exponentials
  CHECK(alone.read_again == 16000);
  CHECK(barriers(alone) == 2);
  // All else is the same: each array once, operations at the costs of their table.
  for (const GroupSummary& s : {several, alone}) {
    CHECK(s.read == 16000);
    CHECK(s.written == 16000);
    CHECK(s.fma == 4000 * (1 + 2 + 1 + 2));  // a subtraction, exp as XLA has it, a sum, a product with a reciprocal
    CHECK(s.alu == 4000);
    CHECK(s.xu == 4000);
    CHECK(s.f64 == 0);
    CHECK(s.nodes == 5);
    CHECK(s.arguments == 2);
  }
}

TEST_CASE("who follows a reduction of the grid element by element needs no barrier, who spreads or reduces it does") {
  struct Row {
    std::string_view what, lines;
    std::vector<std::int64_t> phases;
    std::int64_t tails;
    double crossing;
  };
  // Beside a number for each row, columns are the grid's.
  const std::string column =
      "  %x = parameter 0 : f32[64,32]\n  %zero = constant 0 : f32[]\n"
      "  %c = reduce add %x, %zero, axes={0} : f32[32]\n"
      "  %r = reduce add %x, %zero, axes={1} : f32[64]\n  output %r\n";
  for (const Row& row :
       {Row{"each element", "  %y = negate %c : f32[32]\n  output %y\n", {3}, 1, 0},
        {"spread over rows",
         "  %b = broadcast %c, axes={1} : f32[64,32]\n  %y = add %x, %b : f32[64,32]\n  output %y\n",
         {2, 1},
         1,
         128},
        {"reduced in steps", "  %y = reduce add %c, %zero, axes={0} : f32[]\n  output %y\n", {3}, 1, 0},
        {"reduced again",
         "  %e = exp %c : f32[32]\n  %y = reduce add %e, %zero, axes={0} : f32[]\n  output %y\n",
         {3, 1},
         2,
         128},
        {"turned round", "  %y = reverse %c, axes={0} : f32[32]\n  output %y\n", {2, 1}, 1, 128},
        {"a part of it", "  %y = slice %c, ranges={0:16:1} : f32[16]\n  output %y\n", {2, 1}, 1, 128}}) {
    CAPTURE(row.what);
    const GroupSummary s = summary_of(column + std::string(row.lines));
    CHECK(s.phases == row.phases);
    CHECK(s.tails == row.tails);
    CHECK(s.crossing == row.crossing);
  }
}

TEST_CASE("a group knows its reductions along rows, how many follow one another, and what is added up across rows") {
  const std::string norm =
      "  %x = parameter 0 : f32[64,32]\n  %zero = constant 0 : f32[]\n"
      "  %a = reduce add %x, %zero, axes={1} : f32[64]\n  %ab = broadcast %a, axes={0} : f32[64,32]\n"
      "  %d = subtract %x, %ab : f32[64,32]\n  %e = multiply %d, %d : f32[64,32]\n"
      "  %b = reduce add %e, %zero, axes={1} : f32[64]\n  %m = reduce maximum %d, %zero, axes={1} : f32[64]\n";
  const GroupSummary rows = summary_of(norm + "  output %b\n  output %m\n");
  CHECK(rows.row_sums == 3);
  CHECK(rows.rows == 3 * 64);
  CHECK(rows.steps == std::vector<std::int64_t>{1, 2});
  CHECK(rows.carried == 0);
  const GroupSummary across =
      summary_of(norm +
                 "  %c = reduce add %e, %zero, axes={0} : f32[32]\n  %n = reduce add %b, %zero, axes={0} : f32[]\n"
                 "  output %c\n  output %n\n  output %m\n  output %b\n");
  CHECK(across.steps == rows.steps);
  CHECK(across.carried == 32 + 1);
  CHECK(across.tails == 2);
  const GroupSummary column = summary_of(
      "  %x = parameter 0 : f32[64,32]\n  %zero = constant 0 : f32[]\n"
      "  %c = reduce add %x, %zero, axes={0} : f32[32]\n  output %c\n");
  CHECK(column.row_sums == 1);  // of a band of 32
  CHECK(column.rows == 1);
  CHECK(column.steps == std::vector<std::int64_t>{1});
  CHECK(column.carried == 0);
}

TEST_CASE("rows whose sums across them leave room for few at once wait in turns, and what they wait for is exposed") {
  CalibratedDevice d = device_of_groups();
  d.dram_bandwidth = 1e9;  // so that nobody goes through the input once more for the columns alone
  d.registers_per_sm = 1000;
  d.trip_spread = 10e-9;
  d.shuffle_latency = 20;
  d.fma_latency = 4;
  d.shared_latency = 30;
  d.barrier_latency = 25;
  GroupSummary s;
  s.read = 3e6;
  s.arguments = 5;
  s.tails = 1;
  s.carried = 100;
  s.reduced = 100 * 10000;
  s.row_sums = 2;
  s.rows = 2 * 10000;
  s.steps = {1, 1};
  const double end = part_of(group(s, d), Part::barrier) - 2 * 200e-9;  // tested below
  // 10 SMs keep 40,000 bytes: 10,000 rows of 400 bytes of sums, and what is read, are 175 times as much.
  const double turn = 400e-9 + 4 * 10e-9 + 2 * (5 * 24 + 60 + 50) / 1e9;
  CHECK(part_of(group(s, d), Part::latency) == approx(174 * turn).epsilon(last_digits));
  const double with = group(s, d).total.value;
  const auto without = [&](auto change) {
    GroupSummary other = s;
    change(other);
    const ir::Estimate e = group(other, d);
    CHECK(part_of(e, Part::latency) == 0);
    const bool has_end = other.carried > 0 && other.row_sums > 0;
    CHECK(e.total.value == approx(with - 174 * turn - (has_end ? 0 : end)).epsilon(1e-9));
  };
  // The sums of 50 sets are 50 times as many; a block has rows of one set, and the SMs have no blocks of the same set.
  GroupSummary sets = s;
  sets.carried *= 50;
  CHECK(part_of(group(sets, d), Part::latency) == part_of(group(s, d), Part::latency));
  CHECK(part_of(group(sets, d), Part::barrier) == 2 * 200e-9);
  without([](GroupSummary& other) { other.carried = 0; });                   // no sums across rows
  without([](GroupSummary& other) { other.row_sums = 0, other.rows = 0; });  // no rows: columns alone
  d.registers_per_sm = 175 * 1000;
  without([](GroupSummary&) {});  // all rows at once: the one trip that every kernel has
}

TEST_CASE("sums across rows end with what each block wrote, and what the last of a family reads of it alone") {
  CalibratedDevice d = device_of_groups();
  d.dram_bandwidth = 1e9;
  d.sm_bandwidth = 64;
  GroupSummary s;
  s.read = 3e6;
  s.tails = s.row_sums = 1;
  s.steps = {1};
  const auto end = [&](double rows, double carried, double sets = 1) {
    s.rows = rows, s.carried = carried * sets, s.reduced = carried * rows;
    return part_of(group(s, d), Part::barrier) - 2 * 200e-9;
  };
  const auto written = [&](double blocks, double carried) {
    return 2 * blocks * carried * 4 / std::min(d.l2_bandwidth, 10 * 64 * 1e9);
  };
  // 9 rows are 9 blocks in families of 3; of 1,000 results a lane has three loads, which are one trip.
  CHECK(end(9, 1000) == approx(written(9, 1000) + 2 * (200e-9 + 200e-9)).epsilon(last_digits));
  // Rows above the 10 SMs share their blocks. 3 members in 2 trips; many more results are bound by what an SM gets.
  CHECK(end(9, 20000) == approx(written(9, 20000) + 2 * (3 * 80e3 / 64e9 + 200e-9)).epsilon(last_digits));
  // Two sets have 5 blocks each; as many sets as SMs have one, which writes results.
  CHECK(end(10, 20000, 2) ==
        approx(written(10, 20000) + 2 * (std::sqrt(5) * 80e3 / 64e9 + 200e-9)).epsilon(last_digits));
  CHECK(end(10, 20000, 10) == 0);
  d.l2_latency = 10e-6;
  CHECK(end(9, 20000) + 2 * 200e-9 - 2 * 10e-6 ==
        approx(written(9, 20000) + 2 * (2 * 10e-6 + 10e-6)).epsilon(last_digits));
  CHECK(end(1000, 1000) == end(10, 1000));
}

TEST_CASE("sums across rows take no longer than going through the input once more for them alone") {
  CalibratedDevice d = device_of_groups();
  d.sm_bandwidth = 64;
  d.registers_per_sm = 1000;
  GroupSummary s;
  s.read = 3e6;
  s.tails = 1;
  s.carried = 1000;
  s.row_sums = 2;
  s.rows = 2 * 10000;
  s.steps = {1, 1};
  const ir::Estimate apart = group(s, d);
  CHECK(part_of(apart, Part::latency) == 0);
  const double again = 3e6 / (d.dram_bandwidth * d.dram_efficiency) + 2 * 200e-9 + 400e-9;
  CHECK(part_of(apart, Part::barrier) == approx(again + 2 * 200e-9).epsilon(last_digits));
  // Few results wait for little, and nothing is read again for them.
  s.carried = 1;
  d.registers_per_sm = 1e6;
  CHECK(part_of(group(s, d), Part::barrier) < part_of(apart, Part::barrier));
  CHECK(group(s, d).total < apart.total);
}

TEST_CASE(
    "rows in pieces and arrays behind one another are asked for piece by piece, each time rows are gone through") {
  const auto norm_of = [](const std::string& type) {
    return summary_of("  %x = parameter 0 : " + type + "\n  %zero = constant 0 : f32[]\n" +
                      "  %c = reduce add %x, %zero, axes={0,2} : f32[16]\n  %b = broadcast %c, axes={1} : " + type +
                      "\n  %d = subtract %x, %b : " + type + "\n" +
                      "  %v = reduce maximum %d, %zero, axes={0,2} : f32[16]\n  %w = broadcast %v, axes={1} : " + type +
                      "\n  %y = divide %d, %w : " + type + "\n  output %y\n");
  };
  // Pieces of 77 numbers leave a lane one at a time: the sum, the difference with its maximum, and the quotient.
  const double elements = 8 * 16 * 77;
  const GroupSummary odd = norm_of("f32[8,16,77]");
  CHECK(odd.walks == std::vector<RowWalk>{{1, 1, elements}, {2, 2, 2 * elements}, {1, 1, elements}});
  const GroupSummary even = norm_of("f32[8,16,72]");
  CHECK(even.walks[0].pieces == 8 * 16 * 72 / 4);  // vectors of 16 bytes
  CHECK(norm_of("f32[8,16,78]").walks[0].pieces == 8 * 16 * 78 / 2);
  // Rows in one piece ask for none, whatever their length.
  CHECK(summary_of("  %x = parameter 0 : f32[8,77]\n  %zero = constant 0 : f32[]\n"
                   "  %c = reduce add %x, %zero, axes={1} : f32[8]\n  output %c\n")
            .walks == std::vector<RowWalk>{{1}});
  const auto of_arrays = [](int behind) {
    const std::string size = std::to_string(behind);
    return summary_of("  %a = parameter 0 : f32[8," + size + "]\n  %b = parameter 1 : f32[8,8]\n" +
                      "  %c = parameter 2 : f32[8,4]\n  %y = concatenate %a, %b, %c, axes={1} : f32[8," +
                      std::to_string(behind + 12) + "]\n  output %y\n");
  };
  CHECK(of_arrays(7).chosen == 8 * 19);
  CHECK(of_arrays(7).choices == 2 * 8 * 19);  // three arrays are halved twice
  CHECK(of_arrays(7).others == 8 * 19 * 2);   // the lanes of a warp ask for all three
  CHECK(of_arrays(16).chosen == 8 * 28 / 4);
  CHECK(of_arrays(300).others == approx(8 * 78 * 128 / 104.0).epsilon(last_digits));  // 128 elements of parts of 104

  const CalibratedDevice d = lonely(device_of_groups());
  const double lanes = 4 * d.warp_size * 10e9, per_piece = 12, per_half = 2;
  GroupSummary s;
  s.read = 1000;
  s.row_sums = 2, s.rows = 2 * 20;
  s.steps = {1, 1};
  s.walks = {{1, 1, 1e6}, {2, 2, 2e6}, {1, 0, 0}};  // the second time two ask together
  const ir::Estimate e = group(s, d);
  CHECK(part_of(e, Part::issue) == approx(2e6 * per_piece / lanes).epsilon(last_digits));
  // 10 blocks of 1,024 lanes with eight loads each; what they wait hides behind what binds, but for the rest.
  const double wait = 2e6 / (10 * 8192) * 400e-9, binds = 2e6 * per_piece / lanes;
  CHECK(part_of(e, Part::latency) == approx(std::max(0.0, wait - binds)).epsilon(last_digits));
  s.rows = 2 * 5;  // half of the SMs
  CHECK(part_of(group(s, d), Part::issue) == approx(2 * binds).epsilon(last_digits));
  s.rows = 2 * 20, s.walks = {{1}, {1}, {1}};
  s.chosen = 1e6, s.choices = 3e6;  // asked for three times
  CHECK(part_of(group(s, d), Part::issue) == approx(3 * 3e6 * per_half / lanes).epsilon(last_digits));
  CHECK(part_of(group(s, d), Part::latency) ==
        approx(std::max(0.0, 3e6 / (10 * 8192) * 400e-9 - 3 * 3e6 * per_half / lanes)).epsilon(last_digits));
  s.others = 1e6;
  CHECK(part_of(group(s, d), Part::issue) == approx(3 * 3e6 * per_half / lanes).epsilon(last_digits));
  s.rows = 2 * 5;  // fewer rows than SMs: nobody can avoid that lanes beside each other want other arrays
  CHECK(part_of(group(s, d), Part::issue) ==
        approx(2 * 3 * (3e6 * per_half + 1e6 * per_piece) / lanes).epsilon(last_digits));
  s.rows = 2 * 20, s.others = 0;
  s.walks = {{5}};  // a map: nothing waits for a row
  CHECK(part_of(group(s, d), Part::issue) == approx(3e6 * per_half / lanes).epsilon(last_digits));
  CHECK(part_of(group(s, d), Part::latency) == 0);
}

TEST_CASE("rows in several pieces are rows, and only what lies as they do is theirs") {
  // Of [images, channels, pixels], a number for each channel.
  const std::string head =
      "  %x = parameter 0 : f32[8,16,64]\n  %zero = constant 0 : f32[]\n"
      "  %c = reduce add %x, %zero, axes={0,2} : f32[16]\n";
  const auto of = [&](std::string_view lines) { return summary_of(head + std::string(lines)); };
  const GroupSummary norm =
      of("  %b = broadcast %c, axes={1} : f32[8,16,64]\n  %d = subtract %x, %b : f32[8,16,64]\n"
         "  %v = reduce add %d, %zero, axes={0,2} : f32[16]\n  %w = broadcast %v, axes={1} : f32[8,16,64]\n"
         "  %y = multiply %d, %w : f32[8,16,64]\n  output %y\n");
  CHECK(barriers(norm) == 0);
  CHECK(walks_again(norm) == 2);
  CHECK(norm.rows == 2 * 16);
  CHECK(norm.tails == 0);
  // 16 rows too, but of other elements.
  CHECK(barriers(of("  %b = broadcast %c, axes={0} : f32[16,512]\n  %z = parameter 1 : f32[16,512]\n"
                    "  %y = add %z, %b : f32[16,512]\n  output %y\n")) == 1);
  CHECK(barriers(of("  %b = broadcast %c, axes={1} : f32[4,16,128]\n  %z = parameter 1 : f32[4,16,128]\n"
                    "  %y = add %z, %b : f32[4,16,128]\n  output %y\n")) == 1);
  CHECK(barriers(of("  %e = exp %x : f32[8,16,64]\n  %b = broadcast %c, axes={1} : f32[8,16,64]\n"
                    "  %d = subtract %e, %b : f32[8,16,64]\n"
                    "  %v = reduce add %d, %zero, axes={2} : f32[8,16]\n  output %v\n")) == 1);
  // Rows in pieces that are too short to be worth their way are gone through as columns in bundles.
  CHECK(summary_of("  %x = parameter 0 : f32[8,16,3]\n  %zero = constant 0 : f32[]\n"
                   "  %c = reduce add %x, %zero, axes={0,2} : f32[16]\n  output %c\n")
            .tails == 0);
  // In another layout: dimension 0 is the fastest in memory.
  const GroupSummary turned = summary_of(
      "  %x = parameter 0 : f32[64,16]{0,1}\n  %zero = constant 0 : f32[]\n"
      "  %c = reduce add %x, %zero, axes={0} : f32[16]\n  %b = broadcast %c, axes={1} : f32[64,16]{0,1}\n"
      "  %y = subtract %x, %b : f32[64,16]{0,1}\n  output %y\n");
  CHECK(turned.row_sums == 1);
  CHECK(barriers(turned) == 0);
}

TEST_CASE("columns of a group without other reductions are a block's in bands, and the grid's beside others") {
  // Of [images, channels, pixels], a number for each pixel.
  const std::string head =
      "  %x = parameter 0 : f32[8,16,64]\n  %zero = constant 0 : f32[]\n"
      "  %c = reduce add %x, %zero, axes={1} : f32[8,64]\n";
  const std::string norm =
      "  %b = broadcast %c, axes={0,2} : f32[8,16,64]\n  %d = subtract %x, %b : f32[8,16,64]\n"
      "  %v = reduce add %d, %zero, axes={1} : f32[8,64]\n  %w = broadcast %v, axes={0,2} : f32[8,16,64]\n"
      "  %y = multiply %d, %w : f32[8,16,64]\n";
  const auto of = [&](const std::string& lines) { return summary_of(head + lines); };
  const GroupSummary alone = of(norm + "  output %y\n");
  CHECK(barriers(alone) == 0);
  CHECK(walks_again(alone) == 2);
  CHECK(alone.row_sums == 2);
  CHECK(alone.column_sums == 2);
  CHECK(alone.rows == 2 * 8 * 64 / 32);  // 32 floats are a line
  CHECK(alone.tails == 0);
  CHECK(alone.carried == 0);
  CHECK(alone.crossing == 0);
  // A number for each row makes all of them the grid's again; so do columns that lie otherwise.
  const GroupSummary beside =
      of(norm + "  %r = reduce add %x, %zero, axes={2} : f32[8,16]\n  output %y\n  output %r\n");
  CHECK(barriers(beside) == 2);
  CHECK(beside.column_sums == 0);
  CHECK(beside.row_sums == 1);
  CHECK(beside.carried == 2 * 8 * 64);
  CHECK(barriers(of(norm + "  %r = reduce add %x, %zero, axes={0} : f32[16,64]\n  output %y\n  output %r\n")) == 2);
  // Spread over other elements than it was reduced from.
  CHECK(barriers(of("  %b = broadcast %c, axes={0,2} : f32[8,32,64]\n  %z = parameter 1 : f32[8,32,64]\n"
                    "  %y = add %z, %b : f32[8,32,64]\n  output %y\n")) == 1);
  CHECK(barriers(of("  %b = broadcast %c, axes={0,1} : f32[8,64,16]\n  %z = parameter 1 : f32[8,64,16]\n"
                    "  %y = add %z, %b : f32[8,64,16]\n  output %y\n")) == 1);
  // Columns that fill no sector are not worth a block's way.
  CHECK(summary_of("  %x = parameter 0 : f32[8,16,7]\n  %zero = constant 0 : f32[]\n"
                   "  %c = reduce add %x, %zero, axes={1} : f32[8,7]\n  output %c\n")
            .column_sums == 0);
}

TEST_CASE("what is moved within a row waits for the row's block alone, which goes through the row once more") {
  // A norm of 16 rows of [2, 32].
  const std::string head =
      "  %x = parameter 0 : f32[16,2,32]\n  %zero = constant 0 : f32[]\n"
      "  %s = reduce add %x, %zero, axes={1,2} : f32[16]\n  %b = broadcast %s, axes={0} : f32[16,2,32]\n"
      "  %y = subtract %x, %b : f32[16,2,32]\n";
  const auto of = [&](std::string_view lines) { return summary_of(head + std::string(lines)); };
  for (const std::string_view moved :
       {"  %r = reverse %y, axes={1,2} : f32[16,2,32]\n  %z = add %r, %y : f32[16,2,32]\n  output %z\n",
        "  %r = reverse %y, axes={2} : f32[16,2,32]\n  %z = add %r, %y : f32[16,2,32]\n  output %z\n",
        "  %l = slice %y, ranges={0:16:1,0:1:1,0:32:1} : f32[16,1,32]\n  %z = exp %l : f32[16,1,32]\n  output %z\n",
        "  %l = slice %y, ranges={0:16:1,0:1:1,0:32:1} : f32[16,1,32]\n"
        "  %h = slice %y, ranges={0:16:1,1:2:1,0:32:1} : f32[16,1,32]\n"
        "  %z = concatenate %h, %l, axes={1} : f32[16,2,32]\n  output %z\n"}) {
    CAPTURE(moved);
    CHECK(barriers(of(moved)) == 0);
    CHECK(walks_again(of(moved)) >= 2);  // for the norm, and for what is elsewhere
  }
  // What changes places with another row needs that row's block.
  CHECK(barriers(of("  %r = reverse %y, axes={0,2} : f32[16,2,32]\n  output %r\n")) == 1);
  CHECK(barriers(of("  %r = slice %y, ranges={1:16:1,0:2:1,0:32:1} : f32[15,2,32]\n  output %r\n")) == 1);
  CHECK(barriers(of("  %r = transpose %y, axes={0,2,1} : f32[16,32,2]\n  output %r\n")) == 1);
}

TEST_CASE("a pad that keeps the length of rows moves them too") {
  const auto of = [&](std::string_view pad) {
    return summary_of(
        "  %x = parameter 0 : f32[16,32]\n  %zero = constant 0 : f32[]\n"
        "  %s = reduce add %x, %zero, axes={1} : f32[16]\n  %b = broadcast %s, axes={0} : f32[16,32]\n"
        "  %y = subtract %x, %b : f32[16,32]\n  %r = pad %y, %zero, ranges=" +
        std::string(pad) + " : f32[16,32]\n  output %r\n");
  };
  CHECK(barriers(of("{0:0:0,1:-1:0}")) == 0);
  CHECK(barriers(of("{1:-1:0,0:0:0}")) == 1);
}

/// Misses, for a knee of 2, of what is gone through forth, forth and back: of the last the mean of
/// (yu)^2 / (1 + (yu)^2) over u from 0 to 1. Per time.
double missed_forth_and_back(double y) { return (1 - 1 / (1 + y * y) + 1 - std::atan(y) / y) / 2; }

TEST_CASE("what a block cannot hold of its rows is read again, from L2 or memory, and apart where rows are few") {
  constexpr double as_summed = 1e-4;  // the model sums the mean up in a few steps
  CalibratedDevice d = lonely(device_of_groups());
  d.registers_per_block = 100;  // 200 bytes: shared memory holds more
  d.l2_share = 0.5;
  d.reuse_knee = 2;
  d.sm_bandwidth = 64;
  GroupSummary s;
  s.read = 400e3;
  s.row_sums = 2;
  s.rows = 2 * 100;  // 100 rows of 4,000 bytes, of which a block holds 1,000
  s.walks = {{1}, {1}, {1}};
  s.steps = {1, 1};
  const double again = 2 * 300e3, miss = missed_forth_and_back(40e3 / 500e3);  // 10 of 100 rows are at hand
  const ir::Estimate e = group(s, d);
  CHECK(part_of(e, Part::dram) == approx((400e3 + again * miss) / 0.5e12).epsilon(as_summed));
  CHECK(part_of(e, Part::l2) == approx((400e3 + again) / 640e9).epsilon(last_digits));
  CHECK(part_of(e, Part::latency) == approx(again * (1 - miss) / 640e9 / 10).epsilon(as_summed));
  s.rows = 2 * 5;  // of 5 SMs, which get half as much from L2; no turn follows another
  const ir::Estimate few = group(s, d);
  const double more = 2 * (400e3 - 5000), all = missed_forth_and_back(0.8);
  CHECK(part_of(few, Part::l2) == approx((400e3 + more) / 320e9).epsilon(last_digits));
  CHECK(part_of(few, Part::latency) == approx(more * (1 - all) / 320e9).epsilon(as_summed));
  s.walks = {{3}};  // one pass, which all SMs can share
  CHECK(part_of(group(s, d), Part::l2) == approx(400e3 / 640e9).epsilon(last_digits));
  CHECK(part_of(group(s, d), Part::latency) == 0);
  s.walks = {{1}, {1}, {1}}, s.rows = 2 * 400;  // 1,000 bytes a row
  CHECK(part_of(group(s, d), Part::dram) == approx(400e3 / 0.5e12).epsilon(last_digits));
}

TEST_CASE("blocks of a cluster share rows that are gone through again, and wait for one another at each step") {
  CalibratedDevice d = lonely(device_of_groups());
  d.registers_per_block = 100;
  d.l2_share = 0.5;
  d.reuse_knee = 2;
  d.sm_bandwidth = 64;
  d.cluster_latency = 5;
  d.distributed_latency = 1;
  GroupSummary s;
  s.read = 15e3;
  s.row_sums = 2;
  s.rows = 2 * 5;  // rows of 3,000 bytes, three blocks' worth, for 10 SMs
  s.walks = {{1}, {1}, {1}};
  s.steps = {1, 1};
  d.blocks_per_cluster = 2;
  const ir::Estimate two = group(s, d);
  const double again = 2 * (15e3 - 5 * 2000), miss = missed_forth_and_back(15e3 / 500e3), meet = 2 * 6e-9;
  CHECK(part_of(two, Part::l2) == approx((15e3 + again) / 640e9).epsilon(last_digits));  // all SMs are busy
  CHECK(part_of(two, Part::latency) == approx(again * (1 - miss) / 640e9 + meet).epsilon(1e-4));
  d.blocks_per_cluster = 4;  // nothing is read again
  CHECK(part_of(group(s, d), Part::l2) == approx(15e3 / 640e9).epsilon(last_digits));
  CHECK(part_of(group(s, d), Part::latency) == approx(meet).epsilon(last_digits));
  d.cluster_latency = 500;  // dearer than what it saves
  CHECK(part_of(group(s, d), Part::l2) == approx((15e3 + 2 * 10e3) / 320e9).epsilon(last_digits));
  d.cluster_latency = 5;
  s.rows = 2 * 10, s.read = 10e3;  // a row for each SM, that it can hold: nobody need meet
  CHECK(part_of(group(s, d), Part::latency) == 0);
  s.rows = 2 * 5, s.carried = 10;  // sums across rows take whole rows
  CHECK(part_of(group(s, d), Part::l2) == approx((10e3 + 2 * 5e3) / 320e9).epsilon(last_digits));
}

TEST_CASE("as many blocks of the grid as there are SMs for share few rows, and wait for one another at each step") {
  CalibratedDevice d = device_of_groups();
  d.registers_per_block = 100;
  d.sm_bandwidth = 64;
  d.l2_latency = 2e-9;
  d.barrier_latency = 3;
  GroupSummary s;
  s.read = 15e3;
  s.row_sums = 2;
  s.rows = 2 * 5;  // rows of 3,000 bytes, three blocks' worth, for 10 SMs: two blocks each
  s.walks = {{1}, {1}, {1}};
  s.steps = {1, 1};
  const double again = 2 * (15e3 - 5 * 2000), meet = 2 * (4 * 2e-9 + 2 * 3 / d.clock);
  const ir::Estimate two = group(s, d);
  CHECK(part_of(two, Part::l2) == approx((15e3 + again) / 640e9).epsilon(last_digits));  // all SMs are busy
  CHECK(part_of(two, Part::latency) >= meet);
  s.rows = 2 * 2, s.read = 6e3;  // five blocks each: nothing is read again
  CHECK(part_of(group(s, d), Part::l2) == approx(6e3 / 640e9).epsilon(last_digits));
  CHECK(part_of(group(s, d), Part::latency) == approx(meet).epsilon(last_digits));
  s.rows = 2 * 6;  // nobody to share with
  CHECK(part_of(group(s, d), Part::l2) > 6e3 / 640e9);
  s.rows = 2 * 2, s.carried = 10;  // sums across rows take whole rows
  CHECK(part_of(group(s, d), Part::l2) > 6e3 / 640e9);
}

TEST_CASE("rows of a block may be summed over again where tasks nest, and not where they do not") {
  const auto phases_of = [](std::string_view second) {
    const std::string lines =
        "  %x = parameter 0 : f32[6,4,8]\n  %zero = constant 0 : f32[]\n"
        "  %a = reduce add %x, %zero, axes={2} : f32[6,4]\n";
    return summary_of(lines + std::string(second)).phases.size();
  };
  // 24 rows, then 6 of them at once: a block that has four rows has their sum.
  CHECK(phases_of("  %e = exp %a : f32[6,4]\n  %y = reduce add %e, %zero, axes={1} : f32[6]\n  output %y\n") == 1);
  // Rows of another shape: 24 and 9 are no multiples.
  CHECK(phases_of("  %z = parameter 1 : f32[9,24]\n  %f = reshape %a : f32[24]\n"
                  "  %b = broadcast %f, axes={1} : f32[9,24]\n  %m = multiply %z, %b : f32[9,24]\n"
                  "  %y = reduce add %m, %zero, axes={1} : f32[9]\n  output %y\n") == 2);
}

TEST_CASE("readers at other places compute a value again, and slices and look-ups read what they touch") {
  const GroupSummary again = summary_of(
      "  %x = parameter 0 : f32[1000]\n  %z = parameter 1 : f32[4,1000]\n  %e = exp %x : f32[1000]\n"
      "  %b = broadcast %e, axes={1} : f32[4,1000]\n  %y = add %z, %b : f32[4,1000]\n  output %y\n");
  CHECK(again.fma == 4 * 1000 * 2 + 4000);
  CHECK(again.alu == 0);
  CHECK(again.xu == 4 * 1000);
  CHECK(again.read == 4000 + 16000);
  const GroupSummary parts = summary_of(
      "  %x = parameter 0 : f32[1000]\n  %a = slice %x, ranges={0:100:1} : f32[100]\n"
      "  %b = slice %x, ranges={500:700:2} : f32[100]\n  %y = add %a, %b : f32[100]\n  output %y\n");
  CHECK(parts.read == 800);
  CHECK(parts.written == 400);
  CHECK(parts.arguments == 2);
  const GroupSummary updated = summary_of(
      "  %a = parameter 0 : f32[64,128]\n  %u = parameter 1 : f32[1,128]\n  %i = parameter 2 : s32[]\n"
      "  %n = negate %u : f32[1,128]\n  %d = dynamic_update_slice %a, %n, %i, %i : f32[64,128]\n  output %d\n"
      "  in_place 0 of 0\n");
  CHECK(updated.read == 128 * 4 + 4);
  CHECK(updated.written == 128 * 4);
}

TEST_CASE("what stands before a window in its group is computed, and what that reads loaded, once for each tap") {
  const std::string one = "  %x = parameter 0 : f32[102]\n  %z = constant 0 : f32[]\n";
  const std::string window = "reduce_window add ", three = ", %z, text=\"window={size=3}\" : ";
  // 100 results of 3 taps each.
  const GroupSummary made = summary_of(one + "  %e = exp %x : f32[102]\n  %n = negate %e : f32[102]\n  %w = " + window +
                                       "%n" + three + "f32[100]\n  output %w\n");
  CHECK(made.xu == 300);
  CHECK(made.alu == 0);
  CHECK(made.fma == 300 * 2 + 300 + 300);
  CHECK(made.loads == 300);
  CHECK(made.near == 1200);
  CHECK(made.read == 408);
  // Several windows that load one array at the same taps load it once, each computes for itself.
  const GroupSummary shared =
      summary_of(one + "  %q = multiply %x, %x : f32[102]\n  %v = " + window + "%q" + three +
                 "f32[100]\n  %w = " + window + "%x" + three + "f32[100]\n  %y = add %v, %w : f32[100]\n  output %y\n");
  CHECK(shared.loads == 300);
  CHECK(shared.fma == 300 + 2 * 300 + 100);
  // A window of a window goes through all its taps for each of its own; a reduction goes through each element once.
  const GroupSummary twice =
      summary_of("  %x = parameter 0 : f32[104]\n  %z = constant 0 : f32[]\n  %v = " + window + "%x" + three +
                 "f32[102]\n  %w = " + window + "%v" + three + "f32[100]\n  output %w\n");
  CHECK(twice.loads == 900);
  CHECK(twice.fma == 900 + 300);
  const GroupSummary none =
      summary_of(one + "  %e = exp %x : f32[102]\n  %s = reduce add %e, %z, axes={0} : f32[]\n" + "  output %s\n");
  CHECK(none.loads == 0);
  CHECK(none.xu == 102);
  // Strides that leave no element twice compute nothing again.
  const GroupSummary pooled = summary_of("  %x = parameter 0 : f32[300]\n  %z = constant 0 : f32[]\n" +
                                         std::string("  %e = exp %x : f32[300]\n  %w = ") + window +
                                         "%e, %z, text=\"window={size=3 stride=3}\" : f32[100]\n  output %w\n");
  CHECK(pooled.xu == 300);
  CHECK(pooled.loads == 0);
}

TEST_CASE("taps take the instructions that load them, and pass L1 number by number") {
  CalibratedDevice d = device_of_groups();
  d.l1_bandwidth = 64;
  d.lsu_rate = 32;
  GroupSummary s;
  s.read = s.written = 100;
  s.loads = 32e6, s.near = 128e6;
  CHECK(part_of(group(s, d), Part::l2) == approx(128e6 / 64 / 10 / d.clock).epsilon(last_digits));
  CHECK(part_of(group(s, d), Part::issue) == approx(32e6 / (4 * 32) / 10 / d.clock).epsilon(last_digits));
  s.near = 32e6;  // bytes
  CHECK(part_of(group(s, d), Part::l2) == approx(32e6 / 32 / 10 / d.clock).epsilon(last_digits));
}

TEST_CASE("the bound of a reduction of which a part is needed holds that part's terms") {
  const auto work_of = [](const std::string& lines) { return group_work(group_of("graph g {\n" + lines + "}\n")); };
  const GroupWork part = work_of(
      "  %a = parameter 0 : f32[64,128]\n  %z = constant 0 : f32[]\n  %e = exp %a : f32[64,128]\n"
      "  %m = reduce add %e, %z, axes={1} : f32[64]\n  %p = slice %m, ranges={0:3:1} : f32[3]\n  output %p\n");
  CHECK(part.bytes_read == 3 * 128 * 4);
  CHECK(part.bytes_written == 3 * 4);
  // The cheapest way of an operation: ex2 of a product in the class approx.
  CHECK(part.fma == 3 * 128 * (1 + 1));
  CHECK(part.alu == 0);
  CHECK(part.xu == 3 * 128);
  const GroupWork doubles =
      work_of("  %a = parameter 0 : f64[10]\n  %e = exp %a : f64[10]\n  %d = divide %e, %a : f64[10]\n  output %d\n");
  CHECK(doubles.f64 == 10 * (8 + 7));
  CHECK(doubles.fma + doubles.alu + doubles.xu == 0);
  // Many quotients may share a reciprocal, so one is no more than a product.
  const GroupWork quotient = work_of("  %a = parameter 0 : f32[10]\n  %d = divide %a, %a : f32[10]\n  output %d\n");
  CHECK(quotient.fma == 10);
  CHECK(quotient.xu == 0);
}

TEST_CASE("of arrays of one size that are turned in several ways all but one way take a sector for each element") {
  const std::string turned =
      "  %x = parameter 0 : f16[64,32,128]\n  %t = transpose %x, axes={2,0,1} : f16[128,64,32]\n";
  const double elements = 64 * 32 * 128, more = elements * 32 - elements * 2;
  CHECK(across(summary_of(turned + "  output %t\n")) == 0);
  // Another way: its neighbours are others again.
  const GroupSummary both = summary_of(turned +
                                       "  %u = transpose %t, axes={1,0,2} : f16[64,128,32]\n"
                                       "  %v = transpose %u, axes={2,1,0} : f16[32,128,64]\n  output %t, %v\n");
  CHECK(both.turns.size() == 2);
  CHECK(across(both) == more);
  // The way back is the same turn, and so is one of rows that stay together under other names.
  CHECK(across(summary_of(turned + "  %n = negate %t : f16[128,64,32]\n"
                                   "  %b = transpose %n, axes={1,2,0} : f16[64,32,128]\n  output %t, %b\n")) == 0);
  // Rows that move as they are part no neighbours.
  CHECK(summary_of("  %x = parameter 0 : f16[64,32,128]\n  %t = transpose %x, axes={1,0,2} : f16[32,64,128]\n"
                   "  output %t\n")
            .turns.empty());
  GroupSummary s = summary_of_phases({1});
  const double before = part_of(group(s, device_of_groups()), Part::l2);
  s.turns = {{1000, 1, 1, 7e6}, {1000, 2, 2, 9e6}, {2000, 1, 1, 5e6}};
  CHECK(part_of(group(s, device_of_groups()), Part::l2) == approx(before + 7e6 / 2e12).epsilon(last_digits));
}

TEST_CASE("a slice of sums over windows reads what its windows reach, however far apart these are") {
  for (const std::int64_t size : {1, 3, 8})
    for (const std::int64_t start : {0, 5})
      for (const std::int64_t limit : {6, 29, 57})
        for (const std::int64_t stride : {1, 2, 8, 11}) {
          CAPTURE(size);
          CAPTURE(start);
          CAPTURE(limit);
          CAPTURE(stride);
          std::set<std::int64_t> reached;
          const std::int64_t taken = (limit - start + stride - 1) / stride;
          for (std::int64_t i = 0; i < taken; ++i)
            for (std::int64_t tap = 0; tap < size; ++tap) reached.insert(start + i * stride + tap);
          const GroupSummary s = summary_of(fmt::format(
              "  %x = parameter 0 : f32[1000,64]\n  %zero = constant 0 : f32[]\n"
              "  %w = reduce_window add %x, %zero, text=\"window={{size=1x{0}}}\" : f32[1000,{1}]\n"
              "  %s = slice %w, ranges={{0:1000:1,{2}:{3}:{4}}} : f32[1000,{5}]\n  %y = exp %s : f32[1000,{5}]\n"
              "  output %y\n",
              size, 65 - size, start, limit, stride, taken));
          CHECK(s.read == 4000.0 * static_cast<double>(reached.size()));
        }
}
