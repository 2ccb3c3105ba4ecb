// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches: nodes with graphs of their own. Their operands are the flattened state, the bodies' parameters
// are numbered alike. The trip count of a counted loop is read from the compiler's note or worked out: the condition
// compares one element of the state with a constant, the body adds a constant to it, it starts at a constant.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/text.h"
#include "ir/draft.h"

namespace tailor::ir {

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
std::optional<std::int64_t> constant_value(const Graph& graph, NodeId id) {
  const Node* node = &graph.nodes[static_cast<std::size_t>(id)];
  while ((node->op == Op::copy || node->op == Op::reshape || node->op == Op::bitcast) && node->operands.size() == 1)
    node = &graph.nodes[static_cast<std::size_t>(node->operands[0])];
  if (node->op != Op::constant || !node->attributes.literal || !node->attributes.literal->known) return std::nullopt;
  const auto& bytes = node->attributes.literal->bytes;
  if (node->shape.dtype == DType::s32 && bytes.size() == 4) {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  if (node->shape.dtype == DType::s64 && bytes.size() == 8) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  return std::nullopt;
}

/// The parameter number behind a node, through copies; -1 when it is something else.
std::int64_t parameter_behind(const Graph& graph, NodeId id) {
  const Node* node = &graph.nodes[static_cast<std::size_t>(id)];
  while (node->op == Op::copy) node = &graph.nodes[static_cast<std::size_t>(node->operands[0])];
  return node->op == Op::parameter ? node->attributes.number : -1;
}

/// What `i < limit` compares: the state's element and the limit.
struct Bound {
  std::int64_t element = -1;
  std::int64_t limit = 0;
};

std::optional<Bound> bound_of(const Graph& condition, const Graph& body, const Graph& outer, const Node& loop) {
  if (condition.outputs.size() != 1) return std::nullopt;
  const Node& compare = condition.nodes[static_cast<std::size_t>(condition.outputs[0])];
  if (compare.op != Op::compare) return std::nullopt;
  const bool less = compare.attributes.comparison == Comparison::lt;
  if (!less && compare.attributes.comparison != Comparison::gt) return std::nullopt;
  const NodeId counter = compare.operands[less ? 0 : 1];
  const NodeId limit = compare.operands[less ? 1 : 0];
  const std::int64_t element = parameter_behind(condition, counter);
  if (element < 0) return std::nullopt;
  if (const auto value = constant_value(condition, limit)) return Bound{element, *value};
  // A limit that the loop carries along unchanged is as good as a constant.
  const std::int64_t carried = parameter_behind(condition, limit);
  if (carried < 0 || carried >= static_cast<std::int64_t>(loop.operands.size()) ||
      carried >= static_cast<std::int64_t>(body.outputs.size()))
    return std::nullopt;
  const auto at = static_cast<std::size_t>(carried);
  if (parameter_behind(body, body.outputs[at]) != carried) return std::nullopt;
  const auto value = constant_value(outer, loop.operands[at]);
  return value ? std::optional<Bound>({element, *value}) : std::nullopt;
}

std::int64_t worked_out_trip_count(const Graph& graph, const Node& loop) {
  if (loop.attributes.bodies.size() != 2) return 0;
  const Graph& condition = graph.bodies[static_cast<std::size_t>(loop.attributes.bodies[0])];
  const Graph& body = graph.bodies[static_cast<std::size_t>(loop.attributes.bodies[1])];
  const auto bound = bound_of(condition, body, graph, loop);
  if (!bound || bound->element >= static_cast<std::int64_t>(loop.operands.size()) ||
      bound->element >= static_cast<std::int64_t>(body.outputs.size()))
    return 0;
  const auto element = static_cast<std::size_t>(bound->element);
  const auto start = constant_value(graph, loop.operands[element]);
  const Node* next = &body.nodes[static_cast<std::size_t>(body.outputs[element])];
  while (next->op == Op::copy) next = &body.nodes[static_cast<std::size_t>(next->operands[0])];
  if (!start || next->op != Op::add) return 0;
  const bool first = parameter_behind(body, next->operands[0]) == bound->element;
  if (!first && parameter_behind(body, next->operands[1]) != bound->element) return 0;
  const auto step = constant_value(body, next->operands[first ? 1 : 0]);
  std::int64_t distance = 0;
  if (!step || *step <= 0 || __builtin_sub_overflow(bound->limit, *start, &distance) || distance <= 0) return 0;
  return distance / *step + (distance % *step != 0 ? 1 : 0);
}

}  // namespace

HloValue resolve_while(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  const HloComputation& condition = draft.computation_of(instruction, "condition");
  const HloComputation& body = draft.computation_of(instruction, "body");
  for (const HloComputation* part : {&condition, &body})
    if (part->parameters != 1 || instruction.operands != 1)
      draft.fail(instruction, fmt::format("found a while whose computation '{}' has {} parameters, expected one",
                                          part->name, part->parameters));
  Node node;
  node.op = Op::while_loop;
  node.name = draft.full_name(instruction, frame);
  node.operands = draft.flat_operands(instruction, frame);
  node.attributes.bodies = {draft.body_of(condition), draft.body_of(body)};
  node.attributes.number = noted_trip_count(draft.module().attribute(instruction, "backend_config"));
  const HloType& type = draft.module().type_of(instruction);
  if (type.children < 0) node.shape = draft.module().shapes_of(type)[0];
  return draft.add_result(std::move(node), type, instruction);
}

HloValue resolve_conditional(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  std::vector<const HloComputation*> branches;
  std::string_view listed = draft.module().attribute(instruction, "branch_computations");
  if (listed.size() >= 2) {
    for (const std::string_view name : split(listed.substr(1, listed.size() - 2), ','))
      branches.push_back(&draft.computation_called(instruction, trim(name)));
  } else {
    branches = {&draft.computation_of(instruction, "true_computation"),
                &draft.computation_of(instruction, "false_computation")};
  }
  if (instruction.operands != static_cast<std::int32_t>(branches.size()) + 1)
    draft.fail(instruction, fmt::format("found a conditional of {} branches with {} operands, expected one more than "
                                        "branches",
                                        branches.size(), instruction.operands));
  Node node;
  node.op = Op::conditional;
  node.name = draft.full_name(instruction, frame);
  node.operands = draft.flat_operands(instruction, frame);
  for (const HloComputation* branch : branches) node.attributes.bodies.push_back(draft.body_of(*branch));
  const HloType& type = draft.module().type_of(instruction);
  if (type.children < 0) node.shape = draft.module().shapes_of(type)[0];
  return draft.add_result(std::move(node), type, instruction);
}

void count_trips(Rewrite& rewrite, PassCount& count) {
  for (Node& node : rewrite.graph.nodes) {
    if (node.op != Op::while_loop || node.attributes.number != 0) continue;
    node.attributes.number = worked_out_trip_count(rewrite.graph, node);
    if (node.attributes.number != 0) ++count.rewrites;
  }
}

}  // namespace tailor::ir
