// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The few greatest elements of each row. In: a topk of at most 16. Out: as many reductions that each find the greatest
// element and its place, among those that were not found before. Called by the walk (graph_builder.cpp).
//
//   v1, i1 = greatest of (x, place)      v2, i2 = greatest of (i1 == place ? least : x, i1 == place ? n : place) ...
//
// The order is that of patterns, in which every NaN has a place, and of equal elements the first is greater: no two
// pairs are equal, so that lanes may put them together in any order. What was found has the least pattern and a place
// behind the row. A kernel that holds the row goes through it in registers once for each result: a gate that sends
// tokens to experts is one kernel with the softmax before it. XLA, too, has a kernel of its own up to 16 and sorts
// beyond.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "hlo/expand/expansion.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"

namespace tailor::hlo {

namespace {

constexpr std::int64_t most_found = 16;

struct TopkForm {
  std::int64_t found = 0, length = 0;
  bool largest = true;
};

/// Of a node that is well formed; nothing where it finds too many, or orders what has no order here.
std::optional<TopkForm> topk_form_of(const ir::Node& node, const ir::Shape& array) {
  const int last = array.rank() - 1;
  const TopkForm form{node.results[0].dims[last], array.dims[last],
                      ir::attribute(ir::hlo_text(node), "largest") != "false"};
  const bool is_spelled_out = has_neutral(ir::Reducer::maximum, array.dtype) && elements(array) > 0 && form.found > 0 &&
                              form.found <= most_found && form.length <= std::numeric_limits<std::int32_t>::max();
  return is_spelled_out ? std::optional(form) : std::nullopt;
}

class Topk : Expansion {
 public:
  Topk(GraphBuilder& builder, const HloInstruction& instruction, std::string name, ir::NodeId array, TopkForm form)
      : Expansion(builder, instruction, std::move(name)), array_(array), form_(form) {
    const ir::Shape shape = shape_of(array);
    last_ = shape.rank() - 1;
    body_ = add_region(shape.dtype);
    own_places_ = places_ =
        add(ir::Op::iota, "places", ir::make_shape(ir::DType::s32, shape.dims), {}, ir::OneAxis{last_});
    start_ = constant("start", shape.dtype, start_bits(shape.dtype, form.length));
    behind_ = constant("behind", ir::DType::s32, static_cast<std::uint64_t>(form.length));
    if (form.found > 1) absent_ = everywhere("absent", behind_, shape_of(places_));
  }

  /// The layouts of the results are those of the text.
  HloValue finish(std::span<const ir::Shape> shapes) {
    std::vector<ir::NodeId> values, places;
    for (std::int64_t found = 0; found < form_.found; ++found) {
      const std::string word = fmt::format("{}", found);
      if (found > 0) leave_out(word, places.back());
      const std::vector<ir::NodeId> both = find(word);
      values.push_back(both[0]);
      places.push_back(both[1]);
    }
    const std::array<ir::NodeId, 2> results{joined(values, "values", shapes[0]), joined(places, "indices", shapes[1])};
    return Expansion::finish(Pass::topk, results);
  }

 private:
  /// Any value would do, since its place is none. One that a model's other constants hardly have stays a node of its
  /// own, in whose place a kernel's graph has another (ir/rewrite/packed_pairs.h).
  static std::uint64_t start_bits(ir::DType dtype, std::int64_t length) {
    if (ir::is_floating(dtype)) return ir::encode(dtype, -static_cast<double>(length));
    return static_cast<std::uint64_t>(-length);
  }

  /// Two pairs of a value and its place give the one that comes first.
  std::int32_t add_region(ir::DType dtype) {
    const std::string_view order = ir::is_floating(dtype) ? ", total_order" : "";
    return add_body(ir::parse_graph(
        fmt::format("graph topk_{0}_{1}_{3} {{\n  %a = parameter 0 : {0}[]\n  %i = parameter 1 : s32[]\n  %b = "
                    "parameter 2 : {0}[]\n"
                    "  %j = parameter 3 : s32[]\n  %n = constant {3} : s32[]\n  %alone = compare ge %j, %n : pred[]\n"
                    "  %there = compare lt %i, %n : pred[]\n  %before = compare {1} %a, %b{2} : pred[]\n"
                    "  %equal = compare eq %a, %b{2} : pred[]\n  %left = compare lt %i, %j : pred[]\n"
                    "  %first = bit_and %equal, %left : pred[]\n  %either = bit_or %before, %first : pred[]\n"
                    "  %both = bit_and %there, %either : pred[]\n  %keeps = bit_or %alone, %both : pred[]\n"
                    "  %value = select %keeps, %a, %b : {0}[]\n  %place = select %keeps, %i, %j : s32[]\n"
                    "  output %value, %place\n}}\n",
                    ir::name(dtype), form_.largest ? "gt" : "lt", order, form_.length)));
  }

  /// What was found last is found no more.
  void leave_out(const std::string& word, ir::NodeId place) {
    const ir::Shape places = shape_of(places_);
    ir::Dims kept;
    for (int d = 0; d < last_; ++d) kept.push_back(d);
    const ir::NodeId spread = add(ir::Op::broadcast, "found" + word, places, {place}, ir::AxisList{kept});
    const ir::NodeId is_found = add(ir::Op::compare, "is_found" + word, ir::make_shape(ir::DType::pred, places.dims),
                                    {own_places_, spread}, ir::CompareOptions{ir::Comparison::eq});
    places_ = add(ir::Op::select, "others" + word, places, {is_found, absent_, places_});
  }

  /// The greatest element and its place.
  std::vector<ir::NodeId> find(const std::string& word) {
    std::vector<ir::Shape> shapes;
    for (const ir::NodeId array : {array_, places_}) {
      ir::Shape shape = ir::make_shape(shape_of(array).dtype, {});
      for (int d = 0; d < last_; ++d) shape.dims.push_back(shape_of(array).dims[d]);
      shapes.push_back(ir::make_shape(shape.dtype, shape.dims));
    }
    return reduce("greatest" + word, {array_, places_, start_, behind_}, shapes,
                  ir::Reduction{{last_}, ir::Reducer::custom}, body_);
  }

  ir::NodeId joined(const std::vector<ir::NodeId>& found, const std::string& word, const ir::Shape& shape) {
    ir::Node all;
    for (std::size_t i = 0; i < found.size(); ++i) {
      ir::Shape one = ir::make_shape(shape.dtype, shape.dims);
      one.dims[last_] = 1;
      all.operands.push_back(add(ir::Op::reshape, fmt::format("{}{}/column", word, i), one, {found[i]}));
    }
    all.op = ir::Op::concatenate;
    all.shape = shape;
    all.attributes = ir::OneAxis{last_};
    return add(std::move(all), word);
  }

  using Expansion::add;
  ir::NodeId array_;
  TopkForm form_;
  ir::NodeId places_, own_places_, start_, behind_;
  ir::NodeId absent_ = ir::no_node;  ///< the place behind the row, everywhere
  int last_;
  std::int32_t body_;
};

}  // namespace

HloValue resolve_topk(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType& type = builder.module().type_of(instruction);
  ir::Node node = builder.plain_node(instruction, frame, instruction.op, type);
  builder.check(node, instruction);
  if (const auto form = topk_form_of(node, builder.node(node.operands[0]).shape))
    return Topk(builder, instruction, node.name, node.operands[0], *form).finish(node.results);
  return builder.add_result(std::move(node), type, instruction);
}

}  // namespace tailor::hlo
