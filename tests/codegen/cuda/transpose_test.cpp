// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiles that are turned, as people see them. The CUDA text of one kernel is golden: narrow elements that are put
// together in registers, a straight input beside them, a loop over tiles. Counted exactly, the banks of shared memory
// are met once each by all types, and memory moves whole sectors. Plans that do not fit are refused in words. Part of
// the suite `codegen`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <variant>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "ir/device.h"
#include "support/golden.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;

namespace {

ir::Limits limits_of_h200() { return ir::limits(ir::find_device("h200", source_folder() + "/data/devices")); }

codegen::Lowered lower_tiles(const ir::Group& group, const std::string& words, ir::Plan* plan = nullptr) {
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  REQUIRE(prepared.turned != nullptr);
  ir::Plan made = ir::parse_plan("transpose " + words);
  made.dominant = prepared.turned->dominants.front();
  if (plan != nullptr) *plan = made;
  codegen::LowerScratch scratch;
  return codegen::lower(prepared, made, limits_of_h200(), scratch);
}

ir::Kernel lowered_tiles(const ir::Group& group, const std::string& words, ir::Plan* plan = nullptr) {
  codegen::Lowered lowered = lower_tiles(group, words, plan);
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  REQUIRE_MESSAGE(refused == nullptr, refused->reason);
  return std::get<ir::Kernel>(std::move(lowered));
}

std::string tiles_refusal(std::int64_t rows, std::int64_t columns, const std::string& words) {
  const codegen::Lowered lowered = lower_tiles(ir::make_group(ir::family_member("turned"), rows, columns), words);
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  return refused == nullptr ? "lowered" : refused->rule + ": " + refused->reason;
}

ir::Group turned_of(std::string_view type) {
  const std::string text = fmt::format(
      "graph g {{\n  %x = parameter 0 : {0}[512,1024]\n  %t = transpose %x, axes={{1,0}} : {0}[1024,512]\n  output "
      "%t\n}}\n",
      type);
  return ir::make_group({"g", text}, 1, 1);
}

/// Wavefronts of shared memory beside as many as the bytes need: stores, loads.
std::pair<double, double> conflicts(const ir::Kernel& kernel) {
  const costmodel::Work work = costmodel::count(kernel, costmodel::Mode::exact);
  const auto over = [](const costmodel::SharedWork& shared) {
    constexpr double wavefront = 128;
    return static_cast<double>(shared.wavefronts) * wavefront / static_cast<double>(shared.bytes);
  };
  return {over(work.shared_store), over(work.shared_load)};
}

}  // namespace

TEST_CASE("a kernel of tiles prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("turned_mixed_f16"), 1000, 4096);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_tiles(group, "threads=128 threads_per_row=8 vector=8 unroll=4 grid=persistent blocks_per_sm=4", &plan);
  CHECK(kernel.virtual_blocks == 16 * 64);
  check_golden("transpose.cu", codegen::cuda(kernel, &plan));
}

TEST_CASE("both walks over a tile meet each bank of shared memory once, whatever the type") {
  struct Shape {
    const char* type;
    int threads_per_row, vector, unroll;
  };
  for (const Shape& one : {Shape{"f32", 8, 4, 2}, Shape{"f32", 16, 2, 4}, Shape{"f32", 32, 1, 8}, Shape{"f16", 8, 8, 4},
                           Shape{"f16", 16, 4, 4}, Shape{"bf16", 32, 2, 8}, Shape{"s8", 8, 16, 8},
                           Shape{"s8", 32, 4, 8}, Shape{"f64", 8, 2, 4}}) {
    CAPTURE(one.type);
    CAPTURE(one.vector);
    const ir::Kernel kernel = lowered_tiles(
        turned_of(one.type),
        fmt::format("threads=128 threads_per_row={} vector={} unroll={}", one.threads_per_row, one.vector, one.unroll));
    const auto [stores, loads] = conflicts(kernel);
    CHECK(stores == 1);
    CHECK(loads == 1);
  }
}

TEST_CASE("every byte of a turned array is moved once, in whole sectors") {
  for (const char* type : {"f32", "f16", "s8", "f64"}) {
    CAPTURE(type);
    const ir::Kernel kernel = lowered_tiles(turned_of(type), "threads=256 threads_per_row=16 vector=2 unroll=8");
    const costmodel::Work work = costmodel::count(kernel, costmodel::Mode::exact);
    for (const costmodel::BufferWork& buffer : work.buffers) {
      const costmodel::Traffic& moved = buffer.load.bytes > 0 ? buffer.load : buffer.store;
      CHECK(moved.sectors * 32 == moved.bytes);
    }
    CHECK(work.barriers == kernel.virtual_blocks * kernel.threads / 32);
  }
}

TEST_CASE("tiles that cannot be are refused in words") {
  const std::string rest = " grid=tile";
  CHECK(tiles_refusal(512, 512, "threads=128 threads_per_row=8 vector=4 unroll=2" + rest) == "lowered");
  CHECK(tiles_refusal(512, 512, "threads=96 threads_per_row=8 vector=4 unroll=2" + rest) ==
        "tile: 96 threads with 2 vectors each are no powers of two, as the digits of a tile are");
  CHECK(tiles_refusal(512, 512, "threads=128 threads_per_row=8 vector=4 unroll=3" + rest) ==
        "tile: 128 threads with 3 vectors each are no powers of two, as the digits of a tile are");
  CHECK(tiles_refusal(512, 512, "threads=128 threads_per_row=24 vector=4 unroll=2" + rest) ==
        "threads-per-row: 24 threads per row do not divide 128 threads");
  CHECK(tiles_refusal(512, 511, "threads=128 threads_per_row=8 vector=4 unroll=2" + rest) ==
        "vector: runs of 512 and 511 elements are no whole number of vectors of 4");
  CHECK(tiles_refusal(512, 512, "threads=128 threads_per_row=128 vector=4 unroll=2" + rest) ==
        "tile: tiles are 2 elements deep, less than a vector of 4");
  CHECK(tiles_refusal(32, 512, "threads=128 threads_per_row=16 vector=4 unroll=2" + rest) ==
        "tile: tiles of 64 x 16 are mostly behind the end of runs of 32 and 512");
  CHECK(tiles_refusal(512, 16, "threads=128 threads_per_row=8 vector=4 unroll=2" + rest) ==
        "tile: tiles of 32 x 32 are mostly behind the end of runs of 512 and 16");
  CHECK(tiles_refusal(512, 512, "threads=1024 threads_per_row=128 vector=4 unroll=32" + rest) ==
        "registers: values loaded together and kept need 128 registers per thread, 64 exist");
  const ir::Group straight = ir::make_group(ir::family_member("bias_gelu_f16"), 64, 64);
  CHECK(std::get<ir::Rejection>(codegen::lower(straight, ir::parse_plan("transpose dominant=%1"), limits_of_h200()))
            .reason == "the group needs skeleton map, the plan says transpose");
}
