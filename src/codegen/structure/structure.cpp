// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The common half of the structural analysis (structure.h tells what it is for). In: nodes of a graph with their
// border. Out: a layout or a rejection. Called by prepare() once per group, and by strategies thousands of times.
//
// First every node is asked whether kernels of today can hold it: its type must have a CUDA form, its operation a text
// for that type, a constant array would need a table in memory, look-ups and windows need skeletons that are still to
// come. Of several such nodes the first in the graph's order is named, so the answer does not depend on the order of
// the question.
//
// Then the rows of the table of skeletons are asked in order. A row may recognise the group (the answer is its
// layout), refuse it with a reason, or not know it. The first layout wins; else the first reason is given.
// find_doubt() asks the same row for what it lowers badly.
//
// Skeletons see a Region: what is inside with its reductions folded where they arrive in steps. So a group of both
// halves of a long sum is a row or column group, and prepare() lowers it as one (ir/graph/split_reduction.h).
//
// Outputs. A kernel's threads are dealt out over rows and columns, so an output of one element per row (or column), or
// of one per element, is written where its thread is. A counter beside a norm, a small array beside a large one are of
// another size. They are stored aside, by all threads in a loop of their own (store_aside). Where they need no
// reduction any thread can make any element. Where there is one row alone, every lane of it has every number of it, so
// they may need reductions too. All others would need numbers of rows that their thread does not have.
#include "codegen/structure/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "base/indexed.h"
#include "codegen/structure/index_map.h"
#include "codegen/structure/recognise.h"
#include "codegen/structure/window_taps.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/gather_numbers.h"
#include "ir/graph/reducer.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

using namespace ir;

