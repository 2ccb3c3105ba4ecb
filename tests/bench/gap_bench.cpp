// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far strategies are from the exact optimum. In: a device, a number of graphs, models' files. Out: for each
// strategy how much its price lies above the least price of any partition: mean, median, nine tenths, most, share that
// is optimal; over parts of 10 to 18 nodes cut out of the models, or over random graphs where no model is named. With
// --lowerable the optimum is over groups that strategy tailor may form. With --worst the graphs that are furthest from
// it follow, with the groups that were found and those of the optimum. By hand:
//
//   gap_bench DEVICE GRAPHS [--lowerable] [--worst] MODEL...
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codegen/structure/structure.h"
#include "explore/merge_search.h"
#include "explore/price.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "study/pipeline/question.h"
#include "support/optimum.h"
#include "support/paths.h"
#include "support/random_graph.h"

using namespace tailor;

namespace {

constexpr std::int64_t most_steps = 1 << 21;
constexpr double optimal = 1e-9;  // relative: what is nearer than this is rounding

using Groups = std::vector<std::vector<ir::NodeId>>;

struct Gap {
  double over = 0;
  ir::Graph graph;
  Groups found, least;
};

std::string text(const ir::Graph& graph, const Groups& groups) {
  std::string words;
  for (const std::vector<ir::NodeId>& group : groups) {
    words += words.empty() ? "{" : ", {";
    for (const ir::NodeId id : group) words += fmt::format("{}%{}", id == group.front() ? "" : " ", graph[id].name);
    words += "}";
  }
  return words;
}

struct Model {
  std::string name;
  ir::Graph graph;
  ir::DefUse def_use;
};

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> files;
  bool lowerable = false, worst = false;
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--lowerable")
      lowerable = true;
    else if (word == "--worst")
      worst = true;
    else
      files.push_back(word);
  }
  if (count < 3) {
    std::fputs("usage: gap_bench DEVICE GRAPHS [--lowerable] [--worst] MODEL...\n", stderr);
    return 2;
  }
  const std::filesystem::path data = std::filesystem::path(tailor::source_folder()) / "data";
  const study::Target target = study::load_target(data, words[1], study::load_calibration(data, "uncalibrated"));
  explore::FusionSetting setting = study::fusion_setting(&target.calibrated, {study::silent()});
  setting.plans = nullptr;  // what is held against the optimum is the price
  std::vector<Model> models;
  for (const std::string& file : files) {
    Model& model = models.emplace_back(Model{file, hlo::import_file(file).graph, {}});
    model.def_use = ir::def_use(model.graph);
  }
  const std::size_t wanted = static_cast<std::size_t>(std::stoul(words[2]));
  std::map<std::string, std::vector<Gap>> gaps;
  std::size_t solved = 0, too_large = 0;
  std::mt19937_64 random(1);
  for (std::uint64_t seed = 1; solved < wanted && seed < 100 * wanted; ++seed) {
    ir::Graph graph;
    if (models.empty()) {
      graph = all_read(well_formed_graph(seed, 16));
    } else {
      const Model& model = models[seed % models.size()];
      std::optional<ir::Graph> part = random_part(model.graph, model.def_use, 10 + random() % 9, random);
      if (!part) continue;
      graph = std::move(*part);
    }
    const ir::DefUse def_use = ir::def_use(graph);
    MayBeGroup may;
    if (lowerable)
      may = [&](const std::vector<ir::NodeId>& nodes) {
        return std::none_of(nodes.begin(), nodes.end(),
                            [&](ir::NodeId id) { return codegen::refused_alone(graph, id).has_value(); }) &&
               !explore::not_one_kernel(graph, def_use, nodes, explore::MergeLimits{});
      };
    Groups best;
    const std::optional<double> least = optimum(graph, target.calibrated, most_steps, may, &best);
    if (!least) ++too_large;
    if (!least || *least <= 0) continue;
    ++solved;
    for (const explore::Strategy& row : explore::strategies()) {
      const ir::Fusion fusion = explore::fuse(row, graph, setting);
      const double price = explore::price_of(graph, def_use, fusion.groups, target.calibrated);
      gaps[std::string(row.name)].push_back({price / *least - 1, graph, fusion.groups, best});
    }
  }
  fmt::print("{} graphs, {} left out as too large\n", solved, too_large);
  fmt::print("{:12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "strategy", "mean %", "median %", "p90 %", "most %",
             "optimal %", "better %");
  for (auto& [name, all] : gaps) {
    std::stable_sort(all.begin(), all.end(), [](const Gap& a, const Gap& b) { return a.over < b.over; });
    double sum = 0, exact = 0, below = 0;
    for (const Gap& gap : all) {
      sum += std::max(0.0, gap.over);
      exact += gap.over <= optimal;
      below += gap.over < -optimal;  // values that are computed again are beyond partitions
    }
    const auto number = static_cast<double>(all.size());
    const auto at = [&](double share) { return 100 * all[static_cast<std::size_t>(share * (number - 1))].over; };
    fmt::print("{:12} {:9.4f} {:9.4f} {:9.4f} {:9.4f} {:9.1f} {:9.1f}\n", name, 100 * sum / number, at(0.5), at(0.9),
               at(1), 100 * exact / number, 100 * below / number);
    if (worst && name.starts_with("tailor"))
      for (std::size_t i = all.size(); i-- > 0 && i + 3 >= all.size();)
        fmt::print("# {:.3f} % over:\n{}found: {}\nleast: {}\n\n", 100 * all[i].over, text(all[i].graph),
                   text(all[i].graph, all[i].found), text(all[i].graph, all[i].least));
  }
  return 0;
}
