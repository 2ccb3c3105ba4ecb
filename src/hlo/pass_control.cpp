// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches. In: while and conditional instructions. Out: nodes with graphs of their own, and trip counts
// where they can be known. Called by the walk, and as the pass `count-trips`.
//
// The operands of such a node are the flattened state, and the parameters of its bodies have the same numbers. A trip
// count is taken from the compiler's note (known_trip_count) where there is one. Else it is worked out for counted
// loops: the condition compares one element of the state with a constant, or with an element that the body hands on
// unchanged; the body adds a constant to the counter; the counter starts at a constant. Every other loop has an unknown
// count, which later readers mark.
//
// A short loop whose trips one kernel could hold is written out as it is walked: kernels end where a trip of a loop
// ends, and a random number of JAX takes five trips over arrays that one kernel keeps in registers. Where a trip sums
// rows and columns kernels end inside of it anyway, and a loop it stays.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "hlo/graph_builder.h"

namespace tailor::hlo {

namespace {

/// {"known_trip_count":{"n":"32"}} in a backend_config; 0 when it is not there.
std::int64_t noted_trip_count(std::string_view config) {
  const std::size_t at = config.find("known_trip_count");
  if (at == config.npos) return 0;
  const std::string_view rest = config.substr(at);
  const std::size_t digit = rest.find_first_of("0123456789");
  if (digit == rest.npos || rest.find('}') < digit) return 0;
  std::int64_t count = 0;
  for (const char c : rest.substr(digit)) {
    if (c < '0' || c > '9' || count > INT64_MAX / 20) break;
    count = count * 10 + (c - '0');
  }
  return count;
}

/// The value of a scalar integer constant, through copies.
std::optional<std::int64_t> constant_value(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node* node = &graph[id];
  while ((node->op == ir::Op::copy || node->op == ir::Op::reshape || node->op == ir::Op::bitcast) &&
         node->operands.size() == 1)
    node = &graph[node->operands[0]];
  const ir::Literal* literal = known_literal(*node);
  if (literal == nullptr) return std::nullopt;
  const auto& bytes = literal->bytes;
  if (node->shape.dtype == ir::DType::s32 && bytes.size() == 4) {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  if (node->shape.dtype == ir::DType::s64 && bytes.size() == 8) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  return std::nullopt;
}

/// The parameter number behind a node, through copies; -1 when it is something else.
std::int64_t parameter_behind(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node* node = &graph[id];
  while (node->op == ir::Op::copy) node = &graph[node->operands[0]];
  return node->op == ir::Op::parameter ? parameter_number(*node) : -1;
}

/// What `i < limit` compares: the state's element and the limit.
struct LoopBound {
  std::int64_t element = -1;
  std::int64_t limit = 0;
};

std::optional<LoopBound> find_loop_bound(const ir::Graph& condition, const ir::Graph& body, const ir::Graph& outer,
                                         const ir::Node& loop) {
  if (condition.outputs.size() != 1) return std::nullopt;
  const ir::Node& compare = condition[condition.outputs[0]];
  if (compare.op != ir::Op::compare) return std::nullopt;
  const ir::Comparison comparison = ir::attributes_as<ir::CompareOptions>(compare).comparison;
  const bool less = comparison == ir::Comparison::lt;
  if (!less && comparison != ir::Comparison::gt) return std::nullopt;
  const ir::NodeId counter = compare.operands[less ? 0 : 1];
  const ir::NodeId limit = compare.operands[less ? 1 : 0];
  const std::int64_t element = parameter_behind(condition, counter);
  if (element < 0) return std::nullopt;
  if (const auto value = constant_value(condition, limit)) return LoopBound{element, *value};
  // A limit that the loop carries along unchanged is as good as a constant.
  const std::int64_t carried = parameter_behind(condition, limit);
  if (carried < 0 || carried >= static_cast<std::int64_t>(loop.operands.size()) ||
      carried >= static_cast<std::int64_t>(body.outputs.size()))
    return std::nullopt;
  const auto at = static_cast<std::size_t>(carried);
  if (parameter_behind(body, body.outputs[at]) != carried) return std::nullopt;
  const auto value = constant_value(outer, loop.operands[at]);
  return value ? std::optional<LoopBound>({element, *value}) : std::nullopt;
}

std::int64_t worked_out_trip_count(const ir::Graph& graph, const ir::Node& loop) {
  if (loop.bodies.size() != 2) return 0;
  const ir::Graph& condition = ir::body(graph, loop, 0);
  const ir::Graph& body = ir::body(graph, loop, 1);
  const auto bound = find_loop_bound(condition, body, graph, loop);
  if (!bound || bound->element >= static_cast<std::int64_t>(loop.operands.size()) ||
      bound->element >= static_cast<std::int64_t>(body.outputs.size()))
    return 0;
  const auto element = static_cast<std::size_t>(bound->element);
  const auto start = constant_value(graph, loop.operands[element]);
  const ir::Node* next = &body[body.outputs[element]];
  while (next->op == ir::Op::copy) next = &body[next->operands[0]];
  if (!start || next->op != ir::Op::add) return 0;
  const bool first = parameter_behind(body, next->operands[0]) == bound->element;
  if (!first && parameter_behind(body, next->operands[1]) != bound->element) return 0;
  const auto step = constant_value(body, next->operands[first ? 1 : 0]);
  std::int64_t distance = 0;
  if (!step || *step <= 0 || __builtin_sub_overflow(bound->limit, *start, &distance) || distance <= 0) return 0;
  return distance / *step + (distance % *step != 0 ? 1 : 0);
}

/// Whether the graph and all its bodies compute arrays alone, element by element or in rows: no library, no other GPU,
/// no loop or branch, nothing that data picks, and nothing that the text has put into kernels.
bool computes_arrays(const ir::Graph& graph) {
  constexpr auto of_arrays = std::to_array(
      {ir::OpClass::leaf, ir::OpClass::elementwise, ir::OpClass::mapped, ir::OpClass::index, ir::OpClass::reduction});
  const auto is_of_arrays = [&](const ir::Node& node) {
    return node.op == ir::Op::get_tuple_element || node.op == ir::Op::dynamic_slice ||
           std::find(of_arrays.begin(), of_arrays.end(), ir::class_of(node.op)) != of_arrays.end();
  };
  return graph.given.empty() && std::all_of(graph.nodes.begin(), graph.nodes.end(), is_of_arrays) &&
         std::all_of(graph.bodies.begin(), graph.bodies.end(), computes_arrays);
}

/// Whether one kernel could hold several trips: all rows that it sums are the same ones.
bool sums_one_way(const ir::Graph& body) {
  const ir::Node* first = nullptr;
  return std::all_of(body.nodes.begin(), body.nodes.end(), [&](const ir::Node& node) {
    if (node.op != ir::Op::reduce) return true;
    if (first == nullptr) first = &node;
    return axes(node) == axes(*first) && body[node.operands[0]].shape.dims == body[first->operands[0]].shape.dims;
  });
}

/// How often a loop runs that is better written out, so that one kernel can hold several trips. 0: others. A loop whose
/// count a compiler has noted is as that compiler wants it.
std::int64_t trips_to_unroll(const GraphBuilder& builder, const ir::Node& loop) {
  constexpr std::int64_t most_trips = 64, most_nodes = 1024;
  if (trip_count(loop) != 0) return 0;
  const ir::Graph& body = ir::body(builder.so_far(), loop, 1);
  if (!computes_arrays(body) || !computes_arrays(ir::body(builder.so_far(), loop, 0)) || !sums_one_way(body)) return 0;
  const std::int64_t trips = worked_out_trip_count(builder.so_far(), loop);
  return trips <= most_trips && trips * nodes_in_all(body) <= most_nodes ? trips : 0;
}

}  // namespace

HloValue resolve_while(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloComputation& condition = builder.find_computation(instruction, "condition");
  const HloComputation& body = builder.find_computation(instruction, "body");
  for (const HloComputation* part : {&condition, &body})
    if (part->parameters != 1 || instruction.operands != 1)
      builder.fail(instruction, fmt::format("found a while whose computation '{}' has {} parameters, expected one",
                                            part->name, part->parameters));
  ir::Node node;
  node.op = ir::Op::while_loop;
  node.name = builder.full_name(instruction, frame);
  node.operands = builder.flat_operands(instruction, frame);
  node.bodies = {builder.find_or_add_body(condition), builder.find_or_add_body(body)};
  node.attributes = ir::TripCount{noted_trip_count(builder.module().attribute(instruction, "backend_config"))};
  const HloType& type = builder.module().type_of(instruction);
  if (type.children < 0) node.shape = builder.module().shapes_of(type)[0];
  const std::int64_t trips = trips_to_unroll(builder, node);
  if (trips == 0) return builder.add_result(std::move(node), type, instruction);
  builder.ledger().add(Pass::unrolled, 1, 0, 1);
  HloValue state = builder.operand(instruction, 0, frame);
  for (std::int64_t trip = 0; trip < trips; ++trip)
    state = builder.inline_with(body, {&state, 1}, fmt::format("{}/{}/", node.name, trip), Pass::unrolled);
  return builder.checked(instruction, state);
}

HloValue resolve_conditional(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  std::vector<const HloComputation*> branches;
  std::string_view listed = builder.module().attribute(instruction, "branch_computations");
  if (listed.size() >= 2) {
    for (const std::string_view name : split(listed.substr(1, listed.size() - 2), ','))
      branches.push_back(&builder.computation_called(instruction, trim(name)));
  } else {
    branches = {&builder.find_computation(instruction, "true_computation"),
                &builder.find_computation(instruction, "false_computation")};
  }
  if (instruction.operands != static_cast<std::int32_t>(branches.size()) + 1)
    builder.fail(instruction, fmt::format("found a conditional of {} branches with {} operands, expected one more than "
                                          "branches",
                                          branches.size(), instruction.operands));
  ir::Node node;
  node.op = ir::Op::conditional;
  node.name = builder.full_name(instruction, frame);
  node.operands = builder.flat_operands(instruction, frame);
  for (const HloComputation* branch : branches) node.bodies.push_back(builder.find_or_add_body(*branch));
  const HloType& type = builder.module().type_of(instruction);
  if (type.children < 0) node.shape = builder.module().shapes_of(type)[0];
  return builder.add_result(std::move(node), type, instruction);
}

void count_trips(Rewrite& rewrite, PassCount& count) {
  for (ir::Node& node : rewrite.graph.nodes) {
    if (node.op != ir::Op::while_loop || trip_count(node) != 0) continue;
    const std::int64_t trips = worked_out_trip_count(rewrite.graph, node);
    node.attributes = ir::TripCount{trips};
    if (trips != 0) ++count.rewrites;
  }
}

}  // namespace tailor::hlo
