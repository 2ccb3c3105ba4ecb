// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Every operation on every type, from the graph to the machine: what a valid graph holds is either refused with a
// reason by preparing or lowering, or printed, compiled and right. Nothing in between: an exception of the printer is a
// bug of the refusals. Arguments include the edges: zeros, infinities, NaN, the ends of the integers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/host_run.h"
#include "codegen/cuda/pin_checks.h"
#include "codegen/lower/lower.h"
#include "explore/plans/walk.h"
#include "profiler/compile/compile.h"
#include "profiler/compile/cubin.h"
#include "profiler/compile/operation.h"
#include "support/kernel_cache.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

constexpr Limits operation_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 8192, 15360, 0, 128};
constexpr std::int64_t rows = 5, columns = 36;

Node parameter(DType dtype, int number) {
  return {Op::parameter, make_shape(dtype, {rows, columns}), {}, ParameterNumber{number}, fmt::format("p{}", number)};
}

/// Parameters of the operands' types and the operation on them.
Graph graph_of(const Node& node, const std::vector<DType>& operands) {
  Graph graph;
  graph.name = "one";
  for (std::size_t k = 0; k < operands.size(); ++k) graph.nodes.push_back(parameter(operands[k], static_cast<int>(k)));
  graph.nodes.push_back(node);
  for (std::size_t k = 0; k < operands.size(); ++k) graph.nodes.back().operands.push_back(static_cast<NodeId>(k));
  graph.outputs = {static_cast<NodeId>(operands.size())};
  return graph;
}