namespace {

/// Whether kernels of today can hold this type.
bool is_holdable(DType dtype) { return !row(dtype).cuda.empty(); }

/// Whether the operation is written for its type: the pattern is chosen as the printer chooses it.
bool has_pattern(Op op, DType dtype) { return !(is_floating(dtype) ? row(op).real : row(op).integer).empty(); }

bool has_text(const Graph& graph, const Node& node) {
  if (node.op == Op::convert || node.op == Op::copy) return true;
  const DType operand = graph[node.operands[0]].shape.dtype;
  if (node.op == Op::reduce_precision) return is_floating(operand) && float_format(operand).specials == Specials::ieee;
  // Where the pattern of -0 is the one NaN, the order of patterns is not the order of numbers.
  if (const auto* compare = std::get_if<CompareOptions>(&node.attributes); compare != nullptr)
    return !compare->total_order || !is_floating(operand) || float_format(operand).specials != Specials::fnuz;
  if (node.op == Op::bitcast_convert)
    return row(operand).bits == row(node.shape.dtype).bits && operand != DType::pred && node.shape.dtype != DType::pred;
  const bool by_position = node.op == Op::clz || node.op == Op::shift_left || node.op == Op::shift_right_logical ||
                           node.op == Op::shift_right_arithmetic;
  if (by_position && operand == DType::pred) return false;  // a predicate is one bit in a byte
  return has_pattern(node.op, node.op == Op::is_finite ? operand : node.shape.dtype);
}

/// The types an operation is asked for: its own, and its operand's where that is another one.
std::string types_text(const Graph& graph, const Node& node) {
  const DType to = node.shape.dtype, from = node.operands.empty() ? to : graph[node.operands.back()].shape.dtype;
  const auto* compare = std::get_if<CompareOptions>(&node.attributes);
  return fmt::format("{}{}{}", name(to), from == to ? "" : fmt::format(" of {}", name(from)),
                     compare != nullptr && compare->total_order ? " in total order" : "");
}

Rejection refuse_operation(std::string_view operation, std::string reason) {
  return refuse(ir::Refusal("operation-OP").of(operation), std::move(reason));
}
Rejection refuse_type(DType dtype, std::string reason) {
  return refuse(ir::Refusal("dtype-OP").of(name(dtype)), std::move(reason));
}

/// An array that is read from memory or computed. What made it does not matter.
std::optional<Rejection> refuse_value(const Node& node) {
  if (node.shape.dtype == DType::tuple)
    return refuse_operation(row(node.op).hlo, fmt::format("{} %{} gives {} results at once, which no skeleton does yet",
                                                          row(node.op).id, node.name, node.results.size()));
  if (!is_holdable(node.shape.dtype))
    return refuse_type(node.shape.dtype, fmt::format("%{} has type {}, which kernels cannot hold yet", node.name,
                                                     name(node.shape.dtype)));
  if (elements(node.shape) == 0)
    return refuse("empty", fmt::format("%{} {} has no elements", node.name, text(node.shape)));
  return std::nullopt;
}

std::optional<Rejection> refuse_move(const Graph& graph, const Node& node) {
  const Shape& from = node.operands.empty() ? node.shape : graph[node.operands[0]].shape;
  if (node.op != Op::bitcast || from.dtype == node.shape.dtype) return std::nullopt;
  return refuse_operation(
      row(node.op).hlo,
      fmt::format("bitcast %{} from {} to {} changes type and places at once, which has no kernel text yet", node.name,
                  text(from), text(node.shape)));
}

/// A reduction over windows is gone through tap by tap where those are few, and a scan along its rows.
template <class Skeleton>
std::optional<Rejection> refuse_window(const Graph& graph, const Node& node, const Skeleton& skeleton) {
  const Reducer known = reducer(node);
  const bool is_one =
      node.op == Op::reduce_window && node.operands.size() == 2 && known != Reducer::custom && known != Reducer::none;
  const bool scans = is_one && scan_of(node) && is_neutral(graph[node.operands[1]], known);
  if (!is_one || (!scans && !window_taps(graph, node)))
    return skeleton(ir::Refusal("skeleton-OP").of(row(node.op).hlo));
  if (!has_pattern(op_of(known), node.shape.dtype))
    return refuse_operation(row(node.op).hlo, fmt::format("{} of %{} has no kernel text for {}", name(known), node.name,
                                                          name(node.shape.dtype)));
  return refuse_value(node);
}

/// Operations of a region that only hand a number on.
bool hands_on(const Graph& region, const Node& node) {
  return node.op == Op::reshape || node.op == Op::broadcast ||
         (node.op == Op::bitcast && node.shape.dtype == region[node.operands[0]].shape.dtype);
}

/// Why a kernel cannot write the line of a region where it puts two values together.
std::string line_refusal(const Graph& region, const Node& node) {
  const auto because = [&](std::string_view what) {
    return fmt::format("{} %{} {}", row(node.op).id, node.name, what);
  };
  if (node.shape.rank() != 0) return because("is no single number");
  if (!is_holdable(node.shape.dtype)) return because(fmt::format("has type {}", name(node.shape.dtype)));
  if (node.op == Op::parameter || hands_on(region, node)) return {};
  if (node.op == Op::constant) return known_literal(node) != nullptr ? "" : because("has a value that is not known");
  if (class_of(node.op) != OpClass::elementwise || !has_text(region, node)) return because("has no kernel text");
  return {};
}

/// The first line of a body that a kernel cannot write; empty: it writes all.
std::string body_refusal(const Graph& region) {
  for (const Node& line : region.nodes)
    if (std::string why = line_refusal(region, line); !why.empty()) return why;
  return {};
}

std::optional<Rejection> refuse_map(const Graph& graph, const Node& node) {
  const std::string why = node.bodies.empty() ? "its function is not known" : body_refusal(body(graph, node, 0));
  if (why.empty()) return std::nullopt;
  return refuse_operation(row(node.op).hlo, fmt::format("map %{}: {}", node.name, why));
}

/// Why no kernel holds a reduction by its body: a line that cannot be written, results of types that it cannot hold, or
/// an initial value that is known only when the kernel runs.
std::optional<Rejection> refuse_region(const Graph& graph, const Node& node) {
  const ir::Refusal rule =
      reduced_count(node) == 1 ? ir::Refusal("skeleton-custom-reduction") : ir::Refusal("skeleton-variadic-reduction");
  const auto no = [&](std::string_view why) { return refuse(rule, fmt::format("reduce %{}: {}", node.name, why)); };
  if (node.bodies.empty()) return no("its function is not known");
  const Graph& region = body(graph, node, 0);
  if (!is_region_of(region, reduced_count(node))) return no("its function takes or gives another number of values");
  if (const std::string why = body_refusal(region); !why.empty()) return no(why);
  for (const Shape& shape : node.results)
    if (!is_holdable(shape.dtype))
      return refuse_type(shape.dtype, fmt::format("%{} has a result of type {}, which kernels cannot hold yet",
                                                  node.name, name(shape.dtype)));
  const bool known = !known_reducers(graph, node).empty();
  for (std::size_t k = 0; k < reduced_count(node); ++k) {
    const Node &start = graph[node.operands[reduced_count(node) + k]], &value = graph[node.operands[k]];
    if (!known && known_literal(start) == nullptr)
      return no(fmt::format("it starts from %{}, which is no constant", start.name));
    if (value.shape.dtype != start.shape.dtype || region[region.outputs[k]].shape.dtype != value.shape.dtype)
      return no("its function takes or gives other types than its arrays have");
  }
  return node.results.empty() ? refuse_value(node) : std::nullopt;
}

/// A scatter of one array, whose region an atomic, or a store where windows are known to lie apart, can do.
std::optional<Rejection> refuse_scatter(const Graph& graph, const Node& node) {
  const auto form = scatter_form(graph, node);
  if (const auto* why = std::get_if<std::string>(&form))
    return refuse(ir::Refusal("skeleton-OP").of(row(node.op).hlo), fmt::format("scatter %{} {}", node.name, *why));
  if (const DType dtype = graph[node.operands[1]].shape.dtype; !is_holdable(dtype))
    return refuse_type(dtype, fmt::format("%{} is placed by an index of type {}, which kernels cannot hold yet",
                                          node.name, name(dtype)));
  const auto& [numbers, reducer, unique] = std::get<ScatterForm>(form);
  const DType dtype = node.shape.dtype;
  if (!graph[node.operands[0]].shape.same_layout(node.shape))
    return refuse_operation(row(node.op).hlo,
                            fmt::format("scatter %{} writes {} into {}, which lies otherwise", node.name,
                                        text(node.shape), text(graph[node.operands[0]].shape)));
  if (std::optional<Rejection> refused = refuse_value(node)) return refused;
  if (graph[node.operands[2]].shape.dtype != dtype)
    return refuse_operation(row(node.op).hlo, fmt::format("scatter %{} puts {} into {}", node.name,
                                                          name(graph[node.operands[2]].shape.dtype), name(dtype)));
  if (reducer == Reducer::none) return std::nullopt;
  if (!has_pattern(op_of(reducer), dtype))
    return refuse_operation(row(node.op).hlo,
                            fmt::format("{} of %{} has no kernel text for {}", name(reducer), node.name, name(dtype)));
  if (!unique && row(dtype).bits < 16)
    return refuse_operation(row(node.op).hlo,
                            fmt::format("{} of %{}: no atomic is as narrow as {}, and its windows may overlap",
                                        name(reducer), node.name, name(dtype)));
  return std::nullopt;
}

std::optional<Rejection> refuse_node(const Graph& graph, const Node& node) {
  const OpRow& op = row(node.op);
  const auto skeleton = [&](const ir::Refusal& which) {
    return refuse(which, fmt::format("{} %{}{} needs a skeleton of its own, which is still to come", op.hlo, node.name,
                                     node.shape.dtype == DType::tuple ? "" : " " + text(node.shape)));
  };
  // What an operation is says more than what it gives: a sort, an argmax and a generator of random numbers give tuples.
  const bool kernels_do_its_kind = op.kind == OpClass::leaf || is_elementwise(node.op) || op.kind == OpClass::index;
  if (node.shape.dtype != DType::tuple || kernels_do_its_kind)
    if (std::optional<Rejection> refused = refuse_value(node)) return refused;
  switch (op.kind) {
    case OpClass::leaf:
      if (node.op == Op::constant && elements(node.shape) > 1)
        return refuse("array-constant",
                      fmt::format("constant %{} {} would need a table in memory", node.name, text(node.shape)));
      if (node.op == Op::constant && known_literal(node) == nullptr)
        return refuse("unknown-constant", fmt::format("the dump left out the value of %{}", node.name));
      return std::nullopt;
    case OpClass::elementwise:
      if (!has_text(graph, node))
        return refuse_operation(
            op.hlo, fmt::format("{} %{} has no kernel text for {}", op.id, node.name, types_text(graph, node)));
      return std::nullopt;
    case OpClass::index:
      return refuse_move(graph, node);
    case OpClass::reduction:
      if (runs_region(node)) return refuse_region(graph, node);
      if (!has_pattern(op_of(reducer(node)), node.shape.dtype))
        return refuse_operation(op.hlo, fmt::format("{} of %{} has no kernel text for {}", name(reducer(node)),
                                                    node.name, name(node.shape.dtype)));
      return refuse_value(node);
    case OpClass::lookup:
      if (node.op == Op::scatter) return refuse_scatter(graph, node);
      if (node.op == Op::dynamic_reshape) return skeleton(ir::Refusal("skeleton-OP").of(op.hlo));
      for (std::size_t k = first_start(node); k < node.operands.size(); ++k)
        if (const DType dtype = graph[node.operands[k]].shape.dtype; !is_holdable(dtype))
          return refuse_type(dtype, fmt::format("%{} is placed by an index of type {}, which kernels cannot hold yet",
                                                node.name, name(dtype)));
      return std::nullopt;
    case OpClass::window:
      return refuse_window(graph, node, skeleton);
    case OpClass::random:
      return skeleton(ir::Refusal("skeleton-OP").of(op.hlo));
    case OpClass::mapped:
      return refuse_map(graph, node);
    case OpClass::structure:
      if (node.op == Op::get_tuple_element && graph[node.operands[0]].op == Op::reduce) return refuse_value(node);
      [[fallthrough]];
    case OpClass::library:
    case OpClass::composite:
    case OpClass::control:
    case OpClass::communication:
    case OpClass::opaque:
      return refuse_operation(op.hlo.empty() ? op.id : op.hlo,
                              fmt::format("{} %{} is not memory-bound work of a kernel", op.id, node.name));
  }
  return std::nullopt;
}

/// Whether an index of the look-up is computed from a reduction inside.
bool is_placed_by_reduction(const Graph& graph, const Boundary& border, NodeId id) {
  std::vector<NodeId> pending;
  for (std::size_t k = first_start(graph[id]); k < graph[id].operands.size(); ++k)
    pending.push_back(graph[id].operands[k]);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (std::find(border.inside.begin(), border.inside.end(), pending[i]) == border.inside.end()) continue;
    if (graph[pending[i]].op == Op::reduce) return true;
    for (const NodeId operand : graph[pending[i]].operands)
      if (std::find(pending.begin(), pending.end(), operand) == pending.end()) pending.push_back(operand);
  }
  return false;
}

