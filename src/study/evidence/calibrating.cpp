// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From names to a fitted calibration. The GPU and its observations are found, samples are made, priors are taken from
// the calibrations of other GPUs where asked, and the fit is made. Out: a calibration and tables; no file is written
// here. Called by tailor calibrate.
#include "study/evidence/calibrating.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "calibrate/boosting.h"
#include "calibrate/propose.h"
#include "study/pipeline/question.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

report::Table figure_table_of(const calibrate::Fitted& fitted) {
  using report::Hint;
  report::Table table;
  table.title = "fitted figures";
  table.columns = {column("figure", "figure"),
                   column("of_operation", "of calls of", Hint::text, 1),
                   column("value", "value", Hint::number),
                   column("low", "from", Hint::number),
                   column("high", "to", Hint::number),
                   column("unit", "unit"),
                   column("before", "before", Hint::number, 2),
                   column("left_open", "left open", Hint::fraction, 3)};
  for (const calibrate::Moved& one : fitted.moved)
    table.rows.push_back({one.figure, one.operation, one.value, one.low, one.high,
                          std::string(ir::find_figure(one.figure)->unit), one.before, one.shrink});
  return table;
}

/// So many of side train, drawn by a seed; the others are kept out of the fit, but not of the margins.
void draw(std::vector<calibrate::Sample>& samples, std::int64_t shots, std::int64_t seed) {
  std::sort(samples.begin(), samples.end(),
            [](const calibrate::Sample& a, const calibrate::Sample& b) { return a.of.id < b.of.id; });
  std::vector<std::size_t> train;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].of.split == ir::Split::train) train.push_back(i);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  for (std::size_t i = train.size(); i > 1; --i) std::swap(train[i - 1], train[random() % i]);
  train.resize(std::min(train.size(), static_cast<std::size_t>(shots)));
  std::sort(train.begin(), train.end());
  std::vector<calibrate::Sample> kept;
  for (const std::size_t i : train) kept.push_back(std::move(samples[i]));
  samples = std::move(kept);
}

/// The same, but of half of side train, which the seed draws, those that lower the expected error of predictions most.
/// Their times are not looked at.
void pick(std::vector<calibrate::Sample>& samples, const CalibrationQuestion& question, const ir::Device& device,
          const ir::Calibration& before, const calibrate::FitOptions& options, const std::stop_token& stop) {
  const auto train = std::count_if(samples.begin(), samples.end(),
                                   [](const calibrate::Sample& one) { return one.of.split == ir::Split::train; });
  draw(samples, std::max<std::int64_t>(question.shots, train / 2), question.seed);
  const calibrate::Proposals proposals =
      calibrate::propose(samples, {}, device, before, options, static_cast<std::size_t>(question.shots), stop);
  std::vector<calibrate::Sample> picked;
  for (const calibrate::Proposal& one : proposals.chosen) picked.push_back(samples[one.candidate]);
  samples = std::move(picked);
}

}  // namespace

std::vector<calibrate::Neighbour> nearest_calibrated(const ir::Device& device, const std::filesystem::path& data) {
  constexpr std::size_t most = 4;
  std::vector<calibrate::Neighbour> all;
  for (const ir::Device& one : known_devices(data)) {
    const std::filesystem::path file = data / "calibrations" / (one.name + ".json");
    if (std::filesystem::is_regular_file(file)) all.push_back({one, ir::read_calibration(file.string())});
  }
  return calibrate::nearest(device, all, most);
}

std::string learning_library() { return calibrate::boosting_library(); }
std::string learning_remedy() { return calibrate::boosting_remedy(); }

CalibrationAnswer calibrate_device(const CalibrationQuestion& question, const std::filesystem::path& data,
                                   const Watch& watch) {
  const ir::Device device = load_device(data, question.device);
  const ir::Calibration before = load_calibration(data, question.calibration);
  const std::vector<ir::Device> devices = known_devices(data, device);
  const Evidence evidence = read_evidence(question.sources, data, watch);
  CalibrationAnswer answer;
  answer.samples = samples_of(evidence, devices, device.name, watch);
  std::vector<calibrate::Sample> samples = std::move(answer.samples.samples);
  answer.samples.samples.clear();
  if (samples.empty()) {
    const std::vector<std::string> why = left_out(answer.samples);
    std::vector<std::string> found;
    for (const ir::Observation& one : evidence.observations)
      if (std::find(found.begin(), found.end(), one.device) == found.end()) found.push_back(one.device);
    throw Error(Fault::failed,
                fmt::format("there are no observations of '{}' that a model can be asked about", device.name),
                !why.empty()    ? fmt::format("{}", fmt::join(why, "; "))
                : found.empty() ? "tailor profile measures; docs/calibration.md says how tables are read"
                                : fmt::format("there are some of {}", fmt::join(found, ", ")));
  }
  answer.sooner_than_dram = std::count_if(samples.begin(), samples.end(), [&](const calibrate::Sample& one) {
    return one.of.regime.cache == ir::CacheState::cold &&
           one.of.time.value * device.dram_bandwidth.value < one.group.bytes_read;
  });
  calibrate::FitOptions options;
  options.few = question.few;
  options.residual = question.residual;
  if (question.few) {
    const auto neighbours = nearest_calibrated(device, data);
    if (neighbours.empty())
      throw Error(Fault::missing, "no other GPU is calibrated, so nothing is known to begin with",
                  "without --few, observations alone decide");
    for (const calibrate::Neighbour& one : neighbours) answer.priors_from.push_back(one.device.name);
    options.priors = calibrate::priors_from(device, neighbours);
  }
  if (question.shots > 0 && question.informative)
    pick(samples, question, device, before, options, watch.stop);
  else if (question.shots > 0)
    draw(samples, question.shots, question.seed);
  answer.fitted = calibrate::fit(samples, device, before, options, watch.stop);
  answer.fitted.calibration.name = device.name;
  answer.figures = figure_table_of(answer.fitted);
  return answer;
}

}  // namespace tailor::study
