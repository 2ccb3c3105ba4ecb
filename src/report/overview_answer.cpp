// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a Summary says in sentences: the answer, the verdict on a claim. In: a Summary. Out: short sentences with their
// numbers. Called by the overview, the Markdown file, the pages and their index. A sentence says one thing; what a time
// rests on stands beside it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/counted.h"
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

/// Which levels the two times come from; where they differ, each by its strategy.
std::string levels_words(const StrategyTotals& chosen, const StrategyTotals& baseline, const Speedup& at) {
  const std::string mine = levels_of(at.level, at.chosen, at.chosen_made_of);
  const std::string other = levels_of(at.level, at.baseline, at.baseline_made_of);
  if (mine == other) return fmt::format(" Both times come from {}.", mine);
  return fmt::format(" The time of {} comes from {}, that of {} from {}.", chosen.name, mine, baseline.name, other);
}

/// Both speed-ups of the chosen strategy, each by its name: of the fused kernels alone, and with the library calls.
std::string speedup_words(const StrategyTotals& chosen, const StrategyTotals& baseline, const Speedup& at) {
  const bool bounds = chosen.groups_at_lower_bound > 0 || baseline.groups_at_lower_bound > 0;
  const bool measured = at.level == "profiled" && at.chosen_made_of.empty() && at.baseline_made_of.empty();
  const std::string_view is = measured ? "is" : "is predicted";
  std::string out = fmt::format("{} {} {} {} than {} in its fused kernels alone: {} instead of {}.",
                                bounds     ? "With groups without a plan at their bound, strategy"
                                : measured ? "By kernels measured one by one, strategy"
                                           : "Strategy",
                                chosen.name, is, times_faster(at.of_kernels()), baseline.name,
                                humane_seconds(at.chosen.value), humane_seconds(at.baseline.value));
  if (const std::optional<double> whole = at.with_library())
    return out + fmt::format(" With the library calls, which take {} under both, it {} {}.",
                             humane_seconds(at.library->value), is, times_faster(*whole));
  if (chosen.library_calls == 0) return out + " The model makes no library calls.";
  return out + fmt::format(" The {}, equal for both, {} no time.", counted(chosen.library_calls, "library call"),
                           chosen.library_calls == 1 ? "has" : "have");
}

/// "It needs 78 kernels, unfused needs 780 (10.0 × fewer)."
std::string kernel_words(std::string_view who, const StrategyTotals& chosen, const StrategyTotals* baseline) {
  std::string out = fmt::format("{} needs {}", who, counted(chosen.kernels, "kernel"));
  if (baseline != nullptr) {
    out += fmt::format(", {} needs {}", baseline->name, with_commas(baseline->kernels));
    if (chosen.kernels > 0 && baseline->kernels > chosen.kernels)
      out += fmt::format(" ({} × fewer)",
                         three_figures(static_cast<double>(baseline->kernels) / static_cast<double>(chosen.kernels)));
  }
  return out + ".";
}

std::string measured_words(const Summary& summary) {
  const std::string where = fmt::format("{}", fmt::join(summary.measured_on, " and "));
  if (!summary.measured.empty())
    return fmt::format(" {} measured{}{}.", counted(summary.measured.size(), "kernel", "was", "were"),
                       where.empty() ? "" : " on ", where);
  if (!has_measured_times(summary)) return " Nothing was measured.";
  return where.empty() ? " Its measured times are replayed from records."
                       : fmt::format(" Its measured times are replayed from records of {}.", where);
}

/// How much of a strategy's time is a bound.
std::string bound_words(const StrategyTotals& strategy) {
  if (strategy.groups_at_lower_bound == 0 || strategy.time.empty() || !(strategy.time.back().time.value > 0)) return {};
  const std::string launches = counted(strategy.launches_at_lower_bound, "launch");
  return fmt::format(" {} % of the time of strategy {} is no prediction: {} without a plan count{} bound.",
                     three_figures(100 * (strategy.time_at_lower_bound / strategy.time.back().time)), strategy.name,
                     launches, strategy.launches_at_lower_bound == 1 ? "s with its" : " with their");
}

/// No strategy makes a kernel: all that the model does is library calls, or nothing.
bool nothing_to_fuse(const Summary& summary) {
  return std::all_of(summary.strategies.begin(), summary.strategies.end(),
                     [](const StrategyTotals& strategy) { return strategy.kernels == 0; });
}

