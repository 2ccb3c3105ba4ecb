// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The example run, member by member. All numbers are invented, and everything that a report marks is there: a group
// without a skeleton, a failed check, spills, names that need escaping. The golden files of the report rest on these
// numbers.
#include "example_summary.h"

#include <fmt/format.h>

#include <cmath>

using namespace tailor;
using namespace tailor::report;

namespace {

PlanSummary plan_of(int rank, double sol, double slower, int registers) {
  const double total = sol * slower;
  PlanSummary plan;
  plan.id = fmt::format("{:032x}", 1000 + rank);
  plan.plan = fmt::format(
      "row dominant=%9 threads=128 threads_per_row={} vector={} "
      "in_flight={} homes=%0@register grid=tile index_cache=on value_cache=on",
      32 << (rank % 3), 8 >> (rank % 2), 1 + rank % 2);
  plan.estimates = {{"sol", {sol}, {sol}, {sol}, {{"launch", {1.1e-6}}, {"dram", {sol - 1.1e-6}}}, "dram", 0, 0},
                    {"projected",
                     {total},
                     {total * 0.93},
                     {total * 1.09},
                     {{"launch", {1.1e-6}},
                      {"dram", {total - 1.3e-6}},
                      {"l2", {total * 0.61}},
                      {"issue", {total * 0.32}},
                      {"fma", {total * 0.12}},
                      {"xu", {total * 0.06}},
                      {"latency", {total * (rank % 2 == 0 ? 0.72 : 0.97)}},
                      {"barrier", {total * 0.02}}},
                     rank % 2 == 0 ? "dram" : "latency",
                     0.75 - 0.125 * rank,
                     3.0 + rank}};
  if (rank < 3) {
    plan.binary = BinaryState::ok;
    plan.registers = registers;
    plan.spill_bytes = rank == 2 ? 24 : 0;
    plan.shared_bytes = 512 * rank;
  }
  return plan;
}

GroupSummary norm_group(const std::string& name, int number, std::int64_t occurrences, double mega_bytes) {
  GroupSummary group;
  group.id = fmt::format("{:08x}a1b2c3d4e5f60718293a4b5c", 0x4f2a91c0 + number);
  group.name = name;
  group.occurrences = occurrences;
  group.shape = "f32[4096,768]";
  group.traffic = {mega_bytes * 1e6};
  group.flops = mega_bytes * 1e6 / 8 * 9;
  group.enumerated = 3072;
  group.rejected = 1100;
  group.lowered = 640;
  group.compiled = 3;
  group.rejections = {{"registers", 812, true, "168 values live per thread, 128 registers allowed at 512 threads"},
                      {"vector-tail", 288, false, "768 elements leave 37 % of the lanes idle at vector 8"}};
  const double sol = mega_bytes * 1e6 / 4.4e12 + 1.1e-6;
  for (int rank = 0; rank < 5; ++rank) group.best.push_back(plan_of(rank, sol, 1.08 + 0.03 * rank, 40 + 8 * rank));
  for (int i = 0; i < 640; ++i)
    group.all_times.push_back({sol * (1.08 + 0.02 * (i % 31) + 0.6 * std::pow((i * 37 % 640) / 640.0, 3))});
  group.kernel_text =
      "kernel layer_norm threads=128 blocks=1024\n  loop k in 0..6:\n    load v <- x[row * 768 + k]\n"
      "  guard row < 4096:\n    shuffle add sum lanes=32\n";
  group.cuda =
      "// layer_norm: one warp per row\nextern \"C\" __global__ void layer_norm(const float* __restrict__ x) {\n"
      "  if (threadIdx.x < 32 && x[0] > 0) { /* <script>alert(1)</script> */ }\n}\n";
  return group;
}

std::vector<StrategyTotals> strategies() {
  return {
      {"unfused", 1210, 161, 1210, {9.83e9}, {{"sol", {4.31e-3}}, {"projected", {5.62e-3}}}, 62, 97, {2.2e9}, 1.1e12},
      {"xla-priority", 198, 22, 198, {3.12e9}, {{"sol", {1.21e-3}}, {"projected", {1.47e-3}}}, 62, 97, {2.2e9}, 1.1e12},
      {"tailor", 74, 14, 74, {1.42e9}, {{"sol", {0.48e-3}}, {"projected", {0.561e-3}}}, 62, 97, {2.2e9}, 1.1e12}};
}

}  // namespace

