// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine instructions for each element: what all lanes of a launch execute, by machine code that is followed
// (profiler/compile/machine_work.h), over the elements of the group's largest array. In: models' files. Out: CSV, one
// line for each model: that of the plan that the model of times ranks first, the least of the short list, the least
// and the most of the first KEEP kernels of the ranking; below it, as comments, the first plan by operation. No GPU.
// Run by hand:
//
//   elements_bench DEVICE CACHE KEEP CLASS MODEL... > elements.csv
//
// Kernels in which data decides a way are left out: of those the counts rest on what is assumed.
// CACHE is a folder that keeps compiled kernels from run to run, KEEP 0 asks about every kernel of the space, CLASS is
// the class of arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/compile/nvrtc.h"
#include "study/pipeline/question.h"
#include "study/pipeline/stages.h"
#include "support/paths.h"

using namespace tailor;

namespace {

constexpr std::int64_t short_list = 4, lanes = 32;

std::int64_t largest_array(const ir::Graph& graph) {
  std::int64_t most = 1;
  for (const ir::Node& node : graph.nodes)
    if (node.op == ir::Op::parameter) most = std::max(most, ir::elements(node.shape));
  return most;
}

struct Counted {
  double instructions = 0;  ///< for each element
  const study::Candidate* of = nullptr;
};

std::vector<Counted> counted(std::vector<study::Candidate>& candidates, const study::Compiling& how,
                             std::int64_t elements) {
  study::print(candidates);
  study::compile(candidates, how, {study::silent()});
  std::vector<Counted> all;
  for (const study::Candidate& one : candidates) {
    if (!one.machine || !one.compiled()) continue;
    const ir::MachineWork machine = ir::together(*one.machine);
    if (!machine.counted || machine.assumed > 0) continue;
    all.push_back({static_cast<double>(ir::total(machine.executed) * lanes) / static_cast<double>(elements), &one});
  }
  return all;
}

Counted least(const std::vector<Counted>& all, std::size_t first) {
  return *std::min_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(first, all.size())),
                           [](const Counted& a, const Counted& b) { return a.instructions < b.instructions; });
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) {
    std::fputs("usage: elements_bench DEVICE CACHE KEEP CLASS MODEL...\n", stderr);
    return 2;
  }
  const std::filesystem::path root = tailor::source_folder();
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({root / ".venv"}));
  if (!compiler.api) {
    std::fputs("there is no NVRTC here\n", stderr);
    return 3;
  }
  study::Compiling how;
  how.api = compiler.api.get();
  how.cache = words[2];
  how.shapes = study::Shapes::own;
  std::puts("model,kernels,first,least_of_short_list,least,most,first_us,least_us,least_rank,first_plan,least_plan");
  for (int i = 5; i < count; ++i) {
    study::Question question;
    question.model = words[i];
    question.device = words[1];
    question.axes = {fmt::format("arithmetic={}", words[4])};
    study::FusedModel model(question, root / "data", {study::silent()});
    const study::PreparedGroup& group = model.group(model.chosen_group());
    study::Choice choice = study::choose(group, model.target, model.choosing(std::stol(words[3])), {});
    std::vector<study::Candidate>& candidates = choice.candidates;
    const std::vector<Counted> all = counted(candidates, how, largest_array(group.group.graph));
    if (all.empty() || all.front().of->rank != 1) {
      fmt::print(stderr, "{}: the plan that is ranked first was not counted\n", words[i]);
      continue;
    }
    const Counted first = all.front(), most_saving = least(all, all.size());
    double most = 0;
    for (const Counted& one : all) most = std::max(most, one.instructions);
    const auto time = [](const Counted& one) { return one.of->standing.estimates.front().total.value * 1e6; };
    fmt::print("{},{},{:.2f},{:.2f},{:.2f},{:.2f},{:.3f},{:.3f},{},\"{}\",\"{}\"\n",
               std::filesystem::path(words[i]).stem().string(), all.size(), first.instructions,
               least(all, short_list).instructions, most_saving.instructions, most, time(first), time(most_saving),
               most_saving.of->rank, text(first.of->plan), text(most_saving.of->plan));
    const double elements = static_cast<double>(largest_array(group.group.graph));
    for (const ir::MachineOperation& row : ir::together(*first.of->machine).operations)
      if (row.executed > 0) fmt::print("# {} {:.3f}\n", row.name, static_cast<double>(row.executed * lanes) / elements);
    std::fflush(stdout);
  }
  return 0;
}
