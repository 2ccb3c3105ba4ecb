// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding chains of reductions by pairs and writing them as maxima of integers. In: a graph. Out: the same graph with
// other nodes. Called through packed_pairs.h.
//
// A pair is one unsigned integer w: the value's place in the order of values above, and below it how far the element's
// place is from the last, so that the greater w comes first and no two are equal. 32 bits hold an element of 16 bits of
// a row of up to 65,536, 64 bits one of 32 bits of any row. The greatest w of a row is one comparison and one selection
// for each element, where two pairs take a comparison of values, one of their equality, one of places, two of whether
// they are elements at all, and two selections.
//
// What was found before is left out by arithmetic. Let l be the last that was found. Then w - l, modulo the range of
// the integers, is as great as can be for the w just below l, falls with w, and ends at 0 for l itself and little more
// for those above: all that come after l in the order of w are greater than all that do not, since no two w are further
// apart than the range. So the next one found is l + max(w - l), for which each element takes a subtraction and the
// maximum, however many were found before; and w is the same for all of them, for a kernel to keep.
//
//   before                                        after
//   any = constant, n = constant                  zero = constant 0; w = map x, place
//   v1, i1 = reduce x, place                      l1 = reduce maximum w, zero;     v1, i1 = maps of l1
//   s = broadcast i1; f = compare eq place, s     s = broadcast l1
//   p = select f, broadcast n, place                      d = subtract w, s
//   v2, i2 = reduce x, p                          m2 = reduce maximum d, zero;     v2, i2 = maps of m2, l1
//   s = broadcast i2; f = compare eq place, s     l2 = add m2, l1; s = broadcast l2
//   ...
//
// Node numbers stay, since plans name nodes: each new node takes the place of one that nobody reads any more. A chain
// whose parts others read is left as it is.
#include "ir/rewrite/packed_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/indexed.h"
#include "ir/graph/graph_parse.h"
#include "ir/graph/region_reduction.h"
#include "ir/rewrite/swallow.h"

