// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How near the price of a group comes to the best of its plans. In: a device, a file that keeps best plans from run to
// run, strategies, models' files. Out: CSV, one line for each different group of more than one operation: its price,
// the best of its plans by `projected`; then the ratio of the two and their rank correlation over all groups, and over
// those of which something is computed again. By hand:
//
//   price_bench DEVICE PLANS STRATEGY,... MODEL... > prices.csv
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "codegen/lower/prepare.h"
#include "costmodel/group_summary.h"
#include "explore/plans/tune.h"
#include "explore/price.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "ir/outline.h"
#include "study/pipeline/question.h"
#include "support/paths.h"

using namespace tailor;

namespace {

struct Pair {
  double price = 0, plans = 0;
};

/// By the group's id; 0: it has no plan.
class BestPlans {
 public:
  BestPlans(std::string path, const costmodel::CalibratedDevice& device) : path_(std::move(path)), device_(device) {
    std::ifstream file(path_);
    std::string id;
    for (double seconds = 0; file >> id >> seconds;) known_[id] = seconds;
  }
  double of(const ir::Group& group) {
    const auto known = known_.find(hex(group.id));
    if (known != known_.end()) return known->second;
    double best = 0;
    const auto prepared = codegen::prepare(group);
    if (const auto* ready = std::get_if<codegen::Prepared>(&prepared)) {
      const auto nodes = static_cast<std::int64_t>(group.graph.nodes.size()) + 1;
      const std::int64_t plans = std::clamp<std::int64_t>(nodes_times_plans / nodes, 4, explore::plans_in_passing);
      const explore::Tuned tuned =
          explore::tune(*ready, explore::default_axes(*ready, device_.limits), device_, explore::in_passing(plans, {}));
      if (!tuned.best.empty()) best = tuned.best.front().estimate.total.value;
    }
    known_[hex(group.id)] = best;
    std::ofstream(path_, std::ios::app) << hex(group.id) << ' ' << fmt::format("{}", best) << '\n';
    return best;
  }

 private:
  static constexpr std::int64_t nodes_times_plans = 16'384;
  std::string path_;
  const costmodel::CalibratedDevice& device_;
  std::map<std::string, double> known_;
};

void say(const char* name, const std::vector<Pair>& pairs) {
  if (pairs.size() < 2) return;
  std::vector<double> ratios, prices, plans;
  for (const Pair& one : pairs)
    ratios.push_back(one.price / one.plans), prices.push_back(one.price), plans.push_back(one.plans);
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  const auto near = std::count_if(ratios.begin(), ratios.end(), [](double r) { return r >= 0.75 && r <= 1.25; });
  fmt::print("# {}: {} groups, price / plans 5 % {:.3f} median {:.3f} 95 % {:.3f}, within 25 % {:.1f} %, rank {:.4f}\n",
             name, pairs.size(), at(0.05), at(0.5), at(0.95),
             100 * static_cast<double>(near) / static_cast<double>(pairs.size()),
             rank_correlation(prices, plans).value_or(0));
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fputs("usage: price_bench DEVICE PLANS STRATEGY,... MODEL...\n", stderr);
    return 2;
  }
  const std::filesystem::path data = std::filesystem::path(tailor::source_folder()) / "data";
  const study::Target target = study::load_target(data, words[1], study::load_calibration(data, "uncalibrated"));
  const explore::FusionSetting setting = study::fusion_setting(&target.calibrated, {study::silent()});
  BestPlans plans(words[2], target.calibrated);
  std::set<std::string> seen;
  std::vector<Pair> all;
  std::puts("model,strategy,group,nodes,price,plans,fma,alu,xu,loads");
  for (int m = 4; m < count; ++m) try {
      const ir::Graph graph = hlo::import_file(words[m]).graph;
      const ir::DefUse def_use = ir::def_use(graph);
      const std::string strategies = words[3];
      for (const std::string_view name : split(strategies, ',')) {
        const ir::Fusion fusion = explore::fuse(explore::find_strategy(name), graph, setting);
        for (const std::vector<ir::NodeId>& nodes : fusion.groups) {
          if (nodes.size() < 2) continue;
          const ir::Group group = ir::outline(graph, ir::boundary(graph, def_use, nodes));
          if (!seen.insert(hex(group.id)).second) continue;
          const double best = plans.of(group);
          if (best <= 0) continue;
          const double price = explore::group_price(group.graph, target.calibrated);
          const costmodel::GroupSummary summary = costmodel::summarise(group.graph);
          all.push_back({price, best});
          fmt::print("{},{},{},{},{:.3f},{:.3f},{:.4g},{:.4g},{:.4g},{:.4g}\n",
                     std::filesystem::path(words[m]).stem().string(), name, short_hex(group.id), nodes.size(),
                     1e6 * price, 1e6 * best, summary.fma, summary.alu, summary.xu, summary.loads);
        }
        std::fflush(stdout);
      }
    } catch (const Error& error) {
      fmt::print("# {}: {}\n", words[m], error.message);
    }
  say("all", all);
  return 0;
}
