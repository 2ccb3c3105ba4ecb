// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From groups to candidates, and the stages that need no machine: choosing, lowering, shapes, texts, estimates. The
// stages that compile, execute and measure are in stages_executed.cpp. In: a prepared group, a target, how to choose.
// Out: candidates with plan, kernel, work and estimate.
#include "study/pipeline/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/stop.h"
#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/plans/rules.h"
#include "study/pipeline/xla_beside.h"

namespace tailor::study {

namespace {

explore::Axes axes_of(const PreparedGroup& group, const Target& on, const Choosing& how) {
  explore::Axes axes = explore::default_axes(*group.ready(), on.limits);
  for (const explore::AxisLimit& limit : how.limits) explore::restrict_axis(axes, limit);
  return axes;
}

Candidate make_candidate(const PreparedGroup& group, const Target& on) {
  Candidate candidate;
  candidate.of = &group;
  candidate.on = &on;
  candidate.standing.group = group.group.id;
  candidate.standing.device = on.id;
  return candidate;
}

/// Among one another, whatever their order.
void place(std::vector<Candidate>& candidates) {
  std::vector<std::pair<Seconds, std::size_t>> order;
  for (const Candidate& candidate : candidates)
    order.emplace_back(candidate.standing.estimates.front().total, order.size());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Seconds> times;
  for (const auto& [time, at] : order) times.push_back(time);
  const std::vector<ir::Placed> places = ir::placed(times);
  for (std::size_t i = 0; i < places.size(); ++i) candidates[order[i].second].placed = places[i];
}

/// What is said of a plan, with nodes as the plan names them: "%4 (f/v7)" for "%f/v7".
std::string in_words_of_plan(std::string_view words, const ir::Graph& graph) {
  constexpr std::string_view behind_names = " ,:;(){}@";
  const auto number_of = [&](std::string_view name) -> std::optional<std::size_t> {
    const bool is_number = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                    [&](const ir::Node& node) { return !is_number && node.name == name; });
    if (found == graph.nodes.end()) return std::nullopt;
    return static_cast<std::size_t>(found - graph.nodes.begin());
  };
  std::string out;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t sign = std::min(words.find('%', at), words.size());
    out += words.substr(at, sign - at);
    if (sign == words.size()) break;
    const std::size_t end = std::min(words.find_first_of(behind_names, sign), words.size());
    const std::string_view name = words.substr(sign + 1, end - sign - 1);
    const std::optional<std::size_t> number = number_of(name);
    out += number ? fmt::format("%{} ({})", *number, name) : fmt::format("%{}", name);
    at = end;
  }
  return out;
}

Candidate take_last(std::vector<Candidate>& candidates) {
  Candidate last = std::move(candidates.back());
  candidates.pop_back();
  return last;
}

/// The candidate among the first `most` that has this kernel.
std::vector<Candidate>::iterator with_kernel(std::vector<Candidate>& candidates, Id kernel, std::int64_t most) {
  const auto end = candidates.begin() + std::min(most, std::ssize(candidates));
  const auto found =
      std::find_if(candidates.begin(), end, [&](const Candidate& one) { return one.kernel_id == kernel; });
  return found == end ? candidates.end() : found;
}

/// Marks the candidate whose kernel is XLA's. Where none of the first `keep` has it, the plan that is like XLA's.
std::optional<Candidate> mark_xla(std::vector<Candidate>& candidates, std::int64_t keep, const PreparedGroup& group,
                                  const Target& on, const costmodel::Model& model) {
  std::optional<Candidate> found = xla_candidate(group, on, model);
  if (!found) return {};
  const auto same = with_kernel(candidates, found->kernel_id, keep);
  if (same == candidates.end()) return found;
  same->is_xla = true;
  return {};
}

/// Last, unless its kernel was drawn as well.
void add_or_mark(std::vector<Candidate>& candidates, Candidate xla) {
  const auto same = with_kernel(candidates, xla.kernel_id, std::ssize(candidates));
  if (same == candidates.end())
    candidates.push_back(std::move(xla));
  else
    same->is_xla = true;
}

/// The first `keep`, and one of each of `random` equal stretches of the others.
void thin_out(std::vector<Candidate>& ranked, const Choosing& how, Id group) {
  const std::int64_t all = std::ssize(ranked), first = std::min(how.keep, all), rest = all - first;
  std::mt19937_64 draw(how.seed ^ group.low);
  std::int64_t kept = first;
  const std::int64_t wanted = std::min(how.random, rest);
  for (std::int64_t k = 0; k < wanted; ++k) {
    const std::int64_t from = first + rest * k / wanted, to = first + rest * (k + 1) / wanted;
    const std::int64_t drawn = from + static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(to - from));
    if (drawn != kept) std::swap(ranked[static_cast<std::size_t>(kept)], ranked[static_cast<std::size_t>(drawn)]);
    ++kept;
  }
  ranked.erase(ranked.begin() + kept, ranked.end());
}

}  // namespace

