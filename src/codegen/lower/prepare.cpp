// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What every plan of a group needs, on top of the structural analysis (structure.h). In: a group. Out: Prepared, or
// the rejection that holds for all of its plans. Called once per group; lower(), the enumeration and the rules read
// it.
//
// Phases. The depth of a node is the number of reductions on the longest path to it. Reductions of depth d belong to
// phase d - 1 and outputs to the phase of their own depth, so that everything a phase needs of earlier ones is
// complete.
//
// What phases leave for later ones is the subject of lower_keep.cpp.
//
// Dominants and routes. The skeleton offers the nodes whose memory order the loops may follow. From each a
// breadth-first walk over operations that keep their elements one to one leads to the outputs; the steps of the
// shortest way say how coordinates of the dominant become coordinates of an output. The same walks start from the
// results of reductions, for outputs of their size.
//
// A group of a flat loop that is turned (turn.h) is prepared a second time, for tiles; one that joins equal pieces, for
// a loop over those (pieces.cpp).
//
// Scatters that are not in place are prepared a second time too, for the loop that stores what they find.
//
// A pack is its bodies: each is outlined and prepared as a group of its own.
//
// Besides: names that are identifiers, the widest vector that an access of 16 bytes allows, and a title of telling
// operations.
#include "codegen/lower/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "base/indexed.h"
#include "codegen/lower/skeletons.h"
#include "codegen/structure/unbroken.h"
#include "ir/graph/number.h"
#include "ir/graph/reducer.h"
#include "ir/graph/region_reduction.h"
#include "ir/kernel/kernel.h"
#include "ir/rewrite/packed_pairs.h"
#include "ir/rewrite/stacked_windows.h"

namespace tailor::codegen {

namespace {

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(0, 1, 'v');
  return out;
}

/// The array whose index a dominant node stands for: what a reduction reads, else the node itself.
ir::NodeId dominant_array(const ir::Graph& graph, ir::NodeId id) {
  return walks_along(graph[id]) ? graph[id].operands[0] : id;
}

/// Operations whose operand and result hold the same elements in another order or form.
bool is_one_to_one(const ir::Graph& graph, ir::NodeId user, ir::NodeId operand) {
  const ir::Node& node = graph[user];
  const bool moves = node.op == ir::Op::reshape || node.op == ir::Op::bitcast || node.op == ir::Op::transpose ||
                     node.op == ir::Op::broadcast || node.op == ir::Op::get_tuple_element;  // of several arrays
  const bool stays = is_elementwise(node.op) || ir::scan_of(node);
  return (stays || moves) && elements(node.shape) == elements(graph[operand].shape);
}

/// Whether its elements are worth keeping: a gather's cost two trips to memory.
bool holds_elements(const ir::Node& node) {
  const ir::OpClass kind = class_of(node.op);
  return kind != ir::OpClass::index && kind != ir::OpClass::structure && node.op != ir::Op::constant &&
         (kind != ir::OpClass::lookup || node.op == ir::Op::gather);
}

/// Whether an array of the window's type can start from its neutral element: not every type of 8 bits has infinity.
bool holds_neutral(const ir::Node& window) {
  const ir::DType dtype = window.shape.dtype;
  const ir::Neutral nothing = ir::neutral(reducer(window), dtype);
  return !is_floating(dtype) || ir::decode(dtype, ir::encode(dtype, nothing.real)) == nothing.real;
}

void count_slices(const ir::Graph& graph, Prepared& out) {
  out.slices_of.resize(graph.nodes.size(), 0);
  for (const ir::Node& node : graph.nodes)
    if (node.op == ir::Op::slice) ++out.slices_of[node.operands[0]];
}

void find_windows(const ir::Graph& graph, Prepared& out) {
  out.window_of.resize(graph.nodes.size(), ir::Reducer::none);
  std::vector<ir::NodeId> mixed;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.nodes[id];
    if (const std::optional<ir::Scan> scan = ir::scan_of(node)) {
      out.scans.push_back(static_cast<ir::NodeId>(id));
      out.scans_backward = scan->direction == ir::ScanDirection::backward;
    }
    auto taps = node.op == ir::Op::reduce_window ? window_taps(graph, node) : std::nullopt;
    if (!taps) continue;
    out.taps.emplace_back(static_cast<ir::NodeId>(id), *std::move(taps));
    if (graph[node.operands[0]].op != ir::Op::parameter) continue;
    ir::Reducer& known = out.window_of[node.operands[0]];
    const bool differs = known != ir::Reducer::none && known != reducer(node);
    if (differs || !holds_neutral(node)) mixed.push_back(node.operands[0]);
    known = reducer(node);
  }
  for (const ir::NodeId id : mixed) out.window_of[id] = ir::Reducer::none;
}

