// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers that follow from where an element stands. In: a node and coordinates. Out: an index expression. Called
// by the lowering of gathers.
//
// Frames of a signal are a gather at 80 i + j, embeddings of positions one at i, and numpy's test for negative numbers
// stands in front of both. The rules are those of the operations, each as far as ranges decide: an index expression
// does not wrap around as the type does, so a sum that may leave its type is not known; a comparison is known where
// all numbers on one side lie beyond those on the other, and a selection where its comparison is.
#include "codegen/structure/known_number.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "ir/graph/number.h"

namespace tailor::codegen {

namespace {

/// Operations between a number and what it is made of; beyond, nobody writes indices.
constexpr int most_steps = 64;

ir::Interval range_of_type(ir::DType dtype) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const int bits = row(dtype).bits;
  if (!ir::is_signed(dtype)) return {0, bits >= 63 ? most : (std::int64_t{1} << bits) - 1};
  return {bits >= 64 ? -most : -(std::int64_t{1} << (bits - 1)),
          bits >= 64 ? most : (std::int64_t{1} << (bits - 1)) - 1};
}

class Known {
 public:
  Known(IndexBuilder& build, const ir::Graph& graph) : build_(build), graph_(graph) {}

  std::optional<ir::ExprId> number(ir::NodeId id, const Coordinates& coordinates) {
    const ir::Node& node = graph_[id];
    if (!ir::is_integer(node.shape.dtype) || ++steps_ > most_steps) return std::nullopt;
    std::optional<ir::ExprId> found = made(node, coordinates);
    const ir::Interval type = range_of_type(node.shape.dtype);
    if (found && (range(*found).low < type.low || range(*found).high > type.high)) found.reset();
    return found;
  }

 private:
  const ir::Interval& range(ir::ExprId id) const { return build_.pool()[id].range; }

  std::optional<ir::ExprId> operand(const ir::Node& node, int k, const Coordinates& coordinates) {
    return number(node.operands[k], operand_coordinates(build_, graph_, node, k, coordinates));
  }

  std::optional<ir::ExprId> made(const ir::Node& node, const Coordinates& coordinates) {
    switch (node.op) {
      case ir::Op::iota:
        return coordinates[std::max(axis(node), 0)];
      case ir::Op::constant:
        return constant(node);
      case ir::Op::broadcast:
      case ir::Op::reshape:
      case ir::Op::bitcast:
      case ir::Op::transpose:
      case ir::Op::slice:
      case ir::Op::reverse:
      case ir::Op::copy:
      case ir::Op::convert:
        return operand(node, 0, coordinates);
      case ir::Op::add:
      case ir::Op::subtract:
      case ir::Op::multiply:
      case ir::Op::divide:
      case ir::Op::remainder:
      case ir::Op::minimum:
      case ir::Op::maximum:
        return of_two(node, coordinates);
      case ir::Op::concatenate:
        return joined(node, coordinates);
      case ir::Op::clamp:
        return clamped(node, coordinates);
      case ir::Op::select:
        return selected(node, coordinates);
      default:
        return std::nullopt;
    }
  }