PreparedGroup::PreparedGroup(const explore::DistinctGroup& distinct, std::size_t number_in_partition)
    : group(distinct.group),
      number(number_in_partition),
      work(explore::needed_work(distinct)),
      bytes(distinct.bytes),
      prepared(codegen::prepare(group)) {}

Choice choose(const PreparedGroup& group, const Target& on, const Choosing& how, std::stop_token stop) {
  explore::TuneOptions options;
  options.model = how.model;
  options.max_plans = how.max_plans;
  const bool all = how.random > 0 || how.keep == explore::keep_all;
  options.keep = all ? explore::keep_all : how.keep + 1;  // is the last one tied with the next?
  options.short_list = how.short_list ? how.keep : 0;
  options.heuristics = how.heuristics;
  options.stop = std::move(stop);
  Choice choice;
  choice.tuned = explore::tune(*group.ready(), axes_of(group, on, how), on.calibrated, options);
  for (explore::Listed& listed : choice.tuned.best) {
    Candidate candidate = make_candidate(group, on);
    candidate.rank = static_cast<std::int64_t>(choice.candidates.size()) + 1;
    candidate.plan = std::move(listed.plan);
    candidate.kernel = std::move(listed.kernel);
    candidate.kernel_id = listed.kernel_id;
    candidate.work = std::move(listed.work);
    candidate.lowered = true;
    candidate.standing.estimates.push_back(listed.estimate);
    choice.candidates.push_back(std::move(candidate));
  }
  choice.tuned.best.clear();
  std::optional<Candidate> beside;
  if (how.with_xla && !choice.candidates.empty()) beside = mark_xla(choice.candidates, how.keep, group, on, *how.model);
  if (beside) choice.candidates.push_back(std::move(*beside));
  place(choice.candidates);
  if (beside) beside = take_last(choice.candidates);
  thin_out(choice.candidates, how, group.group.id);
  if (beside) add_or_mark(choice.candidates, std::move(*beside));
  return choice;
}

std::optional<Seconds> price_of(const PreparedGroup& group, const Target& on, const costmodel::Model& model,
                                const ir::Plan& plan) {
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered = codegen::lower(*group.ready(), plan, on.limits, scratch);
  const auto* kernel = std::get_if<ir::Kernel>(&lowered);
  if (kernel == nullptr) return std::nullopt;
  const costmodel::Work work = costmodel::count(*kernel, costmodel::Mode::fast);
  const costmodel::GroupWork needed = costmodel::group_work(group.group);
  return model.estimate({.group = &needed, .work = &work, .device = &on.calibrated}).total;
}

std::string left_out(const PreparedGroup& group, const Target& on, const ir::Plan& plan, const ir::Plan& listed) {
  if (!plan.bodies.empty() || !listed.bodies.empty()) return {};
  const auto rule_of = [&](const ir::Plan& one) {
    return explore::dropped_by(codegen::prepared_for(*group.ready(), one), one, on.limits);
  };
  const explore::Rule *rule = rule_of(plan), *given_way = rule_of(listed);
  if (rule != nullptr && (rule->sound || rule == given_way)) return {};
  if (rule != nullptr) return fmt::format("rule {} leaves it out: explore --sound-only", rule->name);
  const explore::Axes axes = explore::default_axes(codegen::prepared_for(*group.ready(), plan), on.limits);
  for (const ir::PlanField field : explore::axes_of(plan.skeleton)) {
    const int asked = ir::value(plan, field);
    const std::vector<int>& values = axes[field];
    if (asked == ir::value(listed, field) || std::find(values.begin(), values.end(), asked) != values.end()) continue;
    const std::string named = fmt::format("{}={}", ir::row(field).name, ir::value_text(field, asked));
    return fmt::format("explore does not ask for {0}: --axis {0} --sound-only does", named);
  }
  return {};
}

std::variant<Candidate, ir::Rejection> written_plan(const PreparedGroup& group, const Target& on, const Choosing& how,
                                                    const std::string& text) {
  Candidate candidate = make_candidate(group, on);
  candidate.plan = ir::parse_plan(text);
  const codegen::Prepared& prepared = *group.ready();
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(prepared, candidate.plan, on.limits, scratch);
  if (const auto* refused = std::get_if<ir::Rejection>(&lowered))
    return ir::Rejection{*refused, in_words_of_plan(refused->reason, *prepared.graph)};
  candidate.kernel = std::get<ir::Kernel>(std::move(lowered));
  candidate.kernel_id = ir::id_of(candidate.kernel);
  candidate.work = costmodel::count(candidate.kernel, costmodel::Mode::fast);
  candidate.lowered = true;
  const costmodel::GroupWork needed = costmodel::group_work(group.group);
  candidate.standing.estimates.push_back(
      how.model->estimate({.group = &needed, .work = &candidate.work, .device = &on.calibrated}));
  return candidate;
}