void find_gathers(const ir::Graph& graph, Prepared& out) {
  out.places.resize(graph.nodes.size());
  for (std::size_t id = graph.nodes.size(); id-- > 0;) {
    const ir::Node& node = graph.nodes[id];
    if (out.places[id] != 0)
      for (const ir::NodeId operand : node.operands) out.places[operand] = 1;
    if (node.op != ir::Op::gather && node.op != ir::Op::scatter) continue;
    if (node.op == ir::Op::scatter)
      out.scatters.emplace_back(static_cast<ir::NodeId>(id), std::get<ir::ScatterForm>(scatter_form(graph, node)));
    out.gathers.emplace_back(static_cast<ir::NodeId>(id), node.op == ir::Op::scatter
                                                              ? out.scatters.back().second.numbers
                                                              : gather_numbers(graph, node));
    out.places[node.operands[1]] = 1;
  }
  std::reverse(out.gathers.begin(), out.gathers.end());
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    if (out.places[id] == 0) continue;
    out.placed_by_reduction = out.placed_by_reduction || graph.nodes[id].op == ir::Op::reduce;
    out.placed_in_walk =
        out.placed_in_walk || ir::scan_of(graph.nodes[id]) || chunk_of(out, static_cast<ir::NodeId>(id)) > 0;
  }
}

void find_chunks(const ir::Graph& graph, const Layout& layout, Prepared& out) {
  if (layout.skeleton != ir::Skeleton::row) return;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.nodes[id];
    const std::int64_t length = node.op == ir::Op::reduce ? chunk_length(graph, node, layout) : 0;
    if (length == 0) continue;
    auto& list = row_reduction(graph, node, layout) == RowReduction::chunks ? out.chunks : out.results;
    list.emplace_back(static_cast<ir::NodeId>(id), length);
    out.chunk_lengths.push_back(length);
  }
  std::ranges::sort(out.chunk_lengths);
}

/// Whether the user is a concatenation that the loop does operand by operand, and the operand one of its pieces.
bool joins(const ir::Graph& graph, const Prepared& prepared, ir::NodeId user, ir::NodeId operand) {
  return std::binary_search(prepared.joined.begin(), prepared.joined.end(), user) &&
         elements(graph[operand].shape) < elements(graph[user].shape);
}

}  // namespace

std::vector<Route> find_routes(const ir::Graph& graph, const Prepared& prepared, ir::NodeId start,
                               std::span<const ir::NodeId> targets) {
  IndexedVector<Step> reached(graph.nodes.size());
  IndexedVector<std::uint8_t> seen(graph.nodes.size(), 0);
  std::vector<ir::NodeId> queue{start};
  seen[start] = 1;
  const auto reach = [&](const Step& step) {
    if (std::exchange(seen[step.to], 1) != 0) return;
    reached[step.to] = step;
    queue.push_back(step.to);
  };
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const ir::NodeId id = queue[i];
    const std::vector<ir::NodeId>& operands = graph[id].operands;
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (is_one_to_one(graph, id, operands[k])) reach({id, operands[k], false, static_cast<std::int32_t>(k)});
    for (const ir::NodeId user : prepared.users[id])
      if (is_one_to_one(graph, user, id) || joins(graph, prepared, user, id)) reach({id, user, true, 0});
  }
  std::vector<Route> routes(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    ir::NodeId id = targets[i];
    routes[i].found = seen[id] != 0;
    for (; routes[i].found && id != start; id = reached[id].from)
      routes[i].steps.insert(routes[i].steps.begin(), reached[id]);
  }
  return routes;
}

