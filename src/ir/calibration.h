// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration: what was fitted to measurements or is openly assumed about how GPUs behave, apart from the facts of
// their data sheets (device.h). Each number carries its unit, its source, and where it was fitted its interval, the
// observations it rests on and the ranges they covered. Read from data/calibrations/*.json, written by whoever fits;
// models see it only as costmodel::calibrated(device, calibration).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "ir/residual.h"

namespace tailor::ir {

/// Version of the models' formulas. A coefficient means what it means to the formulas it was fitted with: raise this
/// when one changes so that older calibrations must not be used.
inline constexpr std::int64_t model_version = 4;

enum class FigureKind : std::uint8_t { limit, fact, behaviour, coefficient };
/// One row of figures.def.
struct FigureName {
  std::string_view key;
  std::string_view unit;
  FigureKind kind;
};
std::span<const FigureName> figure_names();
/// nullptr when there is none of that name.
const FigureName* find_figure(std::string_view key);

struct ValueInterval {
  double low = 0, high = 0;
  bool operator==(const ValueInterval&) const = default;
};

/// What the observations covered: a prediction outside extrapolates.
struct ObservedRange {
  std::string quantity;  ///< "bytes", "threads per SM", ...
  double low = 0, high = 0;
  bool operator==(const ObservedRange&) const = default;
};

/// One number of a calibration.
struct Fit {
  std::string device;  ///< of the figure; empty: every device the calibration is for
  std::string figure;  ///< a fact, a behaviour or a coefficient of figures.def
  double value = 0;
  std::string unit;
  std::optional<ValueInterval> interval;  ///< nothing where the value is a fact or an assumption
  std::string source;
  std::vector<Id> observations;  ///< sorted; empty when it was not fitted
  std::vector<ObservedRange> ranges;
  /// Holds for calls of this operation alone ("softmax f32"); empty: for all. Of coefficients only.
  std::string operation = {};
  bool operator==(const Fit&) const = default;
};

struct Calibration {
  std::string name;    ///< file stem: "uncalibrated"
  std::string title;   ///< one sentence
  std::string device;  ///< the one it is for; empty: any
  std::int64_t version = model_version;
  /// Those of every device first, then by device, then by operation; within one in the order of figures.def.
  std::vector<Fit> fits;
  /// What was learned of what the figures leave over; nothing in most. Only of one device.
  std::optional<Residual> residual = {};
  bool operator==(const Calibration&) const = default;
};

/// The fit that holds for `device` and calls of `operation`: the operation's before the device's, the device's before
/// the common one; nullptr when there is none.
const Fit* find_fit(const Calibration& calibration, std::string_view device, std::string_view figure,
                    std::string_view operation = {});

/// The file's canonical text:
///   {"title": "...", "model_version": 4, "device": "h200",           (device: only where it is for one)
///    "figures": {"dram_knee": {"value": 1.2, "unit": "1", "low": 1.1, "high": 1.3, "source": "...",
///                              "observations": ["<id>", ...], "ranges": {"bytes": [1e6, 1e9]}}, ...},
///    "devices": {"v100": {"dram_knee": {...}}, ...},                  (only where it is for any)
///    "operations": {"softmax f32": {"dispatch_floor": {...}}, ...},   (only where it is for one)
///    "residual": {"of": "projected", "low": -0.5, "high": 0.3, "width": 1, "features": {"body": [-12, -5], ...},
///    "cache":
///    ["warm"],
///                 "off": ["add f32"], "source": "...", "observations": [...], "trees": ["(0<1.5 -0.01 0.02)", ...]}}
std::string text(const Calibration& calibration);
/// Hash of that text: the name is not in it.
Id id_of(const Calibration& calibration);

/// Throws Error(failed) with line and column where they are known: not JSON, a key twice, an unknown figure (nearest
/// named), a limit, a wrong unit, a value outside its interval, another model version, observations that are no ids, a
/// residual without its parts, with bounds beyond +-0.6 or with a tree that is none.
Calibration parse_calibration(std::string_view text, const std::string& file);
Calibration read_calibration(const std::string& path);
/// `name` is a file stem in `folder` or a path (it contains '/' or ends in ".json"). Throws Error(missing) naming the
/// nearest.
Calibration find_calibration(std::string_view name, const std::string& folder);

}  // namespace tailor::ir