Candidate named_plan(const PreparedGroup& group, const Target& on, const Choosing& how, const std::string& text) {
  if (text == xla_plan_word) return named_xla_plan(group, on, *how.model);
  std::variant<Candidate, ir::Rejection> made = written_plan(group, on, how, text);
  if (const auto* refused = std::get_if<ir::Rejection>(&made))
    throw Error(Fault::failed,
                fmt::format("the plan is not legal on {}: {} ({})", on.device.name, refused->reason, refused->rule),
                "tailor explore lists plans that are; --format json has their text");
  return std::get<Candidate>(std::move(made));
}

std::int64_t lower(std::span<Candidate> candidates) {
  codegen::LowerScratch scratch;
  for (Candidate& candidate : candidates) {
    if (candidate.lowered) continue;
    candidate.kernel =
        std::get<ir::Kernel>(codegen::lower(*candidate.of->ready(), candidate.plan, candidate.on->limits, scratch));
    candidate.work = costmodel::count(candidate.kernel, costmodel::Mode::fast);
    candidate.lowered = true;
  }
  return scratch.lowerings;
}

void add_shapes(std::span<Candidate> candidates, ShapeKind kind) {
  for (Candidate& candidate : candidates) {
    candidate.other.reset();
    const auto make = kind == ShapeKind::small ? profiler::small_shape : profiler::odd_shape;
    auto found = make(candidate.of->group, candidate.plan, candidate.kernel, candidate.on->limits);
    if (auto* shape = std::get_if<profiler::SmallShape>(&found)) {
      candidate.other_is = shape->text();
      std::string cuda = codegen::cuda(shape->kernel, &candidate.plan);
      candidate.other = OtherShape{std::move(*shape), std::move(cuda), {}};
    } else {
      candidate.other_is = std::get<std::string>(found);
    }
  }
}

void print(std::span<Candidate> candidates) {
  for (Candidate& candidate : candidates)
    if (candidate.cuda.empty()) candidate.cuda = codegen::cuda(candidate.kernel, &candidate.plan);
}

std::optional<ir::Estimate> predict(const Candidate& candidate, ir::Level level, const ir::Regime& regime) {
  const costmodel::CalibratedDevice& device = candidate.on->calibrated;
  if (!candidate.lowered) return {};
  switch (level) {
    case ir::Level::sol:
      return costmodel::sol(costmodel::group_work(candidate.of->group), device, regime);
    case ir::Level::projected:
      return costmodel::projected(candidate.work, device, regime);
    case ir::Level::compiled:
      if (!candidate.compiled()) return {};
      return costmodel::compiled(candidate.work, *candidate.binary, device, regime,
                                 candidate.machine ? &*candidate.machine : nullptr);
    case ir::Level::counted:
      if (!candidate.compiled() || !candidate.counted()) return {};
      return costmodel::counted(candidate.work, *candidate.binary, candidate.verdict->counts, device, regime);
    case ir::Level::profiled:
      return {};
  }
  return {};
}

std::optional<Seconds> predicted_for(const Candidate& candidate, const ir::Protocol& protocol) {
  if (candidate.standing.estimates.empty()) return {};
  const std::optional<ir::Estimate> estimate =
      predict(candidate, candidate.standing.estimates.front().level, ir::make_regime(protocol));
  return estimate ? std::optional(estimate->total) : std::nullopt;
}

std::int64_t plans_to_consider(std::int64_t considered, std::int64_t top) {
  return top == 0 ? 0 : std::max(considered, top);
}

void keep_best_compiled(std::vector<Candidate>& candidates, std::int64_t considered, std::int64_t top,
                        const Compiling& how, const Watch& watch) {
  if (plans_to_consider(considered, top) == top) return;
  compile(candidates, how, watch);
  stop_if_asked(watch.stop);
  estimate(candidates, ir::Level::compiled);
  const auto is_considered = [&](const Candidate& one) { return one.rank >= 1 && one.rank <= considered; };
  std::vector<const explore::Standing*> standings;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_considered(candidates[i])) continue;
    standings.push_back(&candidates[i].standing);
    numbers.push_back(i);
  }
  std::vector<bool> best(candidates.size(), false);
  std::set<const PreparedGroup*> kept;  // groups of which one is
  for (const std::size_t i : explore::best_by(standings, ir::Level::compiled, top)) {
    best[numbers[i]] = true;
    kept.insert(candidates[numbers[i]].of);
  }
  std::vector<Candidate> left;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!is_considered(candidates[i]) || best[i] || kept.insert(candidates[i].of).second)
      left.push_back(std::move(candidates[i]));
  candidates = std::move(left);
}

void estimate(std::span<Candidate> candidates, ir::Level level) {
  for (Candidate& candidate : candidates) {
    const std::optional<ir::Estimate> made = predict(candidate, level, {});
    if (!made) continue;
    std::erase_if(candidate.standing.estimates, [&](const ir::Estimate& old) { return old.level == level; });
    candidate.standing.estimates.push_back(*made);
  }
}

}  // namespace tailor::study
