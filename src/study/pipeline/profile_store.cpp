// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One item at a time, inside the caller's transaction.
#include "study/pipeline/profile_store.h"

#include <fmt/format.h>

#include "base/statistics.h"
#include "profiler/measure/sampled.h"
#include "study/pipeline/to_rows.h"

namespace tailor::study {

namespace {

/// A median as an estimate of the highest level. Each protocol is a model of its own.
store::EstimateRow profiled_estimate(const ProfiledKernel& item, const ir::Measurement& measured, const Spread& time,
                                     Id device) {
  store::EstimateRow row;
  row.plan = item.plan;
  row.device = device;
  row.level = ir::name(ir::Level::profiled);
  row.model = fmt::format("measured, {}", text(measured.protocol));
  row.total = {time.median};
  row.low = {time.low};
  row.high = {time.high};
  row.bottleneck = "measured";
  row.registers = item.result.entry.registers;
  return row;
}

store::CheckRow verdict_row(const ProfiledKernel& item, const MeasuredUnder& under) {
  const profiler::CandidateResult& result = item.result;
  std::string state = "not executed";
  if (result.outcome == ir::Outcome::ok)
    state = result.judged ? "passed" : "not executed";
  else if (result.outcome == ir::Outcome::wrong)
    state = "wrong";
  else if (result.outcome == ir::Outcome::timed_out)
    state = "timed out";
  else if (result.outcome == ir::Outcome::overrun)
    state = "unsound";
  else if (ir::is_refuted(result.outcome))
    state = "crashed";
  return {item.kernel,
          fmt::format("{}, {}", under.profiler, result.checked_on.empty() ? "its own shape" : result.checked_on),
          state,
          result.worst,
          result.reason,
          0};
}

}  // namespace

void save_profiled(store::Store& store, const ProfiledKernel& item, const MeasuredUnder& under) {
  if (item.binary != nullptr) store.save(binary_row(*item.binary, item.kernel));
  const bool replayed = under.profiler == "replay";
  if (!replayed) store.save(verdict_row(item, under));
  for (const ir::Measurement& measured : item.result.times) {
    if (measured.outcome == ir::Outcome::not_recorded || measured.outcome == ir::Outcome::stopped) continue;
    const Spread time = profiler::time_of(measured);
    if (!replayed)
      store.save(store::measurement_row(measured, under.run, item.binary->source, under.device, Seconds{time.low},
                                        Seconds{time.high}));
    if (measured.outcome == ir::Outcome::ok && time.n > 0)
      store.save(profiled_estimate(item, measured, time, under.device));
  }
  if (ir::is_refuted(item.result.outcome))
    store.save(store::PlanRejectionRow{item.plan, under.device, "kernel is wrong", item.result.reason});
}

}  // namespace tailor::study
