// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernel of a group through the same machinery as every plan. In: a group, a target, a model. Out: a candidate or
// the reason why there is none.
//
// The plan is explore's (explore/plans/xla_style.h), whether it is legal the lowering's word. One thing gives way: how
// many iterations are unrolled together, which in XLA the compiler behind it undoes where registers run out. It is
// halved until the kernel fits; blocks and threads stay.
#include "study/pipeline/xla_beside.h"

#include <fmt/format.h>

#include <array>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"

namespace tailor::study {

namespace {

codegen::Lowered lowered(const codegen::Prepared& prepared, ir::Plan& plan, const ir::Limits& limits) {
  codegen::LowerScratch scratch;
  for (;;) {
    codegen::Lowered made = codegen::lower(prepared, plan, limits, scratch);
    const auto* refused = std::get_if<ir::Rejection>(&made);
    if (refused == nullptr || refused->rule != "registers" || plan.in_flight == 1) return made;
    plan.in_flight /= 2;
  }
}

Candidate candidate_of(const PreparedGroup& group, const Target& on, XlaBeside::Made made) {
  Candidate candidate;
  candidate.of = &group;
  candidate.on = &on;
  candidate.standing.group = group.group.id;
  candidate.standing.device = on.id;
  candidate.is_xla = true;
  candidate.plan = std::move(made.plan);
  candidate.kernel = std::move(made.kernel);
  candidate.kernel_id = ir::id_of(candidate.kernel);
  candidate.work = std::move(made.work);
  candidate.lowered = true;
  candidate.standing.estimates.push_back(made.estimate);
  return candidate;
}

}  // namespace

std::string_view XlaBeside::agreement() const {
  if (!made) return "no plan";
  constexpr std::array<std::string_view, 3> words = {"equal", "same warps", "differs"};
  return words[static_cast<std::size_t>(launches)];
}

std::optional<XlaBeside> xla_beside(const ir::Group& group,
                                    const std::variant<codegen::Prepared, ir::Rejection>& prepared,
                                    const costmodel::CalibratedDevice& device, const costmodel::Model& model) {
  if (device.xla == nullptr) return {};
  const auto* ready = std::get_if<codegen::Prepared>(&prepared);
  explore::XlaStyle style = ready != nullptr
                                ? explore::xla_style(*ready, device.limits, *device.xla)
                                : explore::xla_style(group.graph, std::get<ir::Rejection>(prepared), *device.xla);
  XlaBeside found{std::string(name(style.form)), style.launch, {}, {}, std::move(style.note)};
  if (!style.plan) return found;
  codegen::Lowered lowering = lowered(*ready, *style.plan, device.limits);
  if (const auto* refused = std::get_if<ir::Rejection>(&lowering)) {
    found.note = fmt::format("the plan is not legal here: {} ({})", refused->reason, refused->rule);
    return found;
  }
  found.made.emplace();
  XlaBeside::Made& made = *found.made;
  made.plan = std::move(*style.plan);
  made.kernel = std::get<ir::Kernel>(std::move(lowering));
  made.work = costmodel::count(made.kernel, costmodel::Mode::fast);
  const costmodel::GroupWork needed = costmodel::group_work(group);
  made.estimate = model.estimate({.group = &needed, .work = &made.work, .device = &device, .graph = &group.graph});
  found.launches = explore::compare_launch(made.kernel, style.launch, device.limits);
  if (found.launches == explore::SameLaunch::differs && found.note.empty())
    found.note = fmt::format("{} of {}, in XLA {} of {}", counted(made.kernel.grid, "block"),
                             counted(made.kernel.threads, "thread"), with_commas(style.launch.blocks()),
                             with_commas(style.launch.block));
  return found;
}

std::optional<Candidate> xla_candidate(const PreparedGroup& group, const Target& on, const costmodel::Model& model) {
  std::optional<XlaBeside> found = xla_beside(group.group, group.prepared, on.calibrated, model);
  if (!found || !found->made) return {};
  return candidate_of(group, on, std::move(*found->made));
}

Candidate named_xla_plan(const PreparedGroup& group, const Target& on, const costmodel::Model& model) {
  std::optional<XlaBeside> found = xla_beside(group.group, group.prepared, on.calibrated, model);
  if (!found)
    throw Error(Fault::missing, fmt::format("plan 'xla': no description of '{}' as XLA sees it", on.device.name),
                "data/xla holds one file per GPU that has one");
  if (!found->made)
    throw Error(Fault::failed,
                fmt::format("plan 'xla': XLA's {} emitter would write this kernel, and no plan is like it: {}",
                            found->emitter, found->note),
                "tailor list emitters shows which of them plans can be like; tailor explore lists this group's plans");
  return candidate_of(group, on, std::move(*found->made));
}

}  // namespace tailor::study
