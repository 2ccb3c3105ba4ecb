// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting operations that move elements: random pads, concatenates, slices and reverses in one to four dimensions go
// in, as groups of one or several of them; out come checks that fast counting says what exact counting says, and that
// large tensors are counted as fast as small ones. Run by `./test costmodel`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "costmodel/count.h"
#include "costmodel/scratch.h"
#include "lowered.h"
#include "support/approx.h"
#include "support/kernel_builder.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t product(const Dims& dims) {
  std::int64_t all = 1;
  for (const std::int64_t d : dims) all *= d;
  return all;
}

/// Grows a graph of moves line by line.
struct MovingGraph {
  std::mt19937 random;
  std::string body;
  int names = 0;

  explicit MovingGraph(unsigned seed) : random(seed) {}
  int pick(int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)); }
  std::string fresh() { return fmt::format("%v{}", names++); }
  static std::string type(const Dims& dims) { return fmt::format("f32[{}]", fmt::join(dims, ",")); }

  std::string pad(const std::string& from, Dims& dims) {
    std::vector<std::string> ranges;
    bool between = false;
    for (std::int64_t& d : dims) {
      const int low = pick(-1, 2), interior = pick(0, 3) == 0 ? pick(1, 2) : 0;
      const std::int64_t inside = d + (d - 1) * interior + low;
      const std::int64_t high = std::max<std::int64_t>(pick(-1, 3), 1 - inside);
      d = inside + high;
      between |= interior > 0;
      ranges.push_back(fmt::format("{}:{}:{}", low, high, interior));
    }
    const std::string to = fresh() + (between ? "_between" : "");
    body += fmt::format("  {} = pad {}, %zero, ranges={{{}}} : {}\n", to, from, fmt::join(ranges, ", "), type(dims));
    return to;
  }
  std::string slice(const std::string& from, Dims& dims) {
    std::vector<std::string> ranges;
    for (std::int64_t& d : dims) {
      const int low = pick(0, static_cast<int>(std::min<std::int64_t>(d - 1, 3))), stride = pick(1, 3);
      const std::int64_t high = pick(0, 1) == 0 ? d : std::max<std::int64_t>(low + 1, d - pick(0, 2));
      ranges.push_back(fmt::format("{}:{}:{}", low, high, stride));
      d = (high - low + stride - 1) / stride;
    }
    const std::string to = fresh();
    body += fmt::format("  {} = slice {}, ranges={{{}}} : {}\n", to, from, fmt::join(ranges, ", "), type(dims));
    return to;
  }
  std::string reverse(const std::string& from, const Dims& dims) {
    const std::string to = fresh();
    body += fmt::format("  {} = reverse {}, axes={{{}}} : {}\n", to, from, pick(0, static_cast<int>(dims.size()) - 1),
                        type(dims));
    return to;
  }
  std::string join(const std::string& from, Dims& dims, std::string& parameters) {
    const auto axis = static_cast<std::size_t>(pick(0, static_cast<int>(dims.size()) - 1));
    Dims other = dims;
    other[axis] = pick(1, 9);
    parameters += fmt::format("  %q = parameter 1 : {}\n", type(other));
    dims[axis] += other[axis];
    const std::string to = fresh();
    const bool first = pick(0, 1) == 0;
    body += fmt::format("  {} = concatenate {}, {}, axes={{{}}} : {}\n", to, first ? from : "%q", first ? "%q" : from,
                        axis, type(dims));
    return to;
  }
};

/// One or two moves of a tensor, and a unary operation.
std::string random_moves(unsigned seed) {
  MovingGraph graph(seed);
  constexpr std::int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 30, 32, 33};
  Dims dims;
  do {
    dims.clear();
    for (int rank = graph.pick(1, 4); rank > 0; --rank) dims.push_back(extents[graph.pick(0, 11)]);
    if (graph.pick(0, 2) == 0) dims.back() *= 64;
  } while (product(dims) > 40'000);
  std::string parameters = fmt::format("  %p = parameter 0 : {}\n", MovingGraph::type(dims));
  std::string at = "%p";
  bool joined = false;
  for (int moves = graph.pick(1, 2); moves > 0; --moves) {
    const int kind = graph.pick(0, joined ? 3 : 4);
    at = kind <= 1 ? graph.pad(at, dims) : kind == 2 ? graph.slice(at, dims) : kind == 3 ? graph.reverse(at, dims) : at;
    if (kind == 4) at = graph.join(at, dims, parameters);
    joined |= kind == 4;
  }
  return fmt::format("graph moves {{\n{}  %zero = constant 0 : f32[]\n{}  %y = negate {} : {}\n  output %y\n}}\n",
                     parameters, graph.body, at, MovingGraph::type(dims));
}