namespace {

/// The same to what is stored.
std::vector<Route> find_routes(const ir::Graph& graph, const Prepared& prepared, ir::NodeId start) {
  return find_routes(graph, prepared, start, std::span(prepared.stored.begin(), prepared.stored.end()));
}

/// Of a loop that reduces nothing.
void find_flat_dominants(const ir::Graph& graph, Prepared& out) {
  out.dominants.clear();
  lowering(out.skeleton).dominants(graph, out);
  out.dominant_domains.assign(out.dominants.size(), Domain{});
  out.routes.clear();
  for (const ir::NodeId id : out.dominants) out.routes.push_back(find_routes(graph, out, id));
}

void find_full(const ir::Graph& graph, Prepared& out) {
  out.full.resize(graph.nodes.size());
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    out.full[id] = elements(graph.nodes[id].shape) == out.rows * out.columns && holds_elements(graph.nodes[id]);
}

/// Where a flat loop goes over a group that is turned: the group with its tiles. What waits in them is rounded to its
/// own type for all who read it.
void prepare_turned(const ir::Graph& graph, const ir::Boundary& border, Prepared& out) {
  if (out.skeleton != ir::Skeleton::map) return;
  auto found = find_turn(graph, border);
  if (!std::holds_alternative<Turn>(found)) return;
  Prepared turned = out;
  turned.in_pieces = nullptr;
  turned.in_strips.clear();
  turned.skeleton = ir::Skeleton::transpose;
  turned.turn = std::get<Turn>(std::move(found));
  for (const ir::NodeId id : turned.turn->values) {
    const ir::DType dtype = graph[id].shape.dtype;
    turned.rounded[id] = graph[id].op != ir::Op::parameter && row(dtype).compute != dtype;
  }
  find_flat_dominants(graph, turned);
  turned.title = fmt::format("{}_{}", title_of(graph), name(turned.skeleton));
  out.turned = std::make_shared<const Prepared>(std::move(turned));
}

/// Each body as a group of its own, and what is the whole's alone.
std::variant<Prepared, ir::Rejection> prepare_bodies(const ir::Group& group, ir::Skeleton skeleton,
                                                     std::vector<BodyBorder> bodies) {
  Prepared out;
  out.group = &group;
  out.graph = {std::shared_ptr<const ir::Graph>(), &group.graph};  // not owned
  out.skeleton = skeleton;
  out.rows = std::ssize(bodies);
  out.columns = 0;
  out.straight = false;
  const ir::Boundary border = whole_border(group.graph);
  for (std::size_t i = 0; i < group.graph.outputs.size(); ++i)
    out.stored.push_back(stored_node(group.graph, border, i));
  out.windows.resize(out.stored.size());
  out.full.resize(group.graph.nodes.size());
  out.users = users(group.graph);
  for (const ir::Node& node : group.graph.nodes) out.names.push_back(identifier(node.name));
  out.title = fmt::format("{}_{}", title_of(group.graph), name(out.skeleton));
  for (BodyBorder& one : bodies) {
    out.columns += elements_of(one.layout);
    Body body;
    body.group = std::make_shared<const ir::Group>(outline(group.graph, one.border));
    body.nodes = one.border.reads;
    body.nodes.insert(body.nodes.end(), one.border.inside.begin(), one.border.inside.end());
    body.inputs = std::move(one.reads);
    body.outputs = std::move(one.writes);
    std::variant<Prepared, ir::Rejection> ready = prepare(*body.group);
    if (auto* refused = std::get_if<ir::Rejection>(&ready)) return std::move(*refused);
    body.prepared = std::make_shared<const Prepared>(std::get<Prepared>(std::move(ready)));
    out.widest_vector = std::max(out.widest_vector, body.prepared->widest_vector);
    out.bodies.push_back(std::move(body));
  }
  return out;
}

std::variant<Prepared, ir::Rejection> prepare_stages(const ir::Group& group, Stages cut) {
  auto ready = prepare_bodies(group, ir::Skeleton::stages, std::move(cut.bodies));
  if (auto* prepared = std::get_if<Prepared>(&ready)) prepared->waits = std::move(cut.waits);
  return ready;
}

std::variant<Prepared, ir::Rejection> prepare_pack(const ir::Group& group) {
  auto found = find_bodies(group.graph, whole_border(group.graph));
  if (auto* refused = std::get_if<ir::Rejection>(&found)) return std::move(*refused);
  return prepare_bodies(group, ir::Skeleton::pack, std::get<std::vector<BodyBorder>>(std::move(found)));
}

}  // namespace

