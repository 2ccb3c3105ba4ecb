// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places that data decides for each element: gathers with random dimension numbers compute what the evaluator computes,
// indices of every type are clamped as it clamps them, rows are read in wide accesses, what says where is loaded before
// what is there, and what a kernel cannot hold is refused with a reason. Plans of whole groups are the business of
// lower_oracle_test.cpp (the members gather_* of the family). Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "codegen/lower/lower.h"
#include "codegen/lower/random_gather.h"
#include "codegen/lower/shrink.h"
#include "costmodel/count.h"
#include "explore/every_plan.h"
#include "reference/evaluate.h"
#include "support/cells.h"
#include "support/interpret.h"
#include "support/text_group.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits h100_limits{90, 2, 32, 1024, 2048, 32, 65536, 65536, 255, 256, 4, 8, 233472, 49152, 232448, 1024, 128};

codegen::Lowered lowered(const Group& group, int dominant, int vector, int unroll) {
  return codegen::lower(group,
                        parse_plan(fmt::format("map dominant=%{} threads=64 vector={} unroll={} grid=tile "
                                               "index_cache=on value_cache=on",
                                               dominant, vector, unroll)),
                        h100_limits);
}

Kernel kernel_of(const Group& group, int dominant, int vector = 1, int unroll = 1) {
  codegen::Lowered made = lowered(group, dominant, vector, unroll);
  if (const auto* no = std::get_if<Rejection>(&made)) FAIL(no->rule << ": " << no->reason);
  verify(std::get<Kernel>(made));
  return std::get<Kernel>(std::move(made));
}

Group rows_of(std::string_view dtype, std::string_view table, std::int64_t places, std::int64_t width) {
  return group_of_lines(
      fmt::format("  %x = parameter 0 : f32[{0},{3}]\n  %i = parameter 1 : {1}[{2}]\n"
                  "  %y = gather %x, %i, text=\"offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
                  "index_vector_dim=1, slice_sizes={{1,{3}}}\" : f32[{2},{3}]\n  output %y\n",
                  table, dtype, places, width));
}

int widest_of(const Kernel& kernel) {
  int widest = 0;
  for (const Stmt& s : kernel.body)
    if (s.kind == StmtKind::load) widest = std::max(widest, static_cast<int>(s.width));
  return widest;
}

}  // namespace

TEST_CASE("gathers with random dimension numbers read what the evaluator reads, wherever indices point") {
  std::mt19937 random(20261123);
  int looked_at = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const testing::GatherText numbers = testing::random_gather(random);
    if (std::find(numbers.indices.begin(), numbers.indices.end(), 0) != numbers.indices.end()) continue;
    const Group group = group_of_lines(fmt::format(
        "  %x = parameter 0 : s32[{}]\n  %i = parameter 1 : s32[{}]\n"
        "  %y = gather %x, %i, text=\"{}\" : s32[{}]\n  output %y\n",
        testing::list(numbers.array), testing::list(numbers.indices), numbers.text, testing::list(numbers.result)));
    CAPTURE(text(group.graph));
    std::vector<reference::Tensor> inputs{reference::random_tensor(group.graph.nodes[0].shape, 1),
                                          reference::zeros(group.graph.nodes[1].shape)};
    for (std::int64_t i = 0; i < elements(inputs[1].shape); ++i)
      write_cell(DType::s32, inputs[1].bytes.data() + 4 * i,
                 integer_cell(static_cast<std::int64_t>(random() % 13) - 4));
    const std::vector<reference::Tensor> expected = reference::evaluate(group.graph, inputs);
    for (const int vector : {1, 2}) {
      codegen::Lowered made = lowered(group, 2, vector, 1);
      if (vector == 2 && elements(expected[0].shape) < 2) continue;
      REQUIRE(std::holds_alternative<Kernel>(made));
      verify(std::get<Kernel>(made));
      const KernelRun run = interpret(
          std::get<Kernel>(made), {inputs[0].bytes, inputs[1].bytes, std::vector<std::byte>(expected[0].bytes.size())});
      REQUIRE(run.violations.empty());
      REQUIRE(run.buffers[2] == expected[0].bytes);
    }
    ++looked_at;
  }
  CHECK(looked_at > 200);
}

