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

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "bench/order_figures.h"
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
  std::vector<std::vector<SaidAndSeen>> by_model, by_code;
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
      by_model.emplace_back();
      by_code.emplace_back();
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const study::Candidate& one = candidates[i];
        const auto projected = study::predict(one, ir::Level::projected, regime);
        const auto compiled = study::predict(one, ir::Level::compiled, regime);
        if (!projected || (compiles && !compiled)) continue;
        by_model.back().push_back({projected->total.value, seconds[i]});
        if (compiled) by_code.back().push_back({compiled->total.value, seconds[i]});
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
  print_order("projected", by_model);
  if (compiles) print_order("compiled", by_code);
  return 0;
}
