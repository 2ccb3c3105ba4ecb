// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The function that is launched. In: the bodies of a launch. Out: its text, which says how it is launched and calls
// functions of virtual blocks. Called by the printer.
//
// A launch asks for a block's number which of the bodies is its, by halving. Each body side by side has blocks of its
// own, whole clusters of them: what is left over does nothing, and where virtual blocks are more the real ones loop
// over them. Where there is one body, or several steps, all blocks are everybody's: they loop over the virtual ones of
// all, step by step.
#include "codegen/cuda/wrapper.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "codegen/cuda/prelude.h"

namespace tailor::codegen {

using namespace ir;

std::string_view integer_type(bool wide) { return wide ? "long long" : "int"; }

void add_line(std::string& out, int depth, std::string_view content) {
  constexpr std::size_t columns = 120;
  std::size_t indent = static_cast<std::size_t>(2 * depth);
  for (bool first = true;; first = false) {
    if (!first) indent = static_cast<std::size_t>(2 * depth + 4);
    std::size_t end = content.size();
    if (indent + end > columns && content.find('\n') == content.npos) end = content.rfind(' ', columns - indent);
    if (end == content.npos || end == 0) end = content.size();
    out += std::string(indent, ' ') + std::string(content.substr(0, end)) + "\n";
    if (end == content.size()) return;
    content.remove_prefix(end + 1);
  }
}

std::string block_function(const Kernel& kernel) { return kernel.name + "_block"; }

std::string signature(const Kernel& kernel, std::span<const std::string> buffers, const std::string& opening,
                      const std::string& first) {
  std::vector<std::string> all;
  if (!first.empty()) all.push_back(first);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const Buffer& b = kernel.buffers[i];
    // What is written in place shares its memory with an input, so neither may claim to be the only way to it.
    const bool shares = memory_role(kernel, owner(kernel, static_cast<BufferId>(i))) == BufferRole::in_place;
    all.push_back(fmt::format("{}{}*{} {}", is_written(b.role) ? "" : "const ", register_type(b.dtype),
                              shares ? "" : " __restrict__", buffers[i]));
  }
  const std::string flat = fmt::format("{}({}) {{", opening, fmt::join(all, ", "));
  return flat.size() <= 120 ? flat : fmt::format("{}(\n    {}) {{", opening, fmt::join(all, ",\n    "));
}

namespace {

struct Wrapper {
  std::span<const std::string> buffers;
  const std::string& block_name;
  std::string out = {};
  int depth = 1;

  void line(std::string_view content) { add_line(out, depth, content); }

  /// The blocks that are numbers `from`, and every `by` behind it: the head of a loop, whose body is one statement.
  void loop(std::string_view from, std::int64_t end, std::string_view by, std::int64_t most) {
    line("#pragma unroll 1");
    line(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})",
                     integer_type(most > std::numeric_limits<std::int32_t>::max()), block_name, from, end, by));
    ++depth;
  }

  void step(const Chain<Kernel>& bodies, bool in_steps) {
    const bool share = in_steps || bodies.size() == 1;
    std::vector<std::int64_t> starts{0};
    bool loops = false;
    for (const Kernel& body : bodies) {
      starts.push_back(starts.back() + (share ? body.virtual_blocks : body.grid));
      loops = loops || (share && body.persistent);
    }
    depth = 1;
    if (loops) loop("blockIdx.x", starts.back(), "gridDim.x", starts.back());
    one_of(bodies, starts, 0, bodies.size(), loops ? block_name : "blockIdx.x", share);
  }

  /// Calls that of the bodies from `first` up to `end` which has the block `block`: a virtual one where they share all.
  void one_of(const Chain<Kernel>& bodies, const std::vector<std::int64_t>& starts, std::size_t first, std::size_t end,
              const std::string& block, bool share) {
    if (end - first > 1) {
      const std::size_t middle = (first + end) / 2;
      line(fmt::format("if ({} < {}) {{", block, starts[middle]));
      ++depth;
      one_of(bodies, starts, first, middle, block, share);
      --depth;
      line("} else {");
      ++depth;
      one_of(bodies, starts, middle, end, block, share);
      --depth;
      return line("}");
    }
    const std::string own = starts[first] == 0 ? block : fmt::format("{} - {}", block, starts[first]);
    const int around = depth;
    if (share)
      call(bodies[first], own);
    else
      call_own(bodies[first], own);
    depth = around;
  }

  void call(const Kernel& body, std::string_view virtual_block) {
    line(fmt::format("{}({}, {}, {});", block_function(body), virtual_block, body.virtual_blocks,
                     fmt::join(buffers, ", ")));
  }

  /// What the real block `own` of a body does that has blocks of its own.
  void call_own(const Kernel& body, const std::string& own) {
    if (body.persistent) {
      loop(own, body.virtual_blocks, fmt::format("{}", body.grid), body.virtual_blocks + body.grid);
      return call(body, block_name);
    }
    if (body.grid > body.virtual_blocks) {
      line(fmt::format("if ({} < {})", own, body.virtual_blocks));
      ++depth;
    }
    call(body, own);
  }
};

}  // namespace

std::string wrapper(const Chain<Kernel>& launch, std::span<const std::string> buffers, const std::string& block) {
  const LaunchShape shape = launch_shape(launch);
  const std::string resident = shape.min_blocks == 0 ? "" : fmt::format(", {}", shape.min_blocks);
  const std::string cluster = shape.cluster[0] == 1 ? "" : fmt::format("__cluster_dims__({}, 1, 1) ", shape.cluster[0]);
  Wrapper printed{buffers, block};
  add_line(printed.out, 0,
           signature(launch[0], buffers,
                     fmt::format("extern \"C\" __global__ {}__launch_bounds__({}{}) void {}", cluster, shape.block[0],
                                 resident, launch[0].name),
                     ""));
  for (const Chain<Kernel>& one : steps_of(launch)) printed.step(one, has_steps(launch));
  add_line(printed.out, 0, "}");
  return printed.out;
}

}  // namespace tailor::codegen
