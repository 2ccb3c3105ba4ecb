// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One candidate at a time, inside the caller's unit. In: a candidate with what is known of it. Out: rows of the
// database, or nothing where there is none. Called by sweeps and by commands with --store. Rows come from to_rows.h;
// what is here is which of them a stage owes.
#include "study/pipeline/recorder.h"

#include <fmt/format.h>

#include "base/statistics.h"
#include "profiler/measure/sampled.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/stages.h"
#include "study/pipeline/to_rows.h"

namespace tailor::study {

namespace {

/// A median as an estimate of the highest level. Each protocol is a model of its own.
store::EstimateRow profiled_estimate(const Candidate& candidate, const ir::Measurement& measured, const Spread& time) {
  store::EstimateRow row;
  row.plan = candidate.plan_id();
  row.device = candidate.on->id;
  row.level = ir::name(ir::Level::profiled);
  row.model = fmt::format("measured, {}", text(measured.protocol));
  row.total = {time.median};
  row.low = {time.low};
  row.high = {time.high};
  row.bottleneck = "measured";
  row.registers = candidate.measured->entry.registers;
  return row;
}

store::CheckRow verdict_row(const Candidate& candidate, const std::string& profiler) {
  const profiler::CandidateResult& result = *candidate.measured;
  std::string state = "not executed";
  if (result.outcome == ir::Outcome::ok)
    state = result.judged ? "passed" : "not judged";
  else if (result.outcome == ir::Outcome::wrong)
    state = "wrong";
  else if (result.outcome == ir::Outcome::timed_out)
    state = "timed out";
  else if (result.outcome == ir::Outcome::overrun)
    state = "unsound";
  else if (ir::is_refuted(result.outcome))
    state = "crashed";
  return {candidate.kernel_id,
          fmt::format("{}, {}", profiler, result.checked_on.empty() ? "its own shape" : result.checked_on),
          state,
          result.worst,
          result.reason,
          0,
          result.judged_share};
}

}  // namespace

namespace {

std::string_view rule_of(const ir::Binary& binary) {
  return binary.outcome == ir::CompileOutcome::too_long ? rule_compile_limit : rule_compiles;
}

}  // namespace

Recorder::Recorder(const std::filesystem::path& database, store::RunRow run)
    : own_(store::Store::open(database)), store_(&*own_), run_(std::move(run)) {
  store_->save(run_);
}

void Recorder::save(const Target& target) {
  if (store_ == nullptr) return;
  store_->save(device_row(target.device, target.file));
  run_.devices.push_back({target.id, id_of(std::string_view(target.file))});
  store_->save(run_);
}

void Recorder::save(const PreparedGroup& group) {
  if (store_ != nullptr) store_->save(group_row(group.group, group.work, group.title()));
}

void Recorder::save_chosen(const Candidate& candidate) {
  save(*candidate.of);
  save_lowered(candidate);
}

void Recorder::save_lowered(const Candidate& candidate) {
  if (store_ == nullptr) return;
  const store::PlanRow plan = plan_row(candidate.plan, *candidate.of->ready());
  store_->save(plan);
  store_->save(kernel_row(candidate.kernel, candidate.kernel_id, candidate.cuda));
  store_->save(store::LoweringRow{plan.id, candidate.on->id, candidate.kernel_id});
}

void Recorder::save_compiled(const Candidate& candidate) {
  if (store_ == nullptr || !candidate.binary) return;
  store_->save(binary_row(*candidate.binary, candidate.kernel_id));
  if (ir::has_no_kernel(candidate.binary->outcome))
    store_->save(store::PlanRejectionRow{candidate.plan_id(), candidate.on->id, std::string(rule_of(*candidate.binary)),
                                         candidate.binary->log.substr(0, candidate.binary->log.find('\n'))});
  if (candidate.refused)
    store_->save(store::PlanRejectionRow{candidate.plan_id(), candidate.on->id, candidate.refused->rule,
                                         candidate.refused->reason});
}

void Recorder::reject_uncompiled(const Candidate& candidate) {
  if (store_ == nullptr) return;
  constexpr int everything = 1 << 30;
  const auto known = store_->plan_rejections_of(candidate.of->group.id, candidate.on->id);
  const bool takes_long = std::none_of(known.begin(), known.end(),
                                       [](const store::PlanRejectionRow& row) { return row.rule == rule_compiles; });
  for (const store::BestPlan& plan : store_->best_plans(candidate.of->group.id, candidate.on->id, everything))
    store_->save(store::PlanRejectionRow{plan.estimate.plan, candidate.on->id,
                                         std::string(takes_long ? rule_compile_limit : rule_compiles),
                                         "no kernel of the group's short list compiled"});
}

void Recorder::save_checked(const Candidate& candidate, const std::string& method) {
  if (store_ == nullptr || !candidate.verdict) return;
  const profiler::Checked& checked = *candidate.verdict;
  store_->save(check_row(checked, candidate.kernel_id, candidate.other ? method + ", " + candidate.other_is : method));
  if (profiler::is_refuted(checked.state))
    store_->save(plan_rejection_row(checked, candidate.plan_id(), candidate.on->id));
  if (candidate.counted())
    store_->save(
        measurement_row(checked, candidate.kernel, run_.id, candidate.binary->source, candidate.on->id, method));
}

void Recorder::save_checks(std::span<const Candidate> candidates, const Checking& how, bool finished_only) {
  unit([&] {
    for (const Candidate& candidate : candidates) {
      if (finished_only && !candidate.verdict) continue;
      save_chosen(candidate);
      if (!candidate.other) save_compiled(candidate);
      save_checked(candidate, check_method(how.each, how.seeds, candidate));
    }
  });
}

void Recorder::save_measured(const Candidate& candidate, const std::string& profiler) {
  if (store_ == nullptr || !candidate.measured) return;
  save_compiled(candidate);
  const bool replayed = profiler == "replay";
  if (!replayed) store_->save(verdict_row(candidate, profiler));
  for (const ir::Measurement& measured : candidate.measured->times) {
    if (measured.outcome == ir::Outcome::not_recorded || measured.outcome == ir::Outcome::stopped) continue;
    const Spread time = profiler::time_of(measured);
    if (!replayed)
      store_->save(store::measurement_row(measured, run_.id, candidate.binary->source, candidate.on->id,
                                          Seconds{time.low}, Seconds{time.high}));
    if (measured.outcome != ir::Outcome::ok || time.n == 0) continue;
    store_->save(profiled_estimate(candidate, measured, time));
    for (const ir::Estimate& estimate : candidate.standing.estimates)
      save_prediction(candidate, estimate.level, ir::make_regime(measured.protocol));
  }
  if (ir::is_refuted(candidate.measured->outcome))
    store_->save(
        store::PlanRejectionRow{candidate.plan_id(), candidate.on->id, "kernel is wrong", candidate.measured->reason});
}

void Recorder::save_estimate(const Candidate& candidate, ir::Level level, std::string_view model) {
  if (store_ == nullptr) return;
  if (const ir::Estimate* estimate = candidate.standing.at(level))
    store_->save(estimate_row(candidate.plan_id(), candidate.on->id, *estimate, model));
}

void Recorder::save_prediction(const Candidate& candidate, ir::Level level, const ir::Regime& regime) {
  if (store_ == nullptr) return;
  if (const std::optional<ir::Estimate> predicted = predict(candidate, level, regime))
    store_->save(prediction_row(candidate.plan_id(), candidate.on->id, *predicted,
                                costmodel::estimate_name(ir::name(level), candidate.on->calibrated.calibration),
                                regime));
}

void Recorder::name_gpu(const gpu::Response& opened) { study::name_gpu(run_, opened); }

void Recorder::close(std::string_view outcome) {
  if (store_ == nullptr) return;
  run_.finished_at = time_now();
  run_.outcome = outcome;
  store_->save(run_);
}

}  // namespace tailor::study
