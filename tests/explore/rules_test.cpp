// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of the plan space, each by itself: on both sides of every boundary that its reason names, and silent where
// it does not apply. In: candidates made here number by number, so that a row of the table differs from a plan that no
// rule drops in what it says and nothing else. Part of the suite `explore`.
#include "explore/plans/rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>

#include "base/indexed.h"
#include "codegen/lower/lower.h"
#include "explore/plans/space.h"
#include "explore/plans/walk.h"
#include "ir/refusal.h"
#include "support/group_family.h"

namespace tailor::explore {

namespace {

/// 264 rows of 1,024 floats, a warp to a row, on 132 SMs; changed by each case.
struct Tried {
  codegen::Prepared prepared;
  ir::Plan plan;
  ir::Limits limits{90, 132, 32, 1024, 2048, 32, 65536, 65536, 255, 256, 4, 4, 233472, 49152, 232448, 1024, 128};
  Tiling tiling;

  Tried() {
    plan.skeleton = ir::Skeleton::row;
    prepared.skeleton = ir::Skeleton::row;
    prepared.rows = 264;
    prepared.columns = 1024;
    prepared.widest_vector = 4;
    inputs(1, "f32");
    tiling.vectors = 256;
    tiling.run = 1024;
    tiling.trips = 8;
    tiling.lanes = 32;
    tiling.items = 264;
    tiling.items_per_block = 4;
  }
  void inputs(int count, const std::string& dtype) {
    std::string text = "graph g {\n";
    for (int i = 0; i < count; ++i)
      text += "  %x" + std::to_string(i) + " = parameter " + std::to_string(i) + " : " + dtype + "[264,1024]\n";
    prepared.graph = std::make_shared<const ir::Graph>(ir::parse_graph(text + "  output %x0\n}\n"));
    prepared.full.assign(static_cast<std::size_t>(count), 1);
  }
  /// One input that is stored in another type.
  void widens(const std::string& from, const std::string& to) {
    prepared.graph = std::make_shared<const ir::Graph>(ir::parse_graph("graph g {\n  %x = parameter 0 : " + from +
                                                                       "[264,1024]\n  %y = convert %x : " + to +
                                                                       "[264,1024]\n  output %y\n}\n"));
    prepared.full.assign(2, 1);
    prepared.stored = {1};
  }
  /// A flat loop of so many elements, in vectors of so many of eight that two accesses could have.
  void loop(std::int64_t elements, int vector) {
    plan.skeleton = prepared.skeleton = ir::Skeleton::map;
    prepared.columns = elements;
    prepared.widest_vector = 8;
    plan.vector = vector;
  }
  /// A loop of so many elements that are turned in memory, in blocks of so many threads.
  void turns(std::int64_t elements, int of_block) {
    loop(elements, 4);
    broken(1);
    threads(of_block, 1);
    prepared.graph = std::make_shared<const ir::Graph>(ir::parse_graph(
        "graph g {\n  %x = parameter 0 : f32[264,1024]\n  %y = transpose %x, axes={1,0} : f32[1024,264]\n"
        "  output %y\n}\n"));
    prepared.full.assign(2, 1);
  }
  /// Cut or joined, into runs of so many elements.
  void broken(std::int64_t run) {
    prepared.straight = false;
    prepared.unbroken = run;
  }
  /// Of 64 neighbours those of `range`, so many of them, one by one.
  void takes_apart(const std::string& range, int taken) {
    prepared.unbroken = 1;
    prepared.graph = std::make_shared<const ir::Graph>(ir::parse_graph(
        fmt::format("graph g {{\n  %x = parameter 0 : f32[8,64]\n  %s = slice %x, ranges={{0:8:1, {}}} : "
                    "f32[8,{}]\n  output %s\n}}\n",
                    range, taken)));
  }
  /// Windows of so many taps over floats of which there are more than results.
  void windows(std::size_t taps) {
    widens("f32", "f32");
    prepared.full.assign(2, 0);
    codegen::WindowTaps window;
    window.offsets.resize(taps);
    prepared.taps = {{1, window}};
  }
  void threads(int all, int per_row) {
    plan.threads = all;
    plan.threads_per_row = tiling.lanes = per_row;
  }
  /// Lanes side by side over columns, `groups` of them; `blocks` in all.
  void columns(int lanes, int groups, std::int64_t blocks) {
    threads(lanes * groups, lanes);
    tiling.groups = groups;
    tiling.items = blocks;
    tiling.items_per_block = 1;
  }
  /// Rows of so many f16, of which a vector of 16 bytes has eight, in vectors of two.
  void halves(std::int64_t length) {
    inputs(1, "f16");
    prepared.widest_vector = 8;
    prepared.columns = length;
    plan.vector = 2;
  }
  /// Rows in runs of so many floats, which can be gone through as columns in bundles.
  void has_bundles(std::int64_t run) {
    prepared.domain = {{run, 3, 5}, true};
    prepared.in_bundles = std::make_shared<const codegen::Prepared>();
  }
  void blocks(std::int64_t count) {
    tiling.items = count;
    tiling.items_per_block = 1;
  }
  void split(int parts) { plan.split = tiling.split = parts; }
  void meet(int parts) {
    split(parts);
    plan.meet = ir::Meeting::grid;
  }
  void cluster(int blocks) {
    plan.cluster = tiling.split = blocks;
    limits.blocks_per_cluster = 8;
  }
  /// As many blocks of the grid in place of a cluster's.
  void meet_instead() {
    meet(plan.cluster);
    plan.cluster = 0;
  }
  /// Two floats of each element wait for a second walk, an input and what is computed of it, as the word says.
  void waits(ir::HomesWord word, const std::string& dtype = "f32") {
    using enum ir::StitchLevel;
    const std::string type = dtype + "[264,1024]\n";
    prepared.graph = std::make_shared<const ir::Graph>(
        ir::parse_graph("graph g {\n  %x = parameter 0 : " + type + "  %y = exp %x : " + type + "  output %y\n}\n"));
    prepared.full.assign(2, 1);
    const auto offer = [&](ir::HomesWord which, std::vector<ir::Home> homes) {
      row_for(prepared.homes, which) = {homes, {homes}, {}};
    };
    offer(ir::HomesWord::registers, {{0, registers}, {1, registers}});
    offer(ir::HomesWord::shared, {{0, block}, {1, block}});
    offer(ir::HomesWord::recompute, {{0, registers}});
    offer(ir::HomesWord::reload, {});
    offer(ir::HomesWord::widest_shared, {{0, registers}, {1, block}});
    offer(ir::HomesWord::widest_reload, {{1, registers}});
    offer(ir::HomesWord::moved_cluster, {{0, registers}, {1, cluster}});
    offer(ir::HomesWord::recompute_shared, {{0, block}});
    offer(ir::HomesWord::recompute_mixed, {{0, block}});
    plan.homes = row_for(prepared.homes, word).homes;
  }
  /// The same, and the second walk reads what is computed at other places of a row.
  void moves(ir::HomesWord word) {
    waits(word);
    for (codegen::KeptHomes& kept : prepared.homes)
      if (codegen::find_home(kept.homes, 1) != nullptr) kept.elsewhere = {{}, {1}};
  }
  /// Rows of so many floats that are gone through twice, each by a block, and read again.
  void reloads(int threads, std::int64_t columns) {
    waits(ir::HomesWord::reload);
    this->threads(threads, threads);
    prepared.walks = 2;
    prepared.columns = columns;
  }
  /// Rows of over 32 KiB, so many vectors a thread.
  void wide(std::int64_t trips) {
    prepared.columns = 8192;
    tiling.trips = trips;
  }
  void parts(ir::HomesWord word) {
    waits(word);
    tiling.streamed = true;
  }
  /// Tiles of runs of 100 floats each, of so many elements along what is written and what is read.
  void tile(std::int64_t written, std::int64_t read) {
    prepared.turn.emplace();
    prepared.turn->written.size = prepared.turn->read.size = 100;
    prepared.widest_vector = 4;
    tiling.tile_written = written;
    tiling.tile_read = read;
  }
  /// The same of tiles by a plan for them, of which one run has so many elements.
  void turned(std::int64_t written) {
    tile(64, 64);
    prepared.turn->written.size = written;
    plan.skeleton = ir::Skeleton::transpose;
  }
  /// A flat loop over what tiles would turn.
  void beside_tiles() { prepared.turned = std::make_shared<const codegen::Prepared>(prepared); }
  /// Columns of so many rows that are gone through twice, and vectors of so many.
  void walks_near(int vector, std::int64_t rows) {
    prepared.walks = 2;
    prepared.columns = rows;
    plan.vector = vector;
  }
  /// A sum across rows of so many results side by side, again and again along them.
  void fold(std::int64_t run) {
    prepared.sums_across = true;
    prepared.across = {{0, {{1, prepared.rows, 1}, {1, prepared.columns / run, run}}}};
    plan.threads_per_row = 32;
  }
  /// A sum across rows for each element of a row.
  void sums() {
    prepared.sums_across = true;
    prepared.across = {{0, {{1, prepared.rows, 1}, {1, 1, prepared.columns}}}};
    prepared.phases.resize(1);
    prepared.phases[0].across = {0};
  }
  void persistent(int per_sm) {
    plan.grid = ir::GridShape::persistent;
    plan.blocks_per_sm = per_sm;
  }
  bool dropped_by(const Rule& rule) const {
    Tiling asked = tiling;
    asked.together = std::int64_t{tiling.lanes} * plan.vector;
    return drops(rule, Candidate{prepared, plan, limits, asked});
  }
};

struct Side {
  std::string_view rule;
  bool drops;
  std::function<void(Tried&)> change;
};

std::vector<Side> sound_sides() {
  return {
      {"vector-fits", true, [](Tried& t) { t.tiling.vectors = 0; }},
      {"vector-fits", false, [](Tried& t) { t.tiling.vectors = 1; }},
      {"cluster-homes", true, [](Tried& t) { t.moves(ir::HomesWord::moved_cluster), t.cluster(0); }},
      {"cluster-homes", false, [](Tried& t) { t.moves(ir::HomesWord::moved_cluster), t.cluster(2); }},
      {"cluster-homes", true, [](Tried& t) { t.moves(ir::HomesWord::moved_cluster), t.cluster(2), t.tiling.rest = 1; }},
      {"cluster-homes", false, [](Tried& t) { t.moves(ir::HomesWord::shared), t.cluster(0), t.tiling.rest = 1; }},
      {"lanes-divide", true, [](Tried& t) { t.threads(128, 96); }},
      {"lanes-divide", false, [](Tried& t) { t.threads(192, 96); }},
      {"peel-lanes", true, [](Tried& t) { t.threads(128, 7), t.tiling.rest = 1; }},
      {"peel-lanes", false, [](Tried& t) { t.threads(128, 8), t.tiling.rest = 1; }},
      {"peel-lanes", false, [](Tried& t) { t.threads(128, 7); }},
      {"rows-in-flight", true, [](Tried& t) { t.plan.in_flight = 2, t.tiling.items = 4; }},
      {"rows-in-flight", false, [](Tried& t) { t.plan.in_flight = 2, t.tiling.items = 5; }},
      {"rows-in-flight", true, [](Tried& t) { t.plan.in_flight = 4, t.tiling.items = 12; }},
      {"rows-in-flight", false, [](Tried& t) { t.plan.in_flight = 4, t.tiling.items = 13; }},
      {"rows-in-flight", false, [](Tried& t) { t.plan.in_flight = 1, t.tiling.items = 1; }},
      {"rows-in-flight", false, [](Tried& t) { t.plan.in_flight = 2, t.tiling.items = 4, t.tiling.streamed = true; }},
      {"vectors-in-flight", true, [](Tried& t) { t.plan.in_flight = 9, t.tiling.streamed = true; }},
      {"vectors-in-flight", false, [](Tried& t) { t.plan.in_flight = 8, t.tiling.streamed = true; }},
      {"vectors-in-flight", false, [](Tried& t) { t.plan.in_flight = 9; }},
      {"vectors-unrolled", true, [](Tried& t) { t.plan.unroll = 3, t.tiling.vectors = 256; }},
      {"vectors-unrolled", false, [](Tried& t) { t.plan.unroll = 3, t.tiling.vectors = 257; }},
      {"vectors-unrolled", false, [](Tried& t) { t.plan.unroll = 1, t.tiling.vectors = 0; }},
      {"persistent-resident", true, [](Tried& t) { t.persistent(17); }},
      {"persistent-resident", false, [](Tried& t) { t.persistent(16); }},
      {"persistent-resident", true, [](Tried& t) { t.threads(32, 32), t.persistent(33); }},
      {"persistent-resident", false, [](Tried& t) { t.threads(32, 32), t.persistent(32); }},
      {"persistent-resident", false, [](Tried& t) { t.plan.blocks_per_sm = 17; }},
      {"persistent-loops", true, [](Tried& t) { t.persistent(2), t.tiling.items = 4 * 264; }},
      {"persistent-loops", false, [](Tried& t) { t.persistent(2), t.tiling.items = 4 * 264 + 1; }},
      {"persistent-loops", false, [](Tried& t) { t.plan.blocks_per_sm = 2, t.tiling.items = 4; }},
      {"persistent-loops", false,
       [](Tried& t) {
         t.persistent(2), t.tiling.items = 4 * 133, t.prepared.sets = {2, 4 * 133, 1};
       }},
      {"persistent-loops", true,
       [](Tried& t) {
         t.persistent(2), t.tiling.items = 4 * 132, t.prepared.sets = {2, 4 * 132, 1};
       }},
      {"fold-lanes", true, [](Tried& t) { t.fold(24); }},
      {"fold-lanes", false, [](Tried& t) { t.fold(32); }},
      {"fold-lanes", false, [](Tried& t) { t.fold(24), t.prepared.sums_across = false; }},
      {"split-persistent", true, [](Tried& t) { t.split(2), t.persistent(1); }},
      {"split-persistent", false, [](Tried& t) { t.persistent(1); }},
      {"split-persistent", false, [](Tried& t) { t.split(2); }},
      {"split-phases", true, [](Tried& t) { t.split(2), t.prepared.walks = 2; }},
      {"split-phases", false, [](Tried& t) { t.meet(2), t.prepared.walks = 2; }},
      {"meet-homes", true,
       [](Tried& t) {
         t.meet(2), t.plan.meet = ir::Meeting::kernel, t.plan.homes = {{0, ir::StitchLevel::block}};
       }},
      {"meet-homes", false, [](Tried& t) { t.meet(2), t.plan.meet = ir::Meeting::kernel; }},
      {"meet-homes", false,
       [](Tried& t) {
         t.meet(2), t.plan.homes = {{0, ir::StitchLevel::block}};
       }},
      // 132 SMs of 2,048 threads and 32 blocks
      {"meet-resident", false, [](Tried& t) { t.meet(2), t.blocks(66 * 16), t.threads(128, 128); }},
      {"meet-resident", true, [](Tried& t) { t.meet(2), t.blocks(66 * 16 + 1), t.threads(128, 128); }},
      {"meet-resident", false, [](Tried& t) { t.meet(2), t.blocks(66 * 32), t.threads(32, 32); }},
      {"meet-resident", true, [](Tried& t) { t.meet(2), t.blocks(66 * 32 + 1), t.threads(32, 32); }},
      {"meet-resident", false, [](Tried& t) { t.split(2), t.blocks(66 * 32 + 1), t.threads(32, 32); }},
      {"split-phases", false, [](Tried& t) { t.split(2); }},
      {"split-phases", false, [](Tried& t) { t.prepared.walks = 2; }},
      {"split-idle", true, [](Tried& t) { t.split(5), t.tiling.leaves_blocks_idle = true; }},
      {"split-idle", false, [](Tried& t) { t.split(5); }},
      {"split-idle", false, [](Tried& t) { t.tiling.leaves_blocks_idle = true; }},
      {"cluster-alone", false, [](Tried& t) { t.cluster(8); }},
      {"cluster-alone", true, [](Tried& t) { t.cluster(8), t.limits.blocks_per_cluster = 7; }},
      {"cluster-alone", true, [](Tried& t) { t.cluster(2), t.plan.split = 2; }},
      {"cluster-alone", true, [](Tried& t) { t.cluster(2), t.persistent(1); }},
      {"cluster-alone", true, [](Tried& t) { t.cluster(2), t.prepared.sums_across = true; }},
      {"cluster-alone", false, [](Tried& t) { t.split(2), t.persistent(1), t.prepared.sums_across = true; }},
      {"cluster-idle", true, [](Tried& t) { t.cluster(2), t.tiling.leaves_blocks_idle = true; }},
      {"cluster-idle", false, [](Tried& t) { t.cluster(2); }},
      {"cluster-idle", false, [](Tried& t) { t.tiling.leaves_blocks_idle = true; }},
  };
}

/// Rows of 8,192 floats, each of two blocks that meet.
std::function<void(Tried&)> clustered(const std::function<void(Tried&)>& change) {
  return [change](Tried& t) {
    t.waits(ir::HomesWord::registers);
    t.cluster(2);
    t.threads(256, 256);
    t.plan.vector = 4;
    t.prepared.columns = 8192;
    t.tiling.trips = 4;
    change(t);
  };
}

/// Bands of 32 columns of 1,024, a block or a cluster of four to each.
std::function<void(Tried&)> columns_alone(const std::function<void(Tried&)>& change) {
  return [change](Tried& t) {
    t.waits(ir::HomesWord::registers);
    t.columns(8, 16, 264);
    t.plan.vector = t.plan.in_flight = 4;
    t.tiling.streamed = true;
    change(t);
  };
}
std::function<void(Tried&)> columns_clustered(const std::function<void(Tried&)>& change) {
  return columns_alone([change](Tried& t) {
    t.cluster(4);
    change(t);
  });
}

/// Rows of 40 floats, sixteen lanes each, four of them of each thread in flight, and eight times as many blocks as SMs.
std::function<void(Tried&)> short_rows(const std::function<void(Tried&)>& change) {
  return [change](Tried& t) {
    t.threads(128, 16);
    t.prepared.columns = t.tiling.run = 40;
    t.tiling.vectors = 10;
    t.tiling.trips = 1;
    t.plan.vector = t.plan.in_flight = 4;
    t.blocks(8 * 132);
    change(t);
  };
}

/// One number of each of 64 rows of 65,535 elements, read from arrays of 65,536 by eight blocks, eight at a time.
std::function<void(Tried&)> cut_rows(const std::function<void(Tried&)>& change) {
  return [change](Tried& t) {
    t.prepared.graph = std::make_shared<const ir::Graph>(
        ir::parse_graph("graph g {\n  %x = parameter 0 : f32[64,65536]\n  output %x\n}\n"));
    t.prepared.full.assign(1, 0);
    t.prepared.straight = false;
    t.prepared.rows = 64;
    t.prepared.columns = 65535;
    t.threads(512, 512);
    t.split(8);
    t.tiling.items = 64;
    t.tiling.items_per_block = 1;
    t.tiling.trips = 16;
    t.plan.vector = 1;
    t.plan.in_flight = 8;
    change(t);
  };
}

/// A quarter of the SMs have a block each of 128 columns in bundles, 257 KiB of floats.
std::function<void(Tried&)> idle_bundles(const std::function<void(Tried&)>& change) {
  return [change](Tried& t) {
    t.columns(32, 8, 33);
    t.prepared.bundle = 4;
    t.prepared.columns = 514;
    t.plan.vector = 4;
    change(t);
  };
}

/// Columns of 1,816 values of 8 bytes, gone through twice: half a line of them fills a block's shared memory.
std::function<void(Tried&)> tall(const std::function<void(Tried&)>& change) {
  return columns_alone([change](Tried& t) {
    t.prepared.columns = 1816;
    t.prepared.walks = 2;
    t.limits.blocks_per_cluster = 1;
    change(t);
  });
}

/// The same, of which nothing waits between its two walks.
std::function<void(Tried&)> reloaded(const std::function<void(Tried&)>& change) {
  return clustered([change](Tried& t) {
    t.waits(ir::HomesWord::reload);
    t.prepared.walks = 2;
    change(t);
  });
}

/// Rows that two blocks of the grid share, and go through twice.
std::function<void(Tried&)> met_twice(const std::function<void(Tried&)>& change) {
  return clustered([change](Tried& t) {
    t.meet_instead();
    t.prepared.walks = 2;
    change(t);
  });
}

std::vector<Side> row_sides() {
  return {
      // 8 trips of 32 lanes have room for 256 vectors: two thirds are 170.7.
      {"padding", true, [](Tried& t) { t.tiling.vectors = 170; }},
      {"padding", false, [](Tried& t) { t.tiling.vectors = 171; }},
      {"padding", true, [](Tried& t) { t.tiling.vectors = 341, t.split(2); }},
      {"padding", false, [](Tried& t) { t.tiling.vectors = 342, t.split(2); }},
      {"padding", false, [](Tried& t) { t.tiling.vectors = 1, t.threads(128, 1); }},
      {"coalescing", true, [](Tried& t) { t.threads(128, 7); }},
      {"coalescing", false, [](Tried& t) { t.threads(128, 8); }},
      {"coalescing", true, [](Tried& t) { t.threads(128, 3), t.tiling.run = 16; }},
      {"coalescing", false, [](Tried& t) { t.threads(128, 4), t.tiling.run = 16; }},
      {"split-rows", false, [](Tried&) {}},
      {"alone-rows", true, [](Tried& t) { t.prepared.rows = 33, t.prepared.columns = 65537; }},
      {"alone-rows", false, [](Tried& t) { t.prepared.rows = 33, t.prepared.columns = 65536; }},
      {"alone-rows", false, [](Tried& t) { t.prepared.rows = 34, t.prepared.columns = 65537; }},
      {"alone-rows", false, [](Tried& t) { t.prepared.rows = 33, t.prepared.columns = 65537, t.split(2); }},
      {"alone-rows", true,
       [](Tried& t) {
         t.prepared.rows = 33, t.prepared.columns = 65537, t.prepared.walks = 2, t.limits.blocks_per_cluster = 2;
       }},
      {"alone-rows", false,
       [](Tried& t) {
         t.prepared.rows = 33, t.prepared.columns = 65537, t.prepared.walks = 2, t.limits.blocks_per_cluster = 1;
       }},
      {"alone-rows", false,
       [](Tried& t) {
         t.prepared.rows = 33, t.prepared.columns = 65537, t.prepared.walks = 2, t.prepared.sums_across = true;
       }},
      {"meet-rows", false, clustered([](Tried& t) { t.meet_instead(); })},
      {"meet-rows", true, clustered([](Tried& t) { t.meet_instead(), t.plan.threads = 512; })},
      {"meet-rows", true, clustered([](Tried& t) { t.meet_instead(), t.plan.vector = 2; })},
      {"meet-rows", true, clustered([](Tried& t) { t.meet_instead(), t.plan.in_flight = 2; })},
      {"meet-rows", false,
       clustered([](Tried& t) { t.meet_instead(), t.plan.meet = ir::Meeting::last, t.plan.vector = 2; })},
      // Rows of two blocks: 32 KiB each, or a third of 132 SMs. 128 KiB are half of a block's registers.
      {"meet-size", false, met_twice([](Tried& t) { t.blocks(1), t.prepared.columns = 16384; })},
      {"meet-size", true, met_twice([](Tried& t) { t.blocks(1), t.prepared.columns = 16386; })},
      {"meet-size", true, met_twice([](Tried& t) { t.blocks(21), t.prepared.columns = 16386; })},
      {"meet-size", false, met_twice([](Tried& t) { t.blocks(22), t.prepared.columns = 16386; })},
      {"meet-size", false, met_twice([](Tried& t) { t.blocks(66), t.prepared.columns = 16384; })},
      {"meet-size", true, met_twice([](Tried& t) { t.blocks(67), t.prepared.columns = 16384; })},
      {"meet-size", false, met_twice([](Tried& t) { t.blocks(67), t.prepared.columns = 16386; })},
      {"meet-size", false, met_twice([](Tried& t) { t.blocks(198), t.prepared.columns = 16386; })},
      {"meet-size", true, met_twice([](Tried& t) { t.blocks(199), t.prepared.columns = 16386; })},
      {"meet-size", true, met_twice([](Tried& t) { t.blocks(22), t.prepared.walks = 1; })},
      {"meet-size", false, [](Tried& t) { t.split(2), t.blocks(133); }},
      {"meet-reload", true, reloaded([](Tried& t) { t.meet_instead(); })},
      {"meet-reload", true, reloaded([](Tried& t) { t.meet_instead(), t.prepared.columns = 32768; })},
      {"meet-reload", false, reloaded([](Tried& t) { t.meet_instead(), t.prepared.columns = 32769; })},
      {"meet-reload", false, reloaded([](Tried& t) { t.meet_instead(), t.prepared.homes = {}; })},  // nothing can wait
      {"meet-reload", false, reloaded([](Tried& t) { t.meet_instead(), t.waits(ir::HomesWord::registers); })},
      // 32 columns of 1,024 values of two arrays: twice the half of a block's registers.
      {"column-reload", true,
       columns_alone([](Tried& t) { t.waits(ir::HomesWord::reload), t.prepared.columns = 512; })},
      {"column-reload", false,
       columns_alone([](Tried& t) { t.waits(ir::HomesWord::reload), t.prepared.columns = 513; })},
      {"column-reload", false, columns_alone([](Tried& t) { t.prepared.columns = 512; })},
      {"column-reload", false, columns_clustered([](Tried& t) { t.waits(ir::HomesWord::reload); })},
      // Under a line of 32 columns, where there are more and where there are not.
      {"column-reload", true, tall([](Tried& t) { t.columns(7, 16, 264), t.waits(ir::HomesWord::reload); })},
      {"column-reload", false, tall([](Tried& t) { t.waits(ir::HomesWord::reload); })},
      {"column-reload", false, tall([](Tried& t) { t.columns(7, 16, 264); })},
      {"column-reload", false,
       tall([](Tried& t) { t.columns(7, 16, 264), t.waits(ir::HomesWord::reload), t.tiling.run = 28; })},
      // A block holds 232,448 bytes in shared memory: of so many rows half a line, not a whole one.
      {"coalescing", true, tall([](Tried& t) { t.columns(3, 16, 264); })},
      {"coalescing", false, tall([](Tried& t) { t.columns(4, 16, 264); })},
      {"coalescing", true, tall([](Tried& t) { t.columns(4, 16, 264), t.prepared.columns = 908; })},
      {"coalescing", true, tall([](Tried& t) { t.columns(4, 16, 264), t.prepared.walks = 1; })},
      {"coalescing", false, tall([](Tried& t) { t.columns(2, 16, 264), t.prepared.columns = 3632; })},
      {"coalescing", true, tall([](Tried& t) { t.columns(4, 16, 264), t.prepared.columns = 2 * 3632; })},
      {"coalescing", false,
       tall([](Tried& t) { t.columns(2, 16, 264), t.prepared.columns = 2 * 3632, t.limits.blocks_per_cluster = 2; })},
      // Rows of 160 bytes, of 260, and such that a power of two of lanes goes over exactly.
      {"short-rows", true, short_rows([](Tried& t) { t.plan.in_flight = 2; })},
      {"short-rows", false, short_rows([](Tried&) {})},
      {"short-rows", false, short_rows([](Tried& t) { t.plan.in_flight = 2, t.blocks(8 * 132 - 1); })},
      {"short-rows", false, short_rows([](Tried& t) { t.plan.in_flight = 2, t.prepared.columns = 65; })},
      {"short-rows", false, short_rows([](Tried& t) { t.plan.in_flight = 2, t.prepared.columns = 32; })},
      {"short-rows", false, short_rows([](Tried& t) { t.plan.in_flight = 2, t.threads(128, 64); })},
      {"short-rows", false, short_rows([](Tried& t) { t.plan.in_flight = 2, t.prepared.sums_across = true; })},
      {"short-rows", false, short_rows([](Tried& t) { t.plan.in_flight = 2, t.tiling.streamed = true; })},
      {"short-rows", true, short_rows([](Tried& t) { t.plan.grid = ir::GridShape::persistent, t.blocks(2); })},
      {"padding", true, short_rows([](Tried& t) { t.tiling.vectors = 7; })},
      {"padding", false, short_rows([](Tried& t) { t.tiling.vectors = 8; })},
      {"padding", true, short_rows([](Tried& t) { t.tiling.vectors = 10, t.prepared.columns = 65; })},
      {"padding", false, short_rows([](Tried& t) { t.tiling.vectors = 11, t.prepared.columns = 65; })},
      {"coalescing", false, short_rows([](Tried& t) { t.plan.vector = 1; })},
      {"coalescing", true, short_rows([](Tried& t) { t.plan.vector = 1, t.prepared.columns = 65; })},
      {"narrow-vector", false, short_rows([](Tried& t) { t.halves(42); })},
      {"narrow-vector", true, short_rows([](Tried& t) { t.halves(130); })},
      {"narrow-vector", true, short_rows([](Tried& t) { t.halves(40); })},
      // A row that is cut out of a longer one is read in as many bytes.
      {"split-rows", false, cut_rows([](Tried&) {})},
      {"split-rows", true, cut_rows([](Tried& t) { t.prepared.straight = true; })},
      {"bundles-whole", true, [](Tried& t) { t.columns(8, 8, 264), t.prepared.bundle = 10; }},
      {"bundles-whole", false, [](Tried& t) { t.columns(10, 8, 264), t.prepared.bundle = 10; }},
      {"bundles-whole", false, [](Tried& t) { t.columns(8, 8, 264); }},
      {"bundle-rows", true, [](Tried& t) { t.has_bundles(7); }},
      {"bundle-rows", false, [](Tried& t) { t.has_bundles(8); }},
      {"bundle-rows", false,
       [](Tried& t) {
         t.prepared.domain = {{7, 3, 5}, true};
       }},
      {"bundle-vectors", true, [](Tried& t) { t.columns(8, 8, 264), t.prepared.bundle = 10, t.plan.vector = 1; }},
      {"bundle-vectors", false, [](Tried& t) { t.columns(8, 8, 264), t.prepared.bundle = 10, t.plan.vector = 2; }},
      {"bundle-vectors", false, [](Tried& t) { t.columns(8, 8, 264), t.plan.vector = 1; }},
      {"bundle-idle", true, idle_bundles([](Tried&) {})},
      {"bundle-idle", false, idle_bundles([](Tried& t) { t.columns(32, 8, 34); })},
      {"bundle-idle", false, idle_bundles([](Tried& t) { t.prepared.columns = 512; })},  // 256 KiB
      {"bundle-idle", false, idle_bundles([](Tried& t) { t.prepared.bundle = 1; })},
      {"bundle-idle", false, idle_bundles([](Tried& t) { t.split(2); })},
      {"bundle-idle", false, idle_bundles([](Tried& t) { t.cluster(2); })},
      {"column-waits", false, columns_alone([](Tried&) {})},
      {"column-waits", true, columns_alone([](Tried& t) { t.plan.in_flight = 5; })},
      {"column-waits", true, columns_alone([](Tried& t) { t.plan.in_flight = 2; })},
      {"column-waits", false, columns_alone([](Tried& t) { t.plan.in_flight = 2, t.tiling.trips = 3; })},
      {"column-waits", false, columns_alone([](Tried& t) { t.plan.vector = 1, t.plan.in_flight = 8; })},
      {"column-waits", true, columns_alone([](Tried& t) { t.plan.vector = 1, t.plan.in_flight = 4; })},
      {"column-waits", true, columns_alone([](Tried& t) { t.plan.grid = ir::GridShape::persistent; })},
      {"column-waits", false, columns_alone([](Tried& t) { t.waits(ir::HomesWord::reload), t.plan.in_flight = 2; })},
      {"cluster-columns", false, columns_clustered([](Tried&) {})},
      {"cluster-columns", true, columns_clustered([](Tried& t) { t.columns(17, 8, 264); })},
      {"cluster-columns", false, columns_clustered([](Tried& t) { t.columns(16, 8, 264); })},
      {"cluster-columns", true, columns_clustered([](Tried& t) { t.prepared.columns = 127; })},  // 4 KiB each
      {"cluster-columns", false, columns_clustered([](Tried& t) { t.prepared.columns = 128, t.columns(8, 8, 264); })},
      {"cluster-columns", true, columns_clustered([](Tried& t) { t.columns(8, 8, 264); })},
      {"cluster-columns", false, columns_clustered([](Tried& t) { t.plan.cluster = 0, t.columns(8, 8, 264); })},
      {"cluster-rows", false, columns_clustered([](Tried& t) { t.plan.in_flight = 2; })},
      {"cluster-rows", false, clustered([](Tried&) {})},
      {"cluster-rows", true, clustered([](Tried& t) { t.plan.threads = 512; })},
      {"cluster-rows", false, clustered([](Tried& t) { t.threads(128, 128); })},
      {"cluster-rows", true, clustered([](Tried& t) { t.threads(96, 96); })},
      {"meet-rows", true, clustered([](Tried& t) { t.meet_instead(), t.threads(224, 224); })},
      {"cluster-rows", false, clustered([](Tried& t) { t.prepared.columns = 2048, t.threads(64, 64); })},  // 4 KiB each
      {"cluster-rows", true, clustered([](Tried& t) { t.prepared.columns = 2048, t.threads(63, 63); })},
      {"cluster-rows", false, clustered([](Tried& t) { t.prepared.columns = 2048; })},
      {"cluster-rows", true, clustered([](Tried& t) { t.prepared.columns = 2047; })},
      {"cluster-rows", true, clustered([](Tried& t) { t.plan.in_flight = 2; })},
      {"cluster-rows", false, clustered([](Tried& t) { t.plan.in_flight = 2, t.tiling.streamed = true; })},
      {"cluster-rows", true, clustered([](Tried& t) { t.tiling.streamed = true; })},  // 16 bytes on the way
      {"cluster-rows", true, clustered([](Tried& t) { t.plan.vector = 2; })},
      {"cluster-rows", true, clustered([](Tried& t) {
         t.inputs(1, "bf16"), t.plan.in_flight = 1, t.prepared.widest_vector = 8;  // 8 bytes of 16
       })},
      {"cluster-rows", false, clustered([](Tried& t) {
         t.inputs(1, "bf16"), t.plan.vector = 2, t.prepared.widest_vector = 8, t.tiling.run = 10;  // no wider one fits
       })},
      {"cluster-rows", true, clustered([](Tried& t) {
         t.inputs(1, "bf16"), t.plan.vector = 2, t.prepared.widest_vector = 8, t.tiling.run = 12;
       })},
      {"cluster-rows", false, clustered([](Tried& t) { t.widens("bf16", "f32"); })},
      {"cluster-rows", true, clustered([](Tried& t) { t.plan.vector = 1; })},
      {"cluster-rows", false, clustered([](Tried& t) { t.plan.vector = 1, t.tiling.run = 1023; })},
      {"cluster-rows", false, clustered([](Tried& t) { t.plan.vector = 1, t.tiling.run = 98; })},  // no whole 16 bytes
      {"cluster-rows", true, clustered([](Tried& t) { t.plan.vector = 1, t.tiling.run = 100; })},
      {"cluster-rows", false, clustered([](Tried& t) { t.plan.vector = 1, t.prepared.straight = false; })},
      {"cluster-rows", false, [](Tried& t) { t.plan.threads = 512; }},
      // 132 SMs. 64 KiB are a quarter of a block's registers, and 8 bytes of each element wait.
      {"cluster-size", true, clustered([](Tried& t) { t.cluster(4), t.prepared.rows = 66; })},
      {"cluster-size", false, clustered([](Tried& t) { t.cluster(4), t.prepared.rows = 65; })},
      {"cluster-size", true, clustered([](Tried& t) { t.cluster(4), t.prepared.columns = 16384; })},
      {"cluster-size", false, clustered([](Tried& t) { t.cluster(4), t.prepared.columns = 16385; })},
      {"cluster-size", true, clustered([](Tried& t) { t.cluster(4), t.prepared.rows = 8; })},
      {"cluster-size", false, clustered([](Tried& t) { t.cluster(4), t.prepared.rows = 9; })},
      {"cluster-size", false, clustered([](Tried& t) { t.cluster(8), t.prepared.rows = 1; })},
      {"cluster-size", false,
       clustered([](Tried& t) { t.cluster(4), t.prepared.rows = 8, t.prepared.columns = 8191; })},
      {"cluster-size", false, clustered([](Tried& t) { t.cluster(0), t.prepared.rows = 8; })},
      {"cluster-reload", true, reloaded([](Tried&) {})},
      {"cluster-reload", true, reloaded([](Tried& t) { t.prepared.columns = 32768; })},
      {"cluster-reload", false, reloaded([](Tried& t) { t.prepared.columns = 32769; })},
      {"cluster-reload", false, reloaded([](Tried& t) { t.prepared.walks = 1; })},
      {"cluster-reload", false, reloaded([](Tried& t) { t.prepared.homes = {}; })},  // nothing can wait
      {"cluster-reload", false, reloaded([](Tried& t) { t.waits(ir::HomesWord::registers); })},
      {"cluster-reload", false, reloaded([](Tried& t) { t.cluster(0); })},
      {"cluster-moves", true, [](Tried& t) { t.moves(ir::HomesWord::widest_shared), t.cluster(2); }},
      {"cluster-moves", true, [](Tried& t) { t.moves(ir::HomesWord::shared), t.cluster(2); }},
      {"cluster-moves", false, [](Tried& t) { t.moves(ir::HomesWord::widest_shared), t.cluster(0); }},
      {"cluster-moves", false, [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.cluster(2); }},
      {"cluster-moves", false, [](Tried& t) { t.moves(ir::HomesWord::moved_cluster), t.cluster(2); }},
      {"cluster-moves", false, [](Tried& t) { t.moves(ir::HomesWord::registers), t.cluster(2); }},
      {"shared-short", false, [](Tried& t) { t.moves(ir::HomesWord::shared), t.tiling.trips = 3; }},
      {"shared-short", false, [](Tried& t) { t.moves(ir::HomesWord::moved_cluster), t.tiling.trips = 3; }},
      {"shared-long", false, [](Tried& t) { t.moves(ir::HomesWord::shared), t.tiling.trips = 8; }},
      {"mixed-short", false, [](Tried& t) { t.moves(ir::HomesWord::moved_cluster), t.wide(15); }},
      {"mixed-reload", false, [](Tried& t) { t.parts(ir::HomesWord::moved_cluster), t.prepared.columns = 58112; }},
      {"long-trips", true, [](Tried& t) { t.tiling.trips = 65; }},
      {"long-trips", false, [](Tried& t) { t.tiling.trips = 64; }},
      {"long-trips", false, [](Tried& t) { t.tiling.trips = 65, t.threads(128, 128); }},
      // 8 trips of 4 elements each.
      {"long-code", true, [](Tried& t) { t.prepared.element_code = 1025; }},
      {"long-code", false, [](Tried& t) { t.prepared.element_code = 1024; }},
      {"long-code", true, [](Tried& t) { t.prepared.element_code = 4097, t.tiling.streamed = true; }},
      {"long-code", false, [](Tried& t) { t.prepared.element_code = 4096, t.tiling.streamed = true; }},
      {"long-code", true, [](Tried& t) { t.prepared.element_code = 4097, t.tiling.trips = 1; }},
      {"long-code", false, [](Tried& t) { t.prepared.element_code = 4096, t.tiling.trips = 1; }},
      {"long-code", true, [](Tried& t) { t.prepared.element_code = 513, t.tiling.at_once = 2; }},
      {"long-code", true, [](Tried& t) { t.prepared.element_code = 2049, t.tiling.trips = 1, t.plan.unroll = 2; }},
      {"long-code", false, [](Tried& t) { t.prepared.element_code = 2048, t.tiling.trips = 1, t.plan.unroll = 2; }},
      {"long-code", false, [](Tried& t) { t.prepared.element_code = 20000, t.tiling.trips = t.plan.vector = 1; }},
      {"long-columns", true,
       [](Tried& t) {
         t.columns(8, 16, 264), t.tiling.trips = 8, t.prepared.element_code = 1025, t.waits(ir::HomesWord::registers);
       }},
      {"long-columns", false,
       [](Tried& t) {
         t.columns(8, 16, 264), t.tiling.trips = 8, t.prepared.element_code = 1024, t.waits(ir::HomesWord::registers);
       }},
      {"long-columns", false,
       [](Tried& t) {
         t.columns(8, 16, 264), t.tiling.trips = 8, t.prepared.element_code = 1025, t.waits(ir::HomesWord::reload);
       }},
      {"register-payload", true, [](Tried& t) { t.plan.in_flight = 5; }},
      {"register-payload", false, [](Tried& t) { t.plan.in_flight = 4; }},
      {"register-payload", true, [](Tried& t) { t.plan.in_flight = 3, t.waits(ir::HomesWord::registers); }},
      {"register-payload", false, [](Tried& t) { t.plan.in_flight = 2, t.waits(ir::HomesWord::registers); }},
      {"register-payload", false, [](Tried& t) { t.plan.in_flight = 5, t.tiling.streamed = true; }},
      // Two values of 16 bits are a register.
      {"register-payload", false, [](Tried& t) { t.waits(ir::HomesWord::registers, "bf16"), t.tiling.trips = 32; }},
      {"register-payload", true, [](Tried& t) { t.waits(ir::HomesWord::registers, "bf16"), t.tiling.trips = 33; }},
      {"register-payload", true, [](Tried& t) { t.waits(ir::HomesWord::registers, "f64"), t.tiling.trips = 9; }},
      {"register-payload", false, [](Tried& t) { t.waits(ir::HomesWord::registers, "f64"), t.tiling.trips = 8; }},
      {"wide-vector", true, [](Tried& t) { t.plan.vector = 16; }},
      {"wide-vector", false, [](Tried& t) { t.plan.vector = 8; }},
      {"wide-vector", false, [](Tried& t) { t.plan.vector = 16, t.inputs(1, "f16"); }},
      {"wide-vector", true, [](Tried& t) { t.plan.vector = 16, t.widens("pred", "f32"); }},
      {"wide-vector", false, [](Tried& t) { t.plan.vector = 8, t.widens("pred", "f32"); }},
      // 128 bytes of an input, or 510 of all: half of 255 registers.
      {"flight-bytes", true, [](Tried& t) { t.tiling.trips = 3, t.tiling.at_once = 3; }},
      {"flight-bytes", false, [](Tried& t) { t.tiling.trips = 4, t.tiling.at_once = 2; }},
      {"flight-bytes", false, [](Tried& t) { t.tiling.trips = 64, t.tiling.at_once = 1; }},
      {"flight-bytes", true, [](Tried& t) { t.tiling.trips = 64, t.tiling.streamed = true, t.tiling.at_once = 9; }},
      {"flight-bytes", false, [](Tried& t) { t.tiling.trips = 64, t.tiling.streamed = true, t.tiling.at_once = 8; }},
      {"flight-bytes", true, [](Tried& t) { t.tiling.trips = 4, t.tiling.at_once = 2, t.inputs(4, "f32"); }},
      {"flight-bytes", false, [](Tried& t) { t.tiling.trips = 4, t.tiling.at_once = 2, t.inputs(3, "f32"); }},
      {"flight-bytes", true, [](Tried& t) { t.tiling.trips = 4, t.tiling.at_once = 2, t.windows(4); }},
      {"flight-bytes", false, [](Tried& t) { t.tiling.trips = 4, t.tiling.at_once = 2, t.windows(3); }},
      {"flight-bytes", false, [](Tried& t) { t.tiling.trips = 8, t.tiling.at_once = 1, t.windows(4); }},
      {"large-block", true, [](Tried& t) { t.threads(1024, 256); }},
      // Of what is turned without tiles, eight elements for each thread of the device.
      {"large-block", false, [](Tried& t) { t.turns(2162688, 1024); }},
      {"large-block", true, [](Tried& t) { t.turns(2162687, 1024); }},
      {"large-block", true, [](Tried& t) { t.turns(2162688, 1024), t.prepared.unbroken = 2; }},
      {"broken-block", false, [](Tried& t) { t.turns(2162688, 512); }},
      {"broken-block", true, [](Tried& t) { t.turns(2162687, 512); }},
      {"large-block", false, [](Tried& t) { t.threads(1024, 512); }},
      {"large-block", false, [](Tried& t) { t.threads(512, 128); }},
      {"shared-short", true, [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 3; }},
      {"shared-short", false, [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 4; }},
      {"shared-short", false, [](Tried& t) { t.tiling.trips = 3; }},
      {"shared-long", true, [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 8; }},
      {"shared-long", false, [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 9; }},
      {"shared-long", false, [](Tried& t) { t.tiling.trips = 8; }},
      // Two values of 32 elements are 64 registers, half of what a thread of 512 has; those of 1,024 have 64 in all.
      {"shared-long", true, [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 8, t.plan.threads = 512; }},
      {"shared-long", false,
       [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 8, t.plan.threads = 1024; }},
      {"shared-long", true,
       [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 4, t.plan.threads = 1024; }},
      {"shared-long", true,  // of inputs alone there is one
       [](Tried& t) { t.waits(ir::HomesWord::recompute_shared), t.tiling.trips = 8, t.plan.threads = 1024; }},
      {"reload-short", true, [](Tried& t) { t.waits(ir::HomesWord::reload), t.tiling.trips = 8; }},
      {"reload-short", false, [](Tried& t) { t.waits(ir::HomesWord::reload), t.tiling.trips = 9; }},
      {"reload-short", false, [](Tried& t) { t.waits(ir::HomesWord::recompute), t.tiling.trips = 8; }},
      {"reload-short", false, [](Tried& t) { t.tiling.trips = 8; }},  // nothing could wait
      // The input that both values come from is 32 registers, half of those of a thread of 1,024.
      {"reload-short", true,
       [](Tried& t) { t.waits(ir::HomesWord::reload), t.tiling.trips = 8, t.plan.threads = 1024; }},
      {"reload-short", false,
       [](Tried& t) {
         t.waits(ir::HomesWord::reload), t.tiling.trips = 8, t.plan.threads = 1024;
         row_for(t.prepared.homes, ir::HomesWord::recompute) = row_for(t.prepared.homes, ir::HomesWord::registers);
       }},
      // 2,048 threads of an SM have 16 rows of 128 lanes: twice 233,472 bytes are 7,296 floats of each.
      {"reload-narrow", false, [](Tried& t) { t.reloads(128, 7296); }},
      {"reload-narrow", true, [](Tried& t) { t.reloads(128, 7297); }},
      {"reload-narrow", true, [](Tried& t) { t.reloads(511, 1 << 20); }},
      {"reload-narrow", false, [](Tried& t) { t.reloads(512, 1 << 20); }},
      {"reload-narrow", false,
       [](Tried& t) {
         t.reloads(128, 7297), t.plan.homes = {{0, ir::StitchLevel::block}};
       }},
      {"reload-narrow", false, [](Tried& t) { t.reloads(128, 7297), t.prepared.walks = 1; }},
      {"reload-narrow", false, [](Tried& t) { t.reloads(128, 7297), t.meet(2); }},
      {"reload-narrow", false, [](Tried& t) { t.reloads(128, 7297), t.cluster(2); }},
      // Two floats of 4,096 columns are 32 KiB.
      {"mixed-short", true,
       [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.tiling.trips = 16, t.prepared.columns = 4096; }},
      {"mixed-short", false,
       [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.tiling.trips = 16, t.prepared.columns = 4097; }},
      // Vectors of 16 bytes.
      {"mixed-flight", true, [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.plan.in_flight = 3; }},
      {"mixed-flight", false, [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.plan.in_flight = 4; }},
      {"mixed-flight", false,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.plan.in_flight = 3, t.tiling.trips = 3; }},
      {"mixed-flight", true, [](Tried& t) { t.parts(ir::HomesWord::widest_reload), t.plan.in_flight = 5; }},
      {"mixed-flight", false, [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.plan.in_flight = 1; }},
      {"mixed-flight", false, [](Tried& t) { t.parts(ir::HomesWord::shared), t.plan.in_flight = 8; }},
      // 255 registers: 680 bytes are two thirds; the input's 64 in flight leave 616 for floats that are kept.
      {"mixed-flight", false,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 38, t.plan.in_flight = 4; }},
      {"mixed-flight", true,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 39, t.plan.in_flight = 4; }},
      {"mixed-flight", false,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 39, t.plan.in_flight = 2; }},
      {"mixed-flight", true,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 39, t.plan.in_flight = 1; }},
      // With 32 in flight 648 bytes for what is kept, with 16 664; these are enough, and 32 never too much.
      {"mixed-flight", true,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 41, t.plan.in_flight = 3; }},
      {"mixed-flight", false,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 41, t.plan.in_flight = 2; }},
      {"mixed-flight", false,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 41, t.plan.in_flight = 1; }},
      {"mixed-flight", false,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 60, t.plan.in_flight = 1; }},
      {"mixed-flight", true,
       [](Tried& t) {
         t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 168, t.plan.in_flight = 1, t.plan.vector = 1;
       }},
      // 232,448 bytes of shared memory are 58,112 floats.
      {"mixed-reload", true, [](Tried& t) { t.parts(ir::HomesWord::widest_reload), t.prepared.columns = 58112; }},
      {"mixed-reload", false, [](Tried& t) { t.parts(ir::HomesWord::widest_reload), t.prepared.columns = 58113; }},
      {"mixed-reload", false, [](Tried& t) { t.parts(ir::HomesWord::widest_shared); }},
      {"mixed-reload", false, [](Tried& t) { t.waits(ir::HomesWord::recompute); }},
      // 255 registers: two values of 15 vectors of four are 120 of them, of 16 vectors 128.
      {"mixed-short", true, [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.wide(15); }},
      {"mixed-short", false, [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.wide(16); }},
      {"mixed-short", true, [](Tried& t) { t.waits(ir::HomesWord::widest_reload), t.wide(15); }},
      {"mixed-short", false, [](Tried& t) { t.waits(ir::HomesWord::widest_reload), t.wide(16); }},
      {"mixed-short", false, [](Tried& t) { t.waits(ir::HomesWord::registers), t.tiling.trips = 1; }},
      {"mixed-short", false, [](Tried& t) { t.waits(ir::HomesWord::shared), t.tiling.trips = 1; }},
      {"mixed-short", false, [](Tried& t) { t.waits(ir::HomesWord::recompute), t.tiling.trips = 1; }},
      {"mixed-short", false, [](Tried& t) { t.waits(ir::HomesWord::reload), t.tiling.trips = 1; }},
      {"shared-short", true, [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.tiling.trips = 3; }},
      {"shared-long", true, [](Tried& t) { t.waits(ir::HomesWord::widest_shared), t.tiling.trips = 8; }},
      // In parts: one of the two values of 32 vectors of four, however many vectors are in flight.
      {"register-payload", false,
       [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 32, t.plan.in_flight = 8; }},
      {"register-payload", true, [](Tried& t) { t.parts(ir::HomesWord::widest_shared), t.tiling.trips = 33; }},
      {"register-payload", false, [](Tried& t) { t.parts(ir::HomesWord::shared), t.tiling.trips = 33; }},
      {"narrow-vector", true, [](Tried& t) { t.prepared.widest_vector = 8, t.plan.vector = 2; }},
      // 132 SMs, each with a block of 64 threads, are filled by 8,448 vectors.
      {"narrow-vector", false, [](Tried& t) { t.loop(16888, 1); }},
      {"narrow-vector", true, [](Tried& t) { t.loop(16896, 1); }},
      {"narrow-vector", false, [](Tried& t) { t.loop(33784, 2); }},
      // Of what takes long, half of what an SM holds.
      {"narrow-vector", false, [](Tried& t) { t.loop(270328, 1), t.prepared.element_code = 64; }},
      {"narrow-vector", true, [](Tried& t) { t.loop(270336, 1), t.prepared.element_code = 64; }},
      {"narrow-vector", true, [](Tried& t) { t.loop(270328, 1), t.prepared.element_code = 63; }},
      // Rows of a loop that wide vectors go over the end of have those that divide them, half of that and 1.
      {"narrow-vector", false, [](Tried& t) { t.loop(1002 << 10, 2), t.prepared.unbroken = 1002; }},
      {"narrow-vector", true, [](Tried& t) { t.loop(1001 << 10, 2), t.prepared.unbroken = 1001; }},
      {"narrow-vector", false, [](Tried& t) { t.loop(1001 << 10, 1), t.prepared.unbroken = 1001; }},
      {"narrow-vector", true, [](Tried& t) { t.loop(1000 << 10, 2), t.prepared.unbroken = 1000; }},
      // What operations leave whole breaks no vectors, where there are elements for all threads of the device twice.
      {"narrow-vector", true, [](Tried& t) { t.loop(540672, 1), t.broken(8); }},
      {"narrow-vector", false, [](Tried& t) { t.loop(540672, 1), t.broken(4); }},
      {"narrow-vector", false, [](Tried& t) { t.loop(540664, 1), t.broken(8); }},
      {"narrow-vector", false,
       [](Tried& t) { t.prepared.widest_vector = 8, t.plan.vector = 1, t.prepared.columns = 1 << 20, t.broken(8); }},
      {"narrow-vector", true, [](Tried& t) { t.loop(33792, 2); }},
      {"narrow-vector", false, [](Tried& t) { t.prepared.widest_vector = 8; }},
      {"narrow-vector", true, [](Tried& t) { t.prepared.widest_vector = 8, t.plan.vector = 1; }},
      {"narrow-vector", false,
       [](Tried& t) { t.prepared.widest_vector = 8, t.plan.vector = 1, t.prepared.columns = 1001; }},
      {"narrow-vector", true,
       [](Tried& t) { t.prepared.widest_vector = 8, t.plan.vector = 2, t.prepared.columns = 1001; }},
      {"narrow-vector", false,
       [](Tried& t) { t.prepared.widest_vector = 8, t.plan.vector = 1, t.prepared.straight = false; }},
      {"narrow-vector", true, [](Tried& t) { t.prepared.widest_vector = 16, t.inputs(1, "pred"); }},
      {"narrow-vector", false, [](Tried& t) { t.prepared.widest_vector = 16, t.widens("pred", "f32"); }},
      {"narrow-vector", false, [](Tried& t) { t.prepared.widest_vector = 16; }},  // 64 bytes of floats: 8 are enough
      {"rows-at-once", true, [](Tried& t) { t.threads(128, 64), t.plan.in_flight = 5; }},
      {"rows-at-once", false, [](Tried& t) { t.threads(128, 64), t.plan.in_flight = 4; }},
      {"rows-at-once", false, [](Tried& t) { t.plan.in_flight = 5; }},
      {"rows-at-once", false, [](Tried& t) { t.threads(128, 64), t.plan.in_flight = 5, t.tiling.streamed = true; }},
      {"block-extremes", true, [](Tried& t) { t.threads(64, 32), t.blocks(528); }},
      {"block-extremes", true, [](Tried& t) { t.threads(512, 32), t.blocks(528); }},
      {"block-extremes", false, [](Tried& t) { t.threads(64, 32), t.blocks(527); }},
      {"block-extremes", false, [](Tried& t) { t.threads(256, 32), t.blocks(528); }},
      {"block-extremes", false, [](Tried& t) { t.threads(64, 64), t.blocks(528); }},
      {"persistent-short", true, [](Tried& t) { t.persistent(2), t.blocks(527); }},
      {"persistent-short", false, [](Tried& t) { t.persistent(2), t.blocks(528); }},
      {"persistent-short", false, [](Tried& t) { t.blocks(1); }},
      {"broken-block", true, [](Tried& t) { t.threads(512, 32), t.prepared.straight = false; }},
      {"broken-block", false, [](Tried& t) { t.threads(480, 32), t.prepared.straight = false; }},
      {"broken-block", false, [](Tried& t) { t.threads(512, 32); }},
      {"broken-block", false,
       [](Tried& t) { t.threads(512, 32), t.prepared.straight = false, t.prepared.strip.rows = 4; }},
      // Four elements of a vector, eight trips.
      {"unrolled-idle", true, [](Tried& t) { t.plan.unroll = 2, t.blocks(65), t.prepared.element_code = 25; }},
      {"unrolled-idle", false, [](Tried& t) { t.plan.unroll = 2, t.blocks(65), t.prepared.element_code = 24; }},
      {"unrolled-idle", false, [](Tried& t) { t.plan.unroll = 2, t.blocks(66), t.prepared.element_code = 25; }},
      {"unrolled-idle", false, [](Tried& t) { t.plan.unroll = 1, t.blocks(65), t.prepared.element_code = 25; }},
      {"unrolled-idle", true,
       [](Tried& t) { t.prepared.strip.rows = 4, t.plan.unroll = 1, t.blocks(65), t.prepared.element_code = 25; }},
      {"strip-alone", true, [](Tried& t) { t.prepared.strip.rows = 4, t.plan.unroll = 2; }},
      {"strip-alone", true, [](Tried& t) { t.prepared.strip.rows = 4, t.plan.unroll = 1, t.persistent(2); }},
      {"strip-alone", false, [](Tried& t) { t.prepared.strip.rows = 4, t.plan.unroll = 1; }},
      {"strip-alone", false, [](Tried& t) { t.plan.unroll = 2; }},
      // 255 registers of four bytes.
      {"strip-registers", true, [](Tried& t) { t.prepared.strip.loaded = 256, t.plan.vector = 2; }},
      {"strip-registers", false, [](Tried& t) { t.prepared.strip.loaded = 255, t.plan.vector = 2; }},
      {"strip-registers", false, [](Tried& t) { t.prepared.strip.loaded = 5000, t.plan.vector = 1; }},
      {"barrier-rows", true, [](Tried& t) { t.threads(192, 64); }},
      {"barrier-rows", false, [](Tried& t) { t.threads(128, 64); }},
      {"barrier-rows", false, [](Tried& t) { t.threads(1024, 32); }},
      // What a rule says of columns alone.
      {"wide-columns", false, [](Tried& t) { t.threads(1024, 1024), t.tiling.trips = 17; }},
      {"narrow-columns", false, [](Tried& t) { t.plan.vector = 1; }},
      {"few-blocks", false, [](Tried& t) { t.blocks(1), t.tiling.trips = 100; }},
      {"shallow-columns", false, [](Tried& t) { t.plan.vector = 1; }},
      {"split-columns", false, [](Tried& t) { t.split(2), t.plan.vector = 1; }},
  };
}

