// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plan spaces of whole models: how many plans each group has, what a walk over them looks at (prefixes, mappings, parts
// of rules), how fast they are enumerated, lowered, counted and projected on one core, and how far the best one is from
// the roof and from the floor. The roof (`sol`) is the launch and the data sheet's bandwidth. The floor is what no plan
// changes: the launch with its ramp, the bytes at the bandwidth that copies reach, and one trip to memory. In: models'
// files. Out: CSV, one line for each distinct group of at least 64 KB of `imported` and `stitch-v1`, with those lines
// last that sum up, by the groups' bytes. With --wide, each group of at least 1 MB
// is tuned without heuristics too, of many plans a sample: where the best takes 5 % less, what the best ten take, and
// which rules drop them. With --strategy, groups are those of that strategy. With --group, only that group is measured,
// for seconds rather than a moment, which is what a profiler wants. Run by hand:
//
//   space_bench [--wide] [--strategy NAME] [--group ID] DEVICE MODEL... > spaces.csv
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/plans/rules.h"
#include "explore/plans/tune.h"
#include "explore/plans/walk.h"
#include "explore/price.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "support/paths.h"

using namespace tailor;

namespace {

constexpr double least_bytes = 64 << 10;
constexpr double least_seconds = 0.05, seconds_of_one = 2;
constexpr std::size_t least_passes = 5;  // of which the median counts

struct Line {
  std::string model, group, kind;
  double bytes = 0;
  std::int64_t plans = 0, enumerated = 0;
  explore::WalkCounts walk = {};
  double plans_per_second = 0, over_roof = 0, over_floor = 0;
  double best = 0, roof = 0;  ///< seconds
  std::string bound = {};
};

double quantile(std::vector<double> values, double at) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

Line measured(const std::string& model, const explore::DistinctGroup& group, const costmodel::CalibratedDevice& device,
              double least) {
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group.group));
  const explore::Axes axes = explore::default_axes(prepared, device.limits);
  explore::TuneOptions options;
  options.model = costmodel::find_model("projected");
  const costmodel::GroupWork work = costmodel::group_work(group.group);
  const double floor = explore::group_price(group.group.graph, device) + device.dram_latency;
  Line line{model, short_hex(group.group.id), text(std::get<codegen::Layout>(group.needs)), group.bytes};
  explore::Plans walk(prepared, axes, device.limits, explore::rules());
  while (walk.next()) continue;
  line.walk = walk.counts();
  std::vector<double> passes;
  double seconds = 0;
  do {
    const std::clock_t start = std::clock();  // of the processor, for other programs run too
    const explore::Tuned tuned = explore::tune(prepared, axes, device, options);
    passes.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    seconds += passes.back();
    line.plans = std::ssize(tuned.ranked);
    line.enumerated = tuned.enumerated;
    if (!tuned.ranked.empty()) {
      const costmodel::ModelInputs inputs{.group = &work, .work = nullptr, .device = &device};
      line.roof = costmodel::find_model("sol")->estimate(inputs).total.value;
      const ir::Estimate& best = tuned.ranked.front().estimate;
      line.best = best.total.value;
      line.over_roof = line.roof > 0 ? line.best / line.roof : 0;
      line.over_floor = line.best / floor;
      line.bound = name(best.bottleneck);
    }
  } while (seconds < least || passes.size() < least_passes);
  line.plans_per_second = static_cast<double>(line.enumerated) / quantile(passes, 0.5);
  return line;
}

constexpr double mb = 1e6, endless = 1e18;
constexpr std::pair<double, double> sizes[] = {
    {0, mb}, {mb, 4 * mb}, {4 * mb, 16 * mb}, {16 * mb, 64 * mb}, {64 * mb, endless}, {0, endless}};

void print_sizes(const std::vector<Line>& lines, double least, double most) {
  std::vector<double> roofs, floors;
  double best = 0, roof = 0;
  std::map<std::string, int> bound;
  for (const Line& line : lines) {
    if (line.plans == 0 || line.bytes < least || line.bytes >= most) continue;
    roofs.push_back(line.over_roof);
    floors.push_back(line.over_floor);
    best += line.best, roof += line.roof;
    ++bound[line.bound];
  }
  if (roofs.empty()) return;
  std::string words;
  for (const auto& [part, count] : bound) words += fmt::format(", {} {}", count, part);
  fmt::print(
      "# best plan of {} groups of {:g} MB {}: over the roof all their time {:.3f}, median {:.2f}, 95 % below {:.2f}, "
      "most {:.2f}; "
      "over the floor median {:.3f}, 95 % below {:.3f}, most {:.2f}; bound by{}\n",
      roofs.size(), least / mb, most < endless ? fmt::format("to {:g} MB", most / mb) : "and more", best / roof,
      quantile(roofs, 0.5), quantile(roofs, 0.95), quantile(roofs, 1), quantile(floors, 0.5), quantile(floors, 0.95),
      quantile(floors, 1), words.empty() ? words : words.substr(1));
}

