// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor counters: what can be counted on a GPU, by which of CUPTI's metrics on a chip, and how often a kernel must
// run for it. Asked of CUPTI's host library, so no GPU is needed; without a chip not even the library. In: a chip or a
// device, names of counters, a tier. Out: tables on stdout.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/pipeline/gpu_access.h"
#include "study/tables/counter_tables.h"

namespace tailor::cli {

namespace {

gpu::MetricHost open_metrics(const std::string& cupti) {
  auto found = gpu::MetricHost::open(study::gpu_libraries({.driver = {}, .cupti = cupti, .nvml = {}}));
  if (gpu::MetricHost* host = std::get_if<gpu::MetricHost>(&found)) return std::move(*host);
  const gpu::Capability& capability = std::get<gpu::Capability>(found);
  throw Error(Fault::missing, "metrics are planned with CUPTI: " + capability.detail, capability.remedy);
}

/// The chip that was asked about; empty for none.
std::string find_chip(const CountersOptions& options, const Context& context) {
  if (options.device.empty()) return options.chip;
  const ir::Device device = load_device(context, options.device);
  if (device.chip.empty())
    throw Error(Fault::usage, fmt::format("the file of device '{}' names no chip", device.name),
                "--chip names one; tailor counters --chips lists them");
  return device.chip;
}

}  // namespace

void run_counters(const CountersOptions& options, const Context& context) {
  const int last = study::last_counter_tier();
  if (options.tier > last)
    throw Error(Fault::usage, fmt::format("--tier: found {}, expected 0 to {}", options.tier, last));
  const int tier = options.tier < 0 ? last : static_cast<int>(options.tier);
  const std::string chip = find_chip(options, context);
  CommandOutput answer{"tailor.counters/1", options.device, {}, ""};
  if (options.chips) {
    answer.sections.push_back({"chips", study::chip_table(open_metrics(options.cupti), context.data)});
  } else if (chip.empty()) {
    if (!options.counters.empty())
      throw Error(Fault::usage, "--counters needs a chip", "--chip GH100 for one, or --device");
    answer.sections.push_back({"counters", study::known_counter_table(tier)});
  } else {
    const gpu::MetricHost host = open_metrics(options.cupti);
    if (const auto all = host.chips(); options.chip.empty() && std::find(all.begin(), all.end(), chip) == all.end())
      throw Error(Fault::missing,
                  fmt::format("{} has no metrics of {}, the chip of {}", host.name(), chip, options.device),
                  "CUPTI counts on compute capability 7.0 and later; tailor counters --chips lists the chips it has");
    report::Table passes = study::counter_pass_table();
    gpu::CountPlan plan;
    if (options.counters.empty()) {
      for (int up_to = 0; up_to <= tier; ++up_to) {
        plan = host.plan(chip, up_to);
        study::add_counter_passes(passes, up_to == 0 ? "tier 0" : fmt::format("tiers 0 to {}", up_to), plan);
      }
    } else {
      plan = host.plan(chip, options.counters);
      study::add_counter_passes(passes, "those named", plan);
    }
    answer.sections.push_back({"counters", study::planned_counter_table(plan, host.name())});
    answer.sections.push_back({"passes", std::move(passes)});
  }
  show(context, answer);
}

}  // namespace tailor::cli
