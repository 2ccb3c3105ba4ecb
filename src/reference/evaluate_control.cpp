// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes with bodies. Values are flat: a while's operands are its loop state, one parameter of both bodies each; the
// condition gives one predicate, the body gives the next state. A conditional's first operand picks the branch (a
// predicate: true is the first; an index: out of range is the last), the others are the branches' parameters, all of
// the first branch before those of the second. A map runs its scalar body over whole arrays.
//
// A loop's state is given up to each step of it, so what a step hands on is not copied, and an array that collects the
// results of all steps is written where it is: a loop takes time in proportion to what its steps do. Loops and branches
// inside of it are given what nobody else needs, too.
#include <algorithm>

#include "base/indexed.h"
#include "reference/evaluate_cells.h"

namespace tailor::reference {

namespace {

/// Of those that stand there twice, the last is moved.
std::vector<Tensor> taken_operands(const Call& call, std::size_t first, std::size_t count) {
  std::vector<Tensor> values;
  const std::size_t end = std::min(first + count, call.operands.size());
  for (std::size_t i = first; i < end; ++i) values.push_back(taken(call, i, i, end));
  return values;
}

/// One past the largest parameter number.
std::size_t parameter_count(const ir::Graph& graph) {
  std::int64_t count = 0;
  for (const ir::Node& node : graph.nodes)
    if (node.op == ir::Op::parameter) count = std::max(count, parameter_number(node) + 1);
  return static_cast<std::size_t>(count);
}

}  // namespace

std::vector<Tensor> evaluate_while(const Call& call) {
  const ir::Graph& condition = body(call, 0);
  const ir::Graph& step = body(call, 1);
  std::vector<Tensor> state = taken_operands(call, 0, call.operands.size());
  for (;;) {
    const std::vector<Tensor> goes_on = evaluate(condition, state, call.stop);
    if (goes_on.size() != 1) fail(call, "the condition must give one predicate");
    if (as_integer(goes_on[0], 0) == 0) return state;
    state = evaluate_given_up(step, std::move(state), call.stop);
  }
}

Branch chosen_branch(const Call& call) {
  const auto branches = static_cast<std::int64_t>(call.node.bodies.size());
  const std::int64_t index = as_integer(call.operand(0), 0);
  std::int64_t chosen = index < 0 || index >= branches ? branches - 1 : index;
  if (call.operand(0).shape.dtype == ir::DType::pred) chosen = index != 0 ? 0 : 1;
  std::size_t first = 1;
  for (std::int64_t i = 0; i < chosen; ++i) first += parameter_count(body(call, static_cast<std::size_t>(i)));
  const ir::Graph& branch = body(call, static_cast<std::size_t>(chosen));
  return {branch, first, parameter_count(branch)};
}

std::vector<Tensor> evaluate_conditional(const Call& call) {
  const Branch branch = chosen_branch(call);
  return evaluate_given_up(branch.body, taken_operands(call, branch.first, branch.count), call.stop);
}

std::vector<Tensor> evaluate_map(const Call& call) {
  Region region(body(call, 0));
  Tensor result = zeros(call.node.shape);
  const std::int64_t total = elements(result.shape);
  std::vector<std::vector<Cell>> blocks(call.operands.size(), std::vector<Cell>(block_cells));
  std::vector<const Cell*> arguments;
  for (const std::vector<Cell>& block : blocks) arguments.push_back(block.data());
  std::vector<Cell> out(block_cells);
  std::array<Cell*, 1> results{out.data()};
  for (std::int64_t first = 0; first < total; first += block_cells) {
    call.may_stop();
    const std::int64_t count = std::min(block_cells, total - first);
    for (std::size_t k = 0; k < blocks.size(); ++k) load_cells(call.operand(k), first, 1, prefix(blocks[k], count));
    region.run(arguments, results, count);
    store_cells(result, first, prefix(out, count));
  }
  return results_of(std::move(result));
}

}  // namespace tailor::reference