Summary example_summary() {
  Summary s;
  s.manifest.tool = "tailor 0.1.0";
  s.manifest.revision = "b67b930";
  s.manifest.command = "tailor explore bert_base.hlo --device h200 --strategy tailor";
  s.manifest.started = "2026-11-21T12:00:00Z";
  s.manifest.elapsed = Seconds{7.31};
  s.manifest.model = "bert_base";
  s.manifest.model_file = "models/bert_base.hlo";
  s.manifest.graph_id = "0123456789abcdef0123456789abcdef";
  s.manifest.device = "h200";
  s.manifest.device_title = "NVIDIA H200 SXM";
  s.manifest.toolchain = "NVRTC 13.0";
  s.manifest.seed = 1;
  s.manifest.more = {{"host", "2 cores"}};
  s.question = "How should bert_base be fused on an NVIDIA H200 & why?";
  s.chosen = "tailor";
  s.baseline = "xla-priority";
  s.strategies = strategies();
  s.xla_scores.scores = {{"xla-priority", "h200", "jaxlib 0.10.2", 11, 996, 998, 0.9998, 1001, 1001, 1040, 1040}};
  s.groups = {norm_group("multiply_add_reduce_rsqrt", 0, 25, 25.2), norm_group("softmax<f32>", 1, 12, 100.7),
              norm_group("gelu_tanh", 2, 12, 50.3)};
  s.groups[1].best[0].check = CheckState::passed;
  s.groups[1].best[0].check_note = "largest error 2 ulp over 25165824 elements";
  s.groups[2].best[1].check = CheckState::failed;
  s.groups[2].best[1].check_note = "element 17: 0.25 instead of 0.5";
  s.groups[2].best[2].binary = BinaryState::failed;
  s.groups[2].best[2].compile_log = "error: identifier \"foo<int>\" is undefined\n1 error detected";
  GroupSummary column;
  column.id = "99aa00ff00ff00ff00ff00ff00ff00ff";
  column.name = "reduce_bias_grad";
  column.occurrences = 4;
  column.shape = "f32[768]";
  column.traffic = {12.6e6};
  column.flops = 3.1e6;
  column.status = GroupStatus::needs_skeleton;
  column.status_reason = "the reduction runs along dimension 0 of f32[4096,768]: a column reduction";
  column.rejections = {{"skeleton-column", 1, true, "reduction along dimension 0 of f32[4096,768]"}};
  s.groups.push_back(column);
  s.library = {{"dot", "f32[4096,768] x f32[768,3072]", 48, {31.5e6}, 1.93e10, Seconds{52e-6}},
               {"custom_call cublas$gemm<\"x\">", "f32[4096,768]", 1, {12.6e6}, 4.8e9, std::nullopt}};
  s.roofs = {{"NVIDIA H200 SXM", {4.8e12}, 6.69e13}};
  s.asked = "Does fusing by price pay on encoders?";
  s.claim = ClaimSummary{"the search saves two thirds of the launches",
                         "launch_reduction_of_kernels",
                         "launches of fused kernels alone",
                         "none",
                         3.25,
                         3.0,
                         {"stitch-v1"}};
  s.map.boxes = {{s.groups[1].id, "softmax<f32>", 12},
                 {"", "dot f32[4096,768]", 48},
                 {s.groups[0].id, "multiply_add_reduce_rsqrt", 25}};
  s.map.links = {{0, 1, 12, {1208e6}, std::nullopt}, {0, 2, 5, {503e6}, 1}, {2, 0, 7, {176e6}, 0}};
  s.map.refused = {{"would make a cycle through %...", "add.4 -> subtract.9", 36, {904e6}},
                   {"gather %... stays <alone>", "gather.1 -> add.2", 5, {503e6}}};
  s.import.module = "jit_forward";
  s.import.text_bytes = 812345;
  s.import.instructions = 3120;
  s.import.computations = 41;
  s.import.passes = {{"inline calls", 41}, {"fold constants", 118}, {"expand batch norm", 0}};
  s.import.opaque = {{"custom-call topk", 1}};
  s.warnings = {"1 operation was kept as opaque: its kernel is not fused"};
  return s;
}
