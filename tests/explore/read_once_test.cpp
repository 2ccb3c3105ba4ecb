// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules together: each heuristic has a reason of its own, and two of them can still drop every plan that reads long
// rows once, one those that wait in registers and one those that wait in shared memory. In: softmaxes of one to four
// arrays that are added up, of 16 and 32 bits, rows of 1,000 to 250,112 elements, alone and with a sum over all of the
// result beside them. Each is tuned as users have it, and again without heuristics over plans that go through a row
// with all threads of a block or a cluster of them. Part of the suite `explore`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/indexed.h"
#include "codegen/lower/prepare.h"
#include "costmodel/model.h"
#include "explore/plans/tune.h"
#include "ir/graph/graph_parse.h"
#include "support/paths.h"
#include "support/thorough.h"

namespace tailor::explore {

namespace {

struct Softmaxes {
  int arrays = 1;
  std::string dtype;
  std::int64_t columns = 0;
  bool sums = false;  ///< over all of the result
};

ir::Group group_of(const Softmaxes& s) {
  constexpr std::int64_t rows = 512;
  const std::string wide = fmt::format("f32[{},{}]", rows, s.columns);
  const std::string stored = fmt::format("{}[{},{}]", s.dtype, rows, s.columns);
  std::string text = "graph g {\n  %zero = constant 0 : f32[]\n  %low = constant -inf : f32[]\n", sum;
  for (int i = 0; i < s.arrays; ++i) {
    text += fmt::format("  %x{0} = parameter {0} : {1}\n", i, stored);
    const std::string x = s.dtype == "f32" ? fmt::format("%x{}", i) : fmt::format("%w{}", i);
    if (s.dtype != "f32") text += fmt::format("  {} = convert %x{} : {}\n", x, i, wide);
    text += fmt::format("  %m{} = reduce max {}, %low, axes={{1}} : f32[{}]\n", i, x, rows);
    text += fmt::format("  %n{0} = broadcast %m{0}, axes={{0}} : {1}\n", i, wide);
    text += fmt::format("  %c{0} = subtract {1}, %n{0} : {2}\n", i, x, wide);
    text += fmt::format("  %e{0} = exp %c{0} : {1}\n", i, wide);
    text += fmt::format("  %s{0} = reduce add %e{0}, %zero, axes={{1}} : f32[{1}]\n", i, rows);
    text += fmt::format("  %b{0} = broadcast %s{0}, axes={{0}} : {1}\n", i, wide);
    text += fmt::format("  %d{0} = divide %e{0}, %b{0} : {1}\n", i, wide);
    if (i > 0) text += fmt::format("  %a{0} = add {1}, %d{0} : {2}\n", i, sum, wide);
    sum = fmt::format("%{}{}", i > 0 ? 'a' : 'd', i);
  }
  if (s.sums) text += fmt::format("  %all = reduce add {}, %zero, axes={{0,1}} : f32[]\n", sum);
  if (s.dtype != "f32") text += fmt::format("  %o = convert {} : {}\n", sum, stored);
  text += fmt::format("  output {}\n", s.dtype == "f32" ? sum : "%o");
  if (s.sums) text += "  output %all\n";
  return {ir::parse_graph(text + "}\n")};
}

struct Found {
  double seconds = 0;
  bool reads_once = false;  ///< every input
  std::string plan;
};

/// The best plan, without heuristics of those that spill nothing; nothing where none is legal.
std::optional<Found> best(const codegen::Prepared& prepared, const Axes& axes,
                          const costmodel::CalibratedDevice& device, bool heuristics) {
  TuneOptions options;
  options.heuristics = heuristics;
  options.keep = 40;
  const Tuned tuned = tune(prepared, axes, device, options);
  for (const Listed& one : tuned.best) {
    if (!heuristics && row_for(one.estimate.parts, ir::Part::spill).value > 0) continue;  // holds more than there is
    bool once = true;
    for (const costmodel::Work& work : costmodel::works_of(one.work))
      for (const auto& buffer : work.buffers) once = once && buffer.load.bytes <= buffer.read_bytes;
    return Found{one.estimate.total.value, once, ir::text(one.plan)};
  }
  return std::nullopt;
}

/// One row at a time, by all threads.
Axes whole_blocks(const codegen::Prepared& prepared, const ir::Limits& limits, int threads) {
  Axes axes = default_axes(prepared, limits);
  axes[ir::PlanField::threads] = axes[ir::PlanField::threads_per_row] = {threads};
  axes[ir::PlanField::split] = {1};
  axes[ir::PlanField::in_flight] = {1, 4};
  if (prepared.sums_across) axes[ir::PlanField::blocks_per_sm] = {1, 2};
  axes[ir::PlanField::grid] = {
      static_cast<int>(prepared.sums_across ? ir::GridShape::persistent : ir::GridShape::tile)};
  std::erase_if(axes[ir::PlanField::vector], [&](int vector) { return 2 * vector < prepared.widest_vector; });
  return axes;
}

}  // namespace

TEST_CASE("rules together leave a plan that reads each input once, wherever one is legal and takes less") {
  const std::string data = source_folder() + "/data";
  const costmodel::CalibratedDevice device = costmodel::calibrated(
      ir::find_device("h200", data + "/devices"), ir::read_calibration(data + "/calibrations/uncalibrated.json"));
  int once = 0, possible = 0, number = 0;
  for (const bool sums : {false, true})
    for (const char* dtype : {"bf16", "f32"})
      for (int arrays = 1; arrays <= 4; ++arrays)
        for (const std::int64_t columns : {1000, 4096, 8192, 16384, 32000, 50304, 65536, 131072, 250112}) {
          // Primes to the nine lengths, so that a broad run has all of them, and each type with each number of arrays.
          if (++number % testing::effort(29, 11, 1) != 0) continue;
          const Softmaxes s{arrays, dtype, columns, sums};
          CAPTURE(s.arrays);
          CAPTURE(s.dtype);
          CAPTURE(s.columns);
          CAPTURE(s.sums);
          const ir::Group group = group_of(s);
          const auto ready = codegen::prepare(group);
          REQUIRE(std::holds_alternative<codegen::Prepared>(ready));
          const auto& prepared = std::get<codegen::Prepared>(ready);
          REQUIRE(prepared.sums_across == s.sums);
          const std::optional<Found> ours = best(prepared, default_axes(prepared, device.limits), device, true);
          if (!ours) continue;  // sums of the result hold all of a row in registers
          CAPTURE(ours->plan);
          once += ours->reads_once ? 1 : 0;
          bool is_possible = false;
          for (const int threads : {128, 256, 512, 1024}) {
            const auto other = best(prepared, whole_blocks(prepared, device.limits, threads), device, false);
            if (!other) continue;
            CAPTURE(other->plan);
            is_possible = is_possible || other->reads_once;
            CHECK(ours->seconds < 1.15 * other->seconds);
            if (other->reads_once && !ours->reads_once) CHECK(ours->seconds < 1.02 * other->seconds);
          }
          possible += is_possible ? 1 : 0;
        }
  CHECK(once > testing::effort(2, 5, 40));
  MESSAGE(once, " groups read once, of ", possible, " that a block or a cluster can");
}

}  // namespace tailor::explore
