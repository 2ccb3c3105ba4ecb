// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What models see of a GPU: the facts of its data sheet with what a calibration puts in their place or beside them, as
// plain numbers. A device and a calibration go in; one struct comes out, made once and read by every estimate. A fit
// moves its members and asks again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "costmodel/xla/target.h"
#include "ir/calibration.h"
#include "ir/device.h"

namespace tailor::costmodel {

using ir::Calibration;

/// A number for every row of ir/figures.def, in the unit of its row.
struct CalibratedDevice {
  std::string name;         ///< of the device
  std::string calibration;  ///< its name
  ir::Limits limits;
#define TAILOR_LIMIT(name, unit) double name = 0;
#define TAILOR_FACT(name, unit) double name = 0;
#define TAILOR_BEHAVIOUR(name, unit) double name = 0;
#define TAILOR_COEFFICIENT(name, unit) double name = 0;
#include "ir/figures.def"
  /// What was learned of what the figures leave over; null: nothing, or switched off for the operation.
  std::shared_ptr<const ir::Residual> residual;
  /// What XLA's own model knows of the GPU, where data/xla has it; set by those who load devices.
  std::shared_ptr<const xla::Target> xla;
  bool operator==(const CalibratedDevice&) const = default;
};

struct CalibratedFigure {
  std::string_view key;
  ir::FigureKind kind;
  double CalibratedDevice::*member;
};
/// In the order of figures.def.
std::span<const CalibratedFigure> calibrated_figures();

/// Throws Error(failed) for a calibration of another device, and for one that leaves a behaviour or a coefficient of
/// this device open: nothing is filled in from elsewhere; and for a residual
/// of features that this version does not know.
/// `operation`: of the calls that are asked about, where the calibration has numbers of its own for them; empty: none.
CalibratedDevice calibrated(const ir::Device& device, const Calibration& calibration, std::string_view operation = {});

/// Everything that models read, one figure a line, with the version of their formulas: equal texts, equal estimates.
std::string text(const CalibratedDevice& device);

/// "projected@uncalibrated": how an estimate is stored and shown, with what it rests on.
std::string estimate_name(std::string_view model, std::string_view calibration);

}  // namespace tailor::costmodel
