// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The corpus itself, before anything runs it: every kernel compiles with and without each bug, its PTX parses with
// every index in range, has a known result, and a bug changes the code at the lines that say so. Part of the suite
// `simulator_corpus`; skipped without NVRTC.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "doctest/doctest.h"
#include "profiler/kernels.h"
#include "profiler/simulator/corpus_compile.h"
#include "support/ptx_check.h"

namespace {

using namespace corpus;
using namespace tailor::simulator;

/// Opcodes in order and the sizes of variables: what a bug must change.
std::string code_of(const PtxModule& module) {
  std::string code;
  for (const PtxFunction& function : module.functions)
    for (const PtxInstruction& instruction : function.instructions)
      code += fmt::format("{} {}\n", instruction.opcode, instruction.count);
  for (const PtxFunction& function : module.functions)
    for (const PtxOperand& operand : function.operands)
      code += fmt::format("{} {} {}\n", static_cast<int>(operand.kind), operand.index, operand.value);
  const auto variables = [&](const std::vector<PtxVariable>& all) {
    for (const PtxVariable& variable : all) code += fmt::format("{} {}\n", variable.name, variable.bytes);
  };
  variables(module.variables);
  for (const PtxFunction& function : module.functions) variables(function.variables);
  return code;
}

std::set<std::int64_t> lines_of(const PtxModule& module) {
  std::set<std::int64_t> lines;
  for (const PtxFunction& function : module.functions)
    for (const PtxInstruction& instruction : function.instructions) lines.insert(instruction.source.line);
  return lines;
}

TEST_CASE("every kernel of the corpus has a known result, parameters and parsable PTX") {
  const auto* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  REQUIRE(corpus::kernels().size() >= 150);
  for (CorpusKernel kernel : corpus::kernels()) {
    CAPTURE(kernel.name);
    CHECK(compute_results(kernel));
    const PtxModule module = compiled(*api, kernel, "");
    CHECK(broken_invariant(module) == "");
    CHECK(module.source_files.size() > 1);
    const PtxFunction& entry = entry_of(module);
    CHECK(entry.name == kernel.name);
    REQUIRE(entry.params.size() == kernel.parameters.size());
    for (std::size_t i = 0; i < entry.params.size(); ++i)
      CHECK(entry.params[i].bytes ==
            (kernel.parameters[i].buffer >= 0 ? 8 : static_cast<std::int64_t>(kernel.parameters[i].value.size())));
  }
}

TEST_CASE("every planted bug changes the launch or the code, at lines the code has") {
  const auto* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  int plants = 0;
  for (const CorpusKernel& kernel : corpus::kernels()) {
    const std::string clean = code_of(compiled(*api, kernel, ""));
    for (const CorpusPlant& plant : kernel.plants) {
      CAPTURE(kernel.name);
      CAPTURE(plant.name);
      const PtxModule module = compiled(*api, kernel, plant.name);
      CHECK(broken_invariant(module) == "");
      const bool same_launch = plant.launch.launch.grid == kernel.launch.launch.grid &&
                               plant.launch.launch.cooperative == kernel.launch.launch.cooperative &&
                               plant.launch.launch.dynamic_shared == kernel.launch.launch.dynamic_shared;
      CHECK((code_of(module) != clean || !same_launch));
      const std::set<std::int64_t> lines = lines_of(module);
      for (const std::int64_t line : plant.lines) {
        CAPTURE(line);
        CHECK(lines.contains(line));
      }
      ++plants;
    }
  }
  CHECK(plants >= 150);
}

}  // namespace
