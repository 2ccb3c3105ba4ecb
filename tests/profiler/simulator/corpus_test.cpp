// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the corpus. Clean kernels leave their known results and no finding, for several seeds of the scheduler and any
// number of host threads; each planted bug is found, for every seed, as a kind that its head allows and at a line that
// is marked with its name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "doctest/doctest.h"
#include "profiler/kernels.h"
#include "profiler/simulator/corpus_compile.h"
#include "support/thorough.h"

namespace {

using namespace corpus;
using namespace tailor::simulator;

struct CorpusRun {
  Simulation simulation;
  CorpusKernel after;  ///< with the buffers as the kernel left them
};

CorpusRun run(const PtxModule& module, const CorpusKernel& kernel, const CorpusLaunch& how, std::uint64_t seed,
              int threads = 1) {
  const Program program(module, entry_of(module, kernel.name));
  Memory memory;
  for (const CorpusBuffer& buffer : kernel.buffers) {
    const int at =
        memory.add(buffer.name, static_cast<std::int64_t>(buffer.bytes.size()), buffer.element_bytes(), buffer.use);
    if (buffer.use == BufferUse::input || buffer.use == BufferUse::both)
      std::memcpy(memory.bytes(at).data(), buffer.bytes.data(), buffer.bytes.size());
  }
  Launch launch = how.launch;
  for (const CorpusParameter& parameter : kernel.parameters)
    launch.arguments.push_back({parameter.buffer, 0, parameter.value});
  SimulationOptions options;
  options.seed = seed;
  options.threads = threads;
  options.machine = how.machine;
  options.warp_instructions = how.limit;
  CorpusRun made{simulate(program, launch, memory, options), kernel};
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const auto left = memory.bytes(static_cast<int>(i));
    made.after.buffers[i].bytes.assign(left.begin(), left.end());
  }
  return made;
}

std::string all_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += describe(finding) + "\n";
  return text;
}

/// Right kernels that do what the language forbids and no GPU punishes.
constexpr std::array<std::string_view, 2> advised = {"active_shuffle", "leaving_lanes"};

/// Kernel and buffer whose places depend on who came first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> unordered = {
    {{"warp_aggregated", "y"}, {"atomics", "old"}, {"push_by_warp", "y"}}};

double tolerance(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return 0x1p-10;
    case ElementType::bf16:
      return 0x1p-7;
    case ElementType::f32:
      return 2e-5;
    case ElementType::f64:
      return 1e-12;
    default:
      return 0;
  }
}

/// Places in the order warps came to them: what is compared is which values are there.
void sort_values(CorpusBuffer& buffer) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < buffer.size(); ++i) values.push_back(buffer[i]);
  std::sort(values.begin(), values.end());
  for (std::int64_t i = 0; i < buffer.size(); ++i) buffer.set(i, values[static_cast<std::size_t>(i)]);
}

void check_results(CorpusKernel left, CorpusKernel expected) {
  REQUIRE(compute_results(expected));
  for (std::size_t b = 0; b < left.buffers.size(); ++b) {
    CorpusBuffer& found = left.buffers[b];
    CorpusBuffer& wanted = expected.buffers[b];
    if (found.use == BufferUse::scratch) continue;
    const auto any_order = std::pair<std::string_view, std::string_view>(left.name, found.name);
    if (std::find(unordered.begin(), unordered.end(), any_order) != unordered.end()) {
      sort_values(found);
      sort_values(wanted);
    }
    for (std::int64_t i = 0; i < found.size(); ++i) {
      const double error = std::fabs(found[i] - wanted[i]);
      if (error <= tolerance(found.type) * std::max(1.0, std::fabs(wanted[i]))) continue;
      FAIL_CHECK(fmt::format("{}: {}[{}] is {}, expected {}", left.name, found.name, i, found[i], wanted[i]));
      break;
    }
  }
}

