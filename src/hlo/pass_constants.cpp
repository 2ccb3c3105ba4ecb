// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that are known before the model runs. In: a graph while it is rewritten. Out: the same graph, where an array
// whose elements are all one known number is that number spread out, a select by a known predicate is its branch, and
// operations that change nothing are gone. Called as a row of the table of passes.
//
// Why: frameworks compute numbers that depend on shapes alone (`256 - 0 > 0` guards a variance, a negative axis is
// wrapped by a select). Left in place they are kernels of one element, and whatever they are shared by is cut there.
//
// Nodes are visited operands first. Of each the pass asks whether all its elements are equal and known: constants are;
// so are iotas over one element, whatever moves elements of such values, and elementwise operations on them. The
// evaluator computes that one element, so rounding is the evaluator's. Floating operations are folded only where a GPU
// gives the correctly rounded result too: sums, products, quotients, roots, comparisons, conversions, but no
// exponential or power, whose kernels differ from the evaluator within bounds that a constant would not have. The
// largest of a zero and a negative zero is not folded either, because its sign is not promised.
//
// Small arrays of different elements are folded first (pass_constant_arrays.cpp). Those of which one number came out
// are spread here like all others.
//
// Arrays without elements are known too. Whatever computes one becomes an empty constant, a concatenation drops them, a
// pad of one is all padding, a reduction over one is the number it starts from. So no kernel is launched for them.
//
// One element becomes a constant where it stands. An array becomes a broadcast of a constant scalar: these constants
// need no operands, so they are put in front of all nodes (Rewrite::prepend), one for each number.
//
// Identities are those that hold for every value of the type, NaN, infinities and the sign of zero included: x * 1,
// x / 1, x + (-0), x - 0, but no x + 0 of floating types, and x == x only for integers and predicates.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <optional>

#include "base/indexed.h"
#include "hlo/folding.h"
#include "reference/evaluate.h"
#include "reference/evaluate_cells.h"

namespace tailor::hlo {

namespace {

/// The bytes of the one element that all elements equal.
using Known = std::optional<std::vector<std::byte>>;

/// Floating operations whose result on a GPU is the correctly rounded one.
constexpr auto rounded_exactly = std::to_array<ir::Op>(
    {ir::Op::abs,     ir::Op::negate,     ir::Op::sign,       ir::Op::ceil,      ir::Op::floor,
     ir::Op::sqrt,    ir::Op::round_even, ir::Op::round_away, ir::Op::is_finite, ir::Op::convert,
     ir::Op::add,     ir::Op::subtract,   ir::Op::multiply,   ir::Op::divide,    ir::Op::compare,
     ir::Op::maximum, ir::Op::minimum,    ir::Op::clamp,      ir::Op::select,    ir::Op::bitcast_convert});

class Folding {
 public:
  Folding(Rewrite& rewrite, PassCount& count) : rewrite_(rewrite), count_(count), known_(rewrite.graph.nodes.size()) {}

  void run() {
    const auto size = static_cast<ir::NodeId>(rewrite_.graph.nodes.size());
    for (ir::NodeId id = 0; id < size; ++id) {
      ir::Node& node = rewrite_.node(id);
      rewrite_.refresh(node);
      if (rewrite_.current(id) == id) drop_empty(id);
      if (rewrite_.current(id) != id || node.shape.dtype == ir::DType::tuple || elements(node.shape) == 0 ||
          !reference::has_cells(node.shape.dtype))
        continue;
      if (const ir::NodeId same = stands_for(id); same != ir::no_node) {
        rewrite_.replace(id, same);
        ++count_.rewrites;
        ++count_.removed;
        continue;
      }
      known_[id] = number_of(id);
      if (known_[id] && is_work(node)) settle(id);
    }
    spread();
  }

 private:
  const Known& known(ir::NodeId id) const { return known_[id]; }

  bool is_empty(ir::NodeId id) const {
    const ir::Shape& shape = rewrite_.graph[id].shape;
    return shape.dtype != ir::DType::tuple && elements(shape) == 0;
  }

  /// An array without elements is an empty constant, whatever would compute it; what reads one reads nothing.
  void drop_empty(ir::NodeId id) {
    ir::Node& node = rewrite_.node(id);
    if (node.op == ir::Op::constant || !is_computed(node)) return;
    if (is_empty(id)) return become(node, ir::Op::constant, {}, ir::Literal{true, {}});
    const auto empty = [&](ir::NodeId operand) { return is_empty(operand); };
    if (node.shape.dtype == ir::DType::tuple || std::none_of(node.operands.begin(), node.operands.end(), empty)) return;
    const std::size_t last = node.operands.size() - 1;
    if (node.op == ir::Op::concatenate) {
      std::erase_if(node.operands, empty);
      ++count_.rewrites;
      if (node.operands.size() == 1 && rewrite_.graph[node.operands[0]].shape == node.shape) pass_on(id);
    } else if (node.op == ir::Op::pad || (node.op == ir::Op::reduce && last == 1)) {
      become(node, ir::Op::broadcast, {node.operands[1]}, ir::AxisList{});  // all padding; no term but the first
    } else if ((node.op == ir::Op::dynamic_update_slice && empty(node.operands[1])) ||
               (node.op == ir::Op::scatter && last == 2 && empty(node.operands[2]))) {
      if (rewrite_.graph[node.operands[0]].shape == node.shape) pass_on(id);
    }
  }

