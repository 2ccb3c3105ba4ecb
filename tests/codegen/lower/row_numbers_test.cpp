// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How the one number of a row gets to memory when lanes share rows and have several in flight: neighbouring rows in one
// access, so that sectors are written whole. A sum and a mean over rows, interpreted and its requests counted, with
// rows that fill the blocks and rows that do not. Part of the suite `codegen`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

#include "codegen/lower/lower.h"
#include "reference/inputs.h"
#include "support/interpret.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits with_room{90, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

constexpr int vector = 4;

/// `lanes` of `threads` share a row.
Kernel row_kernel(const Group& group, int threads, int lanes, int in_flight) {
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  Plan plan;
  plan.skeleton = Skeleton::row;
  plan.dominant = prepared.dominants.front();
  plan.threads = threads;
  plan.threads_per_row = lanes;
  plan.vector = vector;
  plan.in_flight = in_flight;
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  codegen::LowerScratch scratch;
  return std::get<Kernel>(codegen::lower(prepared, plan, with_room, scratch));
}

struct RowSums {
  Traffic stores;
  std::int64_t wrong = 0;
};

RowSums row_sums(std::int64_t rows, int lanes, int in_flight) {
  const std::int64_t columns = std::int64_t{lanes} * vector;  // a trip a row, so rows are in flight
  const Group group{
      parse_graph(fmt::format("graph g {{\n  %x = parameter 0 : f32[{0},{1}]\n  %z = constant 0 : f32[]\n"
                              "  %s = reduce add %x, %z, axes={{1}} : f32[{0}]\n  output %s\n}}\n",
                              rows, columns))};
  const Kernel kernel = row_kernel(group, 128, lanes, in_flight);
  std::vector<float> x(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 64);  // sums are exact in any order
  std::vector<std::vector<std::byte>> buffers(2);
  buffers[0].resize(x.size() * sizeof(float));
  std::memcpy(buffers[0].data(), x.data(), buffers[0].size());
  buffers[1].resize(static_cast<std::size_t>(rows) * sizeof(float));
  const KernelRun run = interpret(kernel, std::move(buffers));
  REQUIRE(run.violations.empty());
  RowSums found{run.counts.buffers[1][1], 0};
  for (std::int64_t r = 0; r < rows; ++r) {
    float is = 0, wanted = 0;
    std::memcpy(&is, run.buffers[1].data() + static_cast<std::size_t>(r) * sizeof(float), sizeof(float));
    for (std::int64_t c = 0; c < columns; ++c) wanted += x[static_cast<std::size_t>(r * columns + c)];
    found.wrong += is == wanted ? 0 : 1;
  }
  return found;
}

}  // namespace

TEST_CASE("numbers of neighbouring rows are written by one access, as many as a warp has in flight") {
  constexpr std::int64_t sector_rows = 8;  // f32
  for (const int lanes : {4, 8, 16, 32})
    for (const int in_flight : {2, 4, 8}) {
      if (in_flight > lanes) continue;
      CAPTURE(lanes);
      CAPTURE(in_flight);
      const std::int64_t at_once = 32 / lanes * in_flight;  // rows of a warp
      for (const std::int64_t rows : {512, 1000, 1027}) {
        CAPTURE(rows);
        const RowSums found = row_sums(rows, lanes, in_flight);
        CHECK(found.wrong == 0);
        CHECK(found.stores.bytes == rows * 4);
        CHECK(found.stores.requests == (rows + at_once - 1) / at_once);
        if (at_once % sector_rows == 0) CHECK(found.stores.sectors == (rows + sector_rows - 1) / sector_rows);
      }
    }
  // More rows in flight than a row has lanes: one by one, as without any in flight.
  CHECK(row_sums(512, 4, 8).stores.requests == 512 / 8);
  CHECK(row_sums(512, 8, 1).stores.requests == 512 / 4);
}

TEST_CASE("the number that all of a row read is asked for once by each warp, wherever rows begin") {
  constexpr std::int64_t rows = 5;
  for (const std::int64_t columns : {1024, 1021, 1023, 2050}) {
    CAPTURE(columns);
    // The scale stands behind the sum, in the loop that stores the row.
    const Group group{parse_graph(
        fmt::format("graph g {{\n  %x = parameter 0 : f32[{0},{1}]\n  %f = parameter 1 : f32[{0}]\n"
                    "  %z = constant 0 : f32[]\n  %s = reduce add %x, %z, axes={{1}} : f32[{0}]\n"
                    "  %t = broadcast %s, axes={{0}} : f32[{0},{1}]\n  %fs = broadcast %f, axes={{0}} : f32[{0},{1}]\n"
                    "  %m = multiply %x, %fs : f32[{0},{1}]\n  %y = subtract %m, %t : f32[{0},{1}]\n  output %y\n}}\n",
                    rows, columns))};
    const Kernel kernel = row_kernel(group, 64, 64, 4);
    std::vector<std::vector<std::byte>> buffers(3);
    buffers[0].resize(static_cast<std::size_t>(rows * columns) * sizeof(float));
    buffers[1].resize(static_cast<std::size_t>(rows) * sizeof(float));
    buffers[2].resize(buffers[0].size());
    const KernelRun run = interpret(kernel, std::move(buffers));
    CHECK(run.violations.empty());
    // Shifted rows have elements in front of the first whole vector and behind the last: these ask by themselves.
    CHECK(run.counts.buffers[1][0].requests <= rows * 2 * (columns % 4 == 0 ? 1 : 2));
  }
}