TEST_CASE("clean kernels leave their results and no finding, whatever the schedule") {
  const auto* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const CorpusKernel& kernel : corpus::kernels()) {
    CAPTURE(kernel.name);
    const PtxModule& module = compiled(*api, kernel, "");
    if (const std::string reason = Program(module, entry_of(module)).unsupported(); !reason.empty()) {
      FAIL_CHECK(fmt::format("{} cannot be simulated: {}", kernel.name, reason));
      continue;
    }
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      if (!tailor::testing::thorough() && (seed == 2 || seed == 3))
        continue;  // one schedule on one thread, one on three
      CAPTURE(seed);
      const CorpusRun made = run(module, kernel, kernel.launch, seed, seed == 4 ? 3 : 1);
      CHECK(made.simulation.outcome == SimulationOutcome::finished);
      CHECK(made.simulation.reason == "");
      const auto& findings = made.simulation.findings;
      const bool has_advice = std::find(advised.begin(), advised.end(), kernel.name) != advised.end();
      if (!has_advice) CHECK(all_of(findings) == "");
      CHECK(errors(findings) == 0);
      CHECK(findings.empty() != has_advice);
      check_results(made.after, kernel);
    }
  }
}

TEST_CASE("planted bugs are found at their lines, whatever the schedule") {
  const auto* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  int plants = 0, missed = 0;
  for (const CorpusKernel& kernel : corpus::kernels()) {
    for (const CorpusPlant& plant : kernel.plants) {
      CAPTURE(kernel.name);
      CAPTURE(plant.name);
      ++plants;
      missed += plant.kinds.empty() ? 1 : 0;
      const PtxModule& module = compiled(*api, kernel, plant.name);
      if (!Program(module, entry_of(module)).unsupported().empty()) continue;  // the clean one said so
      for (const std::uint64_t seed : {1, 2, 3}) {
        if (!tailor::testing::thorough() && seed == 2 + static_cast<unsigned>(plants) % 2)
          continue;                                                                   // the first and another
        if (!tailor::testing::broad() && (seed == 1) == (plants % 2 == 0)) continue;  // one of these
        CAPTURE(seed);
        const CorpusRun made = run(module, kernel, plant.launch, seed);
        const auto tells = [&](const Finding& finding) {
          const bool kind = std::find(plant.kinds.begin(), plant.kinds.end(), finding.kind) != plant.kinds.end();
          // What stands still or runs on has no single line.
          const bool anywhere = plant.lines.empty() || finding.kind == FindingKind::deadlock ||
                                finding.kind == FindingKind::too_long || finding.kind == FindingKind::launch;
          return kind && finding.severity == Severity::error &&
                 (anywhere ||
                  std::find(plant.lines.begin(), plant.lines.end(), finding.source_line) != plant.lines.end());
        };
        const auto& findings = made.simulation.findings;
        if (plant.kinds.empty()) {  // found after all: to be taken off the list
          CHECK(errors(findings) == 0);
        } else if (std::none_of(findings.begin(), findings.end(), tells))
          FAIL_CHECK(fmt::format("{} {}, seed {}: not found at line {}; {} findings:\n{}", kernel.name, plant.name,
                                 seed, fmt::join(plant.lines, " or "), made.simulation.reason, all_of(findings)));
      }
    }
  }
  CHECK(missed * 100 <= plants * 3);
}

TEST_CASE("a seed decides everything: the same findings, counters and bytes for any number of threads") {
  const auto* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const CorpusKernel& kernel : corpus::kernels()) {
    CAPTURE(kernel.name);
    const PtxModule& module = compiled(*api, kernel, "");
    const CorpusRun one = run(module, kernel, kernel.launch, 7), three = run(module, kernel, kernel.launch, 7, 3);
    CHECK(one.simulation.counters == three.simulation.counters);
    CHECK(one.simulation.buffers == three.simulation.buffers);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
      CHECK(one.after.buffers[i].bytes == three.after.buffers[i].bytes);
  }
}

}  // namespace