/// The refusal of the first node, in the graph's order, that no kernel can hold.
std::optional<Rejection> refuse_nodes(const Graph& graph, const Boundary& border) {
  std::optional<Rejection> first;
  auto place = static_cast<NodeId>(graph.nodes.size());
  const auto look = [&](NodeId id, std::optional<Rejection> refused) {
    if (refused) first = std::move(refused), place = id;
  };
  for (const NodeId id : border.reads)
    if (id < place) look(id, refuse_value(graph[id]));
  for (const NodeId id : border.inside)
    if (id < place) look(id, refuse_node(graph, graph[id]));
  return first;
}

/// Why the scatters of a group have no loop around them: what they make of an array is there when the launch ends, and
/// the loop that goes over updates reduces nothing.
std::optional<Rejection> refuse_scatters(const Graph& graph, const Boundary& border) {
  const auto is_scatter = [&](NodeId id) { return graph[id].op == Op::scatter; };
  const auto first = std::find_if(border.inside.begin(), border.inside.end(), is_scatter);
  if (first == border.inside.end()) return std::nullopt;
  const Node& node = graph[*first];
  for (const NodeId id : border.inside) {
    if (graph[id].op == Op::reduce)
      return refuse("scatter-beside", fmt::format("%{} reduces beside scatter %{}, whose loop goes over its updates",
                                                  graph[id].name, node.name));
    for (const NodeId operand : graph[id].operands)
      if (is_scatter(operand) && std::find(border.inside.begin(), border.inside.end(), operand) != border.inside.end())
        return refuse("scatter-result", fmt::format("%{} reads what scatter %{} makes, which is there when its launch "
                                                    "ends",
                                                    graph[id].name, graph[operand].name));
  }
  for (const NodeId id : border.inside)
    if (is_scatter(id) && std::find(border.writes.begin(), border.writes.end(), id) == border.writes.end())
      return refuse("scatter-result", fmt::format("nobody reads what scatter %{} makes", graph[id].name));
  return std::nullopt;
}

