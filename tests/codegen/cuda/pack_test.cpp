// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch of a pack as it is printed. In: three members of the group family side by side, a plan. Out: a launch with
// one size of block and of shared memory for all bodies, in which a block's number says which of them is its; the
// golden text is for people to read. Part of the suite `codegen`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "ir/device.h"
#include "ir/graph/graph_parse.h"
#include "support/golden.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::ir;

TEST_CASE("a pack has one launch with the blocks of all, and the shared memory of the body that takes most") {
  const Group group =
      side_by_side({make_group(family_member("column_sum"), 4096, 96), make_group(family_member("softmax"), 50, 96),
                    make_group(family_member("bias_gelu_f16"), 9, 64)});
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  const std::string words = fmt::format(
      "pack threads=256 index_cache=on value_cache=on arithmetic=xla | column dominant=%2 threads_per_row=8 vector=4 "
      "in_flight=4 split=8 grid=tile | row dominant=%6 threads_per_row=256 vector=1 in_flight=1 split=1 grid=tile | "
      "map "
      "dominant=%{} vector=4 unroll=1 grid=tile",
      group.graph.outputs.back());
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered = codegen::lower(
      prepared, parse_plan(words), limits(find_device("h200", source_folder() + "/data/devices")), scratch);
  if (const auto* refused = std::get_if<Rejection>(&lowered)) FAIL(refused->reason);
  const Kernel& kernel = std::get<Kernel>(lowered);
  verify(kernel);
  const auto launches = launches_of(kernel);
  REQUIRE(launches.size() == 1);
  REQUIRE(launches[0].size() == 3);
  std::int64_t blocks = 0, most = 0;
  for (const Kernel& body : launches[0]) {
    blocks += body.grid;
    most = std::max(most, body.shared_bytes);
    CHECK(body.buffers == kernel.buffers);
  }
  const LaunchShape shape = launch_shape(launches[0]);
  CHECK(shape.grid[0] == blocks);
  CHECK(shape.dynamic_shared == most);
  CHECK(most > 0);
  CHECK(shape.static_shared == 0);
  check_golden("pack.cu", codegen::cuda(kernel, text(parse_plan(words))));
}

namespace {

std::string printed(const std::string& graph, const std::string& plan) {
  Group group;
  group.graph = parse_graph(graph);
  group.id = id_of(std::string_view(canonical_text(group.graph)));
  const codegen::Lowered lowered =
      codegen::lower(group, parse_plan(plan), limits(find_device("h200", source_folder() + "/data/devices")));
  if (const auto* refused = std::get_if<Rejection>(&lowered)) FAIL(refused->rule << ": " << refused->reason);
  verify(std::get<Kernel>(lowered));
  return codegen::cuda(std::get<Kernel>(lowered), text(parse_plan(plan)));
}

/// Four rows, and a flat loop of 313 blocks of 128 threads.
constexpr std::string_view rows_and_map = R"(graph rows_and_map {
  %x = parameter 0 : f32[4,5000]
  %w = parameter 1 : f32[40000]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[4]
  %sb = broadcast %s, axes={0} : f32[4,5000]
  %y = divide %x, %sb : f32[4,5000]
  %n = negate %w : f32[40000]
  output %y, %n
}
)";

}  // namespace

TEST_CASE("beside blocks that meet a body loops over its blocks") {
  const std::string text =
      printed(std::string(rows_and_map),
              "pack threads=128 index_cache=on value_cache=on arithmetic=xla | map dominant=%6 vector=1 unroll=1 "
              "grid=persistent blocks_per_sm=1 | row dominant=%3 threads_per_row=128 vector=4 in_flight=1 split=8 "
              "meet=grid homes=%0@register");
  CHECK(text.find("for (int vb = blockIdx.x; vb < 313; vb += 132)") != text.npos);
  CHECK(text.find("__launch_bounds__(128, 2)") != text.npos);  // 164 blocks of 132 SMs
  check_golden("pack_meets.cu", text);
}

TEST_CASE("each body begins with a cluster, and blocks that are left over do nothing") {
  const std::string text =
      printed(std::string(rows_and_map),
              "pack threads=128 index_cache=on value_cache=on arithmetic=xla | map dominant=%6 vector=1 unroll=1 "
              "grid=tile | row dominant=%3 threads_per_row=128 vector=4 in_flight=1 split=1 cluster=2 "
              "homes=%0@register");
  CHECK(text.find("__cluster_dims__(2, 1, 1)") != text.npos);
  CHECK(text.find("if (blockIdx.x < 313)\n") != text.npos);
  CHECK(text.find("(blockIdx.x - 314, 8, ") != text.npos);
}

TEST_CASE("a launch in steps has a loop for each stage, with a meeting of all blocks between them") {
  Group group;
  group.graph = parse_graph(R"(graph sums_then_map {
  %a = parameter 0 : f32[256,300]
  %b = parameter 1 : f32[5000]
  %z = constant 0 : f32[]
  %sa = reduce add %a, %z, axes={0,1} : f32[]
  %sb = reduce add %b, %z, axes={0} : f32[]
  %s = add %sa, %sb : f32[]
  %na = broadcast %s : f32[256,300]
  %ya = divide %a, %na : f32[256,300]
  output %ya
}
)");
  group.id = id_of(std::string_view(canonical_text(group.graph)));
  const std::string words =
      "stages threads=128 homes=%3@grid,%4@grid grid=persistent blocks_per_sm=2 index_cache=on value_cache=on "
      "arithmetic=xla || pack | row dominant=%3 threads_per_row=128 vector=4 in_flight=1 split=30 | row dominant=%4 "
      "threads_per_row=128 vector=4 in_flight=1 split=1 || map dominant=%7 vector=4 unroll=1";
  const codegen::Lowered lowered =
      codegen::lower(group, parse_plan(words), limits(find_device("h200", source_folder() + "/data/devices")));
  if (const auto* refused = std::get_if<Rejection>(&lowered)) FAIL(refused->rule << ": " << refused->reason);
  const Kernel& kernel = std::get<Kernel>(lowered);
  CHECK(launches_of(kernel).size() == 1);
  check_golden("stages.cu", codegen::cuda(kernel, text(parse_plan(words))));
}