bool is_valid(const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// One operation with its operands' types.
struct Use {
  Node node;
  std::vector<DType> operands;
};

/// All valid uses of elementwise operations.
std::vector<Use> all_uses() {
  std::vector<Use> uses;
  for (const OpRow& op : op_table) {
    if (op.kind != OpClass::elementwise) continue;
    for (const DTypeRow& from : dtype_table)
      for (const DTypeRow& to : dtype_table) {
        Use use{{op.op, make_shape(to.dtype, {rows, columns}), {}, make_attributes(op.op), std::string(op.id)}, {}};
        use.operands.assign(static_cast<std::size_t>(op.arity), from.dtype);
        if (op.op == Op::select) use.operands[0] = DType::pred;
        constexpr auto digits =
            std::to_array<std::string_view>({"exponent_bits=5, mantissa_bits=10", "exponent_bits=4, mantissa_bits=3",
                                             "exponent_bits=9, mantissa_bits=0"});
        const int forms = op.op == Op::compare            ? 8
                          : op.op == Op::reduce_precision ? static_cast<int>(digits.size())
                                                          : 1;
        for (int i = 0; i < forms; ++i) {
          constexpr std::array<Comparison, 2> by_order = {Comparison::lt, Comparison::ge};
          if (op.op == Op::compare)
            use.node.attributes =
                CompareOptions{i < 6 ? static_cast<Comparison>(i) : by_order[static_cast<std::size_t>(i - 6)], i >= 6};
          if (op.op == Op::reduce_precision)
            use.node.attributes = HloText{std::string(digits[static_cast<std::size_t>(i)])};
          if (is_valid(graph_of(use.node, use.operands))) uses.push_back(use);
        }
      }
  }
  return uses;
}

/// The first legal kernel of the group, or why there is none.
std::optional<Kernel> first_kernel(const Group& group, std::string& why) {
  const auto prepared = prepare(group);
  if (const Rejection* no = std::get_if<Rejection>(&prepared)) {
    why = no->rule;
    return std::nullopt;
  }
  const Prepared& ready = std::get<Prepared>(prepared);
  const explore::Axes axes = explore::default_axes(ready, operation_limits);
  explore::Plans plans(ready, axes, operation_limits);
  LowerScratch scratch;
  while (const auto plan = plans.next()) {
    Lowered lowered = lower(ready, *plan, operation_limits, scratch);
    if (Kernel* kernel = std::get_if<Kernel>(&lowered)) return std::move(*kernel);
    why = std::get<Rejection>(lowered).rule;
  }
  return std::nullopt;
}

/// Edge values first, then what random_tensor gave.
void put_edges(reference::Tensor& tensor, int shift) {
  const DType dtype = tensor.shape.dtype;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double reals[] = {0.0, -0.0, 1.0, -1.0, inf, -inf, std::nan(""), 0.5, 65504.0, 1e-7, -3.5, 2.5};
  const std::int64_t top = std::int64_t{1} << (row(dtype).bits - 2);
  const std::int64_t integers[] = {0, 1, -1, 2 * (top - 1) + 1, -2 * (top - 1) - 2, 7, -7, 2, 3, 31, 64, 100};
  for (int i = 0; i < 144; ++i) {
    const int which = shift == 0 ? i % 12 : i / 12 % 12;
    if (is_floating(dtype)) store(tensor, i, reals[which]);
    if (is_integer(dtype)) store_integer(tensor, i, integers[which]);
  }
}

/// All the uses with the same first operand's type as one group with many outputs.
Group group_of(const std::vector<Use>& uses) {
  Group group;
  group.graph.name = "many";
  std::map<std::pair<std::size_t, DType>, NodeId> known;
  for (const Use& use : uses)
    for (std::size_t k = 0; k < use.operands.size(); ++k) {
      const auto [at, added] = known.try_emplace({k, use.operands[k]}, static_cast<NodeId>(group.graph.nodes.size()));
      if (added) group.graph.nodes.push_back(parameter(use.operands[k], static_cast<int>(at->second)));
    }
  for (const Use& use : uses) {
    Node node = use.node;
    node.name = fmt::format("{}_{}", node.name, group.graph.nodes.size());
    for (std::size_t k = 0; k < use.operands.size(); ++k) node.operands.push_back(known.at({k, use.operands[k]}));
    group.graph.outputs.push_back(static_cast<NodeId>(group.graph.nodes.size()));
    group.graph.nodes.push_back(std::move(node));
  }
  verify(group.graph);
  return group;
}

/// By the type of the last operand: uses that a kernel takes one at a time.
std::map<DType, std::vector<Use>> printable_uses(std::map<std::string, int>& refused) {
  std::map<DType, std::vector<Use>> accepted;
  for (const Use& use : all_uses()) {
    CAPTURE(use.node.name);
    CAPTURE(name(use.operands.back()));
    CAPTURE(name(use.node.shape.dtype));
    Group group;
    group.graph = graph_of(use.node, use.operands);
    std::string why;
    const std::optional<Kernel> kernel = first_kernel(group, why);
    if (!kernel) {
      ++refused[why];
      continue;
    }
    CHECK_NOTHROW(verify(*kernel));
    CHECK_NOTHROW(codegen::cuda(*kernel));
    accepted[use.operands.back()].push_back(use);
  }
  return accepted;
}

std::vector<Group> reductions() {
  std::vector<Group> groups;
  for (const Reducer reducer : {Reducer::add, Reducer::multiply, Reducer::maximum, Reducer::minimum, Reducer::bit_and,
                                Reducer::bit_or, Reducer::bit_xor})
    for (const DTypeRow& type : dtype_table) {
      Group group;
      const Shape scalar = make_shape(type.dtype, {});
      const Node zero{Op::constant, scalar, {}, Literal{true, reference::zeros(scalar).bytes}, "start"};
      const Node reduce{Op::reduce,
                        make_shape(type.dtype, {rows}),
                        {0, 1},
                        Reduction{{1}, reducer},
                        fmt::format("{}", name(reducer))};
      group.graph.nodes = {parameter(type.dtype, 0), zero, reduce};
      group.graph.outputs = {2};
      if (is_valid(group.graph)) groups.push_back(std::move(group));
    }
  return groups;
}

}  // namespace

TEST_CASE("every operation on every type is refused in words, or printed, compiled and right") {
  std::map<std::string, int> refused;
  std::vector<HostCase> cases;
  const profiler::Nvrtc* nvrtc = nvrtc_or_skip();
  for (const auto& [dtype, uses] : printable_uses(refused)) {
    CAPTURE(name(dtype));
    const Group group = group_of(uses);
    std::string why;
    std::optional<Kernel> kernel = first_kernel(group, why);
    REQUIRE_MESSAGE(kernel.has_value(), why);
    HostCase one{fmt::format("operations on {}", name(dtype)), std::move(*kernel), {}, {}};
    std::uint64_t seed = 1;
    for (const NodeId id : parameters(group.graph)) {
      one.inputs.push_back(reference::random_tensor(group.graph[id].shape, seed++));
      put_edges(one.inputs.back(), static_cast<int>(seed % 2));
    }
    one.expected = evaluate(group.graph, one.inputs);
    for (std::size_t i = 0; i < uses.size(); ++i) one.label += fmt::format(" {}={}", i, uses[i].node.name);
    // The compiler takes seconds for all types: the quick suite asks it about two.
    if (nvrtc != nullptr && (TAILOR_WHOLE_SWEEP || dtype == DType::s32 || dtype == DType::bf16)) {
      const Binary binary = kernels::compiled(*nvrtc, {.cuda = codegen::cuda(one.kernel), .entry = one.kernel.name});
      CHECK_MESSAGE(binary.outcome == CompileOutcome::ok, binary.log);
      CHECK(binary.log == "");
    }
    cases.push_back(std::move(one));
  }
  CHECK(cases.size() == 20);
  CHECK(std::any_of(refused.begin(), refused.end(), [](const auto& r) { return r.first.starts_with("operation-"); }));
  for (const std::string& failure : host_failures(std::move(cases))) FAIL_CHECK(failure);
}

