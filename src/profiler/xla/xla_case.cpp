// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Making one kernel ready: its graph, its PTX, its inputs and its memory, and the verdict on what it wrote. In: a
// kernel of a module. Out: an XlaCase, or the reason why there is none. What throws inside a step (text that does not
// parse, an operation without semantics) is caught at one boundary, so that a module's other kernels are still run.
#include "profiler/xla/xla_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "hlo/hlo_module.h"
#include "profiler/xla/xla_inplace.h"
#include "reference/compare.h"
#include "reference/inputs.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

/// tf32 keeps 10 bits after the point.
constexpr double tf32_error = 1.0 / 1024;

/// What an error of a step says, with its line.
std::string located_text(const Error& error) {
  return error.at.line > 0 ? fmt::format("line {}: {}", error.at.line, error.message) : error.message;
}

/// A case while it is made; a step that fails leaves a refusal.
class Making {
 public:
  Making(const XlaModule& module, const XlaKernel& kernel, std::optional<std::uint64_t> seed,
         std::int64_t most_elements, const std::stop_token& stop)
      : module_(module), kernel_(kernel), seed_(seed), most_elements_(most_elements), stop_(stop) {
    one_.arguments = kernel.arguments;
    one_.operands = kernel.operands;
  }

  std::variant<XlaCase, XlaRefusal> made() {
    if (!kernel_.reason.empty()) return XlaRefusal{XlaOutcome::not_bound, kernel_.reason};
    const bool ready = step(XlaOutcome::cannot_evaluate, [&] { take_graph(); }) &&
                       step(XlaOutcome::cannot_simulate, [&] { take_program(); }) &&
                       step(XlaOutcome::not_bound, [&] { take_arguments(); });
    if (!ready) return std::move(refusal_);
    return std::move(one_);
  }

 private:
  template <class Work>
  bool step(XlaOutcome otherwise, Work&& work) {
    refusal_ = {otherwise, {}};
    try {
      work();
    } catch (const Error& error) {
      if (error.fault == Fault::interrupted) throw;
      refusal_.reason = located_text(error);
    }
    return refusal_.reason.empty();
  }

  void refuse(XlaOutcome outcome, std::string reason) { refusal_ = {outcome, std::move(reason)}; }

  void take_graph() {
    one_.graph = graph_of(module_, kernel_);
    one_.elements = elements_computed(one_.graph);
    if (most_elements_ > 0 && one_.elements > most_elements_)
      return refuse(XlaOutcome::too_large, fmt::format("computes {} elements, the limit is {}",
                                                       with_commas(one_.elements), with_commas(most_elements_)));
    for (std::size_t i = 0; i < one_.graph.nodes.size() && one_.unjudged.empty(); ++i) {
      const ir::Node& node = one_.graph.nodes[i];
      if (!reference::can_evaluate(one_.graph, static_cast<ir::NodeId>(i)))
        one_.unjudged = fmt::format("{} '{}' of {}", ir::row(node.op).hlo, node.name, ir::text(node.shape));
    }
  }

  void take_program() {
    one_.ptx = simulator::parse_ptx(read_file(kernel_.ptx), kernel_.ptx.filename().string());
    const simulator::PtxFunction& entry = simulator::entry_of(one_.ptx, kernel_.entry);
    if (entry.params.size() != one_.arguments.size())
      return refuse(XlaOutcome::not_bound,
                    fmt::format("the entry takes {} parameters, the fusion has {} operands and results",
                                entry.params.size(), one_.arguments.size()));
    if (!kernel_.assignment_known && !share_in_place(pointer_use(entry), kernel_.operands, one_.arguments))
      refuse(XlaOutcome::not_bound, "a result is never written, and no operand is that it could share memory with");
  }

  void take_arguments() {
    const auto operands = static_cast<std::size_t>(kernel_.operands);
    const std::vector<reference::InputRange> ranges = reference::input_ranges(one_.graph);
    if (ranges.size() != operands || one_.graph.outputs.size() + operands != one_.arguments.size())
      return refuse(XlaOutcome::not_bound,
                    fmt::format("the computation has {} parameters and {} results, the fusion {} and {}", ranges.size(),
                                one_.graph.outputs.size(), operands, one_.arguments.size() - operands));
    for (std::size_t i = 0; i < one_.arguments.size(); ++i) {
      stop_if_asked(stop_);
      const XlaArgument& argument = one_.arguments[i];
      if (reference::element_width(argument.shape) == 0)
        return refuse(XlaOutcome::cannot_evaluate,
                      fmt::format("'{}' is {}, packed below a byte", argument.name, ir::text(argument.shape)));
      if (!assign_memory(i)) return;
      if (i >= operands || !seed_) continue;
      if (argument.shares >= 0)
        one_.inputs.push_back(seen_as(argument.shape, one_.memory_of[i]));
      else if (std::optional<reference::Tensor> known = constant_of(module_, argument))
        one_.inputs.push_back(*std::move(known));
      else
        one_.inputs.push_back(reference::input_tensor(argument.shape, ranges[i], *seed_ * 1000 + i, stop_));
    }
  }

  /// Gives an argument its memory; false when what it shares is too short for it.
  bool assign_memory(std::size_t number) {
    const XlaArgument& argument = one_.arguments[number];
    if (argument.shares < 0) {
      one_.memory_of.push_back(static_cast<int>(one_.memory.size()));
      one_.memory.push_back(memory_for(number));
      return true;
    }
    const int memory = one_.memory_of[argument.shares];
    one_.memory_of.push_back(memory);
    if (static_cast<std::int64_t>(reference::memory_bytes(argument.shape)) <= one_.memory[memory].bytes) return true;
    refuse(XlaOutcome::not_bound, fmt::format("'{}' is longer than what it shares memory with", argument.name));
    return false;
  }