/// Rows of a warp each that are added up across, in blocks of 128 threads.
void across(Tried& t, std::int64_t blocks) {
  t.threads(128, 32);
  t.blocks(blocks);
  t.prepared.sums_across = true;
}

/// Homes of two values of a row whose lanes hold sums across rows.
std::vector<Side> sum_sides() {
  const auto sums = [](ir::HomesWord word, std::int64_t trips, int rows) {
    return [=](Tried& t) { t.waits(word), t.sums(), t.tiling.trips = trips, t.plan.in_flight = rows; };
  };
  const auto thin = [](auto change) {
    return [=](Tried& t) {
      t.threads(256, 64);
      t.blocks(132), t.tiling.items = 528, t.tiling.trips = 1, t.plan.vector = 2;
      change(t);
    };
  };
  const auto idle = [](std::int64_t columns, bool sums) {
    return [=](Tried& t) {
      t.threads(128, 128);
      t.prepared.widest_vector = 8, t.prepared.columns = columns, t.plan.vector = 2;
      if (sums) t.sums();
    };
  };
  using enum ir::HomesWord;
  return {
      // 255 registers: 32 elements of two values in each row, and of a sum.
      {"shared-long", true, sums(shared, 8, 1)},
      {"shared-long", false, sums(shared, 8, 2)},
      {"shared-short", true, sums(shared, 3, 4)},
      {"shared-short", false, sums(shared, 3, 5)},
      {"mixed-short", true, sums(widest_shared, 6, 2)},
      {"mixed-short", false, sums(widest_shared, 7, 2)},
      {"reload-short", true, sums(reload, 8, 2)},
      {"reload-short", false, sums(reload, 8, 3)},
      {"barrier-rows", false, [](Tried& t) { t.threads(192, 64), t.sums(); }},
      {"thin-lanes", true, thin([](Tried&) {})},
      {"thin-lanes", false, thin([](Tried& t) { t.plan.vector = 4; })},
      {"thin-lanes", false, thin([](Tried& t) { t.tiling.trips = 2; })},
      {"thin-lanes", false, thin([](Tried& t) { t.tiling.items = 527; })},
      {"thin-lanes", false, thin([](Tried& t) { t.threads(256, 32); })},
      {"thin-lanes", false, thin([](Tried& t) { t.split(2); })},
      {"thin-lanes", false, thin([](Tried& t) { t.sums(); })},
      {"thin-lanes", false, thin([](Tried& t) { t.columns(64, 4, 528); })},
      // 128 lanes have 3 vectors of 2 each, or one and a half of 4.
      {"narrow-vector", false, idle(768, true)},
      {"narrow-vector", true, idle(768, false)},
      {"narrow-vector", true, idle(1024, true)},
      {"narrow-vector", true, idle(800, true)},
      {"narrow-vector", true, [=](Tried& t) { idle(768, true)(t), t.plan.vector = 1; }},
      // 112 and 113 registers kept, and 16: a quarter of an SM has 128 for each of 512 threads.
      {"across-resident", true, [](Tried& t) { across(t, 9999), t.persistent(2), t.tiling.trips = 28; }},
      {"across-resident", false, [](Tried& t) { across(t, 9999), t.persistent(2), t.tiling.trips = 29; }},
      {"across-resident", true, [](Tried& t) { across(t, 9999), t.persistent(1), t.tiling.trips = 29; }},
  };
}