  /// A function of its operands, without effects, that a kernel or a library would compute.
  static bool is_computed(const ir::Node& node) {
    switch (class_of(node.op)) {
      case ir::OpClass::elementwise:
      case ir::OpClass::index:
      case ir::OpClass::reduction:
      case ir::OpClass::lookup:
      case ir::OpClass::window:
      case ir::OpClass::mapped:
        return true;
      default:
        return node.op == ir::Op::iota || node.op == ir::Op::dot || node.op == ir::Op::convolution;
    }
  }

  void become(ir::Node& node, ir::Op op, std::initializer_list<ir::NodeId> operands, ir::Attributes attributes) {
    node.op = op;
    node.operands = operands;
    node.attributes = std::move(attributes);
    node.bodies.clear();
    ++count_.rewrites;
  }

  /// The node is its first operand.
  void pass_on(ir::NodeId id) {
    rewrite_.replace(id, rewrite_.node(id).operands[0]);
    ++count_.rewrites;
    ++count_.removed;
  }

  /// What a kernel would compute or move; views and broadcasts of a number cost nothing and stay.
  static bool is_work(const ir::Node& node) {
    if (node.op == ir::Op::constant) return elements(node.shape) > 1;
    if (node.op == ir::Op::copy) return false;  // somebody wanted an array of its own
    return node.op != ir::Op::reshape && node.op != ir::Op::bitcast && node.op != ir::Op::broadcast &&
           node.op != ir::Op::iota;
  }

  Known constant_number(const ir::Node& node) const {
    const ir::Literal* literal = known_literal(node);
    if (literal == nullptr) return std::nullopt;
    const std::vector<std::byte>& bytes = literal->bytes;
    const auto width = static_cast<std::ptrdiff_t>(bytes.size()) / elements(node.shape);
    if (width == 0) return std::nullopt;
    // Each byte equals the one an element before it.
    if (!std::equal(bytes.begin() + width, bytes.end(), bytes.begin())) return std::nullopt;
    return std::vector<std::byte>(bytes.begin(), bytes.begin() + width);
  }

