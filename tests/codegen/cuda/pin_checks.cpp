// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The pin's procedure: choose plans that cover the axes pairwise, lower and print each, compile it with NVRTC, demand
// that the compiler says nothing, and compare the counts of the statements with those of the PTX. What was seen on the
// way is added up in SweepFigures, so that a sweep that met no wide index or no shared memory does not pass for a
// whole one.
#include "codegen/cuda/pin_checks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/pinned.h"
#include "profiler/compile/compile.h"
#include "support/group_family.h"
#include "support/kernel_cache.h"
#include "support/paths.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::codegen;

const profiler::Nvrtc* nvrtc_or_skip() {
  static const profiler::FoundNvrtc found =
      profiler::find_nvrtc(profiler::default_nvrtc_paths({source_folder() + "/.venv"}));
  if (!found) skip(found.reason);
  return found.api.get();
}

namespace {

bool has_wide_index(const Kernel& kernel) {
  for (const Buffer& buffer : kernel.buffers)
    if (buffer.elements > (std::int64_t{1} << 31)) return true;
  return false;
}

/// As many accesses as are reached, at least, and as are written, at most: of copies that are never reached the
/// compiler leaves out all, none, or some.
bool lies_between(InstructionCounts reached, InstructionCounts found, InstructionCounts written) {
  InstructionCounts all = reached;
  for (const InstructionCounts& counts : {found, written}) all.insert(counts.begin(), counts.end());
  return std::all_of(all.begin(), all.end(), [&](const auto& one) {
    return reached[one.first] <= found[one.first] && found[one.first] <= written[one.first];
  });
}

std::string longest_line(std::string_view text) {
  std::string_view longest;
  for (const std::string_view line : split(text, '\n'))
    if (line.size() > longest.size()) longest = line;
  return std::string(longest);
}

}  // namespace

void check_pin(const profiler::Nvrtc& nvrtc, const Sized& which, const char* arch, int count, SweepFigures& figures) {
  static const Limits h200 = limits(find_device("h200", source_folder() + "/data/devices"));
  Limits of_arch = h200;
  if (std::string_view(arch) < "sm_90") of_arch.blocks_per_cluster = 1;
  const Group group = make_group(family_member(which.member), which.rows, which.columns);
  const auto prepared = prepare(group);
  REQUIRE(std::holds_alternative<Prepared>(prepared));
  CAPTURE(which.member);
  CAPTURE(which.rows);
  CAPTURE(which.columns);
  CAPTURE(std::string(arch));
  for (const Sampled& sample : sampled_plans(std::get<Prepared>(prepared), of_arch, count, 7)) {
    CAPTURE(text(sample.plan));
    const Kernel& kernel = sample.kernel;
    const auto start = std::chrono::steady_clock::now();
    const std::string source = codegen::cuda(kernel, &sample.plan);
    figures.printer_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK_MESSAGE(longest_line(source).size() <= 120, longest_line(source));
    profiler::CompileRequest request{.cuda = source, .entry = kernel.name, .arch = arch};
    for (const Kernel& follower : kernel.followers) request.followers.push_back(follower.name);
    const Binary binary = kernels::compiled(nvrtc, request);
    figures.compiler_seconds += binary.compile_time.value;
    ++figures.kernels;
    figures.spilling += binary.spill_stores > 0 ? 1 : 0;
    figures.with_stack += binary.local_bytes > 0 ? 1 : 0;
    figures.dynamic_shared += kernel.dynamic_shared ? 1 : 0;
    figures.persistent += kernel.persistent ? 1 : 0;
    figures.wide_index += has_wide_index(kernel) ? 1 : 0;
    CHECK_MESSAGE(binary.outcome == CompileOutcome::ok, binary.log);
    CHECK(binary.log == "");
    InstructionCounts found = instructions_of(binary.ptx);
    const bool in_registers = found.erase("local") == 0;
    CHECK(in_registers);
    const InstructionCounts written = instructions_of(kernel, Unreached::kept);
    if (!lies_between(instructions_of(kernel, Unreached::left_out), found, written))
      CHECK(text(found) == text(written));
  }
}
