// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor check: choose plans, compile them, execute them, say what was found. Verdicts are an answer like any other;
// the exit code says whether all of them are good.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cli/check_tables.h"
#include "cli/chosen_plans.h"
#include "cli/output.h"
#include "cli/planned.h"
#include "codegen/cuda/cuda.h"
#include "profiler/check/check_pool.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/pool.h"
#include "store/store.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/to_rows.h"

namespace tailor::cli {

using namespace study;

namespace {

/// Puts a smaller shape in the place of each kernel whose group allows that.
void shrink_items(const Chosen& chosen, std::vector<CheckItem>& items) {
  for (CheckItem& item : items) {
    auto found = profiler::small_shape(*item.of, item.plan, item.kernel, chosen.limits);
    if (auto* small = std::get_if<profiler::SmallShape>(&found)) {
      item.small_cuda = codegen::cuda(small->kernel, &item.plan);
      item.shape = small->text();
      item.small = std::move(*small);
    } else {
      item.shape = "whole: " + std::get<std::string>(found);
    }
  }
}

void compile_items(const CheckCommand& options, const Context& context, const ir::Device& device,
                   const profiler::Nvrtc& api, std::stop_token stop, std::vector<CheckItem>& items) {
  std::vector<std::string> texts;
  for (const CheckItem& item : items) texts.push_back(item.executed_cuda());
  const Compiling how{device.arch, options.cache, static_cast<int>(options.threads), stop};
  std::vector<std::optional<ir::Binary>> binaries = compiled_texts(context, api, how, texts);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].binary = std::move(binaries[i]);
}

profiler::CheckOptions check_options(const CheckCommand& options, std::stop_token stop) {
  profiler::CheckOptions each;
  each.seed = static_cast<std::uint64_t>(options.seed);
  each.sanitize = !options.no_sanitizers;
  each.sample_blocks = options.blocks;
  each.time_limit = {options.time_limit};
  each.stop = stop;
  return each;
}

profiler::CheckAccount check_items(const CheckCommand& options, const Context& context, const Chosen& chosen,
                                   std::stop_token stop, std::vector<CheckItem>& items) {
  std::vector<profiler::CheckRequest> requests;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].binary || items[i].binary->outcome != ir::CompileOutcome::ok) continue;
    asked.push_back(i);
    requests.push_back({&items[i].executed_group(), &items[i].executed_kernel(), &*items[i].binary,
                        profiler::machine_limits(chosen.device, items[i].plan.blocks_per_sm)});
  }
  profiler::CheckStage stage;
  stage.workers = static_cast<int>(options.threads);
  stage.seeds = static_cast<int>(options.seeds);
  stage.each = check_options(options, stop);
  stage.executor = profiler::make_simulator;
  stage.progress = [&](const profiler::CheckProgress& progress) {
    context.console->progress({"executing kernels", static_cast<std::int64_t>(progress.done),
                               static_cast<std::int64_t>(progress.total),
                               progress.refuted > 0 ? fmt::format("{} wrong", progress.refuted) : std::string()});
  };
  profiler::CheckedAll all = profiler::check_all(requests, stage);
  for (std::size_t i = 0; i < asked.size(); ++i) items[asked[i]].checked = std::move(all.verdicts[i]);
  context.console->finish();
  return all.account;
}

/// What explore and the compiler know is stored with the verdicts, so that the database stands for itself.
void store_items(const CheckCommand& options, const Context& context, const Chosen& chosen,
                 const std::vector<CheckItem>& items) {
  store::Store store = store::Store::open(options.database);
  const std::filesystem::path file = context.data / "devices" / (chosen.device.name + ".json");
  const bool is_path = options.what.device.find('/') != std::string::npos || options.what.device.ends_with(".json");
  const store::DeviceRow device =
      device_row(chosen.device, read_file(is_path ? std::filesystem::path(options.what.device) : file));
  const std::string toolchain = items.empty() || !items[0].binary ? "none" : items[0].binary->compiler;
  store::RunRow run = begun_run(context.command, toolchain, options.seed, "");
  const std::string method = check_method(check_options(options, {}), static_cast<int>(options.seeds));
  store::Store::Transaction unit(store);
  store.save(device);
  store.save(run);
  for (const CheckItem& item : items) {
    const explore::DistinctGroup& distinct = chosen.partition.groups[item.group];
    store.save(group_row(distinct.group, explore::needed_work(distinct), item.title));
    const store::PlanRow plan = plan_row(item.plan, item.of->id);
    store.save(plan);
    store.save(kernel_row(item.kernel, item.kernel_id, item.cuda));
    store.save(store::LoweringRow{plan.id, device.id, item.kernel_id});
    if (!item.binary) continue;
    // A smaller shape's binary and counters are not this kernel's.
    if (!item.small) store.save(binary_row(*item.binary, item.kernel_id));
    if (!item.checked) continue;
    store.save(check_row(*item.checked, item.kernel_id, item.small ? method + ", " + item.shape : method));
    if (item.checked->counts.blocks_run > 0 && !item.small)
      store.save(measurement_row(*item.checked, item.kernel, run.id, item.binary->source, device.id, method));
    if (profiler::is_refuted(item.checked->state)) store.save(plan_rejection_row(*item.checked, plan.id, device.id));
  }
  run.finished_at = time_now();
  run.outcome = "done";
  store.save(run);
  unit.commit();
  context.console->note(fmt::format("stored in {}", options.database));
}