std::vector<Side> column_sides() {
  return {
      // Two blocks of 4 groups, each 8 lanes with 10 trips: room for 640 vectors of rows; two thirds are 426.7.
      {"padding", true,
       [](Tried& t) { t.columns(8, 4, 2), t.tiling.trips = 10, t.tiling.vectors = 16, t.prepared.columns = 26; }},
      {"padding", false,
       [](Tried& t) { t.columns(8, 4, 2), t.tiling.trips = 10, t.tiling.vectors = 16, t.prepared.columns = 27; }},
      {"uneven-groups", true, [](Tried& t) { t.columns(32, 3, 264); }},
      {"uneven-groups", false, [](Tried& t) { t.columns(33, 4, 264); }},
      {"uneven-groups", false, [](Tried& t) { t.columns(33, 1, 264); }},
      {"deep-columns", true, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 2, t.plan.in_flight = 9; }},
      {"deep-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 2, t.plan.in_flight = 8; }},
      {"deep-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 1, t.plan.in_flight = 16; }},
      {"deep-columns", true, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 1, t.plan.in_flight = 17; }},
      {"coalescing", true, [](Tried& t) { t.columns(31, 4, 264), t.plan.vector = 1; }},
      {"coalescing", false, [](Tried& t) { t.columns(32, 4, 264), t.plan.vector = 1; }},
      {"coalescing", true, [](Tried& t) { t.columns(5, 16, 264), t.plan.vector = 1, t.tiling.run = 12; }},
      {"coalescing", false, [](Tried& t) { t.columns(6, 16, 264), t.plan.vector = 1, t.tiling.run = 12; }},
      {"wide-columns", true, [](Tried& t) { t.columns(33, 4, 264), t.tiling.trips = 17; }},
      {"wide-columns", false, [](Tried& t) { t.columns(32, 4, 264), t.tiling.trips = 17; }},
      {"wide-columns", false, [](Tried& t) { t.columns(33, 4, 264), t.tiling.trips = 17, t.prepared.scans = {1}; }},
      {"wide-columns", false, [](Tried& t) { t.columns(33, 4, 264), t.tiling.trips = 16; }},
      {"wide-columns", false, [](Tried& t) { t.columns(33, 4, 264), t.split(2), t.tiling.trips = 8; }},
      {"wide-columns", true, [](Tried& t) { t.columns(33, 4, 264), t.split(2), t.tiling.trips = 9; }},
      {"narrow-columns", true, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 2; }},
      {"narrow-columns", false, [](Tried& t) { t.columns(8, 16, 263), t.plan.vector = 2; }},
      {"narrow-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.split(2), t.plan.vector = 2; }},
      {"narrow-columns", true, [](Tried& t) { t.columns(8, 16, 1), t.plan.vector = 1; }},
      {"narrow-columns", false, [](Tried& t) { t.columns(8, 16, 264); }},
      // Columns that are taken apart: single elements, and where runs of two are whole not even these.
      {"narrow-columns", false,
       [](Tried& t) { t.columns(8, 16, 264), t.takes_apart("0:64:4", 16), t.plan.vector = 1; }},
      {"narrow-columns", true, [](Tried& t) { t.columns(8, 16, 264), t.takes_apart("0:64:4", 16), t.plan.vector = 2; }},
      {"narrow-columns", true, [](Tried& t) { t.columns(8, 16, 264), t.takes_apart("0:16:1", 16), t.plan.vector = 1; }},
      {"narrow-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.takes_apart("5:6:1", 1), t.plan.vector = 1; }},
      // Columns that are gone through again: 32 floats side by side, or as many as 233,472 bytes hold of 1,024 rows.
      {"narrow-columns", false, [](Tried& t) { t.columns(32, 4, 264), t.walks_near(1, 3000); }},
      {"narrow-columns", true, [](Tried& t) { t.columns(33, 4, 264), t.walks_near(1, 3000); }},
      {"narrow-columns", false, [](Tried& t) { t.columns(57, 4, 264), t.walks_near(1, 1024); }},
      {"narrow-columns", true, [](Tried& t) { t.columns(58, 4, 264), t.walks_near(1, 1024); }},
      {"narrow-columns", true, [](Tried& t) { t.columns(29, 4, 264), t.walks_near(2, 1024); }},
      {"narrow-columns", false, [](Tried& t) { t.columns(28, 4, 264), t.walks_near(2, 1024); }},
      {"narrow-columns", true, [](Tried& t) { t.columns(32, 4, 264), t.walks_near(1, 1024), t.prepared.walks = 1; }},
      {"narrow-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 1, t.tiling.run = 1023; }},
      {"narrow-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 2, t.inputs(1, "f64"); }},
      {"few-blocks", true, [](Tried& t) { t.columns(8, 16, 131), t.tiling.trips = 8; }},
      {"few-blocks", false, [](Tried& t) { t.columns(8, 16, 132), t.tiling.trips = 8; }},
      {"few-blocks", false, [](Tried& t) { t.columns(8, 16, 131), t.tiling.trips = 7; }},
      {"few-blocks", false, [](Tried& t) { t.columns(8, 32, 131), t.tiling.trips = 8; }},
      {"few-blocks", false, [](Tried& t) { t.columns(8, 16, 131), t.tiling.trips = 8, t.tiling.run = 16; }},
      {"few-blocks", true, [](Tried& t) { t.columns(8, 16, 131), t.tiling.trips = 8, t.tiling.run = 17; }},
      {"shallow-columns", true, [](Tried& t) { t.columns(8, 16, 264), t.tiling.trips = 4; }},
      {"shallow-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.tiling.trips = 3; }},
      {"shallow-columns", false, [](Tried& t) { t.columns(8, 16, 264), t.plan.in_flight = 2; }},
      {"shallow-columns", true,
       [](Tried& t) { t.columns(8, 16, 264), t.plan.in_flight = 3, t.plan.vector = 2, t.tiling.trips = 12; }},
      {"shallow-columns", false,
       [](Tried& t) { t.columns(8, 16, 264), t.plan.in_flight = 4, t.plan.vector = 1, t.tiling.trips = 16; }},
      {"large-block", true, [](Tried& t) { t.columns(8, 128, 132); }},
      {"large-block", false, [](Tried& t) { t.columns(8, 128, 131); }},
      {"large-block", false, [](Tried& t) { t.columns(8, 128, 132), t.walks_near(4, 3000); }},
      // What a rule says of rows alone.
      {"alone-rows", false, [](Tried& t) { t.columns(8, 16, 264), t.prepared.rows = 1, t.prepared.columns = 1000000; }},
      {"long-trips", false, [](Tried& t) { t.columns(8, 16, 264), t.tiling.trips = 65; }},
      {"narrow-vector", false, [](Tried& t) { t.columns(8, 16, 264), t.plan.vector = 1; }},
      {"rows-at-once", false, [](Tried& t) { t.columns(64, 2, 264), t.plan.in_flight = 5; }},
      {"block-extremes", false, [](Tried& t) { t.columns(8, 8, 528); }},
      {"persistent-short", false, [](Tried& t) { t.columns(8, 16, 1), t.persistent(2); }},
      {"barrier-rows", false, [](Tried& t) { t.columns(64, 16, 264); }},
      {"split-rows", false, [](Tried& t) { t.columns(8, 16, 264), t.split(2); }},
      {"across-parts", true, [](Tried& t) { across(t, 529); }},
      {"across-parts", false, [](Tried& t) { across(t, 528); }},  // four blocks of 128 threads on each SM
      {"across-parts", false, [](Tried& t) { across(t, 529), t.persistent(4); }},
      {"across-parts", false, [](Tried& t) { across(t, 529), t.prepared.sums_across = false; }},
      {"across-parts", false,
       [](Tried& t) {
         across(t, 1), t.prepared.sets = {529, 4, 1};
       }},                                                                            // nothing to loop over
      {"across-resident", true, [](Tried& t) { across(t, 9999), t.persistent(3); }},  // 384 of 2,048 threads
      {"across-resident", false,
       [](Tried& t) {
         across(t, 9999), t.persistent(3), t.prepared.sets = {397, 99, 1};
       }},
      {"across-resident", true,
       [](Tried& t) {
         across(t, 9999), t.persistent(3), t.prepared.sets = {396, 99, 1};
       }},
      {"across-resident", false, [](Tried& t) { across(t, 9999), t.persistent(4); }},
      {"across-resident", false, [](Tried& t) { across(t, 9999), t.persistent(10); }},  // 48 registers for each
      {"across-resident", true, [](Tried& t) { across(t, 9999), t.persistent(11); }},
      {"across-resident", false, [](Tried& t) { across(t, 9999), t.persistent(11), t.prepared.sums_across = false; }},
      {"persistent-short", false, [](Tried& t) { across(t, 529), t.persistent(4); }},
  };
}

/// Columns that two blocks of 256 threads share, 64 bytes in flight: no rule about sharing drops them.
void shared_columns(Tried& t) {
  t.columns(8, 32, 66);
  t.split(2);
  t.plan.in_flight = 4;
}
/// Rows of 16 KiB that two blocks of 256 threads share, one row each.
void shared_rows(Tried& t) {
  t.threads(256, 256);
  t.blocks(132);
  t.split(2);
  t.prepared.columns = 4096;
  t.plan.in_flight = 2;
}

std::vector<Side> split_sides() {
  const auto columns = [](auto change) { return [=](Tried& t) { shared_columns(t), change(t); }; };
  const auto rows = [](auto change) { return [=](Tried& t) { shared_rows(t), change(t); }; };
  return {
      {"split-columns", false, columns([](Tried&) {})},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 265; })},  // 530 blocks
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 264; })},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 133, t.plan.threads = 512; })},  // 266 blocks
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 132, t.plan.threads = 512; })},
      // Columns that are gone through again: 3 blocks share them 44 times, or as powers of two say.
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 3, t.split(44), t.prepared.walks = 2; })},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 3, t.split(43), t.prepared.walks = 2; })},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 3, t.split(45), t.prepared.walks = 2; })},
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 3, t.split(43), t.prepared.walks = 1; })},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 2, t.split(66), t.prepared.walks = 2; })},
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 3, t.split(64), t.prepared.walks = 2; })},
      // 66 of 132 SMs: only where all columns are 1,056 bytes, by blocks with 4 to 32 KiB.
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 33; })},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 33, t.prepared.rows = 265; })},
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 33, t.prepared.columns = 2048; })},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 33, t.prepared.columns = 2049; })},
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 33, t.prepared.columns = 256; })},
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 33, t.prepared.columns = 255; })},
      {"split-columns", false,
       columns([](Tried& t) { t.tiling.items = 33, t.prepared.columns = 512, t.plan.threads = 128; })},
      {"split-columns", true,
       columns([](Tried& t) { t.tiling.items = 33, t.prepared.columns = 512, t.plan.threads = 127; })},
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 34; })},
      {"split-columns", true, columns([](Tried& t) { t.plan.in_flight = 3; })},
      {"split-columns", true, columns([](Tried& t) { t.plan.threads = 255; })},
      {"split-columns", false, columns([](Tried& t) { t.tiling.items = 67, t.plan.threads = 128; })},  // 134 blocks
      {"split-columns", true, columns([](Tried& t) { t.tiling.items = 67, t.plan.threads = 127; })},
      {"split-columns", false, columns([](Tried& t) { t.plan.vector = 2, t.plan.in_flight = 8; })},
      {"split-columns", true, columns([](Tried& t) { t.plan.vector = 1, t.plan.in_flight = 8; })},
      {"split-columns", false,
       columns([](Tried& t) { t.prepared.widest_vector = t.plan.vector = 1, t.plan.in_flight = 8; })},
      {"split-columns", true,
       columns([](Tried& t) { t.prepared.widest_vector = t.plan.vector = 1, t.plan.in_flight = 7; })},
      {"split-columns", false, columns([](Tried& t) { t.split(1), t.plan.in_flight = 1; })},
      {"split-rows", false, rows([](Tried&) {})},
      {"split-rows", true, rows([](Tried& t) { t.plan.threads = 512; })},
      {"split-rows", true, rows([](Tried& t) { t.threads(96, 96); })},  // 8 KiB: 128 threads
      {"split-rows", false, rows([](Tried& t) { t.threads(128, 128); })},
      {"split-rows", true, rows([](Tried& t) { t.threads(224, 224), t.prepared.columns = 1 << 16; })},
      {"split-rows", true, rows([](Tried& t) { t.plan.in_flight = 1; })},  // 16 bytes
      {"split-rows", false, rows([](Tried& t) { t.plan.in_flight = 1, t.tiling.trips = 1; })},
      {"split-rows", true, rows([](Tried& t) { t.plan.in_flight = 1, t.inputs(7, "f32"); })},
      {"split-rows", false, rows([](Tried& t) { t.plan.in_flight = 1, t.inputs(8, "f32"); })},  // 128 bytes of all
      {"split-rows", true, rows([](Tried& t) { t.prepared.columns = 2047; })},
      {"split-rows", false, rows([](Tried& t) { t.prepared.columns = 2048; })},  // 4 KiB a block
      {"split-rows", true, rows([](Tried& t) { t.tiling.items = 21, t.prepared.columns = 16386; })},
      {"split-rows", false, rows([](Tried& t) { t.tiling.items = 21, t.prepared.columns = 16384; })},
      {"split-rows", false, rows([](Tried& t) { t.tiling.items = 22, t.prepared.columns = 16386; })},
      {"split-rows", true, rows([](Tried& t) { t.tiling.items = 265; })},
      {"split-rows", false, rows([](Tried& t) { t.tiling.items = 264; })},  // 528 blocks, four times the SMs
  };
}

