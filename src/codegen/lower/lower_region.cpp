// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a region does: with two values that a reduction puts together, or two lists of them; with one element of each
// operand of a map. In: a reduction of the group, where its sums are, and the values that come to them; or a map's
// operands. Out: statements in the innermost open scope; values. Called by the walk of a phase and by what puts threads
// and blocks together (lower_phases.cpp, lower_join.cpp), and where elements are computed (lower_emit.cpp).
//
// A known operation is one statement, which accumulates, and so is that of each array where a region does no more. Any
// other region is written out line by line, its parameters being what the sums hold and what comes: lets, and at the
// end assignments of all sums. Its lines are computed where everything they are made of is defined, as elsewhere; what
// the sums hold is of the scope at hand, because it changes.
//
// A region that keeps the first of equal elements compares their places. A thread that goes along a row sees places
// rise, so there the comparison is known: an element is behind all that were seen. What starts from the row's first
// place is as good as seen: where that place comes itself, both are the same. Lanes and blocks compare.
#include <fmt/format.h>

#include <array>

#include "codegen/lower/lower_build.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

Entry ProgramBuilder::computed_line(const ir::Graph& region, const ir::Node& line, std::string_view name,
                                    std::span<const Entry> arguments, std::span<const Entry> lines) {
  if (line.op == ir::Op::parameter) return arguments[static_cast<std::size_t>(parameter_number(line))];
  if (line.op == ir::Op::constant) return emit_constant(line);
  std::array<Entry, 3> operands;
  for (std::size_t k = 0; k < line.operands.size(); ++k) operands[k] = lines[ir::index(line.operands[k])];
  if (class_of(line.op) == ir::OpClass::index) return operands[0];
  return computed(region, line, name, std::span(operands).first(line.operands.size()));
}

namespace {

/// Lines of a region that ask whether a parameter is below its counterpart among the other values, by number.
std::vector<bool> asks_for_rise(const ir::Graph& region, std::size_t arrays, int rising) {
  std::vector<bool> found(region.nodes.size(), false);
  const std::int64_t other = static_cast<std::int64_t>(arrays) + rising;
  const auto takes = [&](const ir::Node& line, std::int64_t first, std::int64_t second) {
    return is_parameter(region, line.operands[0], first) && is_parameter(region, line.operands[1], second);
  };
  for (std::size_t i = 0; i < found.size() && rising >= 0; ++i) {
    const ir::Node& line = region.nodes[i];
    if (line.op != ir::Op::compare) continue;
    const ir::Comparison asked = ir::attributes_as<ir::CompareOptions>(line).comparison;
    found[i] = (asked == ir::Comparison::lt && takes(line, rising, other)) ||
               (asked == ir::Comparison::gt && takes(line, other, rising));
  }
  return found;
}

}  // namespace

std::vector<Entry> ProgramBuilder::written_out(const ir::Graph& region, std::string_view name,
                                               std::span<const Entry> arguments, std::vector<bool> is_true) {
  is_true.resize(region.nodes.size());
  std::vector<Entry> lines;
  for (std::size_t i = 0; i < region.nodes.size(); ++i) {
    const ir::Node& line = region.nodes[i];
    const auto known = [&](std::size_t k) { return k < line.operands.size() && is_true[ir::index(line.operands[k])]; };
    const bool of_both = line.op == ir::Op::bit_and && line.shape.dtype == ir::DType::pred;
    if (is_true[i])
      lines.emplace_back().compute = number(ir::DType::pred, 0, 1);
    else if (of_both && (known(0) || known(1)))
      lines.push_back(lines[ir::index(line.operands[known(0) ? 1 : 0])]);
    else
      lines.push_back(computed_line(region, line, fmt::format("{}_{}", name, ir::name(line.op)), arguments, lines));
  }
  return lines;
}

void ProgramBuilder::combine(ir::NodeId reduce, std::span<const ir::Ref> sums, std::span<const ir::ValueId> values,
                             int rising) {
  const ir::Node& node = node_at(reduce);
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  const std::vector<ir::Reducer> known = ir::known_reducers(graph_, node);
  for (std::size_t k = 0; k < known.size(); ++k) {
    assign.op = op_of(known[k]);
    assign.target = sums[k];
    assign.value = values[k];
    put(depth(), assign);
  }
  if (!known.empty()) return;
  const ir::Graph& region = body(graph_, node, 0);
  std::vector<Entry> arguments(2 * sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    arguments[k].compute = element(kernel_.arrays[sums[k].array].dtype, sums[k], depth());
    arguments[sums.size() + k].compute = {values[k], depth()};
  }
  const std::vector<Entry> lines =
      written_out(region, name_of(reduce), arguments, asks_for_rise(region, sums.size(), rising));
  std::vector<Val> results;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    Val result = lines[ir::index(region.outputs[k])].compute;
    const bool stays = result.id == arguments[k].compute.id;
    // What another sum holds is wanted as it was.
    if (!stays && kernel_.values[result.id].kind == ir::ValueKind::element)
      result = let(depth(), name_of(reduce), kernel_.values[result.id].dtype, result.id);
    results.push_back(stays ? Val{} : result);
  }
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (results[k].id == ir::no_value) continue;
    assign.target = sums[k];
    assign.value = results[k].id;
    put(depth(), assign);
  }
}

Val ProgramBuilder::exchange(std::string_view name, ir::ValueId value, std::int64_t stride, std::int64_t lanes) {
  ir::Stmt stmt;
  stmt.kind = ir::StmtKind::exchange;
  stmt.value = value;
  stmt.stride = static_cast<std::uint8_t>(stride);
  stmt.lanes = static_cast<std::uint8_t>(lanes);
  const ir::ValueId other = define(stmt, name, kernel_.values[value].dtype);
  put(depth(), stmt);
  return {other, depth()};
}

}  // namespace tailor::codegen