/// The doubts that no skeleton is asked about: where a value is put.
std::optional<Rejection> doubt_places(const Graph& graph, const Boundary& border) {
  if (const NodeId id = border.kept_from_place; id != no_node)
    return refuse("in-place", fmt::format("%{} {} would be updated in place if nothing of the group read it",
                                          graph[id].name, text(graph[id].shape)));
  for (const NodeId id : border.inside)
    if (class_of(graph[id].op) == OpClass::lookup && is_placed_by_reduction(graph, border, id))
      return refuse("index-place",
                    fmt::format("where %{} reads or writes depends on a reduction of the group", graph[id].name));
  return std::nullopt;
}

}  // namespace

Dims walked_axes(const Node& node) {
  const std::optional<Scan> scan = scan_of(node);
  return scan ? Dims{scan->dim} : axes(node);
}

Domain walked_domain(const Graph& graph, const Node& node) {
  return domain_of(graph[node.operands[0]].shape, walked_axes(node));
}

Layout row_layout(const Graph& graph, const Node& reduce) {
  const Domain domain = walked_domain(graph, reduce);
  return {Skeleton::row, domain.kept(), domain.reduced(), domain};
}

Region::Region(const Graph& whole, const Boundary& around) : graph(whole), border(around) {
  const std::vector<FoldedReduction> folded = folded_reductions(graph, border.inside, border.writes);
  for (const NodeId id : border.inside)
    if (graph[id].op == Op::reduce && !graph[id].results.empty()) folded_.emplace_back(id, seen_as_array(graph[id]));
  if (folded.empty() && folded_.empty()) return;
  std::unordered_set<NodeId> swallowed;
  for (const FoldedReduction& one : folded) {
    swallowed.insert(one.swallowed.begin(), one.swallowed.end());
    folded_.emplace_back(one.last, folded_node(graph, one));
  }
  std::sort(folded_.begin(), folded_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::copy_if(border.inside.begin(), border.inside.end(), std::back_inserter(inside_),
               [&](NodeId id) { return !swallowed.contains(id); });
}

const Node& Region::operator[](NodeId id) const {
  if (!folded_.empty() && graph[id].op == Op::reduce) {
    const auto found = std::lower_bound(folded_.begin(), folded_.end(), id,
                                        [](const auto& one, NodeId wanted) { return one.first < wanted; });
    if (found != folded_.end() && found->first == id) return found->second;
  }
  return graph[id];
}

Boundary whole_border(const Graph& group) {
  Boundary border{parameters(group), {}, group.outputs, group.in_place};
  for (std::size_t i = 0; i < group.nodes.size(); ++i)
    if (group.nodes[i].op != Op::parameter) border.inside.push_back(static_cast<NodeId>(i));
  return border;
}

Digits kept_digits(const Graph& graph, const Node& node) {
  const Digits own = digits_of(graph[node.operands[0]].shape.dtype);
  const auto asked = [&](std::string_view key, std::uint8_t most) {
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(attribute_number(hlo_text(node), key, most), 0, most));
  };
  return {asked("exponent_bits", own.exponent), asked("mantissa_bits", own.mantissa)};
}

