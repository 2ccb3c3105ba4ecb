// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Every step that can fail says why; what throws inside a step (text that does not parse, an operation without
// semantics) is caught at one boundary, so that a module's other kernels are still run.
#include "profiler/xla_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "ir/compare.h"
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

/// What an error of a step says, with its line.
std::string words_of(const Error& error) {
  return error.at.line > 0 ? fmt::format("line {}: {}", error.at.line, error.message) : error.message;
}

/// A case while it is made; a step that fails leaves a refusal.
class Making {
 public:
  Making(const XlaModule& module, const XlaKernel& kernel, std::uint64_t seed, std::int64_t most_elements)
      : module_(module), kernel_(kernel), seed_(seed), most_elements_(most_elements) {
    one_.arguments = kernel.arguments;
    one_.operands = kernel.operands;
  }

  std::variant<XlaCase, XlaRefusal> made() {
    if (!kernel_.problem.empty()) return XlaRefusal{XlaOutcome::not_bound, kernel_.problem};
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
      refusal_.detail = words_of(error);
    }
    return refusal_.detail.empty();
  }

  void refuse(XlaOutcome outcome, std::string detail) { refusal_ = {outcome, std::move(detail)}; }

  void take_graph() {
    one_.graph = graph_of(module_, kernel_);
    one_.elements = elements_computed(one_.graph);
    if (most_elements_ > 0 && one_.elements > most_elements_)
      return refuse(XlaOutcome::too_large, fmt::format("computes {} elements, the limit is {}",
                                                       with_commas(one_.elements), with_commas(most_elements_)));
    for (std::size_t i = 0; i < one_.graph.nodes.size() && one_.unjudged.empty(); ++i) {
      const ir::Node& node = one_.graph.nodes[i];
      if (!ir::can_evaluate(one_.graph, static_cast<ir::NodeId>(i)))
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
    if (!kernel_.places_known && !share_in_place(pointer_use(entry), kernel_.operands, one_.arguments))
      refuse(XlaOutcome::not_bound, "a result is never written, and no operand is that it could share memory with");
  }

  void take_arguments() {
    const auto operands = static_cast<std::size_t>(kernel_.operands);
    const std::vector<ir::InputRange> ranges = ir::input_ranges(one_.graph);
    if (ranges.size() != operands || one_.graph.outputs.size() + operands != one_.arguments.size())
      return refuse(XlaOutcome::not_bound,
                    fmt::format("the computation has {} parameters and {} results, the fusion {} and {}", ranges.size(),
                                one_.graph.outputs.size(), operands, one_.arguments.size() - operands));
    for (std::size_t i = 0; i < one_.arguments.size(); ++i) {
      const XlaArgument& argument = one_.arguments[i];
      if (element_width(argument.shape) == 0)
        return refuse(XlaOutcome::cannot_evaluate,
                      fmt::format("'{}' is {}, packed below a byte", argument.name, ir::text(argument.shape)));
      if (!place(i)) return;
      if (i >= operands) continue;
      if (argument.shares < 0)
        one_.inputs.push_back(ir::input_tensor(argument.shape, ranges[i], seed_ * 1000 + i));
      else
        one_.inputs.push_back(seen_as(argument.shape, one_.memory_of[i]));
    }
  }

  /// Gives an argument its memory; false when what it shares is too short for it.
  bool place(std::size_t number) {
    const XlaArgument& argument = one_.arguments[number];
    if (argument.shares < 0) {
      one_.memory_of.push_back(static_cast<int>(one_.memory.size()));
      one_.memory.push_back(memory_for(number));
      return true;
    }
    const int memory = one_.memory_of[static_cast<std::size_t>(argument.shares)];
    one_.memory_of.push_back(memory);
    if (static_cast<std::int64_t>(memory_bytes(argument.shape)) <= one_.memory[static_cast<std::size_t>(memory)].bytes)
      return true;
    refuse(XlaOutcome::not_bound, fmt::format("'{}' is longer than what it shares memory with", argument.name));
    return false;
  }

  XlaMemory memory_for(std::size_t number) const {
    const XlaArgument& argument = one_.arguments[number];
    XlaMemory memory;
    memory.name = argument.name;
    memory.bytes = static_cast<std::int64_t>(memory_bytes(argument.shape));
    memory.width = static_cast<int>(element_width(argument.shape));
    memory.use = simulator::BufferUse::output;
    const auto operands = static_cast<std::size_t>(kernel_.operands);
    if (number >= operands) return memory;
    memory.input = static_cast<std::int32_t>(number);
    memory.use = simulator::BufferUse::input;
    for (std::size_t k = operands; k < one_.arguments.size(); ++k)
      if (root_of(k) == number) memory.use = simulator::BufferUse::both;
    return memory;
  }

  /// The first argument that lies where this one does.
  std::size_t root_of(std::size_t number) const {
    while (one_.arguments[number].shares >= 0) number = static_cast<std::size_t>(one_.arguments[number].shares);
    return number;
  }

  /// The contents of memory as an operand of another shape sees them.
  ir::Tensor seen_as(const ir::Shape& shape, int memory) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(one_.memory[static_cast<std::size_t>(memory)].bytes));
    fill(one_, static_cast<std::size_t>(memory), bytes);
    return from_memory(shape, bytes);
  }

  const XlaModule& module_;
  const XlaKernel& kernel_;
  std::uint64_t seed_;
  std::int64_t most_elements_;
  XlaCase one_;
  XlaRefusal refusal_;
};

