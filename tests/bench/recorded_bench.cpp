// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How well the level projected orders plans of recorded files, and what order could be had at all. In: a device, a
// calibration, files of data/recorded, which hold groups and plans themselves, so no model is needed. Out: CSV, one
// line for each plan that was timed cold; then the figures of the model with each kernel's real registers; then what
// rank correlation numbers would have that are off by a random 1, 2, 3 ... % of the measured times, beside how far one
// measurement is known and how far the plans of a group lie apart. Run by hand:
//
//   recorded_bench DEVICE CALIBRATION RECORDED... > recorded.csv
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "bench/order_figures.h"
#include "costmodel/model.h"
#include "study/evidence/evidence.h"
#include "study/pipeline/question.h"
#include "support/paths.h"

using namespace tailor;

namespace {

/// Of a plan that was timed several times the first by id counts.
struct TimedPlan {
  SaidAndSeen time;
  double width = 0;  ///< of the interval of what was measured, over it
};
using Groups = std::map<Id, std::map<Id, TimedPlan>>;

Groups groups_of(const std::vector<calibrate::Sample>& samples, const calibrate::Machine& machine,
                 const std::map<Id, store::PlanRow>& plans) {
  const costmodel::Model& model = *costmodel::find_model("projected");
  Groups groups;
  for (const calibrate::Sample& one : samples) {
    const auto* own = std::get_if<ir::OwnKernel>(&one.of.subject);
    if (own == nullptr || one.of.regime.cache != ir::CacheState::cold || one.of.regime.timer != ir::Timer::activity)
      continue;
    const double seen = one.of.time.value, width = (one.of.high - one.of.low).value / seen;
    const double said = calibrate::estimate(model, one, machine.of(one.operation)).total.value;
    if (!groups[own->group].emplace(own->plan, TimedPlan{{said, seen}, width}).second) continue;
    fmt::print("{},{},{:.3f},{:.3f},{:.4f},{},\"{}\"\n", short_hex(own->group), short_hex(own->plan), 1e6 * seen,
               1e6 * said, width, own->registers, plans.at(own->plan).text);
  }
  return groups;
}

/// The standard deviation of the logarithms of what was measured: how far the plans lie apart.
double spread_of_logs(const std::vector<SaidAndSeen>& group) {
  std::vector<double> logs;
  for (const SaidAndSeen& one : group) logs.push_back(std::log(one.seen));
  const double mean = mean_of(logs);
  double sum = 0;
  for (const double one : logs) sum += (one - mean) * (one - mean);
  return std::sqrt(sum / static_cast<double>(logs.size() - 1));
}

/// Numbers that differ from what was measured by a lognormal factor, drawn five times for each group.
void print_possible(const std::vector<std::vector<SaidAndSeen>>& groups) {
  std::mt19937_64 random(1);
  for (const double error : {0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1}) {
    std::normal_distribution<double> draw(0, error);
    std::vector<double> correlations;
    for (int again = 0; again < 5; ++again)
      for (std::vector<SaidAndSeen> group : groups) {
        if (group.size() < least_plans) continue;
        for (SaidAndSeen& one : group) one.said = one.seen * std::exp(draw(random));
        correlations.push_back(order_of(group));
      }
    fmt::print("# off by a random {:.1f} %: rank correlation {:.3f}\n", 100 * error, mean_of(correlations));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fputs("usage: recorded_bench DEVICE CALIBRATION RECORDED...\n", stderr);
    return 2;
  }
  const std::filesystem::path data = std::filesystem::path(tailor::source_folder()) / "data";
  const ir::Device device = study::load_device(data, words[1]);
  const calibrate::Machine machine(device, study::load_calibration(data, words[2]));
  const study::Evidence evidence = study::read_evidence({words + 3, words + count}, data, {study::silent()});
  const study::Samples samples =
      study::samples_of(evidence, study::known_devices(data), device.name, {study::silent()});
  std::puts("group,plan,measured,projected,interval,registers,text");
  std::vector<std::vector<SaidAndSeen>> groups;
  std::vector<double> widths, spreads;
  for (const auto& [group, plans] : groups_of(samples.samples, machine, evidence.plans)) {
    groups.emplace_back();
    for (const auto& [plan, one] : plans) groups.back().push_back(one.time), widths.push_back(one.width);
    if (plans.size() >= least_plans) spreads.push_back(spread_of_logs(groups.back()));
  }
  print_order("projected, registers known", groups);
  if (!spreads.empty())
    fmt::print("# medians: interval of a measurement {:.1f} % wide, standard deviation of a group's plans {:.0f} %\n",
               100 * median_of(widths), 100 * median_of(spreads));
  print_possible(groups);
  return 0;
}
