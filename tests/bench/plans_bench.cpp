// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How many plans of a group's default space go through the stages of search per second on one core: walked over under
// all rules (likely) or the sound ones (legal), lowered, counted in fast mode, projected. Each stage includes those
// before it. `plans` are those of the space, dropped ones included, `kept` those that came. What a walk costs is
// counted too, and says the same on every machine: prefixes that were looked at, mappings, and parts of rules that were
// asked.
#include <benchmark/benchmark.h>

#include <string>

#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "explore/plans/rules.h"
#include "explore/plans/walk.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;

namespace {

enum Stage { enumerate, lower, count, project };

struct BenchGroup {
  std::string_view member;
  std::int64_t rows, columns;
};
constexpr BenchGroup groups[] = {
    {"layernorm_f32", 4096, 768},  {"softmax_f16", 4096, 1024},
    {"bias_gelu_f16", 8192, 3072}, {"rms_residual_bf16", 16384, 4096},
    {"layernorm_f32", 37, 771},    {"softmax_f16", 37, 771},
    {"bias_gelu_f16", 8192, 3071}, {"softmax_f16", 4, 65536},
    {"softmax_f16", 1, 131072},    {"row_sum", 3, 300000},
    {"column_sum", 16384, 256},
};

constexpr std::string_view layernorm_f32 = R"(graph layernorm {
  %x = parameter 0 : f32[{R},{N}]
  %g = parameter 1 : f32[{N}]
  %b = parameter 2 : f32[{N}]
  %zero = constant 0 : f32[]
  %n = constant {N} : f32[]
  %eps = constant 0.00001 : f32[]
  %nb = broadcast %n : f32[{R}]
  %eb = broadcast %eps : f32[{R}]
  %s = reduce add %x, %zero, axes={1} : f32[{R}]
  %mean = divide %s, %nb : f32[{R}]
  %mb = broadcast %mean, axes={0} : f32[{R},{N}]
  %c = subtract %x, %mb : f32[{R},{N}]
  %sq = multiply %c, %c : f32[{R},{N}]
  %ss = reduce add %sq, %zero, axes={1} : f32[{R}]
  %var = divide %ss, %nb : f32[{R}]
  %ve = add %var, %eb : f32[{R}]
  %rstd = rsqrt %ve : f32[{R}]
  %rb = broadcast %rstd, axes={0} : f32[{R},{N}]
  %gb = broadcast %g, axes={1} : f32[{R},{N}]
  %bb = broadcast %b, axes={1} : f32[{R},{N}]
  %n1 = multiply %c, %rb : f32[{R},{N}]
  %n2 = multiply %n1, %gb : f32[{R},{N}]
  %y = add %n2, %bb : f32[{R},{N}]
  output %y
})";
constexpr std::string_view softmax_f16 = R"(graph softmax {
  %x = parameter 0 : f16[{R},{N}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %xf = convert %x : f32[{R},{N}]
  %m = reduce max %xf, %lowest, axes={1} : f32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},{N}]
  %d = subtract %xf, %mb : f32[{R},{N}]
  %e = exp %d : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %y = divide %e, %sb : f32[{R},{N}]
  %yh = convert %y : f16[{R},{N}]
  output %yh
})";

ir::Group group_of(const BenchGroup& which) {
  if (which.member == "layernorm_f32") return ir::make_group({which.member, layernorm_f32}, which.rows, which.columns);
  if (which.member == "softmax_f16") return ir::make_group({which.member, softmax_f16}, which.rows, which.columns);
  return ir::make_group(ir::family_member(which.member), which.rows, which.columns);
}

struct Pass {
  std::int64_t plans = 0, kept = 0, kernels = 0, sampled = 0;
  explore::WalkCounts walk;
};

void run(benchmark::State& state, const BenchGroup& which, Stage stage, bool all) {
  const std::string root = tailor::source_folder();
  const costmodel::CalibratedDevice device =
      costmodel::calibrated(ir::find_device("h200", root + "/data/devices"),
                            ir::find_calibration("uncalibrated", root + "/data/calibrations"));
  const ir::Limits& limits = device.limits;
  const ir::Group group = group_of(which);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  const explore::Axes axes = explore::default_axes(prepared, limits);
  codegen::LowerScratch lowering;
  costmodel::Scratch counting;
  costmodel::Work work;
  Pass pass;
  for (auto _ : state) {
    pass = {};
    explore::Plans plans(prepared, axes, limits,
                         explore::rules().first(all ? explore::sound_rules() : explore::rules().size()));
    while (const auto plan = plans.next()) {
      ++pass.kept;
      if (stage == enumerate) continue;
      const codegen::Lowered lowered = codegen::lower(prepared, *plan, limits, lowering);
      const ir::Kernel* kernel = std::get_if<ir::Kernel>(&lowered);
      if (!kernel) continue;
      ++pass.kernels;
      if (stage == lower) continue;
      costmodel::count(*kernel, costmodel::Mode::fast, counting, work);
      pass.sampled += work.sampled;
      if (stage == count) continue;
      benchmark::DoNotOptimize(costmodel::projected(work, device));
    }
    pass.plans = plans.passed();
    pass.walk = plans.counts();
  }
  using benchmark::Counter;
  const auto passes = static_cast<double>(state.iterations());
  state.counters["plans"] = static_cast<double>(pass.plans);
  state.counters["kept"] = static_cast<double>(pass.kept);
  state.counters["sampled"] = static_cast<double>(pass.sampled);
  state.counters["prefixes"] = static_cast<double>(pass.walk.prefixes);
  state.counters["mappings"] = static_cast<double>(pass.walk.mappings);
  state.counters["asked"] = static_cast<double>(pass.walk.asked);
  state.counters["plans_per_s"] = Counter(passes * static_cast<double>(pass.plans), Counter::kIsRate);
  state.counters["kernels_per_s"] = Counter(passes * static_cast<double>(pass.kept), Counter::kIsRate);
}

[[maybe_unused]] const bool registered = [] {
  constexpr const char* stages[] = {"enumerate", "lower", "count", "project"};
  for (const BenchGroup& which : groups)
    for (const bool all : {false, true})
      for (int stage = enumerate; stage <= project; ++stage) {
        const std::string name = std::string(which.member) + "/" + std::to_string(which.rows) + "x" +
                                 std::to_string(which.columns) + (all ? "/legal/" : "/likely/") + stages[stage];
        benchmark::RegisterBenchmark(name.c_str(), run, which, static_cast<Stage>(stage), all)
            ->Unit(benchmark::kMillisecond)
            ->MinTime(0.2);
      }
  return true;
}();

}  // namespace
