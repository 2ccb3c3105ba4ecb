// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Adding up what a check holds. In: a graph or a kernel. Out: bytes. Called before anything is made. The evaluator's
// own part is reference/bounds/bytes.cpp.
// Sizes come from shapes alone, so a check that would not fit is refused before it has taken anything.
#include "profiler/check/memory_need.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/memory.h"
#include "base/text.h"
#include "codegen/lower/shrink.h"
#include "profiler/check/check.h"
#include "profiler/check/small_shape.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::profiler {

namespace {

/// The sanitizers' records of a granule of 4 bytes or less: 2 bytes where a warp touches 32 of them at once, up to 18
/// more where it does not (shadow.h).
constexpr std::int64_t shadow_bytes = 20, granule = 4;

/// Of the largest buffer: a buffer below it may be read by every block, as a row of weights is.
constexpr std::int64_t small_part = 16;

}  // namespace

std::int64_t bytes_of_inputs(const ir::Graph& graph) {
  std::int64_t bytes = 0;
  for (const ir::NodeId id : parameters(graph)) bytes += static_cast<std::int64_t>(ir::content_bytes(graph[id].shape));
  return bytes;
}

std::int64_t bytes_to_execute(const ir::Kernel& kernel, bool sanitize, std::int64_t blocks) {
  std::int64_t largest = 0, memory = 0, shadow = 0, outputs = 0;
  for (const ir::Buffer& buffer : kernel.buffers)
    largest = std::max(largest, buffer.elements * ir::element_bytes(buffer.dtype));
  const double share = blocks == 0 ? 1
                                   : static_cast<double>(blocks) /
                                         static_cast<double>(launch_shape(launches_of(kernel).front()).grid[0]);
  const auto touched = [&](std::int64_t bytes) {
    if (blocks == 0 || bytes <= largest / small_part) return bytes;
    // A block's part begins and ends inside a piece.
    const auto part = static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * share));
    return std::min(bytes, part + 2 * simulator::lazy_piece_bytes * blocks);
  };
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel.buffers[i];
    const auto id = static_cast<ir::BufferId>(i);
    const std::int64_t size = ir::element_bytes(buffer.dtype), bytes = touched(buffer.elements * size);
    if (is_result(buffer.role)) outputs += bytes;
    if (ir::owner(kernel, id) != id) continue;
    memory += bytes;
    if (ir::memory_role(kernel, id) != ir::BufferRole::input)
      shadow += bytes / std::min(std::max<std::int64_t>(size, 1), granule) * shadow_bytes;
  }
  // Before and after; of a whole launch both again in row-major order while they are compared.
  return memory + (blocks == 0 ? 4 : 2) * outputs + (sanitize ? shadow : 0);
}

bool can_shrink(const ir::Graph& graph) { return codegen::outer_extent(graph).has_value(); }

bool can_shrink(const ir::Graph& graph, const ir::Kernel& kernel) {
  return kernel.virtual_blocks > blocks_of_small(kernel) && can_shrink(graph);
}

bool can_sample(const ir::Kernel& kernel) {
  CheckOptions few;
  few.sample_blocks = 1;
  return blocks_to_run(kernel, few) > 0;
}

std::string takes_less(const Remedies& remedies) {
  if (remedies.sampled && remedies.smaller) return "--blocks or --shape small takes less";
  if (remedies.sampled || remedies.smaller)
    return remedies.sampled ? "--blocks takes less" : "--shape small takes less";
  return "";
}

std::string out_of_memory(std::int64_t needed, std::int64_t available, const Remedies& remedies) {
  constexpr double gb = 1e9;
  const double wanted = static_cast<double>(needed), all = static_cast<double>(held_memory()) + wanted;
  std::vector<std::string> hints;
  if (remedies.raised && wanted <= share_of_free * static_cast<double>(free_memory()))
    hints.push_back(
        fmt::format("{}--memory {:.0f} allows it", remedies.elsewhere ? "tailor check " : "", std::ceil(all / gb)));
  if (std::string less = takes_less(remedies); !less.empty()) hints.push_back(std::move(less));
  if (hints.empty()) hints.emplace_back("this machine is too small for it");
  return fmt::format("needs {} of memory, {} free for it; {}", humane_bytes(wanted),
                     available <= 0 ? "none is" : humane_bytes(static_cast<double>(available)) + " are",
                     fmt::join(hints, ", "));
}

}  // namespace tailor::profiler