std::vector<Side> turned_sides() {
  return {
      {"tile-fits", false, [](Tried& t) { t.tile(64, 64); }},
      {"tile-fits", false, [](Tried& t) { t.tile(199, 199); }},
      {"tile-fits", true, [](Tried& t) { t.tile(200, 64); }},
      {"tile-fits", true, [](Tried& t) { t.tile(64, 200); }},
      {"tile-fits", false, [](Tried& t) { t.tile(64, 4), t.plan.vector = 4; }},
      {"tile-fits", true, [](Tried& t) { t.tile(64, 2), t.plan.vector = 4; }},
      {"tile-fits", true, [](Tried& t) { t.tile(2, 64), t.prepared.turn->written.size = 1; }},
      {"tile-fits", false, [](Tried& t) { t.tile(1, 64), t.prepared.turn->written.size = 0; }},
      {"tile-fits", false, [](Tried&) {}},  // no group of tiles
      {"tile-edges", false, [](Tried& t) { t.tile(16, 64); }},
      {"tile-edges", true, [](Tried& t) { t.tile(15, 64); }},
      {"tile-edges", true, [](Tried& t) { t.tile(16, 65); }},
      {"tile-edges", true, [](Tried& t) { t.tile(65, 16); }},
      {"tile-edges", true, [](Tried& t) { t.tile(64, 15); }},
      {"tile-edges", false,
       [](Tried& t) { t.tile(12, 12), t.prepared.turn->written.size = t.prepared.turn->read.size = 12; }},
      {"tile-edges", true,
       [](Tried& t) { t.tile(12, 12), t.prepared.turn->written.size = t.prepared.turn->read.size = 13; }},
      {"tile-edges", false, [](Tried&) {}},
      // Of single bytes, taken one by one.
      {"tile-edges", false, [](Tried& t) { t.tile(32, 64), t.prepared.widest_vector = 16, t.plan.vector = 1; }},
      {"tile-edges", true, [](Tried& t) { t.tile(31, 64), t.prepared.widest_vector = 16, t.plan.vector = 1; }},
      {"tile-edges", true, [](Tried& t) { t.tile(32, 64), t.prepared.widest_vector = 16, t.plan.vector = 2; }},
      // Runs of 102 and 100 elements: vectors of 2 divide both.
      {"narrow-vector", false, [](Tried& t) { t.turned(102), t.plan.vector = 1; }},
      {"narrow-vector", true, [](Tried& t) { t.turned(100), t.plan.vector = 1; }},
      {"narrow-vector", false, [](Tried& t) { t.turned(100), t.plan.vector = 2; }},
      {"narrow-vector", false, [](Tried& t) { t.turned(101), t.plan.vector = 1; }},
      {"narrow-vector", false, [](Tried& t) { t.turned(100), t.prepared.turn->read.size = 101, t.plan.vector = 1; }},
      {"unturned-loop", true, [](Tried& t) { t.beside_tiles(), t.persistent(2); }},
      {"unturned-loop", false, [](Tried& t) { t.beside_tiles(); }},
      {"unturned-loop", false, [](Tried& t) { t.persistent(2); }},
  };
}

}  // namespace

