// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Learning what a fit leaves over. In: samples of one device and the calibration that was fitted to them. Out: a
// residual in the form of ir/residual.h, or nothing where cross-validation gains nothing, and what it said. Called by
// fit.cpp where a residual is asked for.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "calibrate/sample.h"
#include "costmodel/model.h"

namespace tailor::calibrate {

/// Mean relative errors, as differences of logarithms, of samples that were not learned from.
struct Learned {
  std::optional<ir::Residual> residual;  ///< nothing: it stays off
  std::size_t trees = 0;
  double shapes_before = 0, shapes_after = 0;      ///< folds by shape
  double families_before = 0, families_after = 0;  ///< a family of shapes left out: rows of about one length
  std::string said;                                ///< one sentence: what cross-validation found
};

/// `samples` in the order of their ids; `calibration` has no residual. Fewer than 50 samples teach nothing. Throws as
/// boosted() does.
Learned learn(std::span<const Sample* const> samples, const ir::Device& device, const ir::Calibration& calibration,
              const costmodel::Model& model, const std::stop_token& stop = {});

}  // namespace tailor::calibrate