namespace tailor::ir {

namespace {

bool is_compare(const Node& node, Comparison comparison) {
  return node.op == Op::compare && attributes_as<CompareOptions>(node).comparison == comparison;
}

/// A known constant that is one whole number; nothing otherwise.
std::optional<std::int64_t> whole_number(const Node& node) {
  const Literal* known = known_literal(node);
  if (known == nullptr || node.shape.dtype != DType::s32 || elements(node.shape) != 1) return std::nullopt;
  std::int32_t number = 0;
  std::copy_n(known->bytes.begin(), sizeof(number), reinterpret_cast<std::byte*>(&number));
  return number;
}

}  // namespace

std::optional<FirstOfPairs> first_of_pairs(const Graph& region) {
  if (region.outputs.size() != 2) return std::nullopt;
  enum : std::int64_t { a, i, b, j };
  const auto takes = [&](const Node& node, std::int64_t first, std::int64_t second) {
    return is_parameter(region, node.operands[0], first) && is_parameter(region, node.operands[1], second);
  };
  const auto parts = [&](NodeId id, Op op) -> std::optional<std::pair<const Node*, const Node*>> {
    const Node& node = region[id];
    if (node.op != op) return std::nullopt;
    return std::pair(&region[node.operands[0]], &region[node.operands[1]]);
  };
  const Node &value = region[region.outputs[0]], &place = region[region.outputs[1]];
  for (const auto& [chosen, first, second] : {std::tuple(&value, a, b), std::tuple(&place, i, j)})
    if (chosen->op != Op::select || !is_parameter(region, chosen->operands[1], first) ||
        !is_parameter(region, chosen->operands[2], second))
      return std::nullopt;
  if (value.operands[0] != place.operands[0]) return std::nullopt;
  const auto keeps = parts(value.operands[0], Op::bit_or);
  if (!keeps || keeps->second->op != Op::bit_and) return std::nullopt;
  const Node &alone = *keeps->first, &both = *keeps->second;
  const auto either = parts(both.operands[1], Op::bit_or);
  if (!either || either->second->op != Op::bit_and) return std::nullopt;
  const Node &there = region[both.operands[0]], &before = *either->first;
  const Node &equal = region[either->second->operands[0]], &left = region[either->second->operands[1]];
  const bool largest = is_compare(before, Comparison::gt);
  if (!(largest || is_compare(before, Comparison::lt)) || !takes(before, a, b)) return std::nullopt;
  if (!is_compare(equal, Comparison::eq) || !takes(equal, a, b)) return std::nullopt;
  if (!is_compare(left, Comparison::lt) || !takes(left, i, j)) return std::nullopt;
  if (!is_compare(alone, Comparison::ge) || !is_parameter(region, alone.operands[0], j)) return std::nullopt;
  if (!is_compare(there, Comparison::lt) || !is_parameter(region, there.operands[0], i)) return std::nullopt;
  if (alone.operands[1] != there.operands[1]) return std::nullopt;
  if (is_floating(value.shape.dtype))
    for (const Node* node : {&before, &equal})
      if (!attributes_as<CompareOptions>(*node).total_order) return std::nullopt;
  const std::optional<std::int64_t> behind = whole_number(region[alone.operands[1]]);
  return behind ? std::optional(FirstOfPairs{largest, *behind}) : std::nullopt;
}

namespace {

// ---- a pair as one integer

/// How an integer holds pairs of a type.
struct Packing {
  DType value = DType::f32, whole = DType::u64;
  int place_bits = 32;
  bool largest = true;
  int value_bits() const { return row(value).bits; }
  bool is_wide() const { return whole == DType::u64; }
  std::uint32_t last_place() const { return ~std::uint32_t{0} >> (32 - place_bits); }
};

/// Nothing for values of types that no such integer holds, or whose order is not that of their patterns.
std::optional<Packing> packing_of(DType value, const FirstOfPairs& order) {
  const bool is_ordered = value == DType::f32 || value == DType::f16 || value == DType::bf16 ||
                          (!is_floating(value) && value != DType::pred && row(value).bits >= 8);
  const int bits = row(value).bits;
  if (!is_ordered || bits > 32) return std::nullopt;
  Packing packing{value, DType::u64, 32, order.largest};
  if (bits < 32 && order.behind <= std::int64_t{1} << (32 - bits)) {
    packing.whole = DType::u32;
    packing.place_bits = 32 - bits;
  }
  return packing;
}

/// Lines of a body, each a name and what it is.
class Lines {
 public:
  template <class... Parts>
  void add(std::string_view name, DType dtype, fmt::format_string<Parts...> what, Parts&&... parts) {
    text_ +=
        fmt::format("  %{} = {} : {}[]\n", name, fmt::format(what, std::forward<Parts>(parts)...), ir::name(dtype));
  }
  Graph graph(std::string_view name, std::string_view output) const {
    return parse_graph(fmt::format("graph {} {{\n{}  output %{}\n}}\n", name, text_, output));
  }