TEST_CASE("every rule drops on one side of each of its boundaries and not on the other") {
  std::set<std::string_view> dropping, silent;
  for (const auto& sides : {sound_sides(), row_sides(), sum_sides(), column_sides(), split_sides(), turned_sides()})
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const Side& side = sides[i];
      const auto rule =
          std::find_if(rules().begin(), rules().end(), [&](const Rule& r) { return r.name == side.rule; });
      CAPTURE(side.rule);
      CAPTURE(i);
      REQUIRE(rule != rules().end());
      Tried tried;
      side.change(tried);
      CHECK(tried.dropped_by(*rule) == side.drops);
      (side.drops ? dropping : silent).insert(side.rule);
    }
  for (const Rule& rule : rules()) {
    CAPTURE(rule.name);
    CHECK(dropping.contains(rule.name));
    CHECK(silent.contains(rule.name));
  }
}

TEST_CASE("rules about vectors are asked of flat loops as of rows") {
  for (const std::string_view name : {"narrow-vector", "wide-vector", "long-code"}) {
    const auto rule = std::find_if(rules().begin(), rules().end(), [&](const Rule& one) { return one.name == name; });
    REQUIRE(rule != rules().end());
    CHECK(rule->is_asked_of(ir::Skeleton::row) == (name != "long-code"));  // it speaks of unroll
    CHECK(rule->is_asked_of(ir::Skeleton::map));
  }
}