std::optional<DType> rounding_type(const Graph& graph, const Node& node) {
  const DType own = graph[node.operands[0]].shape.dtype;
  const Digits kept = kept_digits(graph, node);
  if (kept == digits_of(own)) return own;
  // With the same exponent only the mantissa is rounded, to nearest even as a conversion does it. A smaller exponent
  // would flush what becomes subnormal, which a conversion does not.
  if (own == DType::f32 && kept == digits_of(DType::bf16)) return DType::bf16;
  return std::nullopt;
}

std::optional<Rejection> refused_alone(const Graph& graph, NodeId node) { return refuse_node(graph, graph[node]); }

std::string text(const Layout& layout) {
  const SkeletonRow& skeleton = row(layout.skeleton);
  if (skeleton.unit == WorkUnit::elements) return fmt::format("{} {}", skeleton.name, layout.columns);
  if (skeleton.unit == WorkUnit::columns) return fmt::format("{} {} x {}", skeleton.name, layout.columns, layout.rows);
  if (skeleton.unit == WorkUnit::bodies) return fmt::format("{} of {}", skeleton.name, layout.rows);
  std::string rows = fmt::format("{} {} x {}", skeleton.name, layout.rows, layout.columns);
  if (!layout.domain.is_contiguous()) rows += fmt::format(" in {}", text(layout.domain));
  return rows;
}

