// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a Summary says in sentences: the answer, the verdict on a claim. In: a Summary. Out: short sentences with their
// numbers. Called by the overview, the Markdown file, the pages and their index. A sentence says one thing; what a time
// rests on stands beside it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>

#include "base/text.h"
#include "report/overview.h"

namespace tailor::report {

namespace {

/// "7.01 × faster", "1.20 × slower".
std::string times_faster(double ratio) {
  return ratio >= 1 ? fmt::format("{} × faster", three_figures(ratio))
                    : fmt::format("{} × slower", three_figures(1 / ratio));
}

/// "level counted", or where a time adds up several levels "84.1 % level projected, 15.9 % level counted".
std::string levels_of(std::string_view level, Seconds time, std::span<const NamedTime> made_of) {
  if (made_of.empty() || !(time.value > 0)) return fmt::format("level {}", level);
  const auto words = [](const std::string& name) { return name == "bound" ? "a bound" : "level " + name; };
  if (made_of.size() == 1) return words(made_of[0].name);
  std::vector<std::string> parts;
  for (const NamedTime& one : made_of)
    parts.push_back(fmt::format("{} % {}", three_figures(100 * (one.time / time)), words(one.name)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "561 us instead of 1.47 ms, level projected"; where not all is of one level each time says what it is made of.
std::string both_times(const Speedup& at) {
  const std::string chosen = levels_of(at.level, at.chosen, at.chosen_made_of);
  const std::string baseline = levels_of(at.level, at.baseline, at.baseline_made_of);
  if (chosen == baseline && at.chosen_made_of.size() <= 1)
    return fmt::format("{} instead of {}, {}", humane_seconds(at.chosen.value), humane_seconds(at.baseline.value),
                       chosen);
  return fmt::format("{} ({}) instead of {} ({})", humane_seconds(at.chosen.value), chosen,
                     humane_seconds(at.baseline.value), baseline);
}

/// Both speed-ups of the chosen strategy, each by its name: of the fused kernels alone, and with the library calls.
std::string speedup_words(const StrategyTotals& chosen, const StrategyTotals& baseline, const Speedup& at) {
  const bool bounds = chosen.groups_at_lower_bound > 0 || baseline.groups_at_lower_bound > 0;
  const bool measured = at.level == "profiled" && at.chosen_made_of.empty() && at.baseline_made_of.empty();
  const std::string_view is = measured ? "is" : "is predicted";
  std::string out = fmt::format(" {}{} {} in its fused kernels alone: {}.",
                                bounds     ? "With groups without a plan at their bound, it "
                                : measured ? "By kernels measured one by one, it "
                                           : "It ",
                                is, times_faster(at.of_kernels()), both_times(at));
  if (const std::optional<double> whole = at.with_library())
    return out + fmt::format(" It {} {} with the library calls, which take {} under both.", is, times_faster(*whole),
                             humane_seconds(at.library->value));
  if (chosen.library_calls == 0) return out + " The model makes no library calls.";
  return out + fmt::format(" The {} library calls, equal for both, have no time.", with_commas(chosen.library_calls));
}

std::string measured_words(const Summary& summary) {
  const std::string where = fmt::format("{}", fmt::join(summary.measured_on, " and "));
  if (!summary.measured.empty())
    return fmt::format(" {} kernel{} measured{}{}.", with_commas(static_cast<std::int64_t>(summary.measured.size())),
                       summary.measured.size() == 1 ? " was" : "s were", where.empty() ? "" : " on ", where);
  if (!has_measured_times(summary)) return " Nothing was measured.";
  return where.empty() ? " Its measured times are replayed from records."
                       : fmt::format(" Its measured times are replayed from records of {}.", where);
}

/// How much of a strategy's time is a bound.
std::string bound_words(const StrategyTotals& strategy) {
  if (strategy.groups_at_lower_bound == 0 || strategy.time.empty() || !(strategy.time.back().time.value > 0)) return {};
  const std::string launches =
      strategy.launches_at_lower_bound == 1 ? "1 launch" : with_commas(strategy.launches_at_lower_bound) + " launches";
  return fmt::format(" {} % of the time of strategy {} is no prediction: {} without a plan count{} bound.",
                     three_figures(100 * (strategy.time_at_lower_bound / strategy.time.back().time)), strategy.name,
                     launches, strategy.launches_at_lower_bound == 1 ? "s with its" : " with their");
}

}  // namespace

std::optional<Speedup> speedup(const StrategyTotals& chosen, const StrategyTotals& baseline) {
  for (auto a = chosen.time.rbegin(); a != chosen.time.rend(); ++a)
    for (const LevelTime& b : baseline.time)
      if (b.level == a->level && a->time.value > 0 && b.time.value > 0)
        return Speedup{a->level,   a->time,  b.time, chosen.library_calls > 0 ? chosen.library_time : std::nullopt,
                       a->made_of, b.made_of};
  return std::nullopt;
}

std::optional<double> Speedup::with_library() const {
  if (!library) return std::nullopt;
  return (baseline + *library) / (chosen + *library);
}

bool has_measured_times(const Summary& summary) {
  for (const StrategyTotals& strategy : summary.strategies)
    for (const LevelTime& time : strategy.time)
      if (time.level == "profiled") return true;
  return !summary.measured.empty() || !summary.times.empty();
}

std::string answer(const Summary& summary) {
  const StrategyTotals* chosen = find_strategy(summary, summary.chosen);
  if (chosen == nullptr) return "No strategy was run, so there is no answer yet.";
  const StrategyTotals* baseline = find_strategy(summary, summary.baseline);
  if (baseline == chosen) baseline = nullptr;
  std::string out = fmt::format("Strategy {} needs {} kernel{}", chosen->name, with_commas(chosen->kernels),
                                chosen->kernels == 1 ? "" : "s");
  if (baseline != nullptr) {
    out += fmt::format(", {} needs {}", baseline->name, with_commas(baseline->kernels));
    if (chosen->kernels > 0 && baseline->kernels > chosen->kernels)
      out += fmt::format(" ({} × fewer)",
                         three_figures(static_cast<double>(baseline->kernels) / static_cast<double>(chosen->kernels)));
  }
  out += ".";
  if (baseline != nullptr) {
    if (const auto at = speedup(*chosen, *baseline)) out += speedup_words(*chosen, *baseline, *at);
  } else if (!chosen->time.empty()) {
    const LevelTime& last = chosen->time.back();
    out += fmt::format(" Its kernels are predicted to take {} ({}).", humane_seconds(last.time.value),
                       levels_of(last.level, last.time, last.made_of));
  }
  out += measured_words(summary);
  if (baseline != nullptr && imitates_xla(baseline->name))
    out += agreement_words(summary.xla_scores, baseline->name, summary.manifest.device);
  out += bound_words(*chosen);
  return baseline == nullptr ? out : out + bound_words(*baseline);
}

Verdict verdict(const ClaimSummary& claim) {
  if (!claim.not_judged.empty())
    return {"The claim is not judged.",
            fmt::format("It says: {}. It has no verdict: {}.", claim.text, claim.not_judged)};
  Verdict out;
  out.head = claim.holds() ? "The claim holds." : "The claim does not hold.";
  out.words = fmt::format(
      "It says: {0}. Over all models and devices of the sweep, strategy {2} needs {3} × as much as the best other one, "
      "counting {1}. The claim asks for {4} × or more.",
      claim.text, claim.meaning, claim.baseline, three_figures(claim.value), three_figures(claim.threshold));
  if (!claim.left_out.empty())
    out.words +=
        fmt::format(" Not compared: {}, of which more launches have no plan.", fmt::join(claim.left_out, ", "));
  return out;
}

Table verdict_table(const Summary& summary) {
  Table table;
  table.columns = {{"claim", "claim"},
                   {"claim_text", "it says"},
                   {"claim_metric", "claim about"},
                   {"claim_value", "is", Hint::number},
                   {"claim_threshold", "threshold", Hint::number},
                   {"reason", "reason"}};
  if (!summary.claim) return table;
  const ClaimSummary& claim = *summary.claim;
  const bool judged = claim.not_judged.empty();
  table.rows.push_back({std::string(!judged         ? "not judged"
                                    : claim.holds() ? "holds"
                                                    : "does not hold"),
                        claim.text, claim.metric, judged ? Cell(claim.value) : Cell(), claim.threshold,
                        judged ? Cell() : Cell(claim.not_judged)});
  return table;
}

}  // namespace tailor::report
