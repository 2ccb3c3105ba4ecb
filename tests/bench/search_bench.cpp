// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How long strategies that search take on whole models and on long chains, and how much is left for a search that goes
// on mending. In: a device, seconds of mending (0: none), models' files. Out: CSV, a line per model: nodes, seconds of
// each search on one core, prices of the file's own partition and of each search, per cent that mending for so many
// seconds still takes off. Without models: seconds of chains of 1,000 to 100,000 nodes and of as many nodes in rows of
// chains, with the exponent from 1,000 to 50,000. Run by hand:
//
//   search_bench DEVICE SECONDS [MODEL...]
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>

#include "explore/price.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "study/pipeline/question.h"
#include "support/paths.h"

using namespace tailor;

namespace {

/// `nodes` additions: one after another, or 16 of them behind one parameter each.
ir::Graph chains(int nodes, int length) {
  std::string text = "graph chains {\n  %x = parameter 0 : f32[64]\n", outputs;
  for (int i = 0; i < nodes; ++i) {
    const std::string before = i % length == 0 ? "x" : fmt::format("x{}", i - 1);
    text += fmt::format("  %x{} = add %{}, %{} : f32[64]\n", i, before, before);
    if (i % length == length - 1 || i == nodes - 1) outputs += fmt::format("{}%x{}", outputs.empty() ? "" : ", ", i);
  }
  return ir::parse_graph(text + "  output " + outputs + "\n}\n");
}

struct Searched {
  double seconds = 0, price = 0;
};

/// Bodies of loops are searched, but only the graph itself is priced.
Searched search(const char* name, const ir::Graph& graph, const explore::FusionSetting& setting) {
  const std::clock_t start = std::clock();  // of the processor, for other programs run too
  const ir::Fusion fusion = explore::fuse(explore::find_strategy(name), graph, setting);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return {seconds, explore::price_of(graph, ir::def_use(graph), fusion.groups, *setting.device)};
}

void time_chains(const explore::FusionSetting& setting) {
  std::puts("strategy,graph,nodes,seconds");
  for (const char* name : {"stitch-v1", "tailor", "tailor-any"})
    for (const int length : {16, 1 << 20}) {
      const char* kind = length == 16 ? "chains of 16" : "one chain";
      double first = 0;
      for (const int nodes : {1000, 10000, 20000, 50000, 100000}) {
        const Searched found = search(name, chains(nodes, length), setting);
        fmt::print("{},{},{},{:.3f}\n", name, kind, nodes, found.seconds);
        if (nodes == 1000) first = found.seconds;
        if (nodes == 50000)
          fmt::print("# {}, {}: exponent {:.2f} from 1,000 to 50,000\n", name, kind,
                     std::log(found.seconds / first) / std::log(50.0));
        std::fflush(stdout);
      }
    }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: search_bench DEVICE SECONDS [MODEL...]\n", stderr);
    return 2;
  }
  const std::filesystem::path data = std::filesystem::path(tailor::source_folder()) / "data";
  const study::Target target = study::load_target(data, words[1], study::load_calibration(data, "uncalibrated"));
  explore::FusionSetting setting = study::fusion_setting(&target.calibrated, {study::silent()});
  setting.plans = nullptr;  // what is held against the optimum is the price
  explore::FusionSetting longer = setting;
  longer.budget = {.seconds = std::stod(words[2]), .evaluations = 0, .until_spent = true};
  if (count == 3) {
    time_chains(setting);
    return 0;
  }
  std::puts("model,nodes,tailor_s,tailor_any_s,imported_us,tailor_us,tailor_any_us,tailor_left_pc,tailor_any_left_pc");
  for (int i = 3; i < count; ++i) {
    const ir::Graph graph = hlo::import_file(words[i]).graph;
    const Searched given = search("imported", graph, setting), ours = search("tailor", graph, setting),
                   any = search("tailor-any", graph, setting);
    double left = 0, left_any = 0;
    if (longer.budget.seconds > 0) {
      left = 100 * (1 - search("tailor", graph, longer).price / ours.price);
      left_any = 100 * (1 - search("tailor-any", graph, longer).price / any.price);
    }
    fmt::print("{},{},{:.3f},{:.3f},{:.2f},{:.2f},{:.2f},{:.3f},{:.3f}\n",
               std::filesystem::path(words[i]).filename().string(), graph.nodes.size(), ours.seconds, any.seconds,
               1e6 * given.price, 1e6 * ours.price, 1e6 * any.price, left, left_any);
    std::fflush(stdout);
  }
  return 0;
}
