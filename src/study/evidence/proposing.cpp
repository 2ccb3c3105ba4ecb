// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Candidates for measurements, and their order. Models are fused and searched as any command does; their best plans,
// and copies of arrays of many sizes, become samples without a time in the regimes that tailor profile measures. Out:
// the table of those that calibrate/propose.h chooses. Called by tailor calibrate --budget.
#include "study/evidence/proposing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "calibrate/propose.h"
#include "calibrate/transfer.h"
#include "study/pipeline/question.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

struct Candidates {
  std::vector<calibrate::Sample> samples;
  std::vector<std::string> what, how;  ///< of each: what it is, and the command that measures it
};

std::vector<ir::Regime> measured_regimes() {
  std::vector<ir::Regime> regimes;
  for (const ir::CacheState cache : {ir::CacheState::cold, ir::CacheState::warm})
    regimes.push_back(ir::make_regime({cache, ir::TimedBy::events, ir::LaunchMode::stream}));
  return regimes;
}

/// `named` is what --device was given.
void add_copies(Candidates& to, const ir::Device& device, std::string_view named) {
  constexpr double least = 65536, share = 8;
  for (double bytes = least; bytes <= device.dram_bytes.value / share; bytes *= 4)
    for (const ir::Regime& regime : measured_regimes()) {
      constexpr std::int64_t threads = 256, vector = 16;
      ir::ForeignKernel copy{"copy", humane_bytes(bytes), 0, threads, 0, 0, bytes, bytes};
      copy.blocks = static_cast<std::int64_t>(std::ceil(bytes / static_cast<double>(threads * vector)));
      copy.far_trips = 1;
      to.samples.push_back(
          calibrate::foreign_sample(ir::make_observation(device.name, regime, {1}, {1}, {1}, "to be measured", copy)));
      to.what.push_back(fmt::format("copy of {}, {}", humane_bytes(bytes), name(regime.cache)));
      to.how.push_back(fmt::format("tailor microbench --device {} --only copy", shell_word(named)));
    }
}

void add_plans(Candidates& to, const std::string& path, const CalibrationQuestion& question,
               const std::filesystem::path& data, const Watch& watch) {
  Question about;
  about.model = path;
  about.device = question.device;
  about.calibration = question.calibration;
  FusedModel model(about, data, watch);
  std::vector<Unplanned> unplanned;
  constexpr std::int64_t best = 2, drawn = 3;
  for (const Candidate& one : choose_plans(model, {"", best, true, drawn, 1}, watch, &unplanned))
    for (const ir::Regime& regime : measured_regimes()) {
      calibrate::Sample sample;
      sample.of = ir::make_observation(model.target.device.name, regime, {1}, {1}, {1}, "to be measured",
                                       ir::OwnKernel{one.of->group.id, ir::id_of(one.plan, one.of->group.id), 0});
      sample.work = one.work;
      sample.group = one.of->work;
      sample.operation = one.of->title();
      sample.bytes = one.of->bytes;
      to.samples.push_back(std::move(sample));
      to.what.push_back(fmt::format("{}, {}", one.of->title(), name(regime.cache)));
      to.how.push_back(fmt::format(
          "tailor profile {} --device {} --group {} --plan {} --cache-state {} --timed-by events", shell_word(path),
          shell_word(question.device), one.of->number + 1, shell_word(ir::text(one.plan)), name(regime.cache)));
    }
}

}  // namespace

ProposalAnswer propose_measurements(const CalibrationQuestion& question, const std::vector<std::string>& models,
                                    std::int64_t budget, const std::filesystem::path& data, const Watch& watch) {
  const ir::Device device = load_device(data, question.device);
  const ir::Calibration before = load_calibration(data, question.calibration);
  std::vector<std::string> paths = models;
  if (paths.empty())
    for (const auto& entry : std::filesystem::directory_iterator(data / "models"))
      if (entry.is_regular_file()) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  Candidates candidates;
  add_copies(candidates, device, question.device);
  for (const std::string& path : paths) add_plans(candidates, path, question, data, watch);
  std::vector<calibrate::Sample> known;
  if (!question.sources.empty())
    known = samples_of(read_evidence(question.sources, data, watch), {device}, device.name, watch).samples;
  ProposalAnswer answer;
  calibrate::FitOptions options;
  const auto neighbours = nearest_calibrated(device, data);
  for (const calibrate::Neighbour& one : neighbours) answer.priors_from.push_back(one.device.name);
  options.priors = calibrate::priors_from(device, neighbours);
  const calibrate::Proposals proposals = calibrate::propose(candidates.samples, known, device, before, options,
                                                            static_cast<std::size_t>(budget), watch.stop);
  answer.error_before = proposals.error_before;
  answer.left = proposals.left;
  using report::Hint;
  answer.table.title = "what to measure, the most telling first";
  answer.table.columns = {column("proposal", "measurement"), column("moved", "moves", Hint::bytes, 1),
                          column("expected_error", "expected error after it", Hint::fraction),
                          column("measured_by", "measured by", Hint::text, 2)};
  for (const calibrate::Proposal& one : proposals.chosen)
    answer.table.rows.push_back({candidates.what[one.candidate], candidates.samples[one.candidate].bytes,
                                 one.expected_error, candidates.how[one.candidate]});
  return answer;
}

}  // namespace tailor::study