  XlaMemory memory_for(std::size_t number) const {
    const XlaArgument& argument = one_.arguments[number];
    XlaMemory memory;
    memory.name = argument.name;
    memory.bytes = static_cast<std::int64_t>(reference::memory_bytes(argument.shape));
    memory.width = static_cast<int>(reference::element_width(argument.shape));
    memory.role = ir::BufferRole::output;
    const auto operands = static_cast<std::size_t>(kernel_.operands);
    if (number >= operands) return memory;
    memory.input = static_cast<std::int32_t>(number);
    memory.role = ir::BufferRole::input;
    for (std::size_t k = operands; k < one_.arguments.size(); ++k)
      if (root_of(k) == number) memory.role = ir::BufferRole::in_place;
    return memory;
  }

  /// The first argument that lies where this one does.
  std::size_t root_of(std::size_t number) const {
    while (one_.arguments[number].shares >= 0) number = static_cast<std::size_t>(one_.arguments[number].shares);
    return number;
  }

  /// The contents of memory as an operand of another shape sees them.
  reference::Tensor seen_as(const ir::Shape& shape, int memory) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(one_.memory[memory].bytes));
    fill(one_, static_cast<std::size_t>(memory), bytes);
    return reference::from_memory(shape, bytes);
  }

  const XlaModule& module_;
  const XlaKernel& kernel_;
  std::optional<std::uint64_t> seed_;  ///< of the inputs; none: they are not made
  std::int64_t most_elements_;
  const std::stop_token& stop_;
  XlaCase one_;
  XlaRefusal refusal_;
};

/// Whether factors lose all but 10 bits on their way into a product, as XLA's defaults allow for f32.
bool multiplies_tf32(const XlaCase& one) { return one.ptx.text->find(".tf32") != std::string::npos; }

void compare_results(const XlaCase& one, std::span<const std::span<const std::byte>> memory,
                     const std::stop_token& stop, XlaVerdict& verdict) {
  const auto started = std::chrono::steady_clock::now();
  const std::vector<reference::BoundedTensor> expected =
      reference::evaluate_with_error_bounds(one.graph, one.inputs, bounds_of(one), stop);
  verdict.evaluation = {std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t number = static_cast<std::size_t>(one.operands) + i;
    const XlaArgument& result = one.arguments[number];
    const reference::Tensor found =
        reference::from_memory(result.shape, memory[static_cast<std::size_t>(one.memory_of[number])]);
    if (found.bytes.size() != expected[i].value.bytes.size()) {
      verdict.outcome = XlaOutcome::not_bound;
      verdict.reason = fmt::format("result '{}' is {}, the computation gives {}", result.name, ir::text(result.shape),
                                   ir::text(expected[i].value.shape));
      return;
    }
    const reference::Difference difference = reference::compare(expected[i], found.bytes, {}, stop);
    verdict.results += difference.elements;
    verdict.unjudged += difference.unjudged;
    verdict.worst = std::max(verdict.worst, difference.worst);
    if (difference.wrong == 0 || verdict.outcome == XlaOutcome::differs) continue;
    verdict.outcome = XlaOutcome::differs;
    verdict.reason = fmt::format("{}: {}", result.name, reference::describe(difference, result.shape));
  }
}

}  // namespace

std::optional<reference::Tensor> constant_of(const XlaModule& module, const XlaArgument& argument) {
  if (argument.constant < 0) return {};
  const hlo::HloInstruction& constant = module.hlo.instructions[argument.constant];
  const ir::Shape& shape = module.hlo.shapes_of(module.hlo.type_of(constant))[0];
  reference::Tensor own{shape, {}};
  if (reference::memory_bytes(shape) != reference::memory_bytes(argument.shape) ||
      !hlo::parse_literal(module.hlo, constant.payload, shape, own.bytes))
    return {};
  std::vector<std::byte> memory(reference::memory_bytes(shape));  // a bitcast keeps bytes as they lie in memory
  reference::to_memory(own, memory);
  return reference::from_memory(argument.shape, memory);
}

std::variant<XlaCase, XlaRefusal> xla_case(const XlaModule& module, const XlaKernel& kernel, std::uint64_t seed,
                                           std::int64_t most_elements, const std::stop_token& stop) {
  return Making(module, kernel, seed, most_elements, stop).made();
}

std::variant<XlaCase, XlaRefusal> xla_case_without_inputs(const XlaModule& module, const XlaKernel& kernel,
                                                          const std::stop_token& stop) {
  return Making(module, kernel, {}, 0, stop).made();
}

reference::ErrorBoundOptions bounds_of(const XlaCase& one) {
  return {.narrow_sums = true, .product_error = multiplies_tf32(one) ? 2 * tf32_error : 0};
}

void fill(const XlaCase& one, std::size_t number, std::span<std::byte> bytes) {
  const std::int32_t input = one.memory[number].input;
  if (input >= 0) reference::to_memory(one.inputs[input], bytes);
}

XlaVerdict judge(const XlaCase& one, std::span<const std::span<const std::byte>> memory, const std::stop_token& stop) {
  XlaVerdict verdict;
  try {
    compare_results(one, memory, stop, verdict);
  } catch (const Error& error) {
    if (error.fault == Fault::interrupted) throw;
    verdict.outcome = XlaOutcome::cannot_evaluate;
    verdict.reason = located_text(error);
  }
  return verdict;
}

}  // namespace tailor::profiler
