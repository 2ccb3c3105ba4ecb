// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The comparison of a GPU with its device file: one row per fact that both sides state. In: what the driver says and
// what the file says. Out: a sentence for each row that differs. Counts must be equal; sizes and clocks differ by what
// the driver reserves and by what a vendor calls a gigabyte, so they have a tolerance.
#include "profiler/measure/gpu_match.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.h"

namespace tailor::profiler {

namespace {

struct Fact {
  std::string_view name;
  double (*of_file)(const ir::Device&);
  double (*of_gpu)(const gpu::GpuProperties&);
  double tolerance;  ///< relative
};

constexpr std::array fact_table = std::to_array<Fact>({
    {"compute capability", [](const ir::Device& d) { return d.compute_capability.value; },
     [](const gpu::GpuProperties& f) { return static_cast<double>(f.compute_capability); }, 0},
    {"SMs", [](const ir::Device& d) { return d.sms.value; },
     [](const gpu::GpuProperties& f) { return static_cast<double>(f.sms); }, 0},
    {"threads per SM", [](const ir::Device& d) { return d.threads_per_sm.value; },
     [](const gpu::GpuProperties& f) { return static_cast<double>(f.threads_per_sm); }, 0},
    {"registers per SM", [](const ir::Device& d) { return d.registers_per_sm.value; },
     [](const gpu::GpuProperties& f) { return static_cast<double>(f.registers_per_sm); }, 0},
    {"shared memory per SM in bytes", [](const ir::Device& d) { return d.shared_per_sm.value; },
     [](const gpu::GpuProperties& f) { return static_cast<double>(f.shared_per_sm); }, 0},
    {"memory in bytes", [](const ir::Device& d) { return d.dram_bytes.value; },
     [](const gpu::GpuProperties& f) { return static_cast<double>(f.memory_bytes); }, 0.12},
    {"L2 in bytes", [](const ir::Device& d) { return d.l2_bytes.value; },
     [](const gpu::GpuProperties& f) { return static_cast<double>(f.l2_bytes); }, 0.1},
});

std::string figure(double value) { return with_commas(static_cast<std::int64_t>(std::llround(value))); }

}  // namespace

std::vector<std::string> mismatches(const ir::Device& device, const gpu::GpuProperties& properties) {
  std::vector<std::string> differ;
  for (const Fact& fact : fact_table) {
    const double said = fact.of_file(device), found = fact.of_gpu(properties);
    if (std::fabs(said - found) > fact.tolerance * said)
      differ.push_back(fmt::format("{}: the file says {}, the GPU has {}", fact.name, figure(said), figure(found)));
  }
  return differ;
}

}  // namespace tailor::profiler