/// What heuristics keep a group from, where its best plan is far from the floor.
void print_wide(const Line& line, const explore::DistinctGroup& group, const costmodel::CalibratedDevice& device) {
  constexpr double gain = 1.05, enough_bytes = 1e6;
  if (line.plans == 0 || line.bytes < enough_bytes) return;
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group.group));
  explore::TuneOptions options;
  options.heuristics = false;
  options.max_plans = 12000;
  options.keep = 1;
  options.model = costmodel::find_model("projected");
  const explore::Tuned tuned = explore::tune(prepared, explore::default_axes(prepared, device.limits), device, options);
  const double floor = explore::group_price(group.group.graph, device) + device.dram_latency;
  const auto shown = std::min<std::size_t>(10, tuned.ranked.size());
  for (const explore::Scored& one : std::span(tuned.ranked).first(shown)) {
    const double over = one.estimate.total.value / floor;
    if (over * gain > line.over_floor) break;
    std::string names;
    const codegen::Prepared& of = codegen::prepared_for(prepared, one.plan);
    for (const explore::Rule& rule : explore::rules())
      if (drops(rule, of, one.plan, device.limits)) names += fmt::format(" {}", rule.name);
    fmt::print("#   {:.3f} to {:.3f} by{}: {} {}\n", line.over_floor, over, names, name(one.estimate.bottleneck),
               text(one.plan));
  }
}

}  // namespace

int main(int count, char** words) {
  const bool wide = count > 1 && words[1] == std::string_view("--wide");
  if (wide) ++words, --count;
  std::vector<const char*> strategies{"imported", "stitch-v1"};
  if (count > 2 && words[1] == std::string_view("--strategy")) {
    strategies = {words[2]};
    words += 2, count -= 2;
  }
  const bool alone = count > 2 && words[1] == std::string_view("--group");
  const std::string_view only = alone ? words[2] : "";
  if (alone) words += 2, count -= 2;
  if (count < 3) {
    std::fputs("usage: space_bench [--wide] [--strategy NAME] [--group ID] DEVICE MODEL...\n", stderr);
    return 2;
  }
  const std::filesystem::path root = tailor::source_folder();
  const costmodel::CalibratedDevice device =
      costmodel::calibrated(ir::find_device(words[1], root / "data/devices"),
                            ir::find_calibration("uncalibrated", root / "data/calibrations"));
  explore::FusionSetting setting;
  setting.device = &device;
  setting.price = costmodel::find_model("group");
  setting.plans = costmodel::find_model("projected");
  std::vector<Line> lines;
  std::set<std::string> known;
  std::puts(
      "model,strategy,group,kind,bytes,plans,enumerated,prefixes,mappings,asked,plans_per_s,over_roof,over_floor,"
      "bound");
  for (int i = 2; i < count; ++i) {
    const hlo::Imported model = hlo::import_file(words[i]);
    for (const char* strategy : strategies) {
      const ir::Fusion fusion = explore::fuse(explore::find_strategy(strategy), model.graph, setting);
      for (const explore::DistinctGroup& group : explore::partition(model.graph, fusion).groups) {
        if (group.bytes < least_bytes || !std::holds_alternative<codegen::Layout>(group.needs)) continue;
        if (!hex(group.group.id).starts_with(only) || !known.insert(hex(group.group.id)).second) continue;
        lines.push_back(measured(std::filesystem::path(words[i]).stem().string(), group, device,
                                 alone ? seconds_of_one : least_seconds));
        const Line& line = lines.back();
        fmt::print("{},{},{},{},{:.0f},{},{},{},{},{},{:.0f},{:.3f},{:.3f},{}\n", line.model, strategy, line.group,
                   line.kind, line.bytes, line.plans, line.enumerated, line.walk.prefixes, line.walk.mappings,
                   line.walk.asked, line.plans_per_second, line.over_roof, line.over_floor, line.bound);
        if (wide) print_wide(line, group, device);
      }
    }
  }
  std::vector<double> rates;
  std::int64_t some = 0, enough = 0;
  for (const Line& line : lines) {
    rates.push_back(line.plans_per_second);
    some += line.plans > 0;
    enough += line.plans >= 20 && line.plans <= 150;
  }
  fmt::print("# {} groups of 64 KB or more; {} have a plan, {} have 20 to 150\n", lines.size(), some, enough);
  fmt::print("# plans/s: least {:.0f}, 5 % below {:.0f}, median {:.0f}\n", quantile(rates, 0), quantile(rates, 0.05),
             quantile(rates, 0.5));
  for (const auto& [least, most] : sizes) print_sizes(lines, least, most);
  return 0;
}
