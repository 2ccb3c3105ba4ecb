// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The five charts of a report as SVG text. Each takes a plain struct with raw values in base units and is drawn even
// when there is nothing to draw: it then says so in words. Axes carry units, shapes carry <title> tooltips, and what
// matters is marked by words or form as well as by colour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tailor::report {

/// Of every chart, in the units of its view box: what a page of text is wide.
inline constexpr double chart_width = 760;

/// The two lines of a roofline: rate <= min(flops, intensity * bandwidth).
struct Roof {
  std::string device;
  BytesPerSecond bandwidth;  ///< DRAM
  double flops = 0;          ///< operations per second, the pipe the points use
  bool operator==(const Roof&) const = default;
};

struct RoofPoint {
  std::string label;
  double intensity = 0;  ///< operations per byte of DRAM
  double rate = 0;       ///< operations per second
  std::size_t roof = 0;  ///< index of its device
};

/// Log-log; points that are not positive are left out and counted in words.
std::string roofline(const std::vector<Roof>& roofs, const std::vector<RoofPoint>& points);

struct NamedTime {
  std::string name;
  Seconds time;
  bool operator==(const NamedTime&) const = default;
};

/// One estimate with its parts. Parts overlap in time, so they are thin bars beside one another, not a stack.
struct PartsRow {
  std::string label;
  Seconds total;
  std::vector<NamedTime> parts;
  std::string bottleneck;  ///< name of the part that decides
};
std::string parts_chart(const std::vector<PartsRow>& rows);

struct StrategyBar {
  std::string name;
  bool chosen = false;
  std::int64_t kernels = 0;
  std::int64_t launches = 0;
  Bytes traffic;
  std::optional<Seconds> time;
};
/// Four panels that share their rows: kernels, launches, bytes, predicted time.
std::string strategy_chart(const std::vector<StrategyBar>& bars);

struct Compared {
  std::string label;
  Seconds predicted;
  Seconds measured;
  bool operator==(const Compared&) const = default;
};
/// Predicted over measured, log-log, with the diagonal and lines at +-25 %. Without points: "no measurements".
std::string scatter(const std::vector<Compared>& points);

/// Histogram of the predicted times of all plans of a group, the chosen one marked. Log axis over more than one decade.
std::string time_histogram(const std::vector<Seconds>& times, std::optional<Seconds> chosen);

}  // namespace tailor::report