NodeId stored_node(const Graph& graph, const Boundary& border, std::size_t i) {
  for (const InPlace& pair : border.in_place)
    if (index(pair.output) == i && graph[border.writes[i]].op != Op::scatter)
      return graph[border.writes[i]].operands[1];
  const Node& node = graph[border.writes[i]];
  return node.op == Op::scatter && node.operands.size() == 3 ? node.operands[2] : border.writes[i];
}

bool fills_first(const Graph& graph, const Boundary& border) {
  for (std::size_t i = 0; i < border.writes.size(); ++i)
    if (graph[border.writes[i]].op == Op::scatter && !is_written_in_place(border, border.writes[i])) return true;
  return false;
}

bool is_written_in_place(const Boundary& border, NodeId id) {
  return std::any_of(border.in_place.begin(), border.in_place.end(),
                     [&](const InPlace& pair) { return border.writes[index(pair.output)] == id; });
}

const SkeletonStructure& structure(Skeleton skeleton) {
  static constexpr std::array table = std::to_array<SkeletonStructure>({
#define SKELETON(name, unit, what, ...) {recognise_##name, doubt_##name},
#include "ir/skeletons.def"
#undef SKELETON
  });
  return row_for(table, skeleton);
}

Classified analyse_loop(const Graph& graph, const Boundary& border) {
  if (border.writes.empty()) return refuse("empty", "the group has no output");
  if (std::optional<Rejection> refused = refuse_nodes(graph, border)) return *refused;
  if (std::optional<Rejection> refused = refuse_scatters(graph, border)) return *refused;
  int starts = 0;
  for (const NodeId id : border.inside)
    if (class_of(graph[id].op) == OpClass::lookup) starts += open_starts(graph, graph[id]);
  if (starts > most_open_starts)
    return refuse("indices",
                  fmt::format("{} indices from memory, a kernel holds at most {}", starts, most_open_starts));
  std::optional<Rejection> first;
  const Region region(graph, border);
  for (const SkeletonRow& skeleton : skeletons()) {
    if (skeleton.unit == WorkUnit::bodies) continue;
    std::optional<Classified> found = structure(skeleton.skeleton).recognise(region);
    if (!found) continue;
    if (std::holds_alternative<Layout>(*found)) return *found;
    if (!first) first = std::get<Rejection>(*found);
  }
  return first ? *first : refuse("skeleton", "no skeleton recognises the group");
}

JudgedStructure judge(const Graph& graph, const Boundary& border) {
  JudgedStructure loop{analyse_loop(graph, border), std::nullopt};
  const auto* whole = std::get_if<Layout>(&loop.structure);
  if (whole != nullptr) loop.doubt = find_doubt(graph, border, *whole);
  if (whole != nullptr && !loop.doubt) return loop;
  const auto found = find_pack(graph, border);
  const auto* bodies = found ? std::get_if<std::vector<BodyBorder>>(&*found) : nullptr;
  if (bodies == nullptr) return loop;
  JudgedStructure pack{layout_of(Skeleton::pack, *bodies), doubt_places(graph, border)};
  if (!pack.doubt) pack.doubt = doubt_bodies(graph, border, *bodies);
  return whole != nullptr && pack.doubt ? loop : pack;
}

