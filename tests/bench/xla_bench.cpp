// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How long xla-priority takes beside XLA's own passes. In: a folder of digests (NAME.json with pass_us beside
// NAME.prefusion.hlo[.gz]), a variant such as h200.notriton, how often. Out: CSV, a line per module: instructions,
// milliseconds of the processor of our priority fusion and of all our passes, the best of so many runs, and those that
// the digest says XLA took (while dumping, so more than in an ordinary compilation). Run by hand:
//
//   xla_bench FOLDER VARIANT RUNS
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/compressed.h"
#include "base/json.h"
#include "explore/strategy.h"
#include "explore/xla/instructions.h"
#include "hlo/import.h"
#include "support/paths.h"

using namespace tailor;

namespace {

std::int64_t fuse_all(const ir::Graph& graph, const costmodel::xla::Target& target) {
  auto kernels = static_cast<std::int64_t>(explore::xla_kernels(graph, target).size());
  for (const ir::Node& node : graph.nodes)
    if (ir::class_of(node.op) == ir::OpClass::control)
      for (const std::int32_t body : node.bodies)
        kernels += fuse_all(graph.bodies[static_cast<std::size_t>(body)], target);
  return kernels;
}

double pass_ms(const Json& digest, std::string_view pass) {
  const Json* const passes = digest.find("pass_us");
  const Json* const one = passes == nullptr ? nullptr : passes->find(pass);
  return one == nullptr ? 0 : one->number().value_or(0) / 1e3;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fputs("usage: xla_bench FOLDER VARIANT RUNS\n", stderr);
    return 2;
  }
  const std::string ending = fmt::format(".{}.json", words[2]);
  std::vector<std::filesystem::path> digests;
  for (const auto& entry : std::filesystem::directory_iterator(words[1]))
    if (entry.path().string().ends_with(ending)) digests.push_back(entry.path());
  std::sort(digests.begin(), digests.end());
  std::puts("module,nodes,kernels,ours_ms,xla_ms,ratio");
  double ours = 0, theirs = 0;
  for (const std::filesystem::path& path : digests) {
    const std::string text = read_unpacked(path.string());
    const Json digest = parse_json(text, path.string());
    const auto target =
        costmodel::xla::find_target_of_xla(*digest.find("target")->string(), tailor::source_folder() + "/data/xla");
    const std::string stem = path.string().substr(0, path.string().size() - std::string_view(".json").size());
    const std::string body = read_unpacked(stem + ".prefusion.hlo.gz");
    const hlo::HloModule module = hlo::parse_module(body, stem, {});
    const ir::Graph graph = hlo::import_as_written(module, module.computations[module.entry]);
    double best = 1e9;
    std::int64_t kernels = 0;
    for (int run = 0; run < std::stoi(words[3]); ++run) {
      const std::clock_t start = std::clock();  // of the processor, for other programs run too
      kernels = fuse_all(graph, *target);
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC * 1e3);
    }
    const double xla = pass_ms(digest, "priority-fusion") + pass_ms(digest, "multi_output_fusion");
    ours += best;
    theirs += xla;
    fmt::print("{},{},{},{:.2f},{:.2f},{:.3f}\n", path.stem().string(), graph.nodes.size(), kernels, best, xla,
               best / xla);
  }
  fmt::print("all,,,{:.2f},{:.2f},{:.3f}\n", ours, theirs, ours / theirs);
}