/// Everything but the distinct bytes and sectors: these are an upper bound where several indices of a buffer overlap.
void check_equal(const Work& exact, Work fast) {
  REQUIRE(exact.buffers.size() == fast.buffers.size());
  for (std::size_t b = 0; b < exact.buffers.size(); ++b) {
    CAPTURE(b);
    CHECK(exact.buffers[b].load.requests == fast.buffers[b].load.requests);
    CHECK(exact.buffers[b].load.sectors == fast.buffers[b].load.sectors);
    CHECK(exact.buffers[b].load.bytes == fast.buffers[b].load.bytes);
    CHECK(exact.buffers[b].store == fast.buffers[b].store);
    CHECK(exact.buffers[b].written_bytes == fast.buffers[b].written_bytes);
    CHECK(exact.buffers[b].read_bytes <= fast.buffers[b].read_bytes);
    CHECK(fast.buffers[b].read_bytes <= fast.buffers[b].load.bytes);
    CHECK(exact.buffers[b].read_sectors <= fast.buffers[b].read_sectors);
    CHECK(fast.buffers[b].read_sectors <= fast.buffers[b].load.sectors);
    fast.buffers[b].read_bytes = exact.buffers[b].read_bytes;
    fast.buffers[b].read_sectors = exact.buffers[b].read_sectors;
  }
  CHECK(exact.busiest_block == fast.busiest_block);
  CHECK(exact.pipes == fast.pipes);
  CHECK(exact == fast);
}

std::string padded_image(std::int64_t batch, std::int64_t side, std::int64_t channels) {
  return fmt::format(
      "graph g {{\n  %x = parameter 0 : f32[{0},{1},{1},{2}]\n  %z = constant 0 : f32[]\n"
      "  %y = pad %x, %z, ranges={{0:0:0, 1:1:0, 1:1:0, 0:0:0}} : f32[{0},{3},{3},{2}]\n  output %y\n}}\n",
      batch, side, channels, side + 2);
}

std::string rotated_halves(std::int64_t batch, std::int64_t length, std::int64_t heads, std::int64_t half) {
  return fmt::format(
      "graph g {{\n  %x = parameter 0 : f32[{0},{1},{2},{4}]\n  %c = parameter 1 : f32[{0},{1},{2},{3}]\n"
      "  %a = slice %x, ranges={{0:{0}:1, 0:{1}:1, 0:{2}:1, 0:{3}:1}} : f32[{0},{1},{2},{3}]\n"
      "  %b = slice %x, ranges={{0:{0}:1, 0:{1}:1, 0:{2}:1, {3}:{4}:1}} : f32[{0},{1},{2},{3}]\n"
      "  %l = multiply %a, %c : f32[{0},{1},{2},{3}]\n  %r = add %b, %c : f32[{0},{1},{2},{3}]\n"
      "  %y = concatenate %l, %r, axes={{3}} : f32[{0},{1},{2},{4}]\n  output %y\n}}\n",
      batch, length, heads, half, 2 * half);
}

double seconds_to_count(const std::string& graph, const ir::Limits& limits) {
  double sum = 0;
  for_each_kernel(group_of(graph), limits, [&](const ir::Plan& plan, const ir::Kernel& kernel) {
    CAPTURE(graph);
    CAPTURE(text(plan));
    const std::clock_t start = std::clock();  // of the processor: others may run beside
    CHECK_FALSE(count(kernel, Mode::fast).sampled);
    sum += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  });
  return sum;
}

}  // namespace

TEST_CASE("fast counting equals exact counting on random moves of elements") {
  const ir::Limits limits = limits_of("h200");
  int kernels = 0, sampled = 0;
  for (unsigned seed = 1; seed <= testing::effort(30u, 60u, 160u); ++seed) {
    const std::string graph = random_moves(seed);
    CAPTURE(seed);
    CAPTURE(graph);
    kernels += for_each_kernel(group_of(graph), limits, [&](const ir::Plan& plan, const ir::Kernel& kernel) {
      CAPTURE(text(plan));
      const Work exact = count(kernel, Mode::exact), fast = count(kernel, Mode::fast);
      if (!fast.sampled) return check_equal(exact, fast);
      ++sampled;  // sectors of an odd extent: near, and all else equal
      // Padding between elements in several dimensions cuts a grid into so many parts that blocks are sampled.
      if (graph.find("between") == graph.npos) CHECK(fast.pipes == exact.pipes);
      CHECK(static_cast<double>(instructions(fast.pipes)) ==
            approx(static_cast<double>(instructions(exact.pipes))).epsilon(0.05));
      CHECK(static_cast<double>(sectors(fast)) == approx(static_cast<double>(sectors(exact))).epsilon(0.1));
    });
  }
  MESSAGE(kernels, " kernels, ", sampled, " of them with sampled sectors");
  CHECK(kernels > testing::effort(170, 350, 1000));
  CHECK(sampled < kernels / 4);
}

