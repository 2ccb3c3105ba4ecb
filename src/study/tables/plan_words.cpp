// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What executing and measuring found of one plan, in lines. In: a candidate or a result. Out: lines whose labels take
// twelve columns, as the rest of explain's page has them. Called by tailor explain. A time that is not known is said
// to be missing, with the reason.
#include "study/tables/plan_words.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/statistics.h"
#include "base/text.h"
#include "codegen/lower/mapping.h"
#include "profiler/measure/sampled.h"
#include "study/tables/check_tables.h"

namespace tailor::study {

std::string stitch_words(const Candidate& one) {
  std::string words;
  for (const codegen::SubRoot& root : codegen::sub_roots(*one.of->ready(), one.plan, one.on->limits))
    words += fmt::format("{}%{}@{}", words.empty() ? "" : ", ", root.node, name(root.stitch));
  return words;
}

std::string pieces_words(const Candidate& one) {
  const codegen::Prepared& loop = codegen::prepared_for(*one.of->ready(), one.plan);
  if (loop.joined.empty()) return "";
  const ir::Node& joined = (*loop.graph)[loop.joined.front()];
  return fmt::format("over the {} pieces of %{}, the same place of all of them: map {}", joined.operands.size(),
                     joined.name, loop.columns);
}

std::string measured_words(const Candidate& one) {
  const profiler::CandidateResult& result = *one.measured;
  if (result.outcome != ir::Outcome::ok || result.times.empty() || result.times.front().samples.empty())
    return fmt::format("measured    {}{}\n", ir::name(result.outcome),
                       result.reason.empty() ? "" : ": " + result.reason);
  const ir::Measurement& measured = result.times.front();
  const Spread time = profiler::time_of(measured);
  const Seconds predicted = predicted_for(one, measured.protocol).value_or(Seconds{});
  std::string out = fmt::format(
      "measured    {} ({} to {}), {}, {} on {}\n"
      "beside it   predicted for that {}, predicted / measured {:.2f}\n",
      humane_seconds(time.median), humane_seconds(time.low), humane_seconds(time.high), text(measured.protocol),
      counted(time.n, "sample"), measured.gpu, humane_seconds(predicted.value), predicted.value / time.median);
  if (!result.uncounted.empty()) out += fmt::format("counters    none: {}\n", result.uncounted);
  return out;
}

std::string execution_words(const Candidate& one) {
  const profiler::Checked& checked = *one.verdict;
  std::string out = fmt::format("executed    {}", profiler::name(checked.state));
  if (checked.state == profiler::Verdict::passed)
    out += fmt::format(": worst error {:.2g} of its tolerance, {} of the results judged", checked.worst,
                       judged_words(checked.judged_of_all()));
  if (!checked.reason.empty()) out += ": " + checked.reason;
  out += "\n";
  if (checked.counts.blocks_run == 0) return out;
  if (checked.counts.blocks_run < checked.counts.blocks_total)
    out += fmt::format("sampled     {} of {}; instructions known to {:.2g} %\n", with_commas(checked.counts.blocks_run),
                       counted(checked.counts.blocks_total, "block"), 100 * checked.counts.standard_error);
  // The compiler may not know the GPU's own architecture.
  const bool is_other = one.binary && one.binary->arch != one.on->device.arch;
  return out + fmt::format(
                   "estimates   {} with the compiler's registers and instructions{}, {} with the counts of the "
                   "execution, bound by {}\n",
                   humane_seconds(one.standing.at(ir::Level::compiled)->total.value),
                   is_other ? fmt::format(" for {} in the place of {}", one.binary->arch, one.on->device.arch) : "",
                   humane_seconds(one.standing.at(ir::Level::counted)->total.value),
                   ir::name(one.standing.at(ir::Level::counted)->bottleneck));
}

}  // namespace tailor::study