TEST_CASE("a rule is asked where a skeleton has all fields it reads, and says nothing of a plan by others") {
  const ir::Limits limits = Tried().limits;
  for (const char* member : {"bias_gelu_f16", "column_sum", "softmax"}) {
    CAPTURE(member);
    const ir::Group group = ir::make_group(ir::family_member(member), 4096, 1024);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    ir::Plan plan;
    plan.skeleton = prepared.skeleton;
    plan.dominant = prepared.dominants.front();
    plan.threads = 256;
    const ir::SkeletonRow& skeleton = row(plan.skeleton);
    const Rule* const as_it_is = dropped_by(prepared, plan, limits);
    // Values that would mean something elsewhere.
    ir::Plan odd = plan;
    if (!skeleton.has(ir::PlanField::threads_per_row)) odd.threads_per_row = 1;
    if (!skeleton.has(ir::PlanField::in_flight)) odd.in_flight = 100;
    if (!skeleton.has(ir::PlanField::split)) odd.split = 7;
    if (!skeleton.has(ir::PlanField::unroll)) odd.unroll = 1000000;
    if (!skeleton.has(ir::PlanField::homes)) odd.homes = {{0, ir::StitchLevel::block}};
    CHECK(dropped_by(prepared, odd, limits) == as_it_is);
    for (const Rule& rule : rules())
      if ((rule.fields() & ~skeleton.fields) != 0) {
        CAPTURE(rule.name);
        CHECK_FALSE(drops(rule, prepared, odd, limits));
      }
  }
}

