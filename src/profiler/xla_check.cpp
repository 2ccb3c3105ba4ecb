// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One kernel from its dump to a verdict. Every step that can fail says why in the check's detail; what throws inside a
// step (text that does not parse, an operation without semantics) is caught at one boundary, so that a module's other
// kernels are still checked.
#include "profiler/xla_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "ir/compare.h"
#include "ir/import.h"
#include "ir/inputs.h"
#include "profiler/xla_inplace.h"

namespace tailor::profiler {

namespace {

/// tf32 keeps 10 bits after the point.
constexpr double tf32_error = 1.0 / 1024;

/// Bytes of one element in memory and in a Tensor; 0 where the two differ (types below a byte).
std::size_t element_width(const ir::Shape& shape) {
  const int bits = ir::row(shape.dtype).bits;
  if (shape.dtype == ir::DType::pred) return 1;
  return bits % 8 == 0 ? static_cast<std::size_t>(bits) / 8 : 0;
}

std::size_t memory_bytes(const ir::Shape& shape) {
  return static_cast<std::size_t>(ir::elements(shape)) * element_width(shape);
}

/// XLA's kernels load whole vectors of 16 bytes where an array ends within one (".pragma used_bytes_mask"): its buffers
/// lie in arenas with room behind them. So do ours.
constexpr std::size_t vector_bytes = 16;

std::size_t padded(std::size_t bytes) { return (bytes + vector_bytes - 1) / vector_bytes * vector_bytes; }

/// Calls visit(row-major place, place in memory) for runs of `run` elements that are neighbours in both.
template <class Visit>
void each_run(const ir::Shape& shape, Visit&& visit) {
  const std::int64_t total = ir::elements(shape);
  if (total == 0) return;
  if (ir::is_row_major(shape) || shape.rank() == 0) return visit(std::int64_t{0}, std::int64_t{0}, total);
  const ir::Dims strides = ir::strides(shape);
  ir::Dims at = shape.dims;
  std::fill(at.begin(), at.end(), 0);
  std::int64_t memory = 0;
  for (std::int64_t i = 0; i < total; ++i) {
    visit(i, memory, std::int64_t{1});
    for (int d = shape.rank() - 1; d >= 0; --d) {
      memory += strides[d];
      if (++at[d] < shape.dims[d]) break;
      memory -= strides[d] * shape.dims[d];
      at[d] = 0;
    }
  }
}

struct Stop {
  XlaOutcome outcome;
  std::string detail;
};

/// The check of one kernel while it is made; steps stop it by throwing a Stop's words as an Error.
class Bench {
 public:
  Bench(const XlaModule& module, const XlaKernel& kernel, const XlaCheckOptions& options)
      : module_(module), kernel_(kernel), options_(options), arguments_(kernel.arguments) {}

  XlaCheck run() {
    if (!kernel_.problem.empty()) return stop(XlaOutcome::not_bound, kernel_.problem);
    if (!step(XlaOutcome::cannot_evaluate, [&] { take_graph(); })) return std::move(check_);
    if (!step(XlaOutcome::cannot_simulate, [&] { take_program(); })) return std::move(check_);
    if (!step(XlaOutcome::not_bound, [&] { take_arguments(); })) return std::move(check_);
    if (!step(XlaOutcome::cannot_simulate, [&] { execute(); })) return std::move(check_);
    if (!step(XlaOutcome::cannot_evaluate, [&] { compare_results(); })) return std::move(check_);
    return std::move(check_);
  }

 private:
  XlaCheck stop(XlaOutcome outcome, std::string detail) {
    check_.outcome = outcome;
    check_.detail = std::move(detail);
    return std::move(check_);
  }

  /// False when the step did not succeed; the check then says why.
  template <class Work>
  bool step(XlaOutcome otherwise, Work&& work) {
    verdict_ = {otherwise, {}};
    try {
      work();
    } catch (const Error& error) {
      verdict_.detail = error.message;
      if (error.at.line > 0) verdict_.detail = fmt::format("line {}: {}", error.at.line, error.message);
    }
    if (verdict_.detail.empty()) return true;
    check_.outcome = verdict_.outcome;
    check_.detail = verdict_.detail;
    return false;
  }

  void refuse(XlaOutcome outcome, std::string detail) { verdict_ = {outcome, std::move(detail)}; }

