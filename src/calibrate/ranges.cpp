// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of quantities that ranges are of. Work comes in; ranges, or sentences about what lies outside of them, go
// out. A kernel is beyond a calibration in a quantity when it is beyond the widest range that any figure was fitted
// over: figures of single operations rest on fewer observations, and say nothing about the others. Called by fit.cpp
// and by tailor explain and explore.
#include "calibrate/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace tailor::calibrate {

namespace {

std::string count_text(double value) { return with_commas(std::llround(value)); }

struct Quantity {
  std::string_view name;
  double (*of)(const costmodel::Work& work);
  std::string_view verb, noun;
  std::string (*shown)(double value);
};
constexpr std::array quantities = std::to_array<Quantity>({
    {"bytes", [](const costmodel::Work& w) { return static_cast<double>(costmodel::compulsory_bytes(w)); }, "moves", "",
     humane_bytes},
    {"blocks", [](const costmodel::Work& w) { return static_cast<double>(w.virtual_blocks); }, "has", " blocks",
     count_text},
    {"threads", [](const costmodel::Work& w) { return static_cast<double>(w.threads); }, "has", " threads per block",
     count_text},
});

}  // namespace

std::vector<ir::ObservedRange> ranges_over(std::span<const costmodel::Work* const> works) {
  std::vector<ir::ObservedRange> ranges;
  for (const Quantity& quantity : quantities) {
    ir::ObservedRange range{std::string(quantity.name), INFINITY, 0};
    for (const costmodel::Work* work : works) {
      range.low = std::min(range.low, quantity.of(*work));
      range.high = std::max(range.high, quantity.of(*work));
    }
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<std::string> beyond(const ir::Calibration& calibration, std::string_view device,
                                const costmodel::Work& work) {
  std::vector<std::string> said;
  for (const Quantity& quantity : quantities) {
    ir::ObservedRange widest{std::string(quantity.name), INFINITY, 0};
    for (const ir::Fit& fit : calibration.fits)
      if (fit.device.empty() || fit.device == device)
        for (const ir::ObservedRange& range : fit.ranges)
          if (range.quantity == quantity.name)
            widest = {widest.quantity, std::min(widest.low, range.low), std::max(widest.high, range.high)};
    const double value = quantity.of(work);
    if (widest.low > widest.high || (widest.low <= value && value <= widest.high)) continue;
    said.push_back(fmt::format("{} {}{}, observed were {} to {}", quantity.verb, quantity.shown(value), quantity.noun,
                               quantity.shown(widest.low), quantity.shown(widest.high)));
  }
  return said;
}

}  // namespace tailor::calibrate