TEST_CASE("the first rule of those in force that drops a plan is the one that is named") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 4096, 1024);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  const ir::Limits limits = Tried().limits;
  ir::Plan plan;
  plan.skeleton = ir::Skeleton::row;
  plan.dominant = prepared.dominants.front();
  plan.threads = 1024;
  plan.threads_per_row = 1;
  plan.vector = 1;
  std::size_t named = 0;
  for (std::size_t in_force = 0; in_force <= rules().size(); ++in_force) {
    const Rule* expected = nullptr;
    for (std::size_t i = 0; i < in_force && expected == nullptr; ++i)
      if (drops(rules()[i], prepared, plan, limits)) expected = &rules()[i];
    CHECK(dropped_by(prepared, plan, limits, in_force) == expected);
    named += expected != nullptr ? 1 : 0;
  }
  CHECK(named > 0);
  for (std::size_t i = 0; i < rules().size(); ++i) CHECK(rules()[i].sound == (i < sound_rules()));
}

TEST_CASE("every name that a refusal has is in the list of rules, and none is there twice") {
  std::set<std::string_view> listed;
  for (const Rule& rule : rules()) CHECK(listed.insert(rule.name).second);
  for (const ir::RefusalRow& row : ir::refusals()) CHECK(listed.insert(row.name).second);
  const auto is_listed = [&](const std::string& rule) { return listed.contains(rule) || ir::is_refusal(rule); };
  CHECK_FALSE(is_listed("dominants"));
  CHECK(ir::is_refusal("skeleton-row-slice"));
  CHECK_FALSE(ir::is_refusal("skeleton-"));
  // Plans whose fields have any values, of groups of every kind and of more than one loop.
  std::mt19937_64 random(7);
  const auto one_of = [&](std::initializer_list<int> values) { return *(values.begin() + random() % values.size()); };
  const ir::Limits limits = Tried().limits;
  std::set<std::string> refused;
  for (const char* member : {"softmax", "bias_gelu_f16", "column_sum"}) {
    const ir::Group group = ir::make_group(ir::family_member(member), 60, 96);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    codegen::LowerScratch scratch;
    for (int i = 0; i < 300; ++i) {
      ir::Plan plan;
      plan.skeleton = random() % 20 == 0 ? ir::Skeleton::row : prepared.skeleton;
      for (const ir::PlanFieldRow& field : ir::plan_fields())
        if (row(plan.skeleton).has(field.field) && field.words.empty() && random() % 3 == 0)
          set_value(plan, field.field, one_of({0, 1, 2, 3, 8, 64, 96, 2048}));
      if (random() % 3 > 0) plan.threads = 128;
      if (random() % 8 > 0) plan.dominant = prepared.dominants.front();
      if (random() % 3 == 0) plan.grid = ir::GridShape::persistent;
      const codegen::Lowered lowered = codegen::lower(prepared, plan, limits, scratch);
      if (const auto* why = std::get_if<ir::Rejection>(&lowered)) refused.insert(why->rule);
    }
  }
  for (const std::string& rule : refused) CHECK_MESSAGE(is_listed(rule), rule);
  for (const char* rule : {"dominant", "cluster", "threads", "vector", "split", "persistent", "skeleton"})
    CHECK_MESSAGE(refused.contains(rule), rule);
}

