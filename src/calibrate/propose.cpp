// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Proposals by information. Candidates come in as samples without a time; what each would say about the unknowns of a
// fit is the derivative of its predicted time by each of them. Out go those, one after the other, that lower the
// expected error of the predictions of all candidates most. Called by tailor calibrate --budget and --informative.
//
// The derivatives are taken where the figures are believed to be. Known observations count first, so that proposals
// look where those leave something open. Beside what figures leave open, a prediction is off by what the model itself
// does not see; that is taken as the noise of an observation, 3 %, as the residuals of fits to published tables are.
#include "calibrate/propose.h"

#include <cmath>

namespace tailor::calibrate {

namespace {

constexpr double model_residual = 0.03;

}  // namespace

Proposals propose(std::span<const Sample> candidates, std::span<const Sample> known, const ir::Device& device,
                  const ir::Calibration& before, const FitOptions& options, std::size_t count,
                  const std::stop_token& stop) {
  std::vector<const Sample*> all;
  for (const Sample& sample : known) all.push_back(&sample);
  for (const Sample& sample : candidates) all.push_back(&sample);
  const Posed posed = pose(all, device, before, options);
  std::vector<double> x;
  for (const Unknown& unknown : posed.unknowns) x.push_back(unknown.start);
  const std::vector<double> rows = jacobian(posed.unknowns, all.size(), posed.residuals, x, stop);
  Proposals proposals;
  proposals.left = posed.left;
  if (posed.unknowns.empty()) return proposals;
  const Order order = most_informative(rows, posed.unknowns, model_residual, known.size(), count);
  const auto with_residual = [](double deviation) { return std::hypot(deviation, model_residual); };
  proposals.error_before = with_residual(order.deviation_before);
  for (const Choice& choice : order.chosen)
    proposals.chosen.push_back({choice.row - known.size(), with_residual(choice.expected_deviation)});
  return proposals;
}

}  // namespace tailor::calibrate