/// Whether factors lose all but 10 bits on their way into a product, as XLA's defaults allow for f32.
bool multiplies_tf32(const XlaCase& one) { return one.ptx.text->find(".tf32") != std::string::npos; }

void compare_results(const XlaCase& one, std::span<const std::span<const std::byte>> memory, XlaVerdict& verdict) {
  const auto started = std::chrono::steady_clock::now();
  const std::vector<ir::Bounded> expected = ir::evaluate_bounded(
      one.graph, one.inputs, {.narrow_sums = true, .product_error = multiplies_tf32(one) ? 2 * tf32_error : 0});
  verdict.evaluation = {std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t number = static_cast<std::size_t>(one.operands) + i;
    const XlaArgument& result = one.arguments[number];
    const ir::Tensor found = from_memory(result.shape, memory[static_cast<std::size_t>(one.memory_of[number])]);
    if (found.bytes.size() != expected[i].value.bytes.size()) {
      verdict.outcome = XlaOutcome::not_bound;
      verdict.detail = fmt::format("result '{}' is {}, the computation gives {}", result.name, ir::text(result.shape),
                                   ir::text(expected[i].value.shape));
      return;
    }
    const ir::Difference difference = ir::compare(expected[i], found.bytes);
    verdict.results += difference.elements;
    verdict.unjudged += difference.unjudged;
    verdict.worst = std::max(verdict.worst, difference.worst);
    if (difference.wrong == 0 || verdict.outcome == XlaOutcome::differs) continue;
    verdict.outcome = XlaOutcome::differs;
    verdict.detail = fmt::format("{}: {}", result.name, ir::describe(difference, result.shape));
  }
}

}  // namespace

std::variant<XlaCase, XlaRefusal> xla_case(const XlaModule& module, const XlaKernel& kernel, std::uint64_t seed,
                                           std::int64_t most_elements) {
  return Making(module, kernel, seed, most_elements).made();
}

void fill(const XlaCase& one, std::size_t number, std::span<std::byte> bytes) {
  const std::int32_t input = one.memory[number].input;
  if (input >= 0) to_memory(one.inputs[static_cast<std::size_t>(input)], bytes);
}

XlaVerdict judge(const XlaCase& one, std::span<const std::span<const std::byte>> memory) {
  XlaVerdict verdict;
  try {
    compare_results(one, memory, verdict);
  } catch (const Error& error) {
    verdict.outcome = XlaOutcome::cannot_evaluate;
    verdict.detail = words_of(error);
  }
  return verdict;
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