namespace {

/// Instructions after which lanes wait for one another: the assembler writes one in front of every branch by what an
/// element is.
std::int64_t meeting_points(const Binary& binary) {
  std::int64_t points = 0;
  for (const profiler::CubinKernel& kernel : profiler::read_cubin(binary.cubin))
    for (std::size_t at = 0; at + profiler::instruction_bytes <= kernel.code.size();
         at += profiler::instruction_bytes) {
      std::uint16_t low = 0;
      std::memcpy(&low, kernel.code.data() + at, sizeof low);
      points += (low & 0x1ff) == profiler::bases::bssy;
    }
  return points;
}

/// Of so many elements that no thread is left without, so that nothing else branches.
std::int64_t meeting_points(const profiler::Nvrtc& nvrtc, const Use& use, Arithmetic arithmetic) {
  Group group;
  group.graph = graph_of(use.node, use.operands);
  for (Node& node : group.graph.nodes) node.shape = make_shape(node.shape.dtype, {16, 64});
  std::string why;
  std::optional<Kernel> kernel = first_kernel(group, why);
  REQUIRE_MESSAGE(kernel.has_value(), why);
  kernel->arithmetic = arithmetic;
  return meeting_points(kernels::compiled(nvrtc, {.cuda = codegen::cuda(*kernel), .entry = kernel->name}));
}

}  // namespace

TEST_CASE("machine code branches by what an element is exactly where the table says so" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const profiler::Nvrtc* nvrtc = nvrtc_or_skip();
  if (nvrtc == nullptr) return;
  int branching_uses = 0, straight_uses = 0;
  for (const Use& use : all_uses()) {
    const DType dtype = use.operands.back();
    const bool whole =
        TAILOR_WHOLE_SWEEP || use.node.op == Op::cos || use.node.op == Op::sqrt || use.node.op == Op::divide;
    const bool same = use.node.shape.dtype == dtype || use.node.op == Op::compare;
    if (!whole || !same || (dtype != DType::f32 && dtype != DType::s32)) continue;
    Group group;
    group.graph = graph_of(use.node, use.operands);
    std::string why;
    if (!first_kernel(group, why)) continue;
    for (const Arithmetic arithmetic : {Arithmetic::ieee, Arithmetic::xla, Arithmetic::approx}) {
      INFO(use.node.name, " on ", name(dtype), " by ", name(arithmetic));
      const bool says = branching(use.node.op, dtype, arithmetic) != nullptr;
      (says ? branching_uses : straight_uses) += 1;
      CHECK((meeting_points(*nvrtc, use, arithmetic) > 0) == says);
    }
  }
  CHECK(branching_uses >= 5);  // cosines, and roots and quotients that are rounded correctly
  CHECK(straight_uses > 3);
}

TEST_CASE("every reduction on every type is refused in words, or printed and right") {
  std::vector<HostCase> cases;
  int refused = 0;
  for (const Group& group : reductions()) {
    const Node& reduce = group.graph.nodes[2];
    CAPTURE(reduce.name);
    CAPTURE(name(reduce.shape.dtype));
    std::string why;
    std::optional<Kernel> kernel = first_kernel(group, why);
    if (!kernel) {
      ++refused;
      continue;
    }
    CHECK_NOTHROW(codegen::cuda(*kernel));
    HostCase one{fmt::format("reduce {} {}", reduce.name, text(reduce.shape)), std::move(*kernel), {}, {}};
    fill_expected(group.graph, one);
    cases.push_back(std::move(one));
  }
  CHECK(refused > 0);
  CHECK(cases.size() > 40);
  for (const std::string& failure : host_failures(std::move(cases))) FAIL_CHECK(failure);
}