std::string picked_rows(int table, std::int64_t rows, int columns) {
  return fmt::format(
      "graph rows {{\n  %x = parameter 0 : f32[{2},{1}]\n  %i = parameter 1 : s32[{0},1]\n"
      "  %y = gather %x, %i, text=\"offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
      "index_vector_dim=1, slice_sizes={{1,{1}}}\" : f32[{0},{1}]\n  output %y\n}}\n",
      rows, columns, table);
}

TEST_CASE("rows of any length are counted exactly, or from samples that lie within 3 %") {
  // Blocks begin anywhere in a row, and rows at any residue of a sector: few patterns of lanes that come again, or
  // many. Rows of a large table meet the residues in turn, those of one that is hardly too large to be gone through do
  // not.
  const ir::Limits limits = limits_of("h200");
  int exact_ones = 0, sampled = 0;
  for (const int columns : {3, 6, 9, 18, 35, 37, 50, 126}) {
    const auto rows = std::int64_t{testing::effort(20'000, 40'000, 200'000)} / columns;
    for (const std::string& graph :
         {fmt::format(
              "graph bias {{\n  %x = parameter 0 : f32[{0},{1}]\n  %b = parameter 1 : f32[{1}]\n"
              "  %w = broadcast %b, axes={{1}} : f32[{0},{1}]\n  %y = add %x, %w : f32[{0},{1}]\n  output %y\n}}\n",
              rows, columns),
          picked_rows(1601, rows, columns), picked_rows(117, rows, columns)}) {
      CAPTURE(graph);
      for_each_kernel(group_of(graph), limits, [&](const ir::Plan& plan, const ir::Kernel& kernel) {
        CAPTURE(text(plan));
        const Work exact = count(kernel, Mode::exact), fast = count(kernel, Mode::fast);
        if (!fast.sampled) return void(++exact_ones), check_equal(exact, fast);
        ++sampled;
        CHECK(fast.pipes == exact.pipes);
        CHECK(static_cast<double>(sectors(fast)) == approx(static_cast<double>(sectors(exact))).epsilon(0.03));
      });
    }
  }
  MESSAGE(exact_ones, " counted exactly, ", sampled, " from samples");
  CHECK(exact_ones > 50);
  CHECK(sampled > testing::effort(10, 20, 20));
}

TEST_CASE("a grid of hardly more warps than a sample has is counted exactly") {
  const ir::Limits limits = limits_of("h200");
  int kernels = 0;
  for (const int columns : {67, 101, 131, 211, 509}) {
    const std::string graph = fmt::format(
        "graph spread {{\n  %x = parameter 0 : f32[{0},{1}]\n  %s = parameter 1 : f32[{0}]\n"
        "  %w = broadcast %s, axes={{0}} : f32[{0},{1}]\n  %y = multiply %x, %w : f32[{0},{1}]\n  output %y\n}}\n",
        64, columns);
    CAPTURE(graph);
    for_each_kernel(group_of(graph), limits, [&](const ir::Plan& plan, const ir::Kernel& kernel) {
      if (kernel.virtual_blocks * kernel.threads / 32 * plan.unroll * plan.vector > 512) return;  // requests
      CAPTURE(text(plan));
      ++kernels;
      const Work fast = count(kernel, Mode::fast);
      CHECK_FALSE(fast.sampled);
      check_equal(count(kernel, Mode::exact), fast);
    });
  }
  CHECK(kernels > 40);
}

TEST_CASE("padded images and rotated halves are counted exactly, without a sample") {
  const ir::Limits limits = limits_of("h200");
  for (const std::string& graph :
       {padded_image(2, 12, 64), padded_image(3, 13, 8), padded_image(2, 30, 4), padded_image(1, 55, 16),
        rotated_halves(2, 9, 4, 64), rotated_halves(1, 5, 3, 128), rotated_halves(2, 7, 5, 12)}) {
    CAPTURE(graph);
    CHECK(for_each_kernel(group_of(graph), limits, [&](const ir::Plan& plan, const ir::Kernel& kernel) {
            CAPTURE(text(plan));
            const Work fast = count(kernel, Mode::fast);
            CHECK_FALSE(fast.sampled);
            check_equal(count(kernel, Mode::exact), fast);
          }) > 0);
  }
}

TEST_CASE("a large tensor is counted as fast as a small one, with the bytes that paper says") {
  const ir::Limits limits = limits_of("h200");
  const auto least = [&](const std::string& graph) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) best = std::min(best, seconds_to_count(graph, limits));
    return best;
  };
  const double small_pad = least(padded_image(32, 112, 64)), large_pad = least(padded_image(3200, 112, 64));
  const double wide_pad = least(padded_image(32, 1126, 64));
  CHECK(large_pad < 5 * small_pad + 0.01);
  CHECK(wide_pad < 10 * small_pad + 0.01);
  const double small_halves = least(rotated_halves(1, 512, 8, 128));
  const double large_halves = least(rotated_halves(16, 4096, 8, 128));
  CHECK(large_halves < 5 * small_halves + 0.01);
  MESSAGE("seconds: ", small_pad, " ", large_pad, " ", wide_pad, " ", small_halves, " ", large_halves);
  for_each_kernel(group_of(padded_image(3200, 112, 64)), limits, [&](const ir::Plan& plan, const ir::Kernel& kernel) {
    CAPTURE(text(plan));
    const Work work = count(kernel, Mode::fast);
    CHECK(work.buffers[0].load.bytes == std::int64_t{3200} * 112 * 112 * 64 * 4);
    CHECK(work.buffers[0].read_bytes == std::int64_t{3200} * 112 * 112 * 64 * 4);
    CHECK(work.buffers[1].store.bytes == std::int64_t{3200} * 114 * 114 * 64 * 4);
  });
}