std::string library_words(const StrategyTotals& strategy) {
  const std::int64_t calls = strategy.library_calls;
  std::string out = "There is nothing to fuse in this model: ";
  if (calls == 0) return out + "no strategy makes a kernel, and it makes no library calls.";
  out += fmt::format("no strategy makes a kernel. It makes {}", counted(calls, "library call"));
  if (!strategy.library_time) return out + ".";
  return out + fmt::format(", which take{} {} under all of them.", calls == 1 ? "s" : "",
                           humane_seconds(strategy.library_time->value));
}

/// Predicted times stand where measured ones are asked for. A bound is neither, and is said beside the sum.
bool is_part_measured(const LevelTime& time) {
  const auto is_predicted = [](const NamedTime& one) { return one.name != "profiled" && one.name != "bound"; };
  return time.level == "profiled" && std::any_of(time.made_of.begin(), time.made_of.end(), is_predicted);
}

}  // namespace

std::optional<Speedup> speedup(const StrategyTotals& chosen, const StrategyTotals& baseline) {
  for (auto a = chosen.time.rbegin(); a != chosen.time.rend(); ++a)
    for (const LevelTime& b : baseline.time)
      if (b.level == a->level && a->time.value > 0 && b.time.value > 0 && !is_part_measured(*a) && !is_part_measured(b))
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

Answer answer(const Summary& summary) {
  const StrategyTotals* chosen = find_strategy(summary, summary.chosen);
  if (chosen == nullptr) return {"No strategy was run, so there is no answer yet.", ""};
  const StrategyTotals* baseline = find_strategy(summary, summary.baseline);
  if (baseline == chosen) baseline = nullptr;
  if (nothing_to_fuse(summary)) return {library_words(*chosen), ""};
  Answer out;
  const auto at = baseline == nullptr ? std::nullopt : speedup(*chosen, *baseline);
  if (at) {
    out.head = speedup_words(*chosen, *baseline, *at);
    out.rest = kernel_words("It", *chosen, baseline) + levels_words(*chosen, *baseline, *at);
  } else {
    out.head = kernel_words("Strategy " + chosen->name, *chosen, baseline);
    if (baseline == nullptr && !chosen->time.empty()) {
      const LevelTime& last = chosen->time.back();
      out.head += fmt::format(" Its kernels are predicted to take {} ({}).", humane_seconds(last.time.value),
                              levels_of(last.level, last.time, last.made_of));
    }
  }
  out.rest += measured_words(summary);
  if (baseline != nullptr && imitates_xla(baseline->name))
    out.rest += agreement_words(summary.xla_scores, baseline->name, summary.manifest.device, summary.reshapes);
  out.rest += bound_words(*chosen);
  if (baseline != nullptr) out.rest += bound_words(*baseline);
  out.rest = std::string(trim(out.rest));
  return out;
}

std::string Answer::text() const { return rest.empty() ? head : fmt::format("{} {}", head, rest); }

Verdict verdict(const ClaimSummary& claim) {
  if (!claim.not_judged.empty())
    return {"The claim is not judged.",
            fmt::format("It says: {}. It has no verdict: {}.", claim.text, claim.not_judged)};
  Verdict out;
  out.head = claim.holds() ? "The claim holds." : "The claim does not hold.";
  const std::string where =
      claim.points == 0 ? "Strategy"
                        : fmt::format("It must hold at each of {} of a grid, and comes out least at {}: there strategy",
                                      counted(claim.points, "point"), claim.point);
  out.words = fmt::format(
      "It says: {}. It counts {}, over all models and devices. {} {} has {} × as much as the best other one, and the "
      "claim asks for {} × or more.",
      claim.text, claim.meaning, where, claim.baseline, three_figures(claim.value), three_figures(claim.threshold));
  if (!claim.left_out.empty())
    out.words +=
        fmt::format(" Not compared: {}, of which too many launches have no plan.", fmt::join(claim.left_out, ", "));
  return out;
}

Table verdict_table(const Summary& summary) {
  Table table;
  table.columns = {{"claim", "claim"},
                   {"claim_text", "it says"},
                   {"claim_metric", "claim about"},
                   {"claim_value", "is", Hint::number},
                   {"claim_threshold", "threshold", Hint::number},
                   {"setting", "least at the point"},
                   {"reason", "reason"}};
  if (!summary.claim) return table;
  const ClaimSummary& claim = *summary.claim;
  const bool judged = claim.not_judged.empty();
  table.rows.push_back({std::string(!judged         ? "not judged"
                                    : claim.holds() ? "holds"
                                                    : "does not hold"),
                        claim.text, claim.metric, judged ? Cell(claim.value) : Cell(), claim.threshold,
                        claim.point.empty() ? Cell() : Cell(claim.point), judged ? Cell() : Cell(claim.not_judged)});
  return table;
}

}  // namespace tailor::report