void print_summary(const Context& context, const std::vector<CheckItem>& items, const profiler::CheckAccount& account) {
  std::int64_t passed = 0, small = 0;
  for (const CheckItem& item : items) {
    passed += item.checked && item.checked->state == profiler::Verdict::passed ? 1 : 0;
    small += item.small ? 1 : 0;
  }
  context.console->note(fmt::format(
      "{} of {} kernels passed{}; {} lane instructions executed in {} ({}/s of one thread), {} references in {}",
      passed, items.size(), small > 0 ? fmt::format(", {} of them executed at a smaller shape", small) : std::string(),
      with_commas(static_cast<std::int64_t>(account.lane_instructions)), humane_seconds(account.wall.value),
      three_figures(account.executing.value > 0 ? account.lane_instructions / account.executing.value : 0),
      account.references, humane_seconds(account.reference.value)));
}

/// Nothing when all passed.
void refuse_bad(const std::vector<CheckItem>& items) {
  std::int64_t refuted = 0, unknown = 0, late = 0;
  for (const CheckItem& item : items) {
    late += item.checked && item.checked->state == profiler::Verdict::timed_out ? 1 : 0;
    if (item.checked && profiler::is_refuted(item.checked->state))
      ++refuted;
    else if (!item.checked || item.checked->state != profiler::Verdict::passed)
      ++unknown;
  }
  if (refuted > 0)
    throw Error(Fault::failed,
                late == refuted ? fmt::format("{} of {} kernels took longer than --time-limit", late, items.size())
                                : fmt::format("{} of {} kernels are not right", refuted, items.size()),
                "the answer says which and why; tailor emit prints the CUDA text of one");
  if (unknown > 0)
    throw Error(Fault::missing, fmt::format("{} of {} kernels could not be executed", unknown, items.size()),
                "the answer says why");
}

}  // namespace

void run_check(const CheckCommand& options, const Context& context) {
  if (options.shape != "whole" && options.shape != "small")
    throw Error(Fault::usage, fmt::format("--shape: found '{}', expected whole or small", options.shape));
  if (options.seeds < 1) throw Error(Fault::usage, "--seeds: found 0, expected at least one execution");
  if (!(options.time_limit > 0))
    throw Error(Fault::usage, fmt::format("--time-limit: found {}, expected seconds above 0", options.time_limit));
  if (!options.plan.empty() && options.all_plans)
    throw Error(Fault::usage, "--plan names one plan, --all-plans asks for all", "leave one of them out");
  const bool whole = options.plan.empty() && options.what.group.empty();
  const profiler::FoundNvrtc nvrtc = find_compiler(options.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "check needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  std::optional<Chosen> chosen;
  if (whole)
    chosen.emplace(context, options.what, Chosen::WholeModel{});
  else
    chosen.emplace(context, options.what);
  const InterruptWatch interrupts;
  std::vector<CheckItem> items;
  for (ChosenPlan& one :
       chosen_plans(context, *chosen, {options.plan, options.all_plans ? 0 : options.top, whole}, interrupts.token()))
    static_cast<ChosenPlan&>(items.emplace_back()) = std::move(one);
  stop_if_asked(interrupts);
  if (options.shape == "small") shrink_items(*chosen, items);
  compile_items(options, context, chosen->device, *nvrtc.api, interrupts.token(), items);
  stop_if_asked(interrupts);
  const profiler::CheckAccount account = check_items(options, context, *chosen, interrupts.token(), items);
  if (!options.database.empty()) store_items(options, context, *chosen, items);
  CommandOutput answer{"tailor.check/1", chosen->device.name, {}, ""};
  answer.sections.push_back({"kernels", verdict_table(items)});
  report::Table findings = finding_table(items);
  if (!findings.rows.empty() || context.format == Format::json)
    answer.sections.push_back({"findings", std::move(findings)});
  show(context, answer);
  print_summary(context, items, account);
  stop_if_asked(interrupts);
  refuse_bad(items);
}

}  // namespace tailor::cli