  void take_graph() {
    graph_ = graph_of(module_, kernel_);
    check_.elements = elements_computed(graph_);
    if (options_.most_elements > 0 && check_.elements > options_.most_elements)
      return refuse(XlaOutcome::too_large,
                    fmt::format("computes {} elements, the limit is {}", with_commas(check_.elements),
                                with_commas(options_.most_elements)));
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const ir::Node& node = graph_.nodes[i];
      if (!ir::can_evaluate(graph_, static_cast<ir::NodeId>(i)))
        return refuse(XlaOutcome::cannot_evaluate,
                      fmt::format("{} '{}' of {}", ir::row(node.op).hlo, node.name, ir::text(node.shape)));
    }
  }

  void take_program() {
    ptx_ = simulator::parse_ptx(read_file(kernel_.ptx), kernel_.ptx.filename().string());
    const simulator::PtxFunction& entry = simulator::entry_of(ptx_, kernel_.entry);
    if (entry.params.size() != arguments_.size())
      return refuse(XlaOutcome::not_bound,
                    fmt::format("the entry takes {} parameters, the fusion has {} operands and results",
                                entry.params.size(), arguments_.size()));
    if (!kernel_.places_known && !share_in_place(pointer_use(entry), kernel_.operands, arguments_))
      return refuse(XlaOutcome::not_bound,
                    "a result is never written, and no operand is that it could share memory with");
    program_.emplace(ptx_, entry);
    if (!program_->unsupported().empty()) refuse(XlaOutcome::cannot_simulate, program_->unsupported());
  }

  void take_arguments() {
    const auto operands = static_cast<std::size_t>(kernel_.operands);
    const std::vector<ir::InputRange> ranges = ir::input_ranges(graph_);
    if (ranges.size() != operands || graph_.outputs.size() + operands != arguments_.size())
      return refuse(XlaOutcome::not_bound,
                    fmt::format("the computation has {} parameters and {} results, the fusion {} and {}", ranges.size(),
                                graph_.outputs.size(), operands, arguments_.size() - operands));
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const XlaArgument& argument = arguments_[i];
      if (element_width(argument.shape) == 0)
        return refuse(XlaOutcome::cannot_evaluate,
                      fmt::format("'{}' is {}, packed below a byte", argument.name, ir::text(argument.shape)));
      if (argument.shares >= 0 &&
          memory_bytes(argument.shape) > memory_.bytes(buffers_[static_cast<std::size_t>(argument.shares)]).size())
        return refuse(XlaOutcome::not_bound,
                      fmt::format("'{}' is longer than what it shares memory with", argument.name));
      buffers_.push_back(argument.shares >= 0 ? buffers_[static_cast<std::size_t>(argument.shares)] : new_buffer(i));
      if (i >= operands) continue;
      if (argument.shares < 0)
        to_memory(ir::input_tensor(argument.shape, ranges[i], options_.seed * 1000 + i), memory_.bytes(buffers_[i]));
      inputs_.push_back(from_memory(argument.shape, memory_.bytes(buffers_[i])));
    }
  }

  int new_buffer(std::size_t number) {
    const XlaArgument& argument = arguments_[number];
    simulator::BufferUse use = simulator::BufferUse::output;
    if (number < static_cast<std::size_t>(kernel_.operands)) {
      use = simulator::BufferUse::input;
      for (std::size_t k = static_cast<std::size_t>(kernel_.operands); k < arguments_.size(); ++k)
        if (arguments_[k].shares == static_cast<std::int32_t>(number)) use = simulator::BufferUse::both;
    }
    const auto width = static_cast<int>(element_width(argument.shape));
    return memory_.add(argument.name, static_cast<std::int64_t>(padded(memory_bytes(argument.shape))), width, use);
  }

  void execute() {
    simulator::Launch launch;
    launch.grid = kernel_.launch.grid;
    launch.block = kernel_.launch.block;
    launch.cluster = kernel_.launch.cluster;
    launch.dynamic_shared = kernel_.launch.shared;
    for (const int buffer : buffers_) launch.arguments.push_back({buffer, 0, {}});
    simulator::SimulationOptions options = options_.simulation;
    options.seed = options_.seed;
    check_.simulation = simulator::simulate(*program_, launch, memory_, options);
    if (check_.simulation.outcome == simulator::SimulationOutcome::finished) {
      check_.executed = true;
      return;
    }
    std::string why = check_.simulation.reason;
    if (!check_.simulation.findings.empty()) {
      const std::string first = simulator::describe(check_.simulation.findings.front());
      return refuse(XlaOutcome::findings, first);
    }
    refuse(XlaOutcome::cannot_simulate, why.empty() ? std::string("the launch did not finish") : std::move(why));
  }

