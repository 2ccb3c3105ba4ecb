// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a learned residual sees of a kernel, and what it makes of it. In: the work, the parts of its estimate, the time
// of its body by the formulas. Out: numbers, one for each row of a table, and from a calibration's trees the factor on
// that time. Called by projected.cpp for each estimate and by fits (calibrate/residual.cpp).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "costmodel/work.h"
#include "ir/estimate.h"
#include "ir/regime.h"
#include "ir/residual.h"

namespace tailor::costmodel {

/// How a residual may depend on a feature. body: smoothed along it, it never falls faster than the body's time grows.
/// rising: more of it is never faster. free: it tells kinds of kernels apart; bytes and figures of a GPU do not move
/// it.
enum class Law : std::uint8_t { body, rising, free };

/// `body` in seconds, above 0: what the formulas say of the kernel alone, without launch and floor.
struct Seen {
  const Work& work;
  const ir::Estimate& estimate;
  double body;
};
struct Feature {
  std::string_view name;
  Law law;
  double (*of)(const Seen& seen);
};
inline constexpr std::size_t feature_count = 12;
std::span<const Feature, feature_count> residual_features();
std::array<double, feature_count> features_of(const Seen& seen);

/// ln of what the body takes over `seen.body`, in residual.low .. residual.high. Beyond the observed times it fades to
/// 0 over a factor of sixteen; it is 0 for kernels unlike the observed ones and for states of the cache that were not.
double log_correction(const ir::Residual& residual, const Seen& seen, ir::CacheState cache);
/// The same of features that are there already, of an observed state of the cache.
double log_correction(const ir::Residual& residual, std::span<const double, feature_count> features);

}  // namespace tailor::costmodel