const WindowTaps* taps_of(const Prepared& prepared, ir::NodeId id) {
  const auto found =
      std::find_if(prepared.taps.begin(), prepared.taps.end(), [&](const auto& window) { return window.first == id; });
  return found == prepared.taps.end() ? nullptr : &found->second;
}

namespace {

/// How often each element of a node is computed: once, or for each tap of the windows that read it.
IndexedVector<std::int64_t> times_computed(const ir::Graph& graph, const Prepared& prepared) {
  IndexedVector<std::int64_t> times(graph.nodes.size(), 1);
  if (prepared.taps.empty()) return times;
  for (auto id = static_cast<ir::NodeId>(graph.nodes.size()); id-- > 0;) {
    const ir::Node& node = graph[id];
    const WindowTaps* taps = taps_of(prepared, id);
    for (const ir::NodeId operand : node.operands) {
      std::int64_t& inner = times[operand];
      inner = std::max(inner, times[id]);
      if (taps == nullptr || operand != node.operands[0]) continue;
      const std::int64_t read = elements(node.shape) * std::ssize(taps->offsets);
      inner = std::max(inner, times[id] * read / std::max<std::int64_t>(1, elements(graph[operand].shape)));
    }
  }
  return times;
}

}  // namespace

std::int64_t code_of_element(const ir::Graph& graph, const Prepared& prepared) {
  const std::int64_t domain = std::max<std::int64_t>(prepared.rows * prepared.columns, 1);
  const bool is_flat = prepared.skeleton == ir::Skeleton::map;
  std::int64_t sum = 0;
  const IndexedVector<std::int64_t> times = times_computed(graph, prepared);
  for (ir::NodeId id = 0; ir::index(id) < graph.nodes.size(); ++id) {
    const ir::Node& node = graph[id];
    std::int64_t own = 1, count = elements(node.shape) * times[id];
    if (class_of(node.op) == ir::OpClass::elementwise) {
      const ir::DType dtype = node.shape.dtype;
      const ir::Computed& row = ir::computed(node.op, dtype, ir::Arithmetic::xla);
      const ir::BranchingRow* branches = ir::branching(node.op, dtype, ir::Arithmetic::xla);
      own = std::max(1, row.fma + row.alu + row.xu + (branches == nullptr ? 0 : branches->rare));
    } else if (const WindowTaps* taps = taps_of(prepared, id); taps != nullptr) {
      own = std::ssize(taps->offsets);
    } else if (!node.bodies.empty() && !node.operands.empty()) {
      own = std::ssize(body(graph, node, 0).nodes);
      count = elements(graph[node.operands[0]].shape);
    }
    if (count >= domain)
      sum += own * (count / domain);
    else if (count > (is_flat ? 1 : prepared.rows))
      sum += own;
  }
  return sum;
}

std::variant<Prepared, ir::Rejection> prepare_cut(const ir::Group& group, const std::vector<ir::NodeId>& waits) {
  auto found = cut_at(group.graph, whole_border(group.graph), waits);
  if (auto* refused = std::get_if<ir::Rejection>(&found)) return std::move(*refused);
  return prepare_stages(group, std::get<Stages>(std::move(found)));
}

