// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of levels and parts of an estimate, and the places of plans by their predicted times. In: an enumeration's
// value; times. Out: its word, as tables, files and databases show it; places, tied where a model has no order. Called
// by the report, the store, the pipeline and the commands.
#include "ir/estimate.h"

#include <algorithm>

#include "base/indexed.h"

namespace tailor::ir {

namespace {
constexpr std::array level_names =
    std::to_array<std::string_view>({"sol", "projected", "compiled", "counted", "profiled"});
constexpr std::array part_names = std::to_array<std::string_view>(
    {"launch", "code", "dram", "l2", "shared", "issue", "fma", "alu", "xu", "latency", "barrier", "atomic", "spill"});
static_assert(part_names.size() == part_count);
}  // namespace

std::string_view name(Level level) { return row_for(level_names, level); }
std::string_view name(Part part) { return row_for(part_names, part); }

std::vector<Placed> placed(std::span<const Seconds> times) {
  std::vector<Placed> places;
  for (std::size_t first = 0; first < times.size(); first = places.size()) {
    const double last = times[first].value * (1 + model_resolution);
    std::size_t end = first + 1;
    while (end < times.size() && times[end].value <= last) ++end;
    places.resize(end, {static_cast<std::int64_t>(first) + 1, end - first > 1});
  }
  return places;
}

std::string text(const Placed& placed) { return std::to_string(placed.place) + (placed.tied ? "=" : ""); }

std::int64_t tied_with_least(std::span<const Seconds> times) {
  const auto least = std::min_element(times.begin(), times.end());
  return std::count_if(times.begin(), times.end(),
                       [&](Seconds time) { return time.value <= least->value * (1 + model_resolution); });
}

}  // namespace tailor::ir