  /// Whether factors lose all but 10 bits on their way into a product, as XLA's defaults allow for f32.
  bool multiplies_tf32() const { return ptx_.text->find(".tf32") != std::string::npos; }

  void compare_results() {
    const auto started = std::chrono::steady_clock::now();
    const std::vector<ir::Bounded> expected = ir::evaluate_bounded(
        graph_, inputs_, {.narrow_sums = true, .product_error = multiplies_tf32() ? 2 * tf32_error : 0});
    check_.evaluation = {std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()};
    check_.outcome = XlaOutcome::matched;
    std::string wrong;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t place = static_cast<std::size_t>(kernel_.operands) + i;
      const XlaArgument& result = arguments_[place];
      const ir::Tensor found = from_memory(result.shape, memory_.bytes(buffers_[place]));
      if (found.bytes.size() != expected[i].value.bytes.size())
        return refuse(XlaOutcome::not_bound, fmt::format("result '{}' is {}, the computation gives {}", result.name,
                                                         ir::text(result.shape), ir::text(expected[i].value.shape)));
      const ir::Difference difference = ir::compare(expected[i], found.bytes);
      check_.results += difference.elements;
      check_.unjudged += difference.unjudged;
      check_.worst = std::max(check_.worst, difference.worst);
      if (difference.wrong > 0 && wrong.empty())
        wrong = fmt::format("{}: {}", result.name, ir::describe(difference, result.shape));
    }
    const std::vector<simulator::Finding>& findings = check_.simulation.findings;
    if (findings.empty()) {
      if (!wrong.empty()) refuse(XlaOutcome::differs, std::move(wrong));
      return;
    }
    // What was found is why results differ, when they do.
    std::string words = simulator::describe(findings.front());
    if (findings.size() > 1) words += fmt::format("; {} more findings", findings.size() - 1);
    refuse(XlaOutcome::findings, wrong.empty() ? words : words + "; " + wrong);
  }

  const XlaModule& module_;
  const XlaKernel& kernel_;
  const XlaCheckOptions& options_;
  std::vector<XlaArgument> arguments_;  ///< the kernel's, with what they share
  XlaCheck check_;
  Stop verdict_{};
  ir::Graph graph_;
  simulator::PtxModule ptx_;
  std::optional<simulator::Program> program_;
  simulator::Memory memory_;
  std::vector<int> buffers_;  ///< by argument
  std::vector<ir::Tensor> inputs_;
};

}  // namespace

std::string_view name(XlaOutcome outcome) {
  constexpr std::array names = std::to_array<std::string_view>(
      {"matched", "differs", "findings", "cannot simulate", "cannot evaluate", "not bound", "too large"});
  return names[static_cast<std::size_t>(outcome)];
}

ir::Graph graph_of(const XlaModule& module, const XlaKernel& kernel) {
  const std::int32_t index = module.hlo.computation_named(kernel.computation);
  if (index < 0)
    throw Error(Fault::failed, Position{module.source.hlo.string()},
                fmt::format("not found: computation '{}' of kernel '{}'", kernel.computation, kernel.entry));
  return ir::import_computation(module.hlo, module.hlo.computations[static_cast<std::size_t>(index)]);
}

std::int64_t elements_computed(const ir::Graph& graph) {
  std::int64_t sum = 0;
  for (const ir::Node& node : graph.nodes) sum += ir::elements(node.shape);
  return sum;
}

XlaCheck check(const XlaModule& module, const XlaKernel& kernel, const XlaCheckOptions& options) {
  return Bench(module, kernel, options).run();
}

void to_memory(const ir::Tensor& tensor, std::span<std::byte> memory) {
  const std::size_t width = element_width(tensor.shape);
  each_run(tensor.shape, [&](std::int64_t logical, std::int64_t physical, std::int64_t count) {
    std::memcpy(memory.data() + static_cast<std::size_t>(physical) * width,
                tensor.bytes.data() + static_cast<std::size_t>(logical) * width,
                static_cast<std::size_t>(count) * width);
  });
}

ir::Tensor from_memory(const ir::Shape& shape, std::span<const std::byte> memory) {
  ir::Tensor tensor{shape, std::vector<std::byte>(memory_bytes(shape))};
  const std::size_t width = element_width(shape);
  each_run(shape, [&](std::int64_t logical, std::int64_t physical, std::int64_t count) {
    std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(logical) * width,
                memory.data() + static_cast<std::size_t>(physical) * width, static_cast<std::size_t>(count) * width);
  });
  return tensor;
}

}  // namespace tailor::profiler