std::vector<ir::NodeId> workspaces_of(const Prepared& prepared) {
  const std::vector<ir::NodeId>& outputs = prepared.graph->outputs;
  std::vector<ir::NodeId> found;
  std::copy_if(prepared.waits.begin(), prepared.waits.end(), std::back_inserter(found),
               [&](ir::NodeId id) { return std::find(outputs.begin(), outputs.end(), id) == outputs.end(); });
  return found;
}

namespace {

/// The group's own graph, or a copy with the same node numbers in which a kernel finds what it computes. The group must
/// outlive it.
std::shared_ptr<const ir::Graph> as_lowered(const ir::Graph& group) {
  std::shared_ptr<const ir::Graph> graph{std::shared_ptr<const ir::Graph>(), &group};  // not owned
  for (const auto rewritten :
       {&ir::folded, &ir::with_windows_gathered, &ir::with_pairs_packed, &ir::with_reductions_as_arrays})
    if (std::optional<ir::Graph> other = rewritten(*graph))
      graph = std::make_shared<const ir::Graph>(*std::move(other));
  return graph;
}

}  // namespace

namespace {

/// What depends on the rows and columns of a loop that reduces nothing.
void prepare_flat(const ir::Graph& graph, Prepared& out) {
  find_full(graph, out);
  out.choices.clear();
  find_choices(graph, out);
  out.phases.clear();
  find_phases(graph, {}, out);
  find_walks(out);
  find_flat_dominants(graph, out);
  out.element_code = code_of_element(graph, out);
}

/// Fills Prepared::fill where the group has scatters into arrays of their own; all else is known.
void prepare_fill(const ir::Graph& graph, const ir::Boundary& border, Prepared& out) {
  if (!fills_first(graph, border)) return;
  Prepared fill = out;
  fill.fills = true;
  std::vector<std::int32_t> filled;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    if (graph[graph.outputs[i]].op == ir::Op::scatter && !is_written_in_place(border, graph.outputs[i]))
      filled.push_back(static_cast<std::int32_t>(i));
  const auto array_of = [&](std::size_t output) { return graph[graph.outputs[output]].operands[0]; };
  fill.columns = 1;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const bool is_filled = std::find(filled.begin(), filled.end(), static_cast<std::int32_t>(i)) != filled.end();
    fill.stored[i] = array_of(is_filled ? i : ir::index(filled.front()));
    fill.columns = std::max(fill.columns, elements(graph[fill.stored[i]].shape));
  }
  prepare_flat(graph, fill);
  fill.phases[0].outputs = filled;
  out.fill = std::make_shared<const Prepared>(std::move(fill));
}

/// Loops over other things that the group has plans of too.
void prepare_others(const ir::Graph& graph, const ir::Boundary& border, Prepared& out) {
  if (!out.scatters.empty()) return prepare_fill(graph, border, out);
  prepare_pieces(graph, out);
  prepare_strips(graph, out);
  prepare_turned(graph, border, out);
  prepare_bundles(graph, border, out);
}

}  // namespace

