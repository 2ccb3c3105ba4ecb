// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How well the levels projected and compiled order plans that a GPU timed. In: a text of timed plans, one a line as
// MODEL <tab> NUMBER OF ITS GROUP <tab> PLAN <tab> SECONDS, those of a group next to one another. Out: CSV, one line
// for each plan, then the figures of each level: errors, how much slower than the fastest the first plan and the best
// of the first four are, rank correlation within groups of eight plans and more. Run by hand:
//
//   ranking_bench DEVICE CACHE TIMES [CALIBRATION] > ranking.csv
//
// CACHE is a folder that keeps compiled kernels from run to run; with `-` nothing is compiled. Times are those of
// CUPTI's records of cold runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "costmodel/model.h"
#include "profiler/compile/nvrtc.h"
#include "study/pipeline/question.h"
#include "study/pipeline/stages.h"
#include "support/paths.h"

using namespace tailor;

namespace {

struct TimedPlan {
  std::string model, plan;
  std::size_t group = 0;
  double seconds = 0;
};

struct Scored {
  double measured = 0, projected = 0, compiled = 0;
};

std::vector<TimedPlan> read_times(const std::filesystem::path& file) {
  std::vector<TimedPlan> times;
  const std::string content = read_file(file);
  for (const std::string_view line : split(content, '\n')) {
    const auto fields = split(line, '\t');
    if (fields.size() != 4) continue;
    times.push_back({std::string(fields[0]), std::string(fields[2]),
                     static_cast<std::size_t>(std::stoul(std::string(fields[1]))) - 1,
                     std::stod(std::string(fields[3]))});
  }
  return times;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// 0 of nothing.
double median(const std::vector<double>& values) { return values.empty() ? 0 : median_of(values); }

void print_level(const char* name, const std::vector<std::vector<Scored>>& groups, double Scored::*level) {
  std::vector<double> errors, bias, first, of_four, correlation;
  for (const std::vector<Scored>& group : groups) {
    for (const Scored& one : group) bias.push_back(one.*level / one.measured - 1);
    if (group.size() < 8) continue;
    std::vector<double> said, seen;
    for (const Scored& one : group) said.push_back(one.*level), seen.push_back(one.measured);
    std::vector<std::size_t> order(group.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return said[a] < said[b]; });
    const double fastest = *std::min_element(seen.begin(), seen.end());
    first.push_back(seen[order[0]] / fastest);
    of_four.push_back(std::min({seen[order[0]], seen[order[1]], seen[order[2]], seen[order[3]]}) / fastest);
    correlation.push_back(rank_correlation(said, seen).value_or(0));
  }
  for (const double one : bias) errors.push_back(std::abs(one));
  const auto near = std::count_if(of_four.begin(), of_four.end(), [](double one) { return one <= 1.05; });
  fmt::print(
      "# {}: {} plans, error median {:.2f} % mean {:.1f} % bias {:+.1f} %; {} groups: first {:.4f} (median {:.3f}), of "
      "four {:.4f} ({} within 5 %), rank correlation {:.3f}\n",
      name, bias.size(), 100 * median(errors), 100 * mean_of(errors), 100 * median(bias), first.size(), mean_of(first),
      median(first), mean_of(of_four), near, mean_of(correlation));
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fputs("usage: ranking_bench DEVICE CACHE TIMES [CALIBRATION]\n", stderr);
    return 2;
  }
  const std::filesystem::path root = tailor::source_folder(), cache = words[2];
  const bool compiles = cache != "-";
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({root / ".venv"}));
  study::Compiling how;
  how.api = compiler.api.get();
  how.cache = cache;
  how.shapes = study::Shapes::own;
  const ir::Regime regime = ir::make_regime(ir::Protocol{});
  const std::vector<TimedPlan> times = read_times(words[3]);
  std::vector<std::vector<Scored>> groups;
  std::puts(
      "model,group,measured,projected,compiled,guessed,real,spilled,instructions,code,occupancy,waves,executed,plan");
  for (std::size_t at = 0; at < times.size();) {
    study::Question question;
    question.model = times[at].model;
    question.device = words[1];
    if (count > 4) question.calibration = words[4];
    study::FusedModel model(question, root / "data", {study::silent()});
    for (const std::string name = times[at].model; at < times.size() && times[at].model == name;) {
      const std::size_t group = times[at].group;
      std::vector<study::Candidate> candidates;
      std::vector<double> seconds;
      for (; at < times.size() && times[at].model == name && times[at].group == group; ++at) try {
          if (group >= model.partition.groups.size())
            throw Error(Fault::missing, fmt::format("the strategy makes no group {} of it any more", group + 1));
          candidates.push_back(study::choose_plan(model, group, times[at].plan, {study::silent()}));
          seconds.push_back(times[at].seconds);
        } catch (const Error& error) {
          fmt::print("# {} {}: {}\n", name, times[at].plan, error.message);
        }
      study::print(candidates);
      if (compiles) study::compile(candidates, how, {study::silent()});
      groups.emplace_back();
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const study::Candidate& one = candidates[i];
        const auto projected = study::predict(one, ir::Level::projected, regime);
        const auto compiled = study::predict(one, ir::Level::compiled, regime);
        if (!projected || (compiles && !compiled)) continue;
        groups.back().push_back({seconds[i], projected->total.value, compiled ? compiled->total.value : 0});
        fmt::print("{},{},{:.2f},{:.2f},{:.2f},{},{},{},{},{},{:.3f},{:.2f},{},\"{}\"\n",
                   std::filesystem::path(name).stem().string(), group + 1, 1e6 * seconds[i],
                   1e6 * projected->total.value, compiled ? 1e6 * compiled->total.value : 0, projected->registers,
                   compiled ? compiled->registers : 0, compiled ? one.binary->spill_stores : 0,
                   compiled ? one.binary->machine_instructions : 0, one.work.code_instructions,
                   (compiled ? compiled : projected)->occupancy, (compiled ? compiled : projected)->waves,
                   one.work.busiest_block * 32 / one.work.threads, text(one.plan));
      }
    }
  }
  print_level("projected", groups, &Scored::projected);
  if (compiles) print_level("compiled", groups, &Scored::compiled);
  return 0;
}
