// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor profile: the best plans of a group or of a whole model, measured: checked, raced, counted; or the same from
// records. With --module the whole model under several strategies (profile_module.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/profile_module.h"
#include "cli/profile_options.h"
#include "cli/profile_tables.h"
#include "study/pipeline/manifest.h"

namespace tailor::cli {

using namespace study;

namespace {

/// Where results go as groups finish, when a database was named.
class Keeping {
 public:
  Keeping(const ProfileCommand& options, const Context& context, const Chosen& chosen,
          const std::vector<ProfileItem>& items, const Measurer& measurer)
      : chosen_(chosen), items_(items), under_{{}, {}, measurer.name} {
    if (options.database.empty()) return;
    store_.emplace(store::Store::open(options.database));
    const std::string toolchain = items.empty() || !items[0].binary ? "none" : items[0].binary->compiler;
    run_ = begun_run(context.command, toolchain, options.seed, "");
    if (measurer.worker) name_gpu(run_, measurer.worker->opened());
    const store::DeviceRow device = load_device_row(context, options.what.device, chosen.device);
    store_->save(device);
    store_->save(run_);
    under_.run = run_.id;
    under_.device = device.id;
  }

  void keep(const ProfiledGroup& group) {
    if (!store_) return;
    store::Store::Transaction unit(*store_);
    for (std::size_t i = group.first; i < group.first + group.count; ++i) {
      save_item(*store_, items_[i], chosen_.partition.groups[items_[i].group], under_);
    }
    unit.commit();
  }

  void close(bool interrupted) {
    if (!store_) return;
    run_.finished_at = time_now();
    run_.outcome = interrupted ? "interrupted" : "done";
    store_->save(run_);
  }

 private:
  const Chosen& chosen_;
  const std::vector<ProfileItem>& items_;
  MeasuredUnder under_;
  std::optional<store::Store> store_;
  store::RunRow run_;
};

/// Nothing when every plan was measured and right.
void refuse_bad(const std::vector<ProfileItem>& items) {
  std::int64_t refuted = 0, unmeasured = 0;
  std::string reason;
  for (const ProfileItem& item : items) {
    if (item.measured && item.result.outcome == ir::Outcome::ok) continue;
    if (item.measured && ir::is_refuted(item.result.outcome))
      ++refuted;
    else
      ++unmeasured;
    if (reason.empty()) reason = item.result.reason;
  }
  if (refuted > 0)
    throw Error(Fault::failed, fmt::format("{} of {} kernels are not right", refuted, items.size()),
                "the answer says which and why; tailor check executes them on the simulator");
  if (unmeasured > 0)
    throw Error(Fault::missing, fmt::format("{} of {} kernels were not measured", unmeasured, items.size()), reason);
}

void print_summary(const Context& context, const std::vector<ProfileItem>& items, const std::string& database) {
  std::int64_t measured = 0, samples = 0;
  for (const ProfileItem& item : items) {
    measured += item.measured && item.result.outcome == ir::Outcome::ok ? 1 : 0;
    for (const ir::Measurement& one : item.result.times) samples += static_cast<std::int64_t>(one.samples.size());
  }
  context.console->note(fmt::format("{} of {} kernels measured, {} samples{}", measured, items.size(),
                                    with_commas(samples), database.empty() ? "" : "; stored in " + database));
}

void profile_plans(const ProfileCommand& options, const Context& context, const profiler::FoundNvrtc& nvrtc,
                   const InterruptWatch& interrupts) {
  const bool whole = options.plan.empty() && options.what.group.empty();
  std::optional<Chosen> chosen;
  if (whole)
    chosen.emplace(context, options.what, Chosen::WholeModel{});
  else
    chosen.emplace(context, options.what);
  profiler::MeasureOptions how = measure_options(options, context, chosen->device, interrupts.token());
  // Before anything that takes time: is there somebody who can measure?
  const Measurer measurer = make_measurer(options, context, chosen->device, interrupts.token());
  std::vector<ProfileItem> items = profile_items(
      chosen_plans(context, *chosen, {options.plan, options.all_plans ? 0 : options.top, whole}, interrupts.token()),
      *chosen, measurer.worker != nullptr && !options.no_odd_shape);
  stop_if_asked(interrupts);
  if (measurer.worker)
    compile_items(context, *nvrtc.api,
                  {chosen->device.arch, options.cache, static_cast<int>(options.threads), interrupts.token()}, items);
  for (ProfileItem& item : items) item.needs_binary = measurer.worker != nullptr;
  stop_if_asked(interrupts);
  Keeping keeping(options, context, *chosen, items, measurer);
  std::int64_t done = 0;
  how.progress = [&](std::string_view doing) {
    context.console->progress({std::string(doing), done, static_cast<std::int64_t>(items.size()), {}});
  };
  const std::vector<ProfiledGroup> groups =
      profile_groups(items, measurer.measure, how, [&](const ProfiledGroup& group) {
        done += static_cast<std::int64_t>(group.count);
        keeping.keep(group);
      });
  context.console->finish();
  keeping.close(interrupts.requested());
  CommandOutput answer{"tailor.profile/1", chosen->device.name, {}, ""};
  answer.sections.push_back(
      {"times", time_table(items, groups, [&](std::size_t g) { return chosen->partition.groups[g].bytes; })});
  answer.sections.push_back({"races", race_table(items, groups)});
  report::Table counters = counter_table(items);
  if (!counters.rows.empty() || context.format == Format::json)
    answer.sections.push_back({"counters", std::move(counters)});
  show(context, answer);
  for (const ProfiledGroup& group : groups)
    if (group.floor.samples > 0) {
      context.console->note(fmt::format("a launch that does nothing takes {} (half of {} samples within {})",
                                        humane_seconds(group.floor.time.value), group.floor.samples,
                                        humane_seconds(group.floor.noise.value)));
      break;
    }
  for (const ProfileItem& item : items)
    if (!item.result.uncounted.empty()) {
      context.console->warning(fmt::format("no counters: {}; tailor doctor says what to do", item.result.uncounted));
      break;
    }
  print_summary(context, items, options.database);
  stop_if_asked(interrupts);
  refuse_bad(items);
}

}  // namespace

void run_profile(const ProfileCommand& options, const Context& context) {
  if (!options.plan.empty() && options.all_plans)
    throw Error(Fault::usage, "--plan names one plan, --all-plans asks for all", "leave one of them out");
  if (options.module && options.profiler == "replay") return replay_module(options, context);
  const profiler::FoundNvrtc nvrtc = find_compiler(options.nvrtc);
  if (!nvrtc && options.profiler != "replay")
    throw Error(Fault::missing, "profile needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  const InterruptWatch interrupts;
  if (options.module && !nvrtc) throw Error(Fault::missing, "--module needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  if (options.module)
    profile_module(options, context, *nvrtc.api, interrupts);
  else
    profile_plans(options, context, nvrtc, interrupts);
}

}  // namespace tailor::cli
