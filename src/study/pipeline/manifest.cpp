// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The facts about who writes: program, machine, time. In: the command as it was typed. Out: a row of runs. Host name
// and time are asked of the system here and nowhere else. Called at the beginning of every command that writes into a
// database.
#include "study/pipeline/manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <unistd.h>
#include <array>
#include <chrono>
#include <ctime>
#include <thread>

#include "profiler/measure/sampled.h"
#include "study/pipeline/version.h"

namespace tailor::study {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::string time_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(milliseconds / 1000)),
                     milliseconds % 1000);
}

store::RunRow begun_run(const std::string& command, const std::string& toolchain, std::int64_t seed,
                        const std::string& config) {
  store::RunRow run;
  run.tool = fmt::format("tailor {} ({})", version, revision);
  run.command = command;
  run.config = config;
  run.toolchain = toolchain;
  run.device = "none";  // the GPU of the machine, not those that were asked about
  run.driver = "none: nothing was measured";
  run.host = host_name();
  run.host_cores = static_cast<int>(std::thread::hardware_concurrency());
  run.seed = seed;
  run.started_at = time_now();
  const auto tick = std::chrono::system_clock::now().time_since_epoch().count();
  run.id = tailor::id_of(std::string_view(fmt::format("{} {} {} {}", tick, run.host, ::getpid(), run.config)));
  return run;
}

void name_gpu(store::RunRow& run, const gpu::Response& opened) {
  if (opened.outcome != ir::Outcome::ok) return;
  const gpu::GpuProperties& properties = opened.properties;
  run.device = profiler::gpu_text(properties);
  run.driver = profiler::driver_text(properties);
  constexpr double mega = 1e6;
  run.clocks = fmt::format("not locked; SM at most {:.0f} MHz, memory at most {:.0f} MHz",
                           properties.sm_clock_max / mega, properties.dram_clock_max / mega);
}

}  // namespace tailor::study
