// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The charts of a report as SVG text. Each takes a plain struct with raw values in base units and is drawn even
// when there is nothing to draw: it then says so in words. Axes carry units, shapes carry <title> tooltips, and what
// matters is marked by words or form as well as by colour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tailor::report {

/// Of every chart, in the units of its view box: narrow enough for a telephone, and for two beside each other.
inline constexpr double chart_width = 420;

/// The two lines of a roofline: rate <= min(flops, intensity * bandwidth).
struct Roof {
  std::string device;
  BytesPerSecond bandwidth;  ///< DRAM
  double flops = 0;          ///< operations per second, the pipe the points use
  bool operator==(const Roof&) const = default;
};

struct RoofPoint {
  std::string label;
  double intensity = 0;   ///< operations per byte of DRAM
  double rate = 0;        ///< operations per second
  std::size_t roof = 0;   ///< index of its device
  double share = 0;       ///< 0-1 of the time: the area of its dot
  std::string link = {};  ///< of the dot; empty: none
};

/// Log-log; points that are not positive are left out and counted in words. The five of most time carry their names.
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

/// How many times faster than the baseline a strategy is, in up to three ways of looking.
struct SpeedupBar {
  std::string name;                             ///< of the strategy
  bool chosen = false;                          ///< drawn in bold
  std::optional<double> kernels, with_library;  ///< by the most precise times of all kernels
  std::optional<double> measured;               ///< of whole models, timed in turns on a GPU
  std::string note;                             ///< a word or two: what the times rest on
};
/// The strategies of one model on one device.
struct SpeedupPanel {
  std::string title;  ///< empty: the only panel
  std::string link;   ///< of the title; empty: none
  std::vector<SpeedupBar> bars;
};
/// Panels below one another with one axis, a line at 1. Kinds that no bar has are left out.
std::string speedup_chart(const std::vector<SpeedupPanel>& panels);

struct NamedBar {
  std::string name, words;  ///< above the bar; behind it
  double value = 0;
  std::string link;         ///< of name and bar; empty: none
  std::string css = "bar";  ///< class of the bar's colour
};
/// Bars below one another; a value of `full` is as long as the chart is wide.
std::string bar_list(const std::vector<NamedBar>& bars, std::string_view description, double full);

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
