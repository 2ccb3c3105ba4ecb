// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From what a person wrote after --plan to a kernel with its estimate.
#include "cli/planned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/tune.h"

namespace tailor::cli {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

Planned from_text(const Chosen& chosen, const std::string& text) {
  Planned out;
  out.plan = ir::parse_plan(text);
  if (out.plan.skeleton != chosen.prepared.skeleton)
    throw Error(Fault::usage,
                fmt::format("plan: found skeleton '{}', but the group needs '{}'", ir::name(out.plan.skeleton),
                            ir::name(chosen.prepared.skeleton)),
                "tailor explore lists plans of this group; --format json has their text");
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(chosen.prepared, out.plan, chosen.limits, scratch);
  if (const auto* why = std::get_if<ir::Rejection>(&lowered))
    throw Error(Fault::failed,
                fmt::format("the plan is not legal on {}: {} ({})", chosen.device.name, why->reason, why->rule),
                "tailor explore lists plans that are");
  out.kernel = std::get<ir::Kernel>(std::move(lowered));
  out.work = costmodel::count(out.kernel, costmodel::Mode::fast);
  const costmodel::GroupWork group = costmodel::group_work(chosen.group().group);
  out.estimate = chosen.model->estimate({.group = &group, .work = &out.work, .device = &chosen.calibrated});
  return out;
}

Planned from_rank(const Context& context, const Chosen& chosen, std::int64_t rank, std::stop_token stop) {
  explore::TuneOptions how;
  how.model = chosen.model;
  // There is one watch at a time: the caller's, or one of our own.
  std::optional<InterruptWatch> interrupts;
  if (!stop.stop_possible()) stop = interrupts.emplace().token();
  how.stop = stop;
  const explore::Tuned tuned = explore::tune(chosen.prepared, chosen.axes, chosen.calibrated, how);
  if (stop.stop_requested()) throw Error(Fault::interrupted, "interrupted");
  std::vector<explore::Listed> best = explore::shortlist(chosen.prepared, tuned, chosen.limits, rank);
  if (best.empty())
    throw Error(Fault::failed, "no plan of this group is legal with these axes",
                "tailor explore says which rule drops how many");
  if (static_cast<std::int64_t>(best.size()) < rank)
    throw Error(Fault::usage,
                fmt::format("--plan: found rank {}, but there are {} different kernels", rank, best.size()),
                "tailor explore lists them");
  explore::Listed& one = best.back();
  context.console->detail(fmt::format("plan: {}", ir::text(one.plan)));
  return {std::move(one.plan), std::move(one.kernel), std::move(one.work), one.estimate};
}

}  // namespace

Planned planned(const Context& context, const Chosen& chosen, const std::string& plan, std::stop_token stop) {
  if (!plan.empty() && !is_number(plan)) return from_text(chosen, plan);
  std::int64_t rank = 1;
  if (!plan.empty()) {
    const auto [end, fault] = std::from_chars(plan.data(), plan.data() + plan.size(), rank);
    if (fault != std::errc{} || rank < 1)
      throw Error(Fault::usage, fmt::format("--plan: found '{}', expected a plan's text or a rank from 1 on", plan));
  }
  return from_rank(context, chosen, rank, std::move(stop));
}

}  // namespace tailor::cli
