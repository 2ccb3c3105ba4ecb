// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Adding up what a check holds. In: a graph or a kernel. Out: bytes. Called before anything is made. The evaluator's
// own part is reference/error_bound_bytes.cpp.
// Sizes come from shapes alone, so a check that would not fit is refused before it has taken anything.
#include "profiler/check/memory_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tailor::profiler {

namespace {

/// The sanitizers' records of a granule of 4 bytes or less: 2 bytes where a warp touches 32 of them at once, up to 18
/// more where it does not (shadow.h).
constexpr std::int64_t shadow_bytes = 20, granule = 4;

}  // namespace

std::int64_t bytes_of_inputs(const ir::Graph& graph) {
  std::int64_t bytes = 0;
  for (const ir::NodeId id : parameters(graph)) bytes += static_cast<std::int64_t>(ir::content_bytes(graph[id].shape));
  return bytes;
}

std::int64_t bytes_to_execute(const ir::Kernel& kernel, bool sanitize, double share) {
  std::int64_t memory = 0, shadow = 0, outputs = 0;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel.buffers[i];
    const auto id = static_cast<ir::BufferId>(i);
    const std::int64_t size = ir::element_bytes(buffer.dtype), bytes = buffer.elements * size;
    if (is_result(buffer.role)) outputs += bytes;
    if (ir::owner(kernel, id) != id) continue;
    memory += bytes;
    if (ir::memory_role(kernel, id) != ir::BufferRole::input)
      shadow += bytes / std::min(std::max<std::int64_t>(size, 1), granule) * shadow_bytes;
  }
  const auto touched = static_cast<std::int64_t>(std::ceil(static_cast<double>(shadow) * share));
  // Before and after; both again in row-major order while they are compared.
  return memory + 4 * outputs + (sanitize ? touched : 0);
}

std::string out_of_memory(std::int64_t needed, std::int64_t available) {
  return fmt::format("needs {} of memory, {} free for it; --blocks or --shape small takes less",
                     humane_bytes(static_cast<double>(needed)),
                     available <= 0 ? "none is" : humane_bytes(static_cast<double>(available)) + " are");
}

}  // namespace tailor::profiler
