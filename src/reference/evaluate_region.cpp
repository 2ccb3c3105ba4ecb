// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies on scalars, run over blocks. In: a body of scalars and blocks of values for its parameters. Out: blocks of
// results. Called by reductions with a custom reducer, a thousand outputs at a time, and by sorts, two elements at a
// time. Every step is rounded to its type, as HLO says.
#include <cstring>

#include "reference/evaluate_cells.h"

namespace tailor::reference {

namespace {

/// A bitcast to another type is none of these: it changes the number.
bool moves_scalar(const ir::Graph& body, const ir::Node& node) {
  return node.op == ir::Op::reshape || node.op == ir::Op::broadcast || node.op == ir::Op::copy ||
         (node.op == ir::Op::bitcast && node.shape.dtype == body[node.operands[0]].shape.dtype);
}

/// A scalar has one place, so that a bitcast of one can only read its bits as another type.
ir::Node as_step(const ir::Node& node) {
  ir::Node step = node;
  if (node.op == ir::Op::bitcast) step.op = ir::Op::bitcast_convert;
  return step;
}

bool line_fits(const ir::Graph& body, const ir::Node& node) {
  if (node.shape.rank() != 0 || !has_cells(node.shape.dtype)) return false;
  if (node.op == ir::Op::parameter) return true;
  if (node.op == ir::Op::constant) return known_literal(node) != nullptr;
  return moves_scalar(body, node) || has_element_step(body, as_step(node));
}

}  // namespace

bool Region::fits(const ir::Graph& body) {
  for (const ir::Node& node : body.nodes)
    if (!line_fits(body, node)) return false;
  return true;
}

Region::Region(const ir::Graph& body) {
  for (const ir::Node& node : body.nodes) {
    Line line;
    line.step.to = node.shape.dtype;
    for (std::size_t k = 0; k < node.operands.size() && k < 3; ++k) line.operands[k] = node.operands[k];
    if (node.op == ir::Op::parameter) {
      line.parameter = static_cast<std::int32_t>(parameter_number(node));
    } else if (node.op == ir::Op::constant) {
      line.constant = true;
      line.value = cell_at(Tensor{node.shape, ir::attributes_as<ir::Literal>(node).bytes}, 0);
    } else if (!moves_scalar(body, node)) {
      line.step = element_step(body, as_step(node));
    }
    lines_.push_back(line);
  }
  outputs_.assign(body.outputs.begin(), body.outputs.end());
  scratch_.resize(lines_.size() * static_cast<std::size_t>(block_cells));
  places_.resize(lines_.size());
}

void Region::run(std::span<const Cell* const> arguments, std::span<Cell* const> results, std::int64_t count) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (line.parameter >= 0) {
      places_[i] = arguments[static_cast<std::size_t>(line.parameter)];
      continue;
    }
    Cell* out = scratch_.data() + i * static_cast<std::size_t>(block_cells);
    places_[i] = out;
    if (line.constant) {
      for (std::int64_t k = 0; k < count; ++k) out[k] = line.value;
      continue;
    }
    std::array<const Cell*, 3> operands{};
    for (std::size_t k = 0; k < 3; ++k)
      operands[k] = places_[line.operands[k] < 0 ? line.operands[0] : line.operands[k]];
    apply(line.step, operands[0], operands[1], operands[2], out, count);
    round_cells(line.step.to, {out, static_cast<std::size_t>(count)});
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    std::memmove(results[k], places_[outputs_[k]], static_cast<std::size_t>(count) * sizeof(Cell));
}

}  // namespace tailor::reference
