// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which attributes an operation takes, and what a node's attributes say. In: an operation or a node. Out: the struct of
// the operation's row in ops.def, or one of its members. Called by whoever makes or reads nodes. A projection of
// operations that all have the member asserts it; one that other operations may be asked for has an answer for them.
#include "ir/graph/attributes.h"

#include <array>
#include <cassert>

#include "base/indexed.h"
#include "ir/graph/graph.h"

namespace tailor::ir {

namespace {

constexpr auto makers = std::to_array<Attributes (*)()>({
#define X(id, hlo, kind, attributes, arity, fma, alu, xu, real, integer, real_ref, integer_ref) \
  []() -> Attributes { return attributes{}; },
#include "ir/graph/ops.def"
#undef X
});

constexpr auto comparison_names = std::to_array<std::string_view>({"eq", "ne", "ge", "gt", "le", "lt"});

struct ReducerRow {
  Reducer reducer;
  std::string_view name;
  Op op;
};

constexpr auto reducer_table = std::to_array<ReducerRow>({
    {Reducer::none, "none", Op::opaque},
    {Reducer::add, "add", Op::add},
    {Reducer::multiply, "multiply", Op::multiply},
    {Reducer::maximum, "max", Op::maximum},
    {Reducer::minimum, "min", Op::minimum},
    {Reducer::bit_and, "and", Op::bit_and},
    {Reducer::bit_or, "or", Op::bit_or},
    {Reducer::bit_xor, "xor", Op::bit_xor},
    {Reducer::custom, "custom", Op::opaque},
});

const ReducerRow& row(Reducer reducer) { return row_for(reducer_table, reducer); }

}  // namespace

Attributes make_attributes(Op op) { return makers[index(op)](); }

std::string_view struct_name(const Attributes& attributes) {
  for (const OpRow& row : op_table)
    if (make_attributes(row.op).index() == attributes.index()) return row.attributes;
  return "unused attributes";
}

const Dims& axes(const Node& node) {
  if (const auto* reduction = std::get_if<Reduction>(&node.attributes)) return reduction->axes;
  return attributes_as<AxisList>(node).axes;
}

int axis(const Node& node) {
  if (const auto* sort = std::get_if<SortOptions>(&node.attributes)) return static_cast<int>(sort->axis);
  return static_cast<int>(attributes_as<OneAxis>(node).axis);
}

const SliceRange& slice_range(const Node& node, int dim) { return attributes_as<SliceRanges>(node).ranges[dim]; }

const PadRange& pad_range(const Node& node, int dim) { return attributes_as<PadRanges>(node).ranges[dim]; }

Reducer reducer(const Node& node) {
  if (const auto* reduction = std::get_if<Reduction>(&node.attributes)) return reduction->reducer;
  const auto* region = std::get_if<RegionCall>(&node.attributes);
  return region != nullptr ? region->reducer : Reducer::none;
}

const Literal* known_literal(const Node& node) {
  const auto* literal = std::get_if<Literal>(&node.attributes);
  return literal != nullptr && literal->known ? literal : nullptr;
}

std::string_view hlo_text(const Node& node) {
  return std::visit(
      [](const auto& held) -> std::string_view {
        if constexpr (requires { held.text; }) return held.text;
        return {};
      },
      node.attributes);
}

std::string_view target(const Node& node) {
  if (const auto* unknown = std::get_if<UnknownOperation>(&node.attributes)) return unknown->opcode;
  const auto* call = std::get_if<LibraryOptions>(&node.attributes);
  return call != nullptr ? std::string_view(call->target) : std::string_view();
}

double flops(const Node& node) {
  const auto* call = std::get_if<LibraryOptions>(&node.attributes);
  return call != nullptr ? call->flops : 0;
}

const Graph& body(const Graph& graph, const Node& node, std::size_t i) { return graph.bodies[index(node.bodies[i])]; }

std::string_view name(Comparison comparison) { return row_for(comparison_names, comparison); }

std::string_view name(Reducer reducer) { return row(reducer).name; }

Op op_of(Reducer reducer) {
  assert(reducer != Reducer::none && reducer != Reducer::custom);
  return row(reducer).op;
}

}  // namespace tailor::ir