  /// A single number, or one that stands at every place.
  std::optional<ir::ExprId> constant(const ir::Node& node) {
    const ir::Literal* literal = ir::known_literal(node);
    const auto bytes = static_cast<std::size_t>(ir::element_bytes(node.shape.dtype));
    if (literal == nullptr || elements(node.shape) != 1 || literal->bytes.size() != bytes) return std::nullopt;
    std::uint64_t bits = 0;
    std::memcpy(&bits, literal->bytes.data(), bytes);
    const int unused = 64 - 8 * static_cast<int>(bytes);
    if (ir::is_signed(node.shape.dtype)) return build_.constant(static_cast<std::int64_t>(bits << unused) >> unused);
    if (bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return build_.constant(static_cast<std::int64_t>(bits));
  }

  /// Rows and columns of a gather are joined to one array, and each is asked for by its number there.
  std::optional<ir::ExprId> joined(const ir::Node& node, const Coordinates& coordinates) {
    const ir::Interval place = range(coordinates[axis(node)]);
    std::int64_t first = 0;
    for (int k = 0; k < static_cast<int>(node.operands.size()); ++k) {
      const std::int64_t end = first + graph_[node.operands[k]].shape.dims[axis(node)];
      if (place.low >= first && place.high < end) return operand(node, k, coordinates);
      first = end;
    }
    return std::nullopt;
  }

  bool is_constant(ir::ExprId id) const { return range(id).low == range(id).high; }

  /// Ranges stay small enough to be added and scaled.
  bool is_small(ir::ExprId id) const {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    return range(id).low >= -most && range(id).high <= most;
  }

  std::optional<ir::ExprId> of_two(const ir::Node& node, const Coordinates& coordinates) {
    const auto a = operand(node, 0, coordinates), b = operand(node, 1, coordinates);
    if (!a || !b || !is_small(*a) || !is_small(*b)) return std::nullopt;
    switch (node.op) {
      case ir::Op::add:
        return build_.add(*a, *b);
      case ir::Op::subtract:
        return build_.subtract(*a, *b);
      case ir::Op::multiply:
        if (is_constant(*b)) return build_.scale(*a, range(*b).low);
        if (is_constant(*a)) return build_.scale(*b, range(*a).low);
        return std::nullopt;
      case ir::Op::divide:
      case ir::Op::remainder:
        if (!is_constant(*b) || range(*b).low <= 0 || range(*a).low < 0) return std::nullopt;
        return node.op == ir::Op::divide ? build_.div(*a, range(*b).low) : build_.mod(*a, range(*b).low);
      case ir::Op::minimum:
        return lesser(*a, *b);
      default:
        return greater(*a, *b);
    }
  }

  std::optional<ir::ExprId> lesser(ir::ExprId a, ir::ExprId b) const {
    if (range(a).high <= range(b).low) return a;
    return range(b).high <= range(a).low ? std::optional(b) : std::nullopt;
  }
  std::optional<ir::ExprId> greater(ir::ExprId a, ir::ExprId b) const {
    if (range(a).low >= range(b).high) return a;
    return range(b).low >= range(a).high ? std::optional(b) : std::nullopt;
  }

  /// Its bounds may be single numbers beside an array.
  std::optional<ir::ExprId> clamped(const ir::Node& node, const Coordinates& coordinates) {
    std::array<std::optional<ir::ExprId>, 3> parts;
    for (int k = 0; k < 3; ++k) {
      const bool is_single = graph_[node.operands[k]].shape.rank() == 0;
      parts[static_cast<std::size_t>(k)] =
          is_single ? number(node.operands[k], Coordinates()) : operand(node, k, coordinates);
    }
    const auto& [low, value, high] = parts;
    if (!low || !value || !high) return std::nullopt;
    const std::optional<ir::ExprId> above = greater(*low, *value);
    return above ? lesser(*above, *high) : std::nullopt;
  }

  std::optional<ir::ExprId> selected(const ir::Node& node, const Coordinates& coordinates) {
    const ir::NodeId asked = node.operands[0];
    const bool is_single = graph_[asked].shape.rank() == 0;
    const std::optional<bool> first =
        truth(asked, is_single ? Coordinates() : operand_coordinates(build_, graph_, node, 0, coordinates));
    if (!first) return std::nullopt;
    return operand(node, *first ? 1 : 2, coordinates);
  }

  /// What a comparison is at every place, as far as ranges tell.
  std::optional<bool> truth(ir::NodeId id, const Coordinates& coordinates) {
    const ir::Node& node = graph_[id];
    if (++steps_ > most_steps) return std::nullopt;
    if (node.op == ir::Op::broadcast || node.op == ir::Op::reshape)
      return truth(node.operands[0], operand_coordinates(build_, graph_, node, 0, coordinates));
    if (node.op != ir::Op::compare) return std::nullopt;
    const auto a = operand(node, 0, coordinates), b = operand(node, 1, coordinates);
    if (!a || !b) return std::nullopt;
    const ir::Interval x = range(*a), y = range(*b);
    switch (ir::attributes_as<ir::CompareOptions>(node).comparison) {
      case ir::Comparison::lt:
        return x.high < y.low ? std::optional(true) : x.low >= y.high ? std::optional(false) : std::nullopt;
      case ir::Comparison::ge:
        return x.low >= y.high ? std::optional(true) : x.high < y.low ? std::optional(false) : std::nullopt;
      case ir::Comparison::gt:
        return x.low > y.high ? std::optional(true) : x.high <= y.low ? std::optional(false) : std::nullopt;
      case ir::Comparison::le:
        return x.high <= y.low ? std::optional(true) : x.low > y.high ? std::optional(false) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  IndexBuilder& build_;
  const ir::Graph& graph_;
  int steps_ = 0;
};

}  // namespace

std::optional<ir::ExprId> known_number(IndexBuilder& build, const ir::Graph& graph, ir::NodeId id,
                                       const Coordinates& coordinates) {
  return Known(build, graph).number(id, coordinates);
}

}  // namespace tailor::codegen
