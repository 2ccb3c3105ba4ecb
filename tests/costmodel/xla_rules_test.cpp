// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of XLA's emitters and of its performance model, each on both sides of its boundary, and its prices on paper.
// In: small graphs and a GPU with round numbers. Out: checks of shapes, emitters, launches and times to the quarter of
// a nanosecond, which were worked out by hand from docs/xla.md. Part of the suite `costmodel`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "costmodel/model.h"
#include "costmodel/xla/price.h"
#include "ir/graph/graph.h"

namespace tailor::costmodel::xla {

namespace {

/// 10 SMs of four units at 1 GHz, memory of 1 TB/s, half of the shorter part hidden; an operation takes 3 clocks.
Target round_target() {
  Target t;
  t.sms = 10;
  t.fpus_per_sm = 4;
  t.threads_per_sm = 2048;
  t.threads_per_warp = 32;
  t.shared_per_block = 49152;
  t.blocks_x = 1000;
  t.l2_bytes = 1000000;
  t.l1_bytes_per_sm = 100;
  t.dram_transaction = 64;
  t.clock = 1;
  t.bandwidth = 1e12;
  t.block_bandwidth = 1e6;
  t.l1_speedup = 8;
  t.l2_speedup = 2;
  t.overlap = 0.5;
  t.default_cycles = 3;
  return t;
}

ir::Graph graph_from(std::string_view lines) { return ir::parse_graph(fmt::format("graph k {{\n{}}}\n", lines)); }

ir::Graph negated(std::int64_t elements) {
  return graph_from(fmt::format("  %a = parameter 0 : f32[{0}]\n  %b = negate %a : f32[{0}]\n  output %b\n", elements));
}

Priced priced_lines(std::string_view lines, const Target& target) {
  const ir::Graph graph = graph_from(lines);
  Priced one = priced(kernel_of(graph), target);
  one.kernel = {};  // its graph ends here
  return one;
}

ir::Shape row_major(std::initializer_list<std::int64_t> sizes) {
  ir::Dims dims;
  for (const std::int64_t size : sizes) dims.push_back(size);
  return ir::make_shape(ir::DType::f32, dims);
}

bool tiled(std::int64_t rows, std::int64_t columns, int axis, Year year) {
  const ir::Graph graph =
      graph_from(fmt::format("  %a = parameter 0 : f32[{0},{1}]\n  %z = constant 0 : f32[]\n  %b = reduce add %a, %z, "
                             "axes={{{2}}} : f32[{3}]\n"
                             "  output %b\n",
                             rows, columns, axis, axis == 0 ? columns : rows));
  return is_tiled_reduction(graph.nodes.back(), graph.nodes.front().shape, year);
}

/// Of `parts` arrays of `each` elements, one behind the other, negated.
std::string joined_parts(int parts, std::int64_t each) {
  std::string lines, names;
  for (int i = 0; i < parts; ++i) {
    lines += fmt::format("  %p{0} = parameter {0} : f32[{1}]\n", i, each);
    names += fmt::format("{}%p{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format("{0}  %c = concatenate {1}, axes={{0}} : f32[{2}]\n  %n = negate %c : f32[{2}]\n  output %n\n",
                     lines, names, parts * each);
}

}  // namespace

TEST_CASE("a kernel's price is compute and memory less the share of the shorter that hides") {
  const ir::Graph graph = negated(4000);
  const Target target = round_target();
  const Priced one = priced(kernel_of(graph), target);
  CHECK(one.launch == Launch{{32, 1, 1}, 128});
  CHECK(one.work.flops == 12000);
  CHECK(one.compute == 600);  // 12,000 clocks on 40 units that do two in a nanosecond, in quarters
  CHECK(one.read == 64);      // 16 KB at 1 TB/s
  CHECK(one.write == 64);
  CHECK(one.time == 600 + 128 - 64);
  Target slow = target;
  slow.bandwidth = 1e11;
  CHECK(priced(kernel_of(graph), slow).time == 600 + 1280 - 300);
  Target narrow = target;
  narrow.block_bandwidth = 16;  // 32 blocks ask for 512 GB/s
  CHECK(priced(kernel_of(graph), narrow).read == 125);
  // Fewer blocks than SMs, and fewer threads than units.
  const ir::Graph few = negated(384), one_warp = negated(2);
  CHECK(priced(kernel_of(few), target).compute == 192);     // 1,152 clocks, 3 blocks of 4 units
  CHECK(priced(kernel_of(one_warp), target).compute == 6);  // 6 clocks, 2 units
}

TEST_CASE("what is read again comes from L1 or L2 where the array fits there, to the byte") {
  const ir::Graph graph =
      graph_from("  %a = parameter 0 : f32[1000]\n  %b = broadcast %a, axes={1} : f32[16,1000]\n  output %b\n");
  struct Row {
    std::int64_t l2_bytes, l1_bytes_per_sm;
    Quarters read;
  };
  // 4 KB once at 1 TB/s, 60 KB again.
  for (const Row& row : {Row{4000, 1, 16 + 240},
                         {4001, 1, 16 + 120},
                         {4001, 400, 16 + 120},
                         {4001, 401, 16 + 15},
                         {4000, 401, 16 + 240}}) {
    CAPTURE(row.l2_bytes);
    CAPTURE(row.l1_bytes_per_sm);
    Target target = round_target();
    target.l2_bytes = row.l2_bytes;
    target.l1_bytes_per_sm = row.l1_bytes_per_sm;
    CHECK(priced(kernel_of(graph), target).read == row.read);
  }
}

TEST_CASE("an operand that both parts read at the same places is read once by both together") {
  const ir::Graph graph = graph_from(
      "  %x = parameter 0 : f32[4000]\n  %p = negate %x : f32[4000]\n  %c = add %p, %x : f32[4000]\n  output %c\n");
  const Target target = round_target();
  const Priced producer = priced(bare_kernel(graph, 1), target), consumer = priced(bare_kernel(graph, 2), target);
  const Kernel both = merged(producer.kernel, consumer.kernel);
  CHECK(time_together(producer, consumer, both, analyse(both), target) == 1200 + 128 - 64);
  const Kernel kept = merged(producer.kernel, consumer.kernel, true);
  CHECK(time_together(producer, consumer, kept, analyse(kept), target, true) == 1200 + 192 - 96);
  // A producer that reads it turned round reads it for itself: 16 KB from memory, 16 KB again from L2.
  const ir::Graph turned = graph_from(
      "  %x = parameter 0 : f32[4000]\n  %p = reverse %x, axes={0} : f32[4000]\n  %c = add %p, %x : f32[4000]\n"
      "  output %c\n");
  const Priced first = priced(bare_kernel(turned, 1), target), second = priced(bare_kernel(turned, 2), target);
  const Kernel together = merged(first.kernel, second.kernel);
  CHECK(time_together(first, second, together, analyse(together), target) == 600 + (64 + 32 + 64) - 80);
}

TEST_CASE("a producer whose reader needs it several times is computed and read as often") {
  const ir::Graph graph = graph_from(
      "  %x = parameter 0 : f32[1000]\n  %p = negate %x : f32[1000]\n  %c = broadcast %p, axes={1} : f32[16,1000]\n"
      "  output %c\n");
  const Target target = round_target();
  const Priced producer = priced(bare_kernel(graph, 1), target), consumer = priced(bare_kernel(graph, 2), target);
  const Kernel both = merged(producer.kernel, consumer.kernel);
  // 16 * 3,000 clocks on 40 units: 600 ns; read 4 KB and 60 KB again from L2, written 64 KB.
  CHECK(time_together(producer, consumer, both, analyse(both), target) == 2400 + (16 + 120 + 256) - 196);
}

TEST_CASE("operations are charged as often as they are applied") {
  const Target target = round_target();
  const auto flops = [&](std::string_view lines) { return priced_lines(lines, target).work.flops; };
  CHECK(flops("  %a = parameter 0 : f32[64,512]\n  %z = constant 0 : f32[]\n"
              "  %b = reduce add %a, %z, axes={1} : f32[64]\n  output %b\n") == 3 * (64 * 512 - 64));
  CHECK(flops("  %a = parameter 0 : f32[64]\n  %b = parameter 1 : f32[64]\n"
              "  %c = concatenate %a, %b, axes={0} : f32[128]\n  output %c\n") == 6 * 128);
  CHECK(flops("  %a = parameter 0 : f32[4,32]\n  %b = parameter 1 : f32[4,32]\n"
              "  %c = concatenate %a, %b, axes={1} : f32[4,64]\n  output %c\n") == 6 * 256);
  CHECK(flops("  %a = parameter 0 : f32[4,33]\n  %b = parameter 1 : f32[4,31]\n"
              "  %c = concatenate %a, %b, axes={1} : f32[4,64]\n  output %c\n") == 400 * 256);
  CHECK(flops("  %a = parameter 0 : f32[64]\n  %b = transpose %a, axes={0} : f32[64]\n  output %b\n") == 0);
}

TEST_CASE("an update in place writes its part, reads its part and nothing of the array, whatever else reads it whole") {
  const Target target = round_target();
  const auto work = [&](std::string_view last) {
    return priced_lines(fmt::format("  %x = parameter 0 : f32[64,128]\n  %new = parameter 1 : f32[1,128]\n"
                                    "  %i = parameter 2 : s32[]\n  %n = negate %new : f32[1,128]\n"
                                    "  %d = dynamic_update_slice %x, %n, %i, %i : f32[64,128]\n{}",
                                    last),
                        target)
        .work;
  };
  const Work ends = work("  output %d\n");
  CHECK(ends.written == 512);
  CHECK(ends.read[0] == 0);
  CHECK(ends.read[1] == 512);
  const Work goes_on = work("  %e = negate %d : f32[64,128]\n  output %e\n");
  CHECK(goes_on.written == 64 * 512);
  CHECK(goes_on.read[0] == 63 * 512);
}

TEST_CASE("a concatenation of up to four arrays has an emitter of its own") {
  for (int parts = 2; parts <= 6; ++parts) {
    const ir::Graph graph = graph_from(joined_parts(parts, 64));
    CHECK(analyse(kernel_of(graph)).emitter == (parts <= 4 ? Emitter::concatenate : Emitter::loop));
  }
}

TEST_CASE("a transposition is followed through elementwise operations where it is the only one") {
  const std::string two =
      "  %a = parameter 0 : f32[64,512]\n  %b = parameter 1 : f32[64,512]\n"
      "  %t = transpose %a, axes={1,0} : f32[512,64]\n  %u = transpose %b, axes={1,0} : f32[512,64]\n";
  const auto emitter_of = [&](std::string_view last) {
    const ir::Graph graph = graph_from(two + std::string(last));
    return analyse(kernel_of(graph)).emitter;
  };
  CHECK(emitter_of("  %n = add %t, %t : f32[512,64]\n  output %n\n") == Emitter::transpose);
  CHECK(emitter_of("  %n = add %t, %u : f32[512,64]\n  output %n\n") == Emitter::loop);
  CHECK(emitter_of("  %n = negate %t : f32[512,64]\n  %m = negate %u : f32[512,64]\n  output %n, %m\n") ==
        Emitter::transpose);  // one for each result
  CHECK(emitter_of("  %n = slice %t, ranges={0:256:1, 0:64:1} : f32[256,64]\n  output %n\n") == Emitter::loop);
}

TEST_CASE("loops are unrolled by four where the GPU is full, but not around long concatenations") {
  const Target target = round_target();  // 20,480 threads fill it
  const auto launch = [&](std::string_view lines) { return priced_lines(lines, target).launch; };
  const auto plain = [&](std::int64_t elements) {
    return launch(fmt::format("  %a = parameter 0 : f32[{0}]\n  %b = negate %a : f32[{0}]\n  output %b\n", elements));
  };
  CHECK(plain(20476) == Launch{{160, 1, 1}, 128});
  CHECK(plain(20480) == Launch{{40, 1, 1}, 128});
  CHECK(plain(20482) == Launch{{81, 1, 1}, 128});  // two divides it and four does not
  CHECK(plain(20481) == Launch{{161, 1, 1}, 128});
  CHECK(plain(4 * 128 * 1001) == Launch{{501, 2, 1}, 128});  // no more than 1,000 blocks side by side
  CHECK(launch(joined_parts(10, 4096)) == Launch{{80, 1, 1}, 128});
  CHECK(launch(joined_parts(11, 4096)) == Launch{{352, 1, 1}, 128});
}

TEST_CASE("columns are tiled from 32 rows on, where there are as many columns as the rows ask for") {
  struct Row {
    std::int64_t rows, columns;
    bool today;
  };
  for (const Row& row : {Row{31, 4096, false},
                         {32, 31, false},
                         {32, 32, true},
                         {63, 31, false},
                         {64, 31, true},
                         {64, 8, true},
                         {64, 7, false},
                         {127, 7, false},
                         {128, 7, true},
                         {128, 3, true},
                         {128, 2, false},
                         {255, 2, false},
                         {256, 2, true}}) {
    CAPTURE(row.rows);
    CAPTURE(row.columns);
    CHECK(tiled(row.rows, row.columns, 0, Year::today) == row.today);
    CHECK(tiled(row.rows, row.columns, 0, Year::y2022) == row.today);
    CHECK(tiled(row.rows, row.columns, 0, Year::y2020) == (row.rows >= 32));
  }
}

TEST_CASE("rows are tiled from 32 columns on, and today where their length divides a warp") {
  for (const std::int64_t columns : {2, 3, 4, 8, 12, 16, 31, 32, 33, 64}) {
    CAPTURE(columns);
    CHECK(tiled(64, columns, 1, Year::today) == (columns >= 32 || 32 % columns == 0));
    CHECK(tiled(64, columns, 1, Year::y2022) == (columns >= 32));
    CHECK(tiled(64, columns, 1, Year::y2020) == (columns >= 32));
  }
}

TEST_CASE("one pass is enough for rows of 16,384 in batches of 8, and for columns of 4,096") {
  CHECK(is_race_free({true, {8, 1000, 16384}}));
  CHECK_FALSE(is_race_free({true, {9, 1000, 16384}}));
  CHECK_FALSE(is_race_free({true, {8, 1000, 16385}}));
  CHECK(is_race_free({false, {9, 4096, 100000}}));
  CHECK_FALSE(is_race_free({false, {1, 4097, 1}}));
}

TEST_CASE("a reduction is seen as a row or a column by what lies innermost") {
  struct Row {
    ir::Dims axes;
    Reduced seen;
  };
  const ir::Shape shape = row_major({3, 5, 7, 11});
  for (const Row& row : {Row{{3}, {true, {1, 105, 11}}},
                         {{2, 3}, {true, {1, 15, 77}}},
                         {{0}, {false, {1, 3, 385}}},
                         {{0, 1}, {false, {1, 15, 77}}},
                         {{1}, {false, {3, 5, 77}}},
                         {{2}, {false, {15, 7, 11}}},
                         {{0, 3}, {true, {3, 35, 11}}},
                         {{0, 1, 2, 3}, {true, {1, 1, 1155}}}}) {
    CAPTURE(row.axes.size());
    CHECK(reduced(shape, row.axes) == row.seen);
  }
}

TEST_CASE(
    "a transposition is tiled from 16 by 16 on, or 8 by as many as make 8,192, or with a minor dimension that stays") {
  const auto is_tiled = [](std::string_view from, std::string_view axes, std::string_view to) {
    const ir::Graph graph = graph_from(
        fmt::format("  %a = parameter 0 : {}\n  %t = transpose %a, axes={{{}}} : {}\n  output %t\n", from, axes, to));
    return tiled_transpose(graph.nodes[1], graph.nodes[0].shape).has_value();
  };
  struct Row {
    int rows, columns;
    bool tiled;
  };
  for (const Row& row : {Row{16, 16, true},
                         {15, 16, false},
                         {16, 15, false},
                         {15, 1000, true},
                         {8, 1024, true},
                         {8, 1023, false},
                         {1024, 8, true},
                         {7, 4096, false}}) {
    CAPTURE(row.rows);
    CAPTURE(row.columns);
    CHECK(is_tiled(fmt::format("f32[{},{}]", row.rows, row.columns), "1,0",
                   fmt::format("f32[{},{}]", row.columns, row.rows)) == row.tiled);
  }
  CHECK(is_tiled("f32[64,1,64]", "2,1,0", "f32[64,1,64]"));    // a dimension of one is none
  CHECK(is_tiled("f32[4,4,4,4]", "2,3,0,1", "f32[4,4,4,4]"));  // neighbours that stay neighbours are one
  CHECK_FALSE(is_tiled("f32[64,64]", "0,1", "f32[64,64]"));
  CHECK(is_tiled("f32[64,64,2]", "1,0,2", "f32[64,64,2]"));  // 64 bits stay together
  CHECK_FALSE(is_tiled("f32[64,64,3]", "1,0,2", "f32[64,64,3]"));
}

TEST_CASE("reshapes and transpositions that leave every element in its place are told from those that do not") {
  const ir::Shape flat = row_major({24}), cube = row_major({2, 3, 4}), other = row_major({6, 4});
  ir::Shape turned = other;
  turned.minor_to_major = {0, 1};
  CHECK(reshape_keeps_place(flat, cube));
  CHECK(reshape_keeps_place(cube, other));
  CHECK_FALSE(reshape_keeps_place(cube, turned));
  CHECK_FALSE(reshape_keeps_place(flat, turned));
  CHECK_FALSE(reshape_keeps_place(flat, row_major({23})));
  CHECK(same_place(other, row_major({6, 4})));
  CHECK_FALSE(same_array(other, turned));
  ir::Shape across = row_major({4, 6});
  CHECK(transpose_keeps_place(turned, across, {1, 0}));
  CHECK_FALSE(transpose_keeps_place(other, across, {1, 0}));
  CHECK(same_place(turned, across));
  CHECK(is_scalar_like(row_major({1, 1})));
  CHECK_FALSE(is_scalar_like(row_major({1, 2})));
}

TEST_CASE("two instructions that say the same are one, unless they draw random numbers") {
  ir::Graph graph = graph_from(
      "  %a = parameter 0 : f32[64]\n  %b = exp %a : f32[64]\n  %c = exp %a : f32[64]\n  %d = log %a : f32[64]\n"
      "  %e = add %b, %c : f32[64]\n  %f = add %e, %d : f32[64]\n  output %f\n");
  const auto left = [&] {
    Kernel kernel = kernel_of(graph);
    merge_equal(kernel);
    return kernel.items.size();
  };
  CHECK(left() == 5);
  graph.nodes[1].op = graph.nodes[2].op = ir::Op::rng;
  CHECK(left() == 6);
}

}  // namespace tailor::costmodel::xla
