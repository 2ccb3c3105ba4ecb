// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far strategies are from the exact optimum. In: a device, a number of graphs, models' files. Out: for each
// strategy how much its price lies above the least price of any partition: mean, median, nine tenths, most, share that
// is optimal; over parts of 10 to 18 nodes cut out of the models, or over random graphs where no model is named. With
// --lowerable the optimum is over groups that strategy tailor may form. The worst graphs are printed behind with
// --worst. By hand:
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

#include "codegen/lower/structure.h"
#include "costmodel/model.h"
#include "explore/merge_search.h"
#include "explore/price.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "support/optimum.h"
#include "support/random_graph.h"

using namespace tailor;

namespace {

constexpr std::int64_t most_steps = 1 << 21;
constexpr double optimal = 1e-9;  // relative: what is nearer than this is rounding

struct Gap {
  double over = 0;
  ir::Graph graph;
};

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
  const std::filesystem::path root = TAILOR_SOURCE_DIR;
  const costmodel::CalibratedDevice device =
      costmodel::calibrated(ir::find_device(words[1], root / "data/devices"),
                            ir::find_calibration("uncalibrated", root / "data/calibrations"));
  explore::FusionSetting setting;
  setting.device = &device;
  setting.price = costmodel::find_model("group");
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
    const std::optional<double> least = optimum(graph, device, most_steps, may);
    if (!least) ++too_large;
    if (!least || *least <= 0) continue;
    ++solved;
    for (const explore::Strategy& row : explore::strategies()) {
      const double price = explore::price_of(graph, def_use, explore::fuse(row, graph, setting).groups, device);
      gaps[std::string(row.name)].push_back({price / *least - 1, graph});
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
        fmt::print("# {:.3f} % over:\n{}\n", 100 * all[i].over, text(all[i].graph));
  }
  return 0;
}