TEST_CASE("guards without a common factor end in a sample of blocks, near the exact counts") {
  // A block takes 1,024 elements at once; 1021, 509 and 7 share no factor with that.
  constexpr std::int64_t a = 1021, b = 509, c = 7, all = a * b * c;
  ir::KernelBuilder k("coprime", 1024, (all + 1023) / 1024);
  const ir::VarId tid = k.thread("tid", 1, 1024);
  const ir::BufferId x = k.in("x", ir::DType::f32, all), y = k.out("y", ir::DType::f32, all);
  const ir::ExprId i = k.sum({k.var(tid), k.var(k.vb, 1024)});
  k.guard_less(i, k.number(all));
  k.guard_less(k.mod(i, c), k.number(5));
  k.guard_less(k.mod(k.div(i, c), b), k.number(400));
  k.guard_less(k.mod(k.div(i, c * b), a), k.number(1000));
  const ir::LetId v = k.load_let("v", x, i);
  k.store(y, i, k.get(v));
  k.end();
  k.end();
  k.end();
  k.end();
  const ir::Kernel kernel = k.finished();
  const std::clock_t start = std::clock();
  const Work fast = count(kernel, Mode::fast);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 0.2);
  CHECK(fast.sampled);
  const Work exact = count(kernel, Mode::exact);
  CHECK(static_cast<double>(sectors(fast)) == approx(static_cast<double>(sectors(exact))).epsilon(0.06));
  CHECK(static_cast<double>(fast.buffers[0].load.requests) ==
        approx(static_cast<double>(exact.buffers[0].load.requests)).epsilon(0.06));
  CHECK(static_cast<double>(fast.buffers[0].load.bytes) ==
        approx(static_cast<double>(exact.buffers[0].load.bytes)).epsilon(0.06));
}

TEST_CASE("the busiest of many blocks is found from digits, as block by block") {
  std::mt19937 random(5);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  constexpr std::int64_t blocks = 240'000;
  for (int round = 0; round < 40; ++round) {
    Scratch scratch;
    std::vector<std::int64_t> sums(blocks);
    scratch.body().every_guard = 1'000'000;
    for (int s = 0; s < 12; ++s) {
      BlockSpan span;
      span.each = pick(1, 100);
      const std::int64_t lows = pick(1, 12), first = pick(0, 12 - lows);
      const std::int64_t step = s % 3 == 0 ? 1 : s % 3 == 1 ? 12 : 240;
      if (step == 1) {  // a run of blocks that crosses every place
        span.low = pick(0, blocks - 2);
        span.depth = 1;
        span.ranges[0] = {0, 1, pick(2, blocks - span.low)};
      } else {
        span.low = first + 12 * pick(0, 5);
        span.depth = lows > 1 ? 2 : 1;
        span.ranges[0] = {0, step, pick(2, step == 12 ? 14 : blocks / step - 1)};
        if (lows > 1) span.ranges[1] = {0, 1, lows};
      }
      for (std::int64_t i = 0; i < span.ranges[0].count; ++i)
        for (std::int64_t j = 0; j < (span.depth > 1 ? span.ranges[1].count : 1); ++j)
          sums[static_cast<std::size_t>(span.low + i * span.ranges[0].step + j)] += span.each;
      scratch.body().spans.push_back(span);
    }
    bool proven = false;
    CAPTURE(round);
    const std::int64_t found = busiest_block(scratch.body(), blocks, proven);
    CHECK(proven);
    CHECK(found == *std::max_element(sums.begin(), sums.end()));
  }
}