 private:
  std::string text_;
};

/// `from` and `to`, both s32, are an element's pattern in the upper bits and its place in the order of unsigned
/// numbers; from one to the other. Of floats a positive number's sign is turned, and all bits of a negative one.
void add_turn(Lines& lines, DType value, std::string_view from, std::string_view to, bool back) {
  lines.add("lead", DType::s32, "constant -2147483648");
  if (is_floating(value)) {
    lines.add("last_bit", DType::s32, "constant 31");
    lines.add("sign", DType::s32, "shift_right_arithmetic %{}, %last_bit", from);
    if (back) lines.add("other_sign", DType::s32, "bit_not %sign");
    lines.add("turn", DType::s32, "bit_or %{}, %lead", back ? "other_sign" : "sign");
    lines.add(to, DType::s32, "bit_xor %{}, %turn", from);
  } else {
    lines.add("none", DType::s32, "constant 0");
    lines.add(to, DType::s32, "bit_xor %{}, %{}", from, is_signed(value) ? "lead" : "none");
  }
}

/// How far a place is from the last one that the integer can hold, and back: each is the last less the other.
void add_from_last(Lines& lines, const Packing& of, std::string_view from, std::string_view to) {
  if (of.is_wide()) return lines.add(to, DType::s32, "bit_not %{}", from);
  lines.add("last", DType::s32, "constant {}", of.last_place());
  lines.add(to, DType::s32, "subtract %last, %{}", from);
}

/// An element and its place as one integer.
Graph packed(const Packing& of) {
  Lines lines;
  const int unused = 32 - of.value_bits();
  const bool is_float = is_floating(of.value);
  lines.add("x", of.value, "parameter 0");
  lines.add("i", DType::s32, "parameter 1");
  if (unused > 0) {
    if (is_float) lines.add("own", DType::s16, "bitcast_convert %x");
    lines.add("wide", DType::s32, "convert %{}", is_float ? "own" : "x");
    lines.add("unused", DType::s32, "constant {}", unused);
    lines.add("pattern", DType::s32, "shift_left %wide, %unused");
  } else {
    lines.add("pattern", DType::s32, "bitcast_convert %x");
  }
  add_turn(lines, of.value, "pattern", "number", false);
  if (!of.largest) lines.add("least_first", DType::s32, "bit_not %number");
  lines.add("first", DType::u32, "bitcast_convert %{}", of.largest ? "number" : "least_first");
  add_from_last(lines, of, "i", "from_last");
  lines.add("second", DType::u32, "bitcast_convert %from_last");
  if (of.is_wide()) {
    lines.add("long", DType::u64, "convert %first");
    lines.add("half", DType::u64, "constant 32");
    lines.add("upper", DType::u64, "shift_left %long, %half");
    lines.add("lower", DType::u64, "convert %second");
  } else {
    lines.add("mask", DType::u32, "constant {}", ~of.last_place());
    lines.add("upper", DType::u32, "bit_and %first, %mask");
  }
  lines.add("both", of.whole, "bit_or %upper, %{}", of.is_wide() ? "lower" : "second");
  return lines.graph("packed", "both");
}

/// The integer itself of what a reduction found, of the second one on the sum with the one found before.
void add_whole(Lines& lines, const Packing& of, bool is_first) {
  lines.add(is_first ? "whole" : "found", of.whole, "parameter 0");
  if (is_first) return;
  lines.add("before", of.whole, "parameter 1");
  lines.add("whole", of.whole, "add %found, %before");
}

/// The element of such an integer.
Graph value_of(const Packing& of, bool is_first) {
  Lines lines;
  const int unused = 32 - of.value_bits();
  const bool is_float = is_floating(of.value);
  add_whole(lines, of, is_first);
  if (of.is_wide()) {
    lines.add("half", DType::u64, "constant 32");
    lines.add("upper", DType::u64, "shift_right_logical %whole, %half");
    lines.add("first", DType::u32, "convert %upper");
  } else {
    lines.add("mask", DType::u32, "constant {}", ~of.last_place());
    lines.add("first", DType::u32, "bit_and %whole, %mask");
  }
  lines.add("number", DType::s32, "bitcast_convert %first");
  if (!of.largest) lines.add("least_first", DType::s32, "bit_not %number");
  add_turn(lines, of.value, of.largest ? "number" : "least_first", "pattern", true);
  if (unused == 0) {
    lines.add("value", of.value, "bitcast_convert %pattern");
    return lines.graph("value", "value");
  }
  lines.add("unused", DType::s32, "constant {}", unused);
  lines.add("narrow", DType::s32, "{} %pattern, %unused",
            is_float || is_signed(of.value) ? "shift_right_arithmetic" : "shift_right_logical");
  lines.add("own", is_float ? DType::s16 : of.value, "convert %narrow");
  if (is_float) lines.add("value", of.value, "bitcast_convert %own");
  return lines.graph("value", is_float ? "value" : "own");
}

/// Its place.
Graph place_of(const Packing& of, bool is_first) {
  Lines lines;
  add_whole(lines, of, is_first);
  if (of.is_wide()) {
    lines.add("second", DType::u32, "convert %whole");
  } else {
    lines.add("mask", DType::u32, "constant {}", of.last_place());
    lines.add("second", DType::u32, "bit_and %whole, %mask");
  }
  lines.add("from_last", DType::s32, "bitcast_convert %second");
  add_from_last(lines, of, "from_last", "place");
  return lines.graph("place", "place");
}

// ---- chains

/// One reduction of a chain, and how the one before it is left out.
struct Link {
  NodeId reduce = no_node;
  NodeId spread = no_node, is_found = no_node, others = no_node;  ///< of the second one on
};

struct Chain {
  NodeId array = no_node, places = no_node;
  NodeId start = no_node, behind = no_node;  ///< what reductions start from: any element, and no place
  NodeId absent = no_node;                   ///< no place, everywhere; of two links on
  FirstOfPairs order;
  std::vector<Link> links;
};

class PackedPairs {
 public:
  explicit PackedPairs(const Graph& graph) : graph_(graph), users_(users(graph)) {}