TEST_CASE("what a gather reads at known places is read as a slice reads it, and counted so") {
  // Frames of 16 every 8 elements of a signal of 128; the last two of `far` would begin behind the last that fits.
  const auto frames = [](int step) {
    return group_of_lines(fmt::format(
        "  %x = parameter 0 : f32[3,128]\n  %f = iota, axes={{0}} : s32[15,16]\n  %k = iota, axes={{1}} : s32[15,16]\n"
        "  %h = constant {} : s32[]\n  %hs = broadcast %h, axes={{}} : s32[15,16]\n"
        "  %m = multiply %f, %hs : s32[15,16]\n  %i = add %m, %k : s32[15,16]\n"
        "  %y = gather %x, %i, text=\"offset_dims={{0}}, collapsed_slice_dims={{1}}, start_index_map={{1}}, "
        "index_vector_dim=2, slice_sizes={{3,1}}\" : f32[3,15,16]\n  output %y\n",
        step));
  };
  for (const auto& [step, is_known] : {std::pair(8, true), std::pair(9, false)})
    for (const int vector : {1, 4}) {
      CAPTURE(step);
      CAPTURE(vector);
      const Group group = frames(step);
      const Kernel kernel = kernel_of(group, static_cast<int>(group.graph.outputs[0]), vector);
      const bool binds =
          std::any_of(kernel.body.begin(), kernel.body.end(), [](const Stmt& s) { return s.kind == StmtKind::bind; });
      CHECK(binds == !is_known);
      if (is_known) CHECK(widest_of(kernel) == vector);
      const reference::Tensor signal = reference::random_tensor(group.graph.nodes[0].shape, 1);
      const reference::Tensor expected = reference::evaluate(group.graph, std::vector{signal})[0];
      const KernelRun run = interpret(kernel, {signal.bytes, std::vector<std::byte>(expected.bytes.size())});
      REQUIRE(run.violations.empty());
      CHECK(run.buffers[1] == expected.bytes);
      if (!is_known) continue;
      // 720 numbers of four bytes; frames overlap, so lanes share sectors of eight.
      const std::int64_t sectors = costmodel::count(kernel, costmodel::Mode::exact).buffers[0].load.sectors;
      CHECK(sectors < 720 / 8);
      CHECK(sectors == costmodel::count(kernel, costmodel::Mode::fast).buffers[0].load.sectors);
    }
}

TEST_CASE("places of any type are clamped as the evaluator clamps them, whatever the type can hold") {
  constexpr std::array<std::int64_t, 11> places{
      0, 5, 127, 255, -1, -128, 996, 70000, 65535, std::int64_t{1} << 31, std::int64_t{1} << 62};
  for (const DType dtype :
       {DType::s8, DType::u8, DType::s16, DType::u16, DType::s32, DType::u32, DType::s64, DType::u64}) {
    const Group group = rows_of(name(dtype), "1000", std::ssize(places), 4);
    std::vector<reference::Tensor> inputs{reference::random_tensor(group.graph.nodes[0].shape, 1),
                                          reference::zeros(group.graph.nodes[1].shape)};
    const int size = row(dtype).bits / 8;
    for (std::size_t i = 0; i < places.size(); ++i)
      write_cell(dtype, inputs[1].bytes.data() + i * static_cast<std::size_t>(size),
                 fitted(dtype, integer_cell(places[i])));
    const std::vector<reference::Tensor> expected = reference::evaluate(group.graph, inputs);
    const KernelRun run = interpret(
        kernel_of(group, 2, 4), {inputs[0].bytes, inputs[1].bytes, std::vector<std::byte>(expected[0].bytes.size())});
    CAPTURE(name(dtype));
    CHECK(run.violations.empty());
    CHECK(run.buffers[2] == expected[0].bytes);
  }
}

TEST_CASE("rows at places from memory are read in wide accesses, their places before any of them") {
  const Kernel kernel = kernel_of(rows_of("s32", "100", 64, 128), 2, 4, 8);
  CHECK(widest_of(kernel) == 4);
  std::vector<BufferId> loads;
  for (const Stmt& s : kernel.body)
    if (s.kind == StmtKind::load) loads.push_back(s.memory);
  CHECK(loads == std::vector<BufferId>{1, 0});  // each in an unrolled loop of its own
  CHECK(widest_of(kernel_of(rows_of("s32", "100", 64, 3), 2, 4)) == 1);
}

TEST_CASE("counters take places for numbers far apart that differ while there are different ones left") {
  for (const std::int64_t extent : {1, 2, 3, 7, 64, 100, 50257}) {
    const std::int64_t count = codegen::picked_count(extent), step = codegen::picked_step(count, 1000);
    CHECK(std::gcd(step, count) == 1);
    CHECK((extent < 4 || (step > count / 2 && step < count)));
    CHECK((count <= extent && 32 * (extent - count) < extent));
  }
  for (const std::int64_t extent : {1024, 1601, 50257}) CHECK(codegen::picked_count(extent) % 32 == 0);
  CHECK(codegen::picked_step(std::int64_t{1} << 31, std::int64_t{1} << 31) * ((std::int64_t{1} << 31) - 1) <
        std::int64_t{1} << 32);
}

TEST_CASE("fast counting moves the sectors that exact counting moves, however many rows there are to pick from") {
  struct Case {
    int table, places, width;
  };
  int in_order = 0;
  for (const Case& one : {Case{3, 64, 8}, {7, 200, 40}, {20, 300, 8}, {64, 64, 24}, {100, 64, 8}, {5000, 300, 16}})
    for (const int vector : {1, 4}) {
      CAPTURE(one.table);
      CAPTURE(vector);
      const Kernel kernel = kernel_of(rows_of("s32", std::to_string(one.table), one.places, one.width), 2, vector);
      const costmodel::Work exact = costmodel::count(kernel, costmodel::Mode::exact),
                            fast = costmodel::count(kernel, costmodel::Mode::fast);
      CHECK(exact.buffers[0].load.sectors > 0);
      if (fast.sampled) continue;
      ++in_order;
      CHECK(fast.buffers[0].load == exact.buffers[0].load);
      CHECK(fast.buffers[0].read_bytes == exact.buffers[0].read_bytes);
    }
  CHECK(in_order > 8);
}

