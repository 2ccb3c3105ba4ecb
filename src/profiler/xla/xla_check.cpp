// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One kernel from its dump to a verdict on the simulator. In: a kernel of a module. Out: an XlaCheck.
// What is wrong with one kernel is said in its check, so that a module's other kernels are still
// checked.
#include "profiler/xla/xla_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/indexed.h"
#include "base/stop.h"
#include "hlo/import.h"
#include "profiler/check/simulated_launch.h"
#include "profiler/xla/xla_case.h"
#include "profiler/xla/xla_sample.h"

namespace tailor::profiler {

namespace {

/// XLA's kernels load whole vectors of 16 bytes where an array ends within one (".pragma used_bytes_mask"): its buffers
/// lie in arenas with room behind them. So do ours.
constexpr std::int64_t vector_bytes = 16;

std::int64_t padded(std::int64_t bytes) { return (bytes + vector_bytes - 1) / vector_bytes * vector_bytes; }

/// The check of one kernel while it is made.
class Bench {
 public:
  Bench(const XlaKernel& kernel, const XlaCheckOptions& options) : kernel_(kernel), options_(options) {}

  XlaCheck run(const XlaCase& one) {
    check_.elements = one.elements;
    if (!one.unjudged.empty()) return stop(XlaOutcome::cannot_evaluate, one.unjudged);
    const simulator::Program program(one.ptx, simulator::entry_of(one.ptx, kernel_.entry));
    if (!program.unsupported().empty()) return stop(XlaOutcome::cannot_simulate, program.unsupported());
    for (std::size_t i = 0; i < one.memory.size(); ++i) {
      const XlaMemory& memory = one.memory[i];
      const int at = memory_.add(memory.name, padded(memory.bytes), memory.width, buffer_use(memory.role));
      fill(one, i, memory_.bytes(at));
    }
    if (!execute(program, one)) return std::move(check_);
    compare_results(one);
    return std::move(check_);
  }

  XlaCheck stop(XlaOutcome outcome, std::string reason) {
    check_.outcome = outcome;
    check_.reason = std::move(reason);
    return std::move(check_);
  }

 private:
  /// False when the launch did not finish; the check then says why.
  bool execute(const simulator::Program& program, const XlaCase& one) {
    simulator::Launch launch = simulated_launch(kernel_.launch);
    for (const int memory : one.memory_of) launch.arguments.push_back({memory, 0, {}});
    simulator::SimulationOptions options = options_.simulation;
    options.seed = options_.seed;
    check_.simulation = simulator::simulate(program, launch, memory_, options);
    stop_if_asked(options.stop);
    check_.executed = check_.simulation.outcome == simulator::SimulationOutcome::finished;
    if (check_.executed) return true;
    check_.outcome = XlaOutcome::cannot_simulate;
    check_.reason = check_.simulation.reason.empty() ? "the launch did not finish" : check_.simulation.reason;
    const simulator::Finding* error = first_error(check_.simulation.findings);
    if (error == nullptr) return false;
    check_.outcome = XlaOutcome::findings;
    check_.reason = simulator::describe(*error);
    return false;
  }

  void compare_results(const XlaCase& one) {
    std::vector<std::span<const std::byte>> memory;
    for (std::size_t i = 0; i < one.memory.size(); ++i) memory.push_back(memory_.bytes(static_cast<int>(i)));
    const XlaVerdict verdict = judge(one, memory, options_.simulation.stop);
    check_.outcome = verdict.outcome;
    check_.reason = verdict.reason;
    check_.worst = verdict.worst;
    check_.results = verdict.results;
    check_.unjudged = verdict.unjudged;
    check_.evaluation = verdict.evaluation;
    if (verdict.outcome == XlaOutcome::matched && verdict.results > 0 && verdict.unjudged == verdict.results) {
      check_.outcome = XlaOutcome::cannot_evaluate;
      check_.reason = "no element of the results has a bound";
    }
    const simulator::Finding* error = first_error(check_.simulation.findings);
    const bool compared = verdict.outcome == XlaOutcome::matched || verdict.outcome == XlaOutcome::differs;
    if (error == nullptr || !compared) return;
    // What was found is why results differ, when they do.
    std::string words = simulator::describe(*error);
    if (const std::int64_t all = errors(check_.simulation.findings); all > 1)
      words += fmt::format("; {} more findings", all - 1);
    check_.outcome = XlaOutcome::findings;
    check_.reason = verdict.reason.empty() ? words : words + "; " + verdict.reason;
  }

  const XlaKernel& kernel_;
  const XlaCheckOptions& options_;
  XlaCheck check_;
  simulator::Memory memory_;
};

}  // namespace

std::string_view name(XlaOutcome outcome) {
  constexpr std::array names = std::to_array<std::string_view>(
      {"matched", "differs", "findings", "cannot simulate", "cannot evaluate", "not bound", "too large"});
  return row_for(names, outcome);
}

ir::Graph graph_of(const XlaModule& module, const XlaKernel& kernel) {
  const std::int32_t index = module.hlo.computation_named(kernel.computation);
  if (index < 0)
    throw Error(Fault::failed, Position{module.source.hlo.string()},
                fmt::format("not found: computation '{}' of kernel '{}'", kernel.computation, kernel.entry));
  return hlo::import_computation(module.hlo, module.hlo.computations[index]);
}

std::int64_t elements_computed(const ir::Graph& graph) {
  std::int64_t sum = 0;
  for (const ir::Node& node : graph.nodes) sum += ir::elements(node.shape);
  return sum;
}

namespace {

XlaCheck check_once(const XlaModule& module, const XlaKernel& kernel, const XlaCheckOptions& options) {
  const auto made = xla_case(module, kernel, options.seed, options.most_elements, options.simulation.stop);
  Bench bench(kernel, options);
  const XlaRefusal* const refusal = std::get_if<XlaRefusal>(&made);
  const bool too_large = refusal != nullptr && refusal->outcome == XlaOutcome::too_large;
  if (refusal != nullptr && !(too_large && options.sample_blocks > 0))
    return bench.stop(refusal->outcome, refusal->reason);
  try {
    return too_large ? check_sample(module, kernel, options) : bench.run(std::get<XlaCase>(made));
  } catch (const Error& error) {
    if (error.fault == Fault::interrupted) throw;
    return bench.stop(XlaOutcome::cannot_simulate, error.message);
  }
}

}  // namespace

/// Counters are those of the first seed, the error is the largest of all, elements are those of all.
XlaCheck check(const XlaModule& module, const XlaKernel& kernel, const XlaCheckOptions& options) {
  XlaCheck all = check_once(module, kernel, options);
  for (std::int64_t k = 1; k < options.seeds && all.outcome == XlaOutcome::matched; ++k) {
    XlaCheckOptions next = options;
    next.seed = options.seed + static_cast<std::uint64_t>(k);
    XlaCheck more = check_once(module, kernel, next);
    all.worst = std::max(all.worst, more.worst);
    all.results += more.results;
    all.unjudged += more.unjudged;
    all.evaluation = {all.evaluation.value + more.evaluation.value};
    if (more.outcome == XlaOutcome::matched) continue;
    all.outcome = more.outcome;
    all.reason = fmt::format("seed {}: {}", next.seed, more.reason);
    all.simulation.findings = std::move(more.simulation.findings);
  }
  return all;
}

}  // namespace tailor::profiler