std::variant<Prepared, ir::Rejection> prepare(const ir::Group& group) {
  // What analyse_stages() says of the graph as it is and of the folded one is the same, but names are those of the
  // group.
  Stages cut;
  const Classified structure = analyse_stages(group.graph, whole_border(group.graph), &cut);
  if (const auto* refused = std::get_if<ir::Rejection>(&structure)) return *refused;
  const ir::Skeleton skeleton = std::get<Layout>(structure).skeleton;
  if (skeleton == ir::Skeleton::pack) return prepare_pack(group);
  if (skeleton == ir::Skeleton::stages) return prepare_stages(group, std::move(cut));
  Prepared out;
  out.group = &group;
  out.graph = as_lowered(group.graph);
  const ir::Graph& graph = *out.graph;
  const ir::Boundary border = whole_border(graph);
  const Layout& layout = std::get<Layout>(structure);
  out.skeleton = layout.skeleton;
  out.rows = layout.rows;
  out.columns = layout.columns;
  out.domain = layout.domain;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) out.stored.push_back(stored_node(graph, border, i));
  out.windows.resize(out.stored.size());
  find_full(graph, out);
  count_slices(graph, out);
  find_chunks(graph, layout, out);
  find_gathers(graph, out);
  find_windows(graph, out);
  out.users = users(graph);
  find_choices(graph, out);
  for (const ir::Node& node : graph.nodes) {
    out.names.push_back(identifier(node.name));
    out.straight = out.straight && !turns_or_cuts(node);
    out.unbroken = std::gcd(out.unbroken, unbroken_run(graph, node));
    if (node.op == ir::Op::parameter)
      out.widest_vector = std::max(out.widest_vector, 8 * ir::access_bytes / row(node.shape.dtype).bits);
  }
  for (const ir::NodeId id : graph.outputs)
    out.widest_vector = std::max(out.widest_vector, 8 * ir::access_bytes / row(graph[id].shape.dtype).bits);
  find_phases(graph, late_values(Region(graph, border), layout), out);
  find_homes(graph, out);
  find_walks(out);
  lowering(out.skeleton).dominants(graph, out);
  for (const ir::NodeId id : out.dominants)
    out.dominant_domains.push_back(walks_along(graph[id]) ? walked_domain(graph, graph[id]) : Domain{});
  for (const ir::NodeId id : out.dominants) out.routes.push_back(find_routes(graph, out, dominant_array(graph, id)));
  for (const Phase& phase : out.phases)
    for (const std::vector<ir::NodeId>* sums : {&phase.reductions, &phase.across})
      for (const ir::NodeId id : *sums) out.result_routes.emplace_back(id, find_routes(graph, out, id));
  for (const auto& [id, length] : out.chunks) out.result_routes.emplace_back(id, find_routes(graph, out, id));
  // The skeleton's name keeps a single word apart from CUDA's own functions (max, exp).
  out.title = fmt::format("{}_{}", title_of(graph), name(out.skeleton));
  out.element_code = code_of_element(graph, out);
  prepare_others(graph, border, out);
  return out;
}

