// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts a calibration over a device, figure by figure. In: a device file's record and a calibration. Out: plain numbers
// that every model reads, or an Error that names what is missing. Called once per device by whoever estimates.
//
// For each row of ir/figures.def the fit is taken where the calibration has one for this device or for all, else the
// fact of the data sheet; a figure of behaviour has no fact, so a calibration must have it. Nothing is filled in from
// another device or calibration: an estimate rests on exactly two files, and estimate_name() says which. Limits are
// taken from the device alone, because what is legal is not fitted. The table is made from ir/figures.def by the
// preprocessor, so a new figure needs no line here.
#include "costmodel/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "costmodel/residual.h"

namespace tailor::costmodel {

namespace {

/// A figure and where its fact stands, if it is one.
struct Row {
  CalibratedFigure figure;
  const ir::Figure ir::Device::*fact;
};
constexpr std::array rows = std::to_array<Row>({
#define TAILOR_LIMIT(name, unit) {{#name, ir::FigureKind::limit, &CalibratedDevice::name}, &ir::Device::name},
#define TAILOR_FACT(name, unit) {{#name, ir::FigureKind::fact, &CalibratedDevice::name}, &ir::Device::name},
#define TAILOR_BEHAVIOUR(name, unit) {{#name, ir::FigureKind::behaviour, &CalibratedDevice::name}, nullptr},
#define TAILOR_COEFFICIENT(name, unit) {{#name, ir::FigureKind::coefficient, &CalibratedDevice::name}, nullptr},
#include "ir/figures.def"
});

constexpr auto figures = [] {
  std::array<CalibratedFigure, rows.size()> all{};
  for (std::size_t i = 0; i < rows.size(); ++i) all[i] = rows[i].figure;
  return all;
}();

void take_residual(CalibratedDevice& result, const Calibration& calibration, std::string_view operation) {
  const ir::Residual& residual = *calibration.residual;
  const auto same = [](const ir::FeatureRange& range, const Feature& row) { return range.feature == row.name; };
  if (!std::equal(residual.features.begin(), residual.features.end(), residual_features().begin(),
                  residual_features().end(), same))
    throw Error(
        Fault::failed,
        fmt::format("the residual of calibration '{}' is of other features than this version has", calibration.name),
        "calibrate again with this version");
  if (std::find(residual.off.begin(), residual.off.end(), operation) == residual.off.end())
    result.residual = std::make_shared<const ir::Residual>(residual);
}

}  // namespace

std::span<const CalibratedFigure> calibrated_figures() { return figures; }

CalibratedDevice calibrated(const ir::Device& device, const Calibration& calibration, std::string_view operation) {
  if (!calibration.device.empty() && calibration.device != device.name)
    throw Error(
        Fault::failed,
        fmt::format("calibration '{}' is of '{}', not of '{}'", calibration.name, calibration.device, device.name),
        "a GPU without a calibration of its own takes 'uncalibrated'");
  CalibratedDevice result;
  result.name = device.name;
  result.calibration = calibration.name;
  result.limits = ir::limits(device);
  for (const Row& row : rows) {
    const ir::Fit* fit = ir::find_fit(calibration, device.name, row.figure.key, operation);
    if (fit == nullptr && row.fact == nullptr)
      throw Error(Fault::failed,
                  fmt::format("calibration '{}' has no '{}' for '{}'", calibration.name, row.figure.key, device.name),
                  "data/calibrations/uncalibrated.json shows the form");
    result.*row.figure.member = fit ? fit->value : (device.*row.fact).value;
  }
  if (calibration.residual) take_residual(result, calibration, operation);
  return result;
}

std::string text(const CalibratedDevice& device) {
  // `machine`: level compiled counts machine code, which no fit rests on, so calibrations need not be made again.
  std::string out = fmt::format("{} {} model {} machine\n", device.name, device.calibration, ir::model_version);
  for (const CalibratedFigure& figure : figures) out += fmt::format("{} {}\n", figure.key, device.*figure.member);
  if (device.residual == nullptr) return out;
  for (const ir::Tree& tree : device.residual->trees) out += fmt::format("tree {}\n", ir::text(tree));
  for (const ir::FeatureRange& one : device.residual->features)
    out += fmt::format("feature {} {} {}\n", one.feature, one.low, one.high);
  for (const std::string& cache : device.residual->caches) out += fmt::format("cache {}\n", cache);
  return out + fmt::format("residual {} {} {} of {}\n", device.residual->low, device.residual->high,
                           device.residual->width, device.residual->model);
}

std::string estimate_name(std::string_view model, std::string_view calibration) {
  return fmt::format("{}@{}", model, calibration);
}

}  // namespace tailor::costmodel