TEST_CASE("rows that share sectors with their neighbours are counted without samples, joined with others too") {
  int counted = 0;
  for (const char* dtype : {"f32", "f16"})
    for (const int width : {17, 18, 33, 100}) {
      std::string lines, rows;
      for (const int table : {700, 1024, 1601}) {
        lines += fmt::format(
            "  %x{0} = parameter {1} : {2}[{0},{3}]\n  %i{0} = parameter {4} : s32[211]\n"
            "  %y{0} = gather %x{0}, %i{0}, text=\"offset_dims={{1}}, collapsed_slice_dims={{0}}, "
            "start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{3}}}\" : {2}[211,{3}]\n",
            table,
            rows.empty()    ? 0
            : table == 1024 ? 2
                            : 4,
            dtype, width,
            rows.empty()    ? 1
            : table == 1024 ? 3
                            : 5);
        rows += fmt::format("{}%y{}", rows.empty() ? "" : ", ", table);
      }
      lines += fmt::format("  %z = concatenate {}, axes={{1}} : {}[211,{}]\n  output %z\n", rows, dtype, 3 * width);
      const Group group = group_of_lines(lines);
      for (const auto& [vector, unroll] : {std::pair{1, 1}, {1, 4}, {2, 1}, {2, 2}, {4, 1}}) {
        const codegen::Lowered made = lowered(group, 9, vector, unroll);
        if (!std::holds_alternative<Kernel>(made)) continue;
        ++counted;
        CAPTURE(dtype);
        CAPTURE(width);
        CAPTURE(vector);
        CAPTURE(unroll);
        const costmodel::Work exact = costmodel::count(std::get<Kernel>(made), costmodel::Mode::exact),
                              fast = costmodel::count(std::get<Kernel>(made), costmodel::Mode::fast);
        CHECK_FALSE(fast.sampled);
        for (const std::size_t table : {0, 2, 4}) CHECK(fast.buffers[table].load == exact.buffers[table].load);
      }
    }
  CHECK(counted > 20);
}

TEST_CASE("places without elements are refused, and so are more places than a kernel has variables for") {
  for (const auto& [places, width] : {std::pair{0, 8}, {4, 0}}) {
    const codegen::Classified nothing = codegen::classify(rows_of("s32", "100", places, width));
    REQUIRE(std::holds_alternative<Rejection>(nothing));
    CHECK(std::get<Rejection>(nothing).rule == "empty");
  }
  std::string lines = "  %x = parameter 0 : f32[100,8]\n";
  for (int i = 0; i < 25; ++i)
    lines += fmt::format(
        "  %i{0} = parameter {1} : s32[4]\n  %s{0} = gather %x, %i{0}, text=\"offset_dims={{1}}, "
        "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
        "slice_sizes={{1,8}}\" : f32[4,8]\n  output %s{0}\n",
        i, i + 1);
  const Group group = group_of_lines(lines);
  const codegen::Classified many = codegen::analyse_loop(group.graph, codegen::whole_border(group.graph));
  REQUIRE(std::holds_alternative<Rejection>(many));
  CHECK(std::get<Rejection>(many).rule == "indices");
  CHECK(std::holds_alternative<codegen::Layout>(codegen::classify(group)));  // side by side two loops hold them
}

TEST_CASE("fewer places are a smaller group of the same kind, for checks at small shapes") {
  const Group group = rows_of("s32", "100", 60, 8);
  const std::optional<codegen::OuterExtent> extent = codegen::outer_extent(group.graph);
  REQUIRE(extent);
  CHECK(extent->steps == 60);
  const Group small = codegen::shrunk(group.graph, *extent, 3);
  CHECK(text(small.graph.nodes[1].shape) == "s32[3]");
  CHECK(text(small.graph.nodes[0].shape) == "f32[100,8]");
  CHECK_NOTHROW(verify(small.graph));
  CHECK(std::holds_alternative<codegen::Layout>(codegen::classify(small)));
}

TEST_CASE("places of one use of a gather are not loaded where another use of it is loaded ahead") {
  // A number for each column is picked for the rows, and written aside by other threads at places of their own.
  const Group group = group_of_lines(R"(
  %x = parameter 0 : f32[38,38]
  %at = parameter 1 : s16[38]
  %y = parameter 2 : f32[12,38]
  %z = constant 0 : f32[]
  %picked = gather %x, %at, text="offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}" : f32[38]
  %e = exp %picked : f32[38]
  %b = broadcast %e, axes={1} : f32[12,38]
  %p = multiply %y, %b : f32[12,38]
  %s = reduce add %p, %z, axes={1} : f32[12]
  %c = reduce max %y, %z, axes={0} : f32[38]
  %late = add %c, %e : f32[38]
  output %e, %s, %late
)");
  const codegen::Prepared prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  REQUIRE(prepared.skeleton == Skeleton::row);
  CHECK(explore::check_every_plan(group, {testing::effort(11, 1)}, true).programs > 10);
}
