// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What to measure next. In: kernels that could be measured and in which regimes, what is believed of a GPU, what was
// observed already. Out: the few of them that would say most about the figures of the models, in that order, with the
// error that is expected after each. Called by tailor calibrate --budget and by tests.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "calibrate/fit.h"

namespace tailor::calibrate {

struct Proposal {
  std::size_t candidate = 0;  ///< place among the candidates
  double expected_error =
      0;  ///< standard deviation of predictions of all candidates, once it and those before are known
};
struct Proposals {
  std::vector<Proposal> chosen;
  double error_before = 0;        ///< the same before any of them
  std::vector<std::string> left;  ///< figures that no candidate would tell
};

/// `candidates` have no time yet: theirs is not looked at. `known` are observations that are there.
Proposals propose(std::span<const Sample> candidates, std::span<const Sample> known, const ir::Device& device,
                  const ir::Calibration& before, const FitOptions& options, std::size_t count,
                  const std::stop_token& stop = {});

}  // namespace tailor::calibrate