  Known number_of(ir::NodeId id) const {
    const ir::Node& node = rewrite_.graph[id];
    if (node.op == ir::Op::constant) return constant_number(node);
    if (node.op == ir::Op::iota) {
      const bool still = node.shape.rank() == 0 || ir::axis(node) < 0 || node.shape.dims[ir::axis(node)] == 1;
      return still ? Known(reference::zeros(scalar(node.shape.dtype)).bytes) : std::nullopt;
    }
    if (class_of(node.op) == ir::OpClass::elementwise && node.op != ir::Op::copy) {
      const Known forced = forced_number(node);
      return forced ? forced : computed(node);
    }
    if (node.operands.empty() || !known(node.operands[0])) return std::nullopt;
    switch (node.op) {
      case ir::Op::copy:
      case ir::Op::broadcast:
      case ir::Op::reshape:
      case ir::Op::transpose:
      case ir::Op::slice:
      case ir::Op::reverse:
      case ir::Op::dynamic_slice:
        return known(node.operands[0]);
      case ir::Op::bitcast:
        return node.shape.dtype == rewrite_.graph[node.operands[0]].shape.dtype ? known(node.operands[0])
                                                                                : std::nullopt;
      case ir::Op::pad:
      case ir::Op::concatenate: {
        const bool equal = std::all_of(node.operands.begin(), node.operands.end(),
                                       [&](ir::NodeId o) { return known(o) == known(node.operands[0]); });
        return equal ? known(node.operands[0]) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  /// What integers and predicates give whatever an operand is: x - x, x == x, x * 0, x & 0, x | ~0.
  Known forced_number(const ir::Node& node) const {
    if (node.operands.size() != 2) return std::nullopt;
    const ir::NodeId a = node.operands[0], b = node.operands[1];
    const ir::DType dtype = rewrite_.graph[a].shape.dtype;
    if (dtype != ir::DType::pred && !is_integer(dtype)) return std::nullopt;
    const auto either = [&](auto holds) { return holds(a) || holds(b); };
    switch (node.op) {
      case ir::Op::compare: {
        if (a != b) return std::nullopt;
        const ir::Comparison asked = attributes_as<ir::CompareOptions>(node).comparison;
        const bool holds = asked == ir::Comparison::eq || asked == ir::Comparison::ge || asked == ir::Comparison::le;
        return number_bytes(ir::DType::pred, holds ? 1 : 0);
      }
      case ir::Op::subtract:
        return a == b && dtype != ir::DType::pred ? number_bytes(dtype, 0) : Known();
      case ir::Op::bit_xor:
        return a == b ? number_bytes(dtype, 0) : Known();
      case ir::Op::multiply:
      case ir::Op::bit_and:
        return either([&](ir::NodeId o) { return is_number(o, 0); }) ? number_bytes(dtype, 0) : Known();
      case ir::Op::bit_or:
        return either([&](ir::NodeId o) { return is_all_ones(o); }) ? number_bytes(dtype, all_ones(dtype)) : Known();
      default:
        return std::nullopt;
    }
  }

  static double all_ones(ir::DType dtype) { return dtype == ir::DType::pred ? 1 : -1; }

  /// The number as the type's bytes; nothing when the type does not have it. There are few such numbers, and every
  /// node's operands are compared with some of them, so each is made once.
  const Known& number_bytes(ir::DType dtype, double value) const {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (const Number& number : numbers_)
      if (number.dtype == dtype && number.bits == bits) return number.bytes;
    return numbers_.emplace_back(Number{dtype, bits, make_number(dtype, value)}).bytes;
  }

  static Known make_number(ir::DType dtype, double value) {
    if (!reference::has_cells(dtype)) return std::nullopt;
    reference::Tensor number = reference::zeros(scalar(dtype));
    if (is_floating(dtype))
      reference::store(number, 0, value);
    else
      reference::store_integer(number, 0, static_cast<std::int64_t>(value));
    if (is_floating(dtype) &&
        (as_double(number, 0) != value || std::signbit(as_double(number, 0)) != std::signbit(value)))
      return std::nullopt;  // a type without zeros, or without signs
    return number.bytes;
  }

  static ir::Shape scalar(ir::DType dtype) { return make_shape(dtype, {}); }

  static ir::Node number_node(ir::DType dtype, const std::vector<std::byte>& bytes) {
    ir::Node node;
    node.op = ir::Op::constant;
    node.shape = scalar(dtype);
    node.attributes = ir::Literal{true, bytes};
    return node;
  }

  /// Whether a GPU and the evaluator agree on the result to the bit.
  bool is_exact(const ir::Node& node) const {
    bool floating = is_floating(node.shape.dtype);
    for (const ir::NodeId operand : node.operands) {
      const ir::DType dtype = rewrite_.graph[operand].shape.dtype;
      if (!reference::has_cells(dtype)) return false;
      floating = floating || is_floating(dtype);
    }
    if (!floating) return true;
    return is_rounded_exactly(node.op) && !mixes_zeros(node);
  }

  /// Two zeros of different sign where the larger or smaller is asked for.
  bool mixes_zeros(const ir::Node& node) const {
    if (node.op != ir::Op::maximum && node.op != ir::Op::minimum && node.op != ir::Op::clamp) return false;
    const std::vector<std::byte>* zero = nullptr;
    for (const ir::NodeId operand : node.operands) {
      if (!known(operand) ||
          reference::as_double({scalar(rewrite_.graph[operand].shape.dtype), *known(operand)}, 0) != 0)
        continue;
      if (zero != nullptr && *zero != *known(operand)) return true;
      zero = &*known(operand);
    }
    return false;
  }

  Known computed(const ir::Node& node) const {
    for (const ir::NodeId operand : node.operands)
      if (!known(operand)) return std::nullopt;
    if (!is_exact(node)) return std::nullopt;
    ir::Graph small;
    ir::Node last{node.op, scalar(node.shape.dtype), {}, node.attributes, {}, {}, {}};
    for (const ir::NodeId operand : node.operands) {
      last.operands.push_back(static_cast<ir::NodeId>(small.nodes.size()));
      small.nodes.push_back(number_node(rewrite_.graph[operand].shape.dtype, *known(operand)));
    }
    const auto id = static_cast<ir::NodeId>(small.nodes.size());
    small.nodes.push_back(std::move(last));
    small.outputs = {id};
    if (!reference::can_evaluate(small, id)) return std::nullopt;
    return reference::evaluate(small, {})[0].bytes;
  }

  /// Whether the operand is this number everywhere, the sign of zero included.
  bool is_number(ir::NodeId id, double value) const {
    return known(id) && known(id) == number_bytes(rewrite_.graph[id].shape.dtype, value);
  }

  bool is_all_ones(ir::NodeId id) const { return is_number(id, all_ones(rewrite_.graph[id].shape.dtype)); }

  /// An earlier node with the same value as this one in every case, or no_node.
  ir::NodeId stands_for(ir::NodeId id) const {
    const ir::Node& node = rewrite_.graph[id];
    const ir::NodeId same = same_operand(node);
    return same != ir::no_node && rewrite_.graph[same].shape == node.shape ? same : ir::no_node;
  }

  ir::NodeId same_operand(const ir::Node& node) const {
    const auto& in = node.operands;
    if (node.op == ir::Op::select) {
      if (in[1] == in[2]) return in[1];
      if (is_number(in[0], 1)) return in[1];
      return is_number(in[0], 0) ? in[2] : ir::no_node;
    }
    if (in.size() != 2 || class_of(node.op) != ir::OpClass::elementwise) return ir::no_node;
    const bool floating = is_floating(node.shape.dtype);
    const bool predicate = node.shape.dtype == ir::DType::pred;
    const auto either = [&](auto holds) { return holds(in[1]) ? in[0] : holds(in[0]) ? in[1] : ir::no_node; };
    switch (node.op) {
      case ir::Op::add:  // x + 0 of floating type would lose the sign of a negative zero
        return either([&](ir::NodeId o) { return is_number(o, floating ? -0.0 : 0.0); });
      case ir::Op::subtract:
        return !predicate && is_number(in[1], 0) ? in[0] : ir::no_node;
      case ir::Op::multiply:
        return either([&](ir::NodeId o) { return is_number(o, 1); });
      case ir::Op::divide:
        return !predicate && is_number(in[1], 1) ? in[0] : ir::no_node;
      case ir::Op::bit_and:
        return in[0] == in[1] ? in[0] : either([&](ir::NodeId o) { return is_all_ones(o); });
      case ir::Op::bit_or:
        return in[0] == in[1] ? in[0] : either([&](ir::NodeId o) { return is_number(o, 0); });
      case ir::Op::bit_xor:
        return either([&](ir::NodeId o) { return is_number(o, 0); });
      case ir::Op::maximum:
      case ir::Op::minimum:
        return in[0] == in[1] ? in[0] : ir::no_node;
      case ir::Op::shift_left:
      case ir::Op::shift_right_logical:
      case ir::Op::shift_right_arithmetic:
        return !predicate && is_number(in[1], 0) ? in[0] : ir::no_node;
      default:
        return ir::no_node;
    }
  }

  /// The node becomes its number: at once where it is one element, else when all are known.
  void settle(ir::NodeId id) {
    ir::Node& node = rewrite_.node(id);
    ++count_.rewrites;
    if (elements(node.shape) == 1) {
      node.op = ir::Op::constant;
      node.operands.clear();
      node.attributes = ir::Literal{true, *known(id)};
      return;
    }
    arrays_.push_back(id);
  }

  void spread() {
    std::vector<ir::Node> numbers;
    std::vector<ir::NodeId> number_of_array;
    for (const ir::NodeId id : arrays_) {
      ir::Node number = number_node(rewrite_.graph[id].shape.dtype, *known(id));
      const auto at = std::find_if(numbers.begin(), numbers.end(), [&](const ir::Node& other) {
        return other.shape == number.shape && other.attributes == number.attributes;
      });
      number_of_array.push_back(static_cast<ir::NodeId>(at - numbers.begin()));
      if (at != numbers.end()) continue;
      number.name = rewrite_.graph[id].name + "#number";
      numbers.push_back(std::move(number));
    }
    const auto added = static_cast<ir::NodeId>(numbers.size());
    count_.added += added;
    rewrite_.prepend(std::move(numbers));
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      ir::Node& node = rewrite_.node(arrays_[i] + added);
      node.op = ir::Op::broadcast;
      node.operands = {number_of_array[i]};
      node.attributes = ir::AxisList{};
    }
  }

  struct Number {
    ir::DType dtype;
    std::uint64_t bits;  ///< of the value as a double: 0 and -0 differ
    Known bytes;
  };

  Rewrite& rewrite_;
  PassCount& count_;
  mutable std::deque<Number> numbers_;
  IndexedVector<Known> known_;
  std::vector<ir::NodeId> arrays_;  ///< to become broadcasts
};

}  // namespace

bool is_rounded_exactly(ir::Op op) {
  return std::find(rounded_exactly.begin(), rounded_exactly.end(), op) != rounded_exactly.end();
}

void fold_constants(Rewrite& rewrite, PassCount& count) {
  fold_small_arrays(rewrite, count);
  Folding(rewrite, count).run();
}

}  // namespace tailor::hlo
