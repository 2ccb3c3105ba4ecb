// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Items in, results in the same items.
#include "cli/profiling.h"

#include <utility>

#include "base/text.h"
#include "codegen/cuda/cuda.h"
#include "study/pipeline/to_rows.h"

namespace tailor::cli {

using namespace study;

namespace {

profiler::Candidate make_candidate(const ProfileItem& item) {
  profiler::Candidate candidate;
  candidate.name = item.title + " " + ir::text(item.plan);
  candidate.kernel_id = item.kernel_id;
  candidate.own = {item.of, &item.kernel, item.binary ? &*item.binary : nullptr};
  candidate.odd_is = item.odd_is;
  if (item.odd && item.odd_binary && item.odd_binary->outcome == ir::CompileOutcome::ok)
    candidate.odd = profiler::ShapedKernel{&item.odd->group, &item.odd->kernel, &*item.odd_binary};
  return candidate;
}

ProfiledGroup profiled(std::span<ProfileItem> items, std::size_t first, const MeasureGroup& measure,
                       const profiler::MeasureOptions& options) {
  ProfiledGroup group{first, items.size(), {}, {}, {}};
  std::vector<profiler::Candidate> candidates;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].needs_binary && !items[i].compiled()) continue;
    asked.push_back(i);
    candidates.push_back(make_candidate(items[i]));
  }
  if (candidates.empty()) return group;
  profiler::MeasuredGroup measured = measure(candidates, options);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    items[asked[k]].result = std::move(measured.plans[k]);
    items[asked[k]].measured = true;
  }
  group.unjudged = std::move(measured.unjudged);
  group.floor = measured.floor;
  group.rankings = std::move(measured.rankings);
  for (profiler::Ranking& ranking : group.rankings) {
    for (int& k : ranking.order) k = static_cast<int>(asked[static_cast<std::size_t>(k)]);
    for (int& k : ranking.tie) k = static_cast<int>(asked[static_cast<std::size_t>(k)]);
  }
  return group;
}

}  // namespace

std::vector<ProfileItem> profile_items(std::vector<ChosenPlan> plans, const Chosen& chosen, bool odd_shapes) {
  std::vector<ProfileItem> items;
  for (ChosenPlan& plan : plans) {
    ProfileItem& item = items.emplace_back();
    static_cast<ChosenPlan&>(item) = std::move(plan);
    if (!odd_shapes) continue;
    auto found = profiler::odd_shape(*item.of, item.plan, item.kernel, chosen.limits);
    if (auto* odd = std::get_if<profiler::SmallShape>(&found)) {
      item.odd_is = odd->text();
      item.odd = std::move(*odd);
    } else {
      item.odd_is = std::get<std::string>(found);
    }
  }
  return items;
}

void compile_items(const Context& context, const profiler::Nvrtc& api, const Compiling& how,
                   std::vector<ProfileItem>& items) {
  std::vector<std::string> texts;
  for (const ProfileItem& item : items) texts.push_back(item.cuda);
  for (const ProfileItem& item : items)
    if (item.odd) texts.push_back(codegen::cuda(item.odd->kernel, &item.plan));
  std::vector<std::optional<ir::Binary>> binaries = compiled_texts(context, api, how, texts);
  std::size_t next = 0;
  for (ProfileItem& item : items) item.binary = std::move(binaries[next++]);
  for (ProfileItem& item : items)
    if (item.odd) item.odd_binary = std::move(binaries[next++]);
}

std::vector<ProfiledGroup> profile_groups(std::vector<ProfileItem>& items, const MeasureGroup& measure,
                                          const profiler::MeasureOptions& options,
                                          const std::function<void(const ProfiledGroup&)>& done) {
  std::vector<ProfiledGroup> groups;
  for (std::size_t first = 0, end = 0; first < items.size() && !options.stop.stop_requested(); first = end) {
    while (end < items.size() && items[end].of == items[first].of) ++end;
    groups.push_back(profiled(std::span(items).subspan(first, end - first), first, measure, options));
    done(groups.back());
  }
  return groups;
}

void save_item(store::Store& store, const ProfileItem& item, const explore::DistinctGroup& group,
               const MeasuredUnder& under) {
  store.save(group_row(group.group, explore::needed_work(group), item.title));
  const store::PlanRow plan = plan_row(item.plan, item.of->id);
  store.save(plan);
  store.save(kernel_row(item.kernel, item.kernel_id, item.cuda));
  store.save(store::LoweringRow{plan.id, under.device, item.kernel_id});
  if (item.measured)
    save_profiled(store, {item.binary ? &*item.binary : nullptr, item.kernel_id, plan.id, item.result}, under);
  else if (item.binary)
    store.save(binary_row(*item.binary, item.kernel_id));
}

store::DeviceRow load_device_row(const Context& context, const std::string& word, const ir::Device& device) {
  const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json");
  return device_row(
      device, read_file(is_path ? std::filesystem::path(word) : context.data / "devices" / (device.name + ".json")));
}

}  // namespace tailor::cli