JudgedStructure judge_stages(const Graph& graph, const Boundary& border, Stages* cut) {
  JudgedStructure found = judge(graph, border);
  const auto* refused = std::get_if<Rejection>(&found.structure);
  if (refused == nullptr || border.writes.empty() || refuse_nodes(graph, border)) return found;
  if (refuse_scatters(graph, border)) return found;
  auto stages = find_stages(graph, border);
  if (const auto* uncut = std::get_if<Rejection>(&stages)) {
    if (uncut->rule == one_stage.text()) return found;
    // The group is known by what a loop has against it.
    return {refuse(*refused, fmt::format("{}; cut into stages: {}", refused->reason, uncut->reason)), std::nullopt};
  }
  const std::vector<BodyBorder>& bodies = std::get<Stages>(stages).bodies;
  JudgedStructure judged{layout_of(Skeleton::stages, bodies), doubt_places(graph, border)};
  if (!judged.doubt) judged.doubt = doubt_each(graph, bodies);
  if (cut != nullptr) *cut = std::get<Stages>(std::move(stages));
  return judged;
}

std::unordered_set<NodeId> behind_reductions(const Region& region) {
  std::unordered_set<NodeId> behind;
  for (const NodeId id : region.inside()) {
    const auto& operands = region[id].operands;
    if (region[id].op == Op::reduce ||
        std::any_of(operands.begin(), operands.end(), [&](NodeId operand) { return behind.contains(operand); }))
      behind.insert(id);
  }
  return behind;
}

std::optional<Rejection> find_doubt(const Graph& graph, const Boundary& border, const Layout& layout) {
  if (auto doubted = doubt_places(graph, border)) return doubted;
  return structure(layout.skeleton).doubt(Region(graph, border), layout);
}

namespace {

bool contains_node(const std::vector<NodeId>& nodes, NodeId id) {
  return std::binary_search(nodes.begin(), nodes.end(), id);
}

bool is_reduction(const Node& node) { return walks_along(node); }

}  // namespace

bool is_of_chunks(const Region& region, const Layout& layout, std::int64_t count) {
  return std::ranges::any_of(region.inside(), [&](NodeId id) {
    const Node& node = region[id];
    return node.op == Op::reduce && elements(node.shape) == count &&
           row_reduction(region.graph, node, layout) == RowReduction::chunks;
  });
}

std::optional<Rejection> refuse_outputs(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  const Graph& graph = region.graph;
  const bool of_columns = row(layout.skeleton).unit == WorkUnit::columns;
  std::optional<std::vector<NodeId>> reduced;  // asked for where it matters
  for (std::size_t i = 0; i < region.border.writes.size(); ++i) {
    const NodeId id = stored_node(graph, region.border, i);
    if (!is_aside(layout, elements(graph[id].shape)) || contains_node(late, id)) continue;
    if (!of_columns && layout.rows == 1) continue;
    if (!of_columns && is_of_chunks(region, layout, elements(graph[id].shape))) continue;
    if (!reduced) reduced = values_from(region, is_reduction, [](const Node&) { return true; });
    if (!contains_node(*reduced, id)) continue;
    const std::string_view unit = of_columns ? "column" : "row";
    return refuse("output-shape",
                  fmt::format("output %{} {} is neither one per {} ({}) nor one per element ({} x {}), and needs a "
                              "reduction",
                              graph[id].name, text(graph[id].shape), unit, layout.rows,
                              of_columns ? layout.columns : layout.rows, of_columns ? layout.rows : layout.columns));
  }
  return std::nullopt;
}

std::optional<Rejection> doubt_outputs(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  constexpr std::int64_t large = 4;  // a quarter of the elements, written one by one
  for (std::size_t i = 0; i < region.border.writes.size(); ++i) {
    const NodeId id = stored_node(region.graph, region.border, i);
    const std::int64_t count = elements(region.graph[id].shape);
    if (!is_aside(layout, count) || contains_node(late, id)) continue;
    if (large * count > layout.rows * layout.columns && count > 1)
      return refuse("output-aside", fmt::format("output %{} {} beside {} would be written one element at a time",
                                                region.graph[id].name, text(region.graph[id].shape), text(layout)));
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
