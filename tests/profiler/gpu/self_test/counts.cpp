// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counters of a copy whose every request is known. Requests and sectors must be exact: predictions are held against
// them. Bytes from DRAM have some room (others use it too). Bytes to DRAM are fewer than were written:
// some stay in L2, which was clean before.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/text.h"
#include "profiler/gpu/cupti/metrics.h"
#include "profiler/gpu/self_test/kernels.h"
#include "profiler/gpu/self_test/suite.h"

namespace tailor::tests {

namespace {

using gpu::Response;
using ir::Outcome;

/// The value of one counter of the copy, or what to say instead.
std::variant<double, Observed> counted(Subject& subject, std::string_view counter) {
  const gpu::Response& opened = subject.opened_to_count();
  if (opened.outcome != Outcome::ok) return unexpected(opened);
  const gpu::GpuProperties& properties = opened.properties;
  if (!properties.can_count) {
    for (const gpu::Capability& capability : opened.capabilities)
      if (capability.name == "counters") return skipped(capability.detail);
    return skipped("this GPU or its driver lets nobody count");
  }
  const auto table = gpu::counter_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.name == counter; });
  if (row == table.end()) return seen(false, fmt::format("no row {}", counter));
  const std::string metric(gpu::metric_on(*row, properties.chip));
  if (metric.empty()) return skipped(fmt::format("{} has no metric for it", properties.chip));
  const Response response = subject.count(copying(subject.copy_bytes), {metric});
  if (response.outcome == Outcome::unavailable) return skipped(response.reason);
  if (response.outcome != Outcome::ok || response.values.empty()) return unexpected(response);
  return response.values[0] * row->scale;
}

/// Right when the counter lies within `low` and `high` times `base`.
Observed within(Subject& subject, std::string_view counter, double base, double low, double high) {
  const std::variant<double, Observed> found = counted(subject, counter);
  if (const Observed* instead = std::get_if<Observed>(&found)) return *instead;
  const double value = std::get<double>(found);
  return seen(value >= low * base && value <= high * base,
              fmt::format("{:.0f} counted, {:.0f} by arithmetic: {:.4f}", value, base, value / base));
}

double bytes_of(const Subject& subject) { return static_cast<double>(subject.copy_bytes); }
/// Of the copy: 32 lanes of 16 bytes.
double warps_of(const Subject& subject) { return bytes_of(subject) / 512; }

Observed read_from_dram(Subject& subject) { return within(subject, "dram_read_bytes", bytes_of(subject), 0.98, 1.08); }
Observed written_to_dram(Subject& subject) { return within(subject, "dram_write_bytes", bytes_of(subject), 0, 1.2); }
Observed read_from_l2(Subject& subject) { return within(subject, "l2_read_bytes", bytes_of(subject), 1, 1.01); }
Observed load_requests(Subject& subject) { return within(subject, "global_load_requests", warps_of(subject), 1, 1); }
Observed load_sectors(Subject& subject) { return within(subject, "global_load_sectors", warps_of(subject) * 16, 1, 1); }
Observed store_requests(Subject& subject) { return within(subject, "global_store_requests", warps_of(subject), 1, 1); }
Observed store_sectors(Subject& subject) {
  return within(subject, "global_store_sectors", warps_of(subject) * 16, 1, 1);
}
Observed instructions(Subject& subject) { return within(subject, "instructions", warps_of(subject), 6, 40); }

constexpr SelfTest count_rows[] = {
    {"bytes read from DRAM", "0.98 to 1.08 of the copy's input, cold", read_from_dram},
    {"bytes written to DRAM", "up to 1.2 of the copy's output: some stays in L2, which was clean", written_to_dram},
    {"bytes read from L2", "the copy's input, up to 1.01", read_from_l2},
    {"load requests", "exactly one per warp", load_requests},
    {"load sectors", "exactly 16 per warp", load_sectors},
    {"store requests", "exactly one per warp", store_requests},
    {"store sectors", "exactly 16 per warp", store_sectors},
    {"instructions", "6 to 40 per warp", instructions},
};

}  // namespace

std::span<const SelfTest> count_tests() { return count_rows; }

}  // namespace tailor::tests