TEST_CASE("a map that stores a part has the vectors that fit what it stores, as one that stores all has") {
  // Bytes are read, four times as many bytes are stored: of what is stored four elements are 16 bytes.
  const auto vectors = [](std::string_view text) {
    const ir::Group group = ir::make_group({"g", std::string(text)}, 1, 1);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    const ir::Limits limits = Tried().limits;
    std::vector<Rule> in_force;
    for (const Rule& rule : rules()) in_force.push_back(rule);
    Plans plans(prepared, default_axes(prepared, limits), limits, in_force);
    std::set<int> found;
    while (const auto plan = plans.next()) found.insert(plan->vector);
    return found;
  };
  const std::set<int> whole = vectors(
      "graph g {\n  %b = parameter 0 : u8[64]\n  %s = broadcast %b, axes={1} : u8[4096,64]\n"
      "  %f = convert %s : f32[4096,64]\n  %y = exp %f : f32[4096,64]\n  output %y\n}\n");
  const std::set<int> part = vectors(
      "graph g {\n  %b = parameter 0 : u8[64]\n  %s = broadcast %b, axes={1} : u8[4097,64]\n"
      "  %f = convert %s : f32[4097,64]\n  %e = exp %f : f32[4097,64]\n"
      "  %y = slice %e, ranges={1:4097:1, 0:64:1} : f32[4096,64]\n  output %y\n}\n");
  CHECK(whole.contains(4));
  CHECK(part.contains(4));
}

}  // namespace tailor::explore
