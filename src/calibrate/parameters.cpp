// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows. Nothing comes in; the table goes out, with each figure's place in what models read. Called by whoever fits.
//
// Which regime tells what: a call from the host on an idle device holds the framework's floor, which hides launch and
// ramp; launches one behind the other show the gap; timestamps of a kernel show its body. The clock is the one that a
// GPU sustains under its power limit, at most the data sheet's boost. Latencies, ports and rates of
// pipes are in no row: times of streams pin down their products with other figures only, so that a fit would give
// numbers without meaning. They come from microbenchmarks. Bounds are what physics allows; a prior's width is what
// published values of one figure differ by.
#include "calibrate/parameters.h"

#include <array>
#include <cmath>
#include <vector>

namespace tailor::calibrate {

namespace {

bool any(const ir::Regime&) { return true; }
bool warm(const ir::Regime& regime) { return regime.cache != ir::CacheState::cold; }
bool with_floor(const ir::Regime& regime) { return regime.includes.dispatch_floor; }
bool with_gap(const ir::Regime& regime) { return regime.includes.launch_gap && !regime.includes.dispatch_floor; }
bool in_graph(const ir::Regime& regime) { return with_gap(regime) && regime.launch == ir::LaunchMode::graph; }
bool in_stream(const ir::Regime& regime) { return with_gap(regime) && regime.launch == ir::LaunchMode::stream; }
bool with_ramp(const ir::Regime& regime) { return regime.includes.ramp && !regime.includes.dispatch_floor; }

constexpr auto log_scale = Scale::logarithm;
constexpr std::array parameter_rows = std::to_array<Parameter>({
    {"dispatch_floor", log_scale, 1e-6, 1e-3, 0.5, Extent::operation, with_floor, "calls of a framework"},
    {"dispatch_lead", log_scale, 1e-7, 1e-3, 0.3, Extent::operation, with_floor, "longer calls of a framework", 0.6},
    {"dram_efficiency", log_scale, 0.2, 0.97, 0.15, Extent::all, any, "large arrays"},
    {"launch_overhead", log_scale, 1e-7, 2e-5, 0.5, Extent::all, in_stream, "launches in a stream"},
    {"l2_share", log_scale, 0.1, 2.5, 0.3, Extent::all, any, "arrays around the size of L2"},
    {"warm_share", Scale::linear, 0, 1, 0.3, Extent::all, warm, "arrays that fit L2, not cold"},
    {"reuse_knee", log_scale, 1, 16, 0.5, Extent::all, any, "arrays around the size of L2"},
    {"dram_read_efficiency", log_scale, 0.2, 0.99, 0.05, Extent::all, any, "large arrays, mostly read"},
    {"dram_write_efficiency", log_scale, 0.2, 0.99, 0.05, Extent::all, any, "large arrays, mostly written"},
    {"dram_mixed_knee", log_scale, 1, 12, 0.5, Extent::all, any, "kernels with few bytes in flight"},
    {"dram_knee", log_scale, 1, 12, 0.3, Extent::all, any, "kernels with few bytes in flight"},
    {"trip_spread", log_scale, 1e-9, 3e-7, 0.5, Extent::all, any, "kernels of few warps that read several arrays"},
    {"l2_bandwidth", log_scale, 1e11, 4e13, 0.3, Extent::all, any, "arrays that fit L2, or are read again"},
    {"l1_share", log_scale, 0.01, 1, 0.3, Extent::all, any, "kernels that read rows again"},
    {"block_turnaround", log_scale, 1e-8, 5e-6, 0.3, Extent::all, any, "many short blocks"},
    {"clock", log_scale, 3e8, 4e9, 0.2, Extent::all, any, "kernels of many instructions", 1, &ir::Device::clock},
    {"ramp", log_scale, 1e-8, 1e-5, 0.5, Extent::all, with_ramp, "short kernels, without a framework's floor"},
    {"graph_overhead", log_scale, 1e-8, 2e-5, 0.5, Extent::all, in_graph, "launches in a graph"},
});

}  // namespace

std::span<const Parameter> parameters() {
  static const std::vector<Parameter> table = [] {
    std::vector<Parameter> all(parameter_rows.begin(), parameter_rows.end());
    for (Parameter& parameter : all)
      for (const costmodel::CalibratedFigure& figure : costmodel::calibrated_figures())
        if (figure.key == parameter.figure) parameter.member = figure.member;
    return all;
  }();
  return table;
}

double scaled(const Parameter& parameter, double value) {
  return parameter.scale == Scale::logarithm ? std::log(value) : value;
}

double unscaled(const Parameter& parameter, double x) { return parameter.scale == Scale::logarithm ? std::exp(x) : x; }

}  // namespace tailor::calibrate
