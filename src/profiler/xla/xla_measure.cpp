// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels on a worker's GPU. In: cases and sequences of a module. Out: a verdict and times for each kernel, and
// for all of the module in order. Nothing is timed that has not run once between guard zones and been held against the
// reference.
#include "profiler/xla/xla_measure.h"

#include <memory>
#include <utility>

#include "base/stop.h"
#include "profiler/measure/sampled.h"
#include "profiler/measure/sequence_cache.h"

namespace tailor::profiler {

namespace {

using ir::Outcome;

/// The checked run of a kernel; true when it may be timed.
bool run_checked(SequenceCache& sequences, int number, const XlaCase& one, const MeasureOptions& options,
                 CandidateResult& result) {
  const gpu::Response& load = sequences.loaded(number);
  result.outcome = load.outcome;
  result.reason = load.reason;
  if (load.outcome != Outcome::ok) return false;
  if (!load.entries.empty()) result.entry = load.entries.front();
  const gpu::Response run = sequences.call(number, gpu::RunRequest{number, options.seed, one.unjudged.empty()});
  result.outcome = run.outcome;
  result.reason = run.reason;
  if (run.outcome != Outcome::ok) return false;
  if (!one.unjudged.empty()) {
    result.reason = "no reference: " + one.unjudged;
    return true;
  }
  const XlaVerdict verdict = judge_fetched(one, run.blob, options.stop);
  result.worst = verdict.worst;
  result.reason = verdict.reason;
  result.judged = verdict.outcome == XlaOutcome::matched || verdict.outcome == XlaOutcome::differs;
  if (verdict.results > 0)
    result.judged_share =
        static_cast<double>(verdict.results - verdict.unjudged) / static_cast<double>(verdict.results);
  result.checked_on = "its own shape";
  if (verdict.outcome == XlaOutcome::differs) result.outcome = Outcome::wrong;
  return result.outcome == Outcome::ok;
}

void measure_one(Worker& worker, const XlaModule& module, const XlaKernel& kernel, std::int64_t most_elements,
                 const MeasureOptions& options, XlaMeasured& measured) {
  auto made = xla_case(module, kernel, options.seed, most_elements, options.stop);
  if (XlaRefusal* refusal = std::get_if<XlaRefusal>(&made)) {
    measured.left_out = std::move(*refusal);
    return;
  }
  const XlaCase& one = std::get<XlaCase>(made);
  CandidateResult& result = measured.result;
  SequenceCache sequences(worker, options.time_limit);
  const int number =
      sequences.add({sequence_of(kernel, one), std::make_shared<const std::vector<std::byte>>(contents_of(one))});
  run_checked(sequences, number, one, options, result);
  for (const ir::CacheState cache : options.caches) {
    ir::Measurement& into = result.times.emplace_back(
        blank_measurement(worker, cache, options.timed_by, options.launch, options.stop_rule));
    into.outcome = result.outcome;
    into.reason = result.outcome == Outcome::ok ? std::string() : result.reason;
    if (result.outcome != Outcome::ok) continue;
    sample(sequences, number, options.stop, into);
    if (into.outcome == Outcome::ok) continue;
    result.outcome = into.outcome;
    result.reason = into.reason;
  }
}

}  // namespace

std::string_view outcome_word(const XlaMeasured& measured) {
  if (measured.left_out) return name(measured.left_out->outcome);
  if (measured.result.outcome == Outcome::wrong) return name(XlaOutcome::differs);
  if (measured.result.outcome != Outcome::ok) return ir::name(measured.result.outcome);
  return measured.result.judged ? name(XlaOutcome::matched) : "not judged";
}

XlaMeasured measure_xla(Worker& worker, const XlaModule& module, const XlaKernel& kernel, std::int64_t most_elements,
                        const MeasureOptions& options) {
  XlaMeasured measured;
  const auto work = [&] { measure_one(worker, module, kernel, most_elements, options, measured); };
  if (!done_unless_stopped(work)) {
    measured.result.outcome = Outcome::stopped;
    measured.result.reason = "stopped";
  }
  return measured;
}

std::vector<ir::Measurement> measure_xla_module(Worker& worker, const XlaModuleSequence& all,
                                                const MeasureOptions& options) {
  std::vector<ir::Measurement> times;
  SequenceCache sequences(worker, options.time_limit);
  const int number = sequences.add({all.sequence, std::make_shared<const std::vector<std::byte>>(all.contents)});
  gpu::Response run;
  run.outcome = Outcome::unavailable;
  run.reason = "no kernel of it can be launched";
  if (!all.sequence.launches.empty()) run = sequences.call(number, gpu::RunRequest{number, options.seed, false});
  for (const ir::CacheState cache : options.caches)
    for (const ir::LaunchMode launch : {ir::LaunchMode::stream, ir::LaunchMode::graph}) {
      ir::Measurement& into =
          times.emplace_back(blank_measurement(worker, cache, ir::TimedBy::events, launch, options.stop_rule));
      into.outcome = run.outcome;
      into.reason = run.reason;
      if (run.outcome == Outcome::ok) sample(sequences, number, options.stop, into);
    }
  return times;
}

}  // namespace tailor::profiler
