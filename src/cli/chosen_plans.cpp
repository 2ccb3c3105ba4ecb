// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Choosing, group by group.
#include "cli/chosen_plans.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "cli/planned.h"
#include "codegen/cuda/cuda.h"
#include "explore/tune.h"
#include "profiler/compile/pool.h"

namespace tailor::cli {

namespace {

ChosenPlan make_chosen_plan(const Chosen& chosen, std::int64_t rank, ir::Plan plan, ir::Kernel kernel,
                            Seconds predicted) {
  ChosenPlan item;
  item.group = chosen.number;
  item.of = &chosen.group().group;
  item.title = chosen.prepared.title;
  item.rank = rank;
  item.cuda = codegen::cuda(kernel, &plan);
  item.kernel_id = ir::id_of(kernel);
  item.plan = std::move(plan);
  item.kernel = std::move(kernel);
  item.predicted = predicted;
  return item;
}

/// The best plans of the chosen group, each a different kernel.
void add_best(const Chosen& chosen, std::int64_t top, std::stop_token stop, std::vector<ChosenPlan>& items) {
  explore::TuneOptions how;
  how.model = chosen.model;
  how.stop = stop;
  const explore::Tuned tuned = explore::tune(chosen.prepared, chosen.axes, chosen.calibrated, how);
  const std::int64_t wanted = top > 0 ? top : static_cast<std::int64_t>(tuned.ranked.size());
  std::int64_t rank = 0;
  for (explore::Listed& listed : explore::shortlist(chosen.prepared, tuned, chosen.limits, wanted))
    items.push_back(
        make_chosen_plan(chosen, ++rank, std::move(listed.plan), std::move(listed.kernel), listed.estimate.total));
}

}  // namespace

std::vector<ChosenPlan> chosen_plans(const Context& context, Chosen& chosen, const PlanChoice& choice,
                                     std::stop_token stop) {
  std::vector<ChosenPlan> items;
  if (!choice.plan.empty()) {
    Planned one = planned(context, chosen, choice.plan, stop);
    const bool rank = choice.plan.find_first_not_of("0123456789") == std::string::npos;
    items.push_back(make_chosen_plan(chosen, rank ? std::stoll(choice.plan) : 0, std::move(one.plan),
                                     std::move(one.kernel), one.estimate.total));
  } else if (!choice.whole) {
    add_best(chosen, choice.top, stop, items);
  } else {
    std::int64_t unplanned = 0;
    const auto groups = static_cast<std::int64_t>(chosen.partition.groups.size());
    for (std::int64_t i = 0; i < groups && !stop.stop_requested(); ++i) {
      context.console->progress({"choosing plans", i, groups, {}});
      if (chosen.select_group(static_cast<std::size_t>(i)))
        ++unplanned;
      else
        add_best(chosen, choice.top, stop, items);
    }
    if (unplanned > 0)
      context.console->note(
          fmt::format("{} of {} groups cannot be planned yet; tailor fuse says why", unplanned, groups));
  }
  if (items.empty() && !stop.stop_requested())
    throw Error(Fault::failed, "there is no plan to look at", "tailor explore says which rule drops how many");
  return items;
}

std::vector<std::optional<ir::Binary>> compiled_texts(const Context& context, const profiler::Nvrtc& api,
                                                      const Compiling& how, const std::vector<std::string>& texts) {
  std::vector<profiler::CompileRequest> requests;
  for (const std::string& text : texts) requests.push_back({.cuda = text, .arch = how.arch});
  const profiler::BinaryCache cache{how.cache.empty() ? default_cache_folder() : std::filesystem::path(how.cache)};
  profiler::CompileStage stage;
  stage.workers = how.threads;
  stage.cache = cache.folder.empty() ? nullptr : &cache;
  stage.stop = how.stop;
  stage.progress = [&](const profiler::CompileProgress& progress) {
    context.console->progress(
        {"compiling kernels", static_cast<std::int64_t>(progress.done), static_cast<std::int64_t>(progress.total), {}});
  };
  return profiler::compile_all(api, requests, stage).binaries;
}

}  // namespace tailor::cli
