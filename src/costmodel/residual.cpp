// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of features and the correction. In: what was counted and estimated of one kernel. Out: the logarithm of a
// factor on its body. Called once for an estimate under a calibration that has a residual; a few hundred comparisons.
//
// The laws of the models hold with it. Bytes, bandwidths and clocks move the body and the features that are
// Law::rising, all the same way. Trees rise along the latter (whoever fits them sees to it). Along the logarithm of the
// body their sum is smoothed over a width that lets it fall by 0.8 at most where that grows by 1, and the fade, which
// depends on the body alone, by 0.51 / ln 16 = 0.18 at most: together less than 1, so a longer body never becomes a
// shorter time. What may go either way (Law::free) is moved by none of them. Parts are no longer than the body, so one
// that lies beyond what was observed while the body does not takes the value of the border.
#include "costmodel/residual.h"

#include <algorithm>
#include <cmath>

#include "base/indexed.h"

namespace tailor::costmodel {

namespace {

using ir::Part;

/// ln of seconds; what is under a nanosecond is nothing.
double log_seconds(double seconds) { return std::log(std::max(seconds, 1e-9)); }
double log_count(double count) { return std::log1p(std::max(0.0, count)); }
double part_of(const Seen& seen, Part part) { return row_for(seen.estimate.parts, part).value; }

double reread(const Seen& seen) {
  std::int64_t sectors = 0;
  for (const BufferWork& buffer : seen.work.buffers) sectors += buffer.reload_sectors;
  return log_count(static_cast<double>(sectors));
}
/// Beside accesses and their addresses, whose number is that of bytes.
double instructions_of_thread(const Seen& seen) {
  const Pipes& pipes = seen.work.pipes;
  const double warps = static_cast<double>(seen.work.virtual_blocks) * seen.work.threads / 32;
  return static_cast<double>(instructions(pipes) - pipes.memory - pipes.address) / std::max(1.0, warps);
}
double pipes(const Seen& seen) {
  double most = 0;
  for (const Part part : {Part::fma, Part::alu, Part::xu, Part::issue, Part::shared})
    most = std::max(most, part_of(seen, part));
  return log_seconds(most);
}

constexpr std::array<Feature, feature_count> feature_table{{
    {"body", Law::body, [](const Seen& s) { return log_seconds(s.body); }},
    {"dram", Law::rising, [](const Seen& s) { return log_seconds(part_of(s, Part::dram)); }},
    {"l2", Law::rising, [](const Seen& s) { return log_seconds(part_of(s, Part::l2)); }},
    {"pipes", Law::rising, pipes},
    {"latency", Law::rising, [](const Seen& s) { return log_seconds(part_of(s, Part::latency)); }},
    {"blocks", Law::rising, [](const Seen& s) { return log_count(static_cast<double>(s.work.virtual_blocks)); }},
    {"reread", Law::rising, reread},
    {"threads", Law::free, [](const Seen& s) { return static_cast<double>(s.work.threads); }},
    {"far_trips", Law::free, [](const Seen& s) { return s.work.critical_path.far; }},
    {"instructions", Law::free, instructions_of_thread},
    {"shuffles", Law::free, [](const Seen& s) { return s.work.critical_path.shuffle; }},
    {"barriers", Law::free, [](const Seen& s) { return s.work.critical_path.barrier; }},
}};

}  // namespace

std::span<const Feature, feature_count> residual_features() { return feature_table; }

std::array<double, feature_count> features_of(const Seen& seen) {
  std::array<double, feature_count> values{};
  for (std::size_t i = 0; i < feature_count; ++i) values[i] = feature_table[i].of(seen);
  return values;
}

double log_correction(const ir::Residual& residual, const Seen& seen, ir::CacheState cache) {
  if (std::find(residual.caches.begin(), residual.caches.end(), ir::name(cache)) == residual.caches.end()) return 0;
  return log_correction(residual, features_of(seen));
}

double log_correction(const ir::Residual& residual, std::span<const double, feature_count> features) {
  constexpr double fade = 2.7726;  // ln 16
  double weight = 1;
  for (std::size_t i = 0; i < feature_count; ++i) {
    const double beyond =
        std::max({0.0, residual.features[i].low - features[i], features[i] - residual.features[i].high});
    if (feature_table[i].law == Law::free && beyond > 0) return 0;
    if (feature_table[i].law == Law::body) weight = std::max(0.0, 1 - beyond / fade);
  }
  if (weight == 0) return 0;
  return weight * std::clamp(ir::sum_of(residual.trees, features, residual.width), residual.low, residual.high);
}

}  // namespace tailor::costmodel