  std::optional<Graph> written() {
    std::optional<Graph> result;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const std::optional<Chain> chain = chain_from(static_cast<NodeId>(id));
      if (!chain) continue;
      const DType value = graph_[chain->array].shape.dtype;
      const std::optional<Packing> packing = packing_of(value, chain->order);
      if (!packing) continue;
      if (!result) result = graph_;
      write(*result, *chain, *packing);
    }
    return result;
  }

 private:
  const Node& node(NodeId id) const { return graph_[id]; }

  std::optional<FirstOfPairs> order_of(const Node& reduce) const {
    const bool may_be =
        reduce.op == Op::reduce && reduced_count(reduce) == 2 && !reduce.bodies.empty() && axes(reduce).size() == 1;
    return may_be ? first_of_pairs(body(graph_, reduce, 0)) : std::nullopt;
  }

  /// Whether nobody but these reads the node, and the group does not write it.
  bool is_read_by(NodeId id, const std::vector<NodeId>& readers) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) == graph_.outputs.end() &&
           std::all_of(users_[index(id)].begin(), users_[index(id)].end(),
                       [&](NodeId user) { return std::find(readers.begin(), readers.end(), user) != readers.end(); });
  }

  /// The chain whose first reduction this is, if all of it can be written anew.
  std::optional<Chain> chain_from(NodeId first) const {
    const std::optional<FirstOfPairs> order = order_of(node(first));
    if (!order) return std::nullopt;
    const Node& reduce = node(first);
    Chain chain{reduce.operands[0], reduce.operands[1], reduce.operands[2], reduce.operands[3], no_node, *order,
                {{first}}};
    const Node& places = node(chain.places);
    const std::int64_t length = places.shape.dims[static_cast<int>(axes(reduce)[0])];
    if (places.op != Op::iota || axis(places) != axes(reduce)[0] || places.shape.dtype != DType::s32 ||
        length > order->behind || whole_number(node(chain.behind)) != order->behind)
      return std::nullopt;
    while (const std::optional<Link> next = link_behind(chain)) chain.links.push_back(*next);
    // Behind the last element there is none that stands below it.
    const bool are_there = std::ssize(chain.links) <= length;
    return are_there && stands_alone(chain) ? std::optional(std::move(chain)) : std::nullopt;
  }

  /// The reduction among what the last one of the chain leaves.
  std::optional<Link> link_behind(Chain& chain) const {
    const NodeId before = chain.links.size() > 1 ? chain.links.back().others : chain.places;
    for (const NodeId others : users_[index(before)]) {
      const Node& select = node(others);
      if (select.op != Op::select || select.operands[2] != before) continue;
      const Node &is_found = node(select.operands[0]), &absent = node(select.operands[1]);
      if (!is_compare(is_found, Comparison::eq) || is_found.operands[0] != chain.places) continue;
      const Node& spread = node(is_found.operands[1]);
      if (spread.op != Op::broadcast || !is_place_of(chain, spread)) continue;
      if (absent.op != Op::broadcast || absent.operands[0] != chain.behind) continue;
      if (chain.absent != no_node && chain.absent != select.operands[1]) continue;
      for (const NodeId reader : users_[index(others)])
        if (order_of(node(reader)) == chain.order && node(reader).operands[0] == chain.array &&
            node(reader).operands[1] == others && node(reader).operands[2] == chain.start &&
            node(reader).operands[3] == chain.behind && axes(node(reader)) == axes(node(chain.links[0].reduce))) {
          chain.absent = select.operands[1];
          return Link{reader, is_found.operands[1], select.operands[0], others};
        }
    }
    return std::nullopt;
  }

  /// Whether it says of each row which place the last reduction found.
  bool is_place_of(const Chain& chain, const Node& spread) const {
    const std::optional<ReducedValue> of = reduced_value(graph_, spread.operands[0]);
    const Dims& reduced = axes(node(chain.links.back().reduce));
    if (!of || of->reduce != chain.links.back().reduce || of->number != 1) return false;
    Dims kept;
    for (int dim = 0; dim < spread.shape.rank(); ++dim)
      if (dim != reduced[0]) kept.push_back(dim);
    return axes(spread) == kept;
  }

  /// Whether all that is written anew is read by the chain alone, and stands where what it reads is there.
  bool stands_alone(const Chain& chain) const {
    std::vector<NodeId> reductions, selections;
    for (std::size_t k = 0; k < chain.links.size(); ++k) {
      const Link& link = chain.links[k];
      reductions.push_back(link.reduce);
      for (const NodeId pick : users_[index(link.reduce)])
        if (node(pick).op != Op::get_tuple_element) return false;
      if (k == 0) continue;
      selections.push_back(link.others);
      const NodeId next = k + 1 < chain.links.size() ? chain.links[k + 1].others : link.reduce;
      if (!is_read_by(link.others, {link.reduce, next}) || !is_read_by(link.is_found, {link.others}) ||
          !is_read_by(link.spread, {link.is_found}))
        return false;
    }
    if (!is_read_by(chain.start, reductions)) return false;
    if (chain.absent != no_node && !is_read_by(chain.absent, selections)) return false;
    if (chain.absent != no_node) reductions.push_back(chain.absent);
    return is_read_by(chain.behind, reductions) && chain.array < chain.behind && chain.places < chain.behind;
  }

  /// Each element, or number of a row, of those at the same place.
  static void compute(Graph& graph, NodeId at, Op op, const Shape& like, DType dtype,
                      std::initializer_list<NodeId> operands) {
    Node node{op, like, {}, {}, graph[at].name};
    node.shape.dtype = dtype;
    node.operands = operands;
    graph[at] = std::move(node);
  }

  void write(Graph& graph, const Chain& chain, const Packing& packing) const {
    const auto functions = static_cast<std::int32_t>(graph.bodies.size());
    graph.bodies.push_back(packed(packing));
    for (const bool is_first : {true, false}) {
      graph.bodies.push_back(value_of(packing, is_first));
      graph.bodies.push_back(place_of(packing, is_first));
    }
    const Shape elements = node(chain.array).shape;
    const NodeId zero = chain.start, whole = chain.behind;
    graph[zero].shape.dtype = packing.whole;
    swallow(graph[zero]);
    if (chain.absent != no_node) swallow(graph[chain.absent]);
    compute(graph, whole, Op::map, elements, packing.whole, {chain.array, chain.places});
    graph[whole].bodies = {functions};
    graph[whole].name = node(chain.links[0].reduce).name + "/pairs";
    NodeId last = no_node;  // that was found before the one at hand
    for (std::size_t k = 0; k < chain.links.size(); ++k) {
      const NodeId found = chain.links[k].reduce;
      const NodeId read = k == 0 ? whole : write_difference(graph, chain, k, packing.whole, last);
      Node& reduce = graph[found];
      reduce.shape = node(found).results[0];
      reduce.shape.dtype = packing.whole;
      reduce.operands = {read, zero};
      reduce.results.clear();
      reduce.bodies.clear();
      attributes_as<Reduction>(reduce).reducer = Reducer::maximum;
      for (const NodeId pick : users_[index(found)]) {
        const Shape shape = node(pick).shape;
        k == 0 ? compute(graph, pick, Op::map, shape, shape.dtype, {found})
               : compute(graph, pick, Op::map, shape, shape.dtype, {found, last});
        const auto number = static_cast<std::int32_t>(tuple_index(node(pick)));
        graph[pick].bodies = {functions + 1 + number + (k == 0 ? 0 : 2)};
      }
      if (k == 0) last = found;
    }
  }

  /// How far each element is from the one that was found last, which `last` becomes. Returns where that stands.
  NodeId write_difference(Graph& graph, const Chain& chain, std::size_t k, DType whole, NodeId& last) const {
    const Link& link = chain.links[k];
    const Shape& elements = node(chain.array).shape;
    NodeId spread = link.spread;
    if (k > 1) {
      const NodeId found = chain.links[k - 1].reduce;
      compute(graph, link.spread, Op::add, graph[found].shape, whole, {found, last});
      last = link.spread;
      spread = link.is_found;
    } else {
      swallow(graph[link.is_found]);
    }
    compute(graph, spread, Op::broadcast, elements, whole, {last});
    graph[spread].attributes = node(link.spread).attributes;
    compute(graph, link.others, Op::subtract, elements, whole, {chain.behind, spread});
    return link.others;
  }

  const Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
};

}  // namespace

std::optional<DType> packed_type(DType value, const FirstOfPairs& order) {
  const std::optional<Packing> packing = packing_of(value, order);
  return packing ? std::optional(packing->whole) : std::nullopt;
}

std::optional<Graph> with_pairs_packed(const Graph& group) {
  const bool may_have = std::any_of(group.nodes.begin(), group.nodes.end(),
                                    [](const Node& node) { return node.op == Op::reduce && reduced_count(node) == 2; });
  return may_have ? PackedPairs(group).written() : std::nullopt;
}

}  // namespace tailor::ir
