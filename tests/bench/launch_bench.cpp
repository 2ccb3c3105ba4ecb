// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What level compiled costs beyond the compiler: launches of compiled plans, followed through their machine code, in
// microseconds. In: models' files. Out: CSV, one line for each plan of each distinct group, spread over the group's
// space, with lines last that sum up: share of launches up to 100 us, quantiles. Needs NVRTC, no GPU. Run by hand:
//
//   launch_bench DEVICE CACHE PLANS MODEL... > launches.csv
//
// CACHE is a folder that keeps what was compiled; PLANS how many of a group. Standard error says where counts are not
// those of all warps, or of all trips.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/plans/walk.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "profiler/compile/machine_work.h"
#include "profiler/compile/pool.h"
#include "support/paths.h"

using namespace tailor;

namespace {

constexpr std::int64_t warps_to_compare =
    20'000;  ///< of a launch: each is followed once, to see whether counts are its

struct Launched {
  std::string of, plan;
  ir::Kernel kernel;
};

/// Different programs of a group, spread over its space.
std::vector<Launched> launches_of(const std::string& of, const ir::Group& group, const ir::Limits& limits,
                                  std::size_t most) {
  const auto prepared = codegen::prepare(group);
  const auto* ready = std::get_if<codegen::Prepared>(&prepared);
  if (ready == nullptr) return {};
  const explore::Axes axes = explore::default_axes(*ready, limits);
  explore::Plans plans(*ready, axes, limits);
  codegen::LowerScratch scratch;
  std::set<std::string> seen;
  std::vector<Launched> all;
  while (const auto plan = plans.next()) {
    codegen::Lowered lowered = codegen::lower(*ready, *plan, limits, scratch);
    auto* kernel = std::get_if<ir::Kernel>(&lowered);
    if (kernel != nullptr && seen.insert(hex(ir::id_of(*kernel))).second)
      all.push_back({of, text(*plan), std::move(*kernel)});
  }
  std::vector<Launched> some;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
    some.push_back(std::move(all[i * all.size() / std::min(most, all.size())]));
  return some;
}

double microseconds(const ir::Binary& binary, const profiler::MachineLaunch& launch, ir::MachineWork& work) {
  double best = 0;
  constexpr int turns = 100;  // the best: others use the machine too
  for (int turn = 0; turn < turns; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    work = profiler::machine_work(binary, launch);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    best = turn == 0 ? took.count() : std::min(best, took.count());
  }
  return best;
}

void sum_up(const char* what, std::vector<double> values) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  };
  const auto within = std::upper_bound(values.begin(), values.end(), 100.0) - values.begin();
  fmt::print(
      "# {}: {} launches, {:.1f} % up to 100 us; median {:.0f}, 75 % {:.0f}, 90 % {:.0f}, 95 % {:.0f}, 99 % "
      "{:.0f}, most {:.0f} us\n",
      what, values.size(), 100.0 * static_cast<double>(within) / static_cast<double>(values.size()), at(0.5), at(0.75),
      at(0.9), at(0.95), at(0.99), values.back());
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fputs("usage: launch_bench DEVICE CACHE PLANS MODEL...\n", stderr);
    return 2;
  }
  const std::filesystem::path root = tailor::source_folder();
  const ir::Device device = ir::find_device(words[1], root / "data/devices");
  const ir::Limits limits =
      costmodel::calibrated(device, ir::find_calibration("uncalibrated", root / "data/calibrations")).limits;
  const auto found = profiler::find_nvrtc(profiler::default_nvrtc_paths({root / ".venv"}));
  if (!found) {
    fmt::print(stderr, "{}\n", found.reason);
    return 1;
  }
  const profiler::BinaryCache cache{words[2]};
  std::vector<Launched> launches;
  std::set<std::string> known;
  for (int i = 4; i < count; ++i) {
    const hlo::Imported model = hlo::import_file(words[i]);
    const ir::Fusion fusion = explore::fuse(explore::find_strategy("stitch-v1"), model.graph);
    for (const explore::DistinctGroup& group : explore::partition(model.graph, fusion).groups) {
      if (!known.insert(hex(group.group.id)).second) continue;
      const std::string of = std::filesystem::path(words[i]).stem().string() + ":" + short_hex(group.group.id);
      for (Launched& one : launches_of(of, group.group, limits, std::stoul(words[3])))
        launches.push_back(std::move(one));
    }
  }
  std::vector<profiler::CompileRequest> requests;
  for (const Launched& one : launches) {
    profiler::CompileRequest request;
    request.cuda = codegen::cuda(one.kernel);
    request.entry = one.kernel.name;
    request.arch = device.arch;
    requests.push_back(std::move(request));
  }
  fmt::print(stderr, "{} launches\n", launches.size());
  const profiler::CompiledAll compiled = profiler::compile_all(*found.api, requests, {.cache = &cache});
  std::puts("group,plan,grid,block,us,every_trip_us,warps_run,note");
  std::vector<double> times, before;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const ir::Binary& binary = *compiled.binaries[i];
    if (binary.outcome != ir::CompileOutcome::ok) {
      fmt::print(stderr, "{}\n", binary.log);
      continue;
    }
    const ir::MachineRequests expected =
        costmodel::program_requests(costmodel::count(launches[i].kernel, costmodel::Mode::fast));
    const ir::LaunchShape shape = ir::launch_shape(launches[i].kernel);
    ir::MachineWork work, all;
    times.push_back(microseconds(binary, {shape, &expected, false}, work));
    before.push_back(microseconds(binary, {shape, &expected, false, true}, all));
    ir::MachineWork every =
        work.warps_total <= warps_to_compare ? profiler::machine_work(binary, {shape, &expected, true}) : all;
    all.warps_run = every.warps_run = work.warps_run;
    if (every.counted && every != work) fmt::print(stderr, "{} {}: warps differ\n", launches[i].of, launches[i].plan);
    if (all.counted && all != work) fmt::print(stderr, "{} {}: counts differ\n", launches[i].of, launches[i].plan);
    fmt::print("{},\"{}\",{}x{}x{},{},{:.1f},{:.1f},{},\"{}\"\n", launches[i].of, launches[i].plan, shape.grid[0],
               shape.grid[1], shape.grid[2], shape.block[0] * shape.block[1] * shape.block[2], times.back(),
               before.back(), work.warps_run, work.note);
  }
  sum_up("all trips", before);
  sum_up("with skips", times);
  return 0;
}