namespace {

/// argmax or argmin for a reduction of values and their places whose body keeps the larger or the smaller value.
std::string_view reduction_word(const ir::Graph& graph, const ir::Node& node) {
  if (const ir::Reducer known = reducer(node); known == ir::Reducer::add)
    return "sum";
  else if (known != ir::Reducer::custom && known != ir::Reducer::none)
    return name(known);
  const bool is_pair = node.operands.size() == 4 && !node.bodies.empty() && node.results.size() == 2 &&
                       is_integer(node.results[1].dtype);
  if (!is_pair) return "reduce";
  const ir::Graph& region = body(graph, node, 0);
  const auto is_value = [&](ir::NodeId id, std::int64_t number) {
    return region[id].op == ir::Op::parameter && parameter_number(region[id]) == number;
  };
  for (const ir::Node& in : region.nodes) {
    if (in.op != ir::Op::compare || !is_value(in.operands[0], 0) || !is_value(in.operands[1], 2)) continue;
    switch (ir::attributes_as<ir::CompareOptions>(in).comparison) {
      case ir::Comparison::gt:
      case ir::Comparison::ge:
        return "argmax";
      case ir::Comparison::lt:
      case ir::Comparison::le:
        return "argmin";
      default:
        break;
    }
  }
  return "reduce";
}

/// What a group is alone with, almost, whether a skeleton lowers it or not: it is what the group does.
bool is_main(const ir::Node& node) {
  if (node.op == ir::Op::dynamic_slice || node.op == ir::Op::dynamic_update_slice) return false;
  switch (class_of(node.op)) {
    case ir::OpClass::lookup:
    case ir::OpClass::window:
    case ir::OpClass::mapped:
    case ir::OpClass::random:
    case ir::OpClass::library:
    case ir::OpClass::composite:
    case ir::OpClass::communication:
    case ir::OpClass::opaque:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string title_of(const ir::Graph& graph) {
  // The rarest operations tell most: those that stand alone, then transcendental ones and reductions, in order of first
  // appearance.
  std::vector<std::string_view> words;
  const auto note = [&](std::string_view word) {
    if (words.size() < 4 && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  for (const ir::Node& node : graph.nodes)
    if (is_main(node)) note(name(node.op));
  for (const ir::Node& node : graph.nodes) {
    if (node.op == ir::Op::reduce) note(reduction_word(graph, node));
    if (row(node.op).xu > 0) note(name(node.op));
  }
  for (const ir::Node& node : graph.nodes)
    if (class_of(node.op) == ir::OpClass::elementwise && node.op != ir::Op::convert) note(name(node.op));
  for (const ir::Node& node : graph.nodes)
    if (class_of(node.op) == ir::OpClass::index || node.op == ir::Op::convert || node.op == ir::Op::iota)
      note(name(node.op));
  if (words.empty())
    for (const ir::Node& node : graph.nodes)
      if (class_of(node.op) != ir::OpClass::leaf) note(name(node.op));
  return fmt::format("{}", fmt::join(words, "_"));
}

bool is_of_elements(const Prepared& prepared, std::int32_t output) {
  const std::int64_t count = elements((*prepared.graph)[prepared.stored[output]].shape);
  if (const Strip& strip = prepared.strip; strip.rows > 0)
    return count == prepared.columns / strip.piece.dims[strip.dim] * strip.all;
  const bool of_columns = row(prepared.skeleton).unit == ir::WorkUnit::columns;
  return of_columns ? count != prepared.rows / prepared.bundle
                    : count == prepared.windows[output].count * prepared.rows * prepared.columns;
}

std::int64_t chunk_of_output(const Prepared& prepared, std::int32_t output) {
  const std::int64_t count = elements((*prepared.graph)[prepared.stored[output]].shape);
  const auto fits = [&](const auto& chunk) { return count * chunk.second == prepared.rows * prepared.columns; };
  const auto found = std::ranges::find_if(prepared.chunks, fits);
  return found == prepared.chunks.end() ? 0 : found->second;
}

bool goes_over(const Prepared& prepared, std::int32_t output) {
  return is_of_elements(prepared, output) || chunk_of_output(prepared, output) > 0;
}

bool reads_elements(const Prepared& prepared, ir::NodeId reduce) {
  const ir::Graph& graph = *prepared.graph;
  return elements(graph[graph[reduce].operands[0]].shape) == prepared.rows * prepared.columns;
}

const Prepared& prepared_for(const Prepared& prepared, const ir::Plan& plan) {
  for (const auto* other : {&prepared.turned, &prepared.in_bundles})
    if (*other != nullptr && (*other)->skeleton == plan.skeleton) return **other;
  for (const std::shared_ptr<const Prepared>& strips : prepared.in_strips)
    if (strips->skeleton == plan.skeleton && strips->strip.rows == plan.strip) return *strips;
  const Prepared* pieces = prepared.in_pieces.get();
  if (pieces == nullptr || pieces->skeleton != plan.skeleton) return prepared;
  const bool follows =
      std::find(pieces->dominants.begin(), pieces->dominants.end(), plan.dominant) != pieces->dominants.end();
  return follows ? *pieces : prepared;
}

std::string loop_words(const Prepared& prepared, const ir::Plan& plan) {
  const Prepared& meant = prepared_for(prepared, plan);
  return fmt::format("{}{}", name(plan.skeleton),
                     meant.strip.rows > 0   ? " in strips"
                     : meant.bundle > 1     ? " in bundles"
                     : meant.joined.empty() ? ""
                                            : " over pieces");
}

std::size_t dominant_number(const Prepared& prepared, const ir::Plan& plan) {
  const auto found = std::find(prepared.dominants.begin(), prepared.dominants.end(), plan.dominant);
  return found == prepared.dominants.end() ? 0 : static_cast<std::size_t>(found - prepared.dominants.begin());
}

}  // namespace tailor::codegen
