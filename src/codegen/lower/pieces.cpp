// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over the pieces of a concatenation. In: a group prepared for a flat loop over its result. Out: the same group
// prepared for a loop over one piece (Prepared::in_pieces), where its root is a concatenation of pieces of one shape.
// Called by prepare() once per group.
//
// Over the result each element asks which operand it comes from, and loads what only that one needs. Over a piece a
// thread makes the same place of all of them: what they share is loaded once (a rotary embedding reads both halves of
// its row, the cosine and the sine for either half of the result), nothing is asked, and each value goes to a window of
// the result. Where pieces are short runs of memory, windows are written in parts of sectors, which the loop over the
// result does not do; so both have plans, and a cost model ranks them together. XLA's emitter for concatenations goes
// over pieces too.
//
// How it is made. Nothing is rewritten. An output is stored once for each piece, at the coordinates that a walk from
// the piece through the concatenation gives; on the way back down these lie inside of one operand, so neither the
// others nor a condition are emitted. The result may follow from the concatenation element by element or be reshaped,
// transposed and converted on the way: a route leads there as from any dominant. Outputs of the concatenation's
// dimensions that do not follow from it are cut likewise, those as large as a piece or smaller are stored as ever, and
// several concatenations are done together where they have as many pieces of one size.
//
// The concatenation is no choice here (lower_choice.cpp): an operand that is a parameter is loaded as one.
#include <algorithm>
#include <iterator>
#include <utility>

#include "codegen/lower/prepare.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

namespace {

using ir::NodeId;

/// Each piece is a store and what it needs of its own, of all vectors in flight: more of them would fill the registers
/// of a thread and its code, and share less than a choice of one among them saves.
constexpr std::size_t most_pieces = 16;

bool joins_pieces(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph[id];
  if (node.op != ir::Op::concatenate || node.operands.size() < 2 || node.operands.size() > most_pieces) return false;
  return std::all_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) {
    return graph[operand].shape.dims == graph[node.operands.front()].shape.dims;
  });
}

/// Of `joined` the one with the shortest way to the node, and that way.
std::pair<NodeId, Route> nearest(const ir::Graph& graph, const Prepared& prepared, NodeId node,
                                 const std::vector<NodeId>& joined) {
  std::pair<NodeId, Route> best{ir::no_node, {}};
  for (const NodeId id : joined) {
    Route route = find_routes(graph, prepared, graph[id].operands.front(), std::span(&node, 1)).front();
    const bool nearer = !best.second.found || route.steps.size() < best.second.steps.size();
    if (route.found && nearer) best = {id, std::move(route)};
  }
  return best;
}

/// How a loop over pieces of so many elements writes the output; nothing where it cannot.
std::optional<Windows> windows_of(const ir::Graph& graph, const Prepared& pieces, NodeId stored) {
  const std::int64_t count = elements(graph[stored].shape);
  if (count <= pieces.columns) return Windows{};
  const auto [joined, route] = nearest(graph, pieces, stored, pieces.joined);
  Windows windows;
  windows.target = stored;
  windows.route = route;
  NodeId through = joined;
  if (through == ir::no_node) {  // cut as a concatenation of its dimensions is
    const auto alike = std::find_if(pieces.joined.begin(), pieces.joined.end(),
                                    [&](NodeId id) { return graph[id].shape.dims == graph[stored].shape.dims; });
    if (alike == pieces.joined.end()) return std::nullopt;
    through = windows.target = *alike;
    windows.route = nearest(graph, pieces, through, {through}).second;
  }
  windows.piece = graph[through].operands.front();
  windows.count = static_cast<std::int32_t>(graph[through].operands.size());
  return windows;
}

/// The concatenations of pieces as large as those of the one that has the shortest way to the largest output; none
/// where no such leads to one.
std::vector<NodeId> find_joined(const ir::Graph& graph, const Prepared& whole) {
  Prepared trial = whole;  // routes go upwards through what is joined
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id)
    if (elements(graph[id].shape) == whole.columns && joins_pieces(graph, id)) trial.joined.push_back(id);
  if (trial.joined.empty()) return {};
  NodeId best = ir::no_node;
  for (const NodeId stored : whole.stored)
    if (best == ir::no_node && elements(graph[stored].shape) == whole.columns)
      best = nearest(graph, trial, stored, trial.joined).first;
  if (best == ir::no_node) return {};
  const auto other_size = [&](NodeId id) { return graph[id].operands.size() != graph[best].operands.size(); };
  std::erase_if(trial.joined, other_size);
  return trial.joined;
}

/// Inputs that are read once: as large as a piece, or as the result, of which each piece reads a part.
void mark_full(const ir::Graph& graph, const Prepared& whole, Prepared& pieces) {
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].op == ir::Op::parameter && elements(graph.nodes[id].shape) == pieces.columns)
      pieces.full[id] = 1;
    else if (graph.nodes[id].op != ir::Op::parameter || elements(graph.nodes[id].shape) != whole.columns)
      pieces.full[id] = 0;
}

/// Pieces of each shape and layout, then outputs and parameters as large as one.
void find_dominants(const ir::Graph& graph, Prepared& pieces) {
  Prepared wanted;
  wanted.columns = pieces.columns;
  for (const Windows& windows : pieces.windows)
    if (windows.count > 1)
      for (const Step& step : windows.route.steps)
        if (graph[step.to].op == ir::Op::concatenate)
          std::copy(graph[step.to].operands.begin(), graph[step.to].operands.end(), std::back_inserter(wanted.stored));
  std::copy(pieces.stored.begin(), pieces.stored.end(), std::back_inserter(wanted.stored));
  lowering(ir::Skeleton::map).dominants(graph, wanted);
  pieces.dominants = std::move(wanted.dominants);
  pieces.dominant_domains.assign(pieces.dominants.size(), Domain{});
  std::vector<NodeId> targets;
  for (std::size_t i = 0; i < pieces.stored.size(); ++i)
    targets.push_back(pieces.windows[i].count > 1 ? pieces.windows[i].target : pieces.stored[i]);
  pieces.routes.clear();
  for (const NodeId id : pieces.dominants) pieces.routes.push_back(find_routes(graph, pieces, id, targets));
}

}  // namespace

void prepare_pieces(const ir::Graph& graph, Prepared& out) {
  if (out.skeleton != ir::Skeleton::map) return;
  std::vector<NodeId> joined = find_joined(graph, out);
  if (joined.empty()) return;
  Prepared pieces = out;
  pieces.joined = std::move(joined);
  pieces.columns = elements(graph[graph[pieces.joined.front()].operands.front()].shape);
  for (std::size_t i = 0; i < pieces.stored.size(); ++i) {
    std::optional<Windows> windows = windows_of(graph, pieces, pieces.stored[i]);
    if (!windows) return;
    pieces.windows[i] = *std::move(windows);
  }
  pieces.element_code = code_of_element(graph, pieces);
  mark_full(graph, out, pieces);
  pieces.choices.clear();
  find_choices(graph, pieces);
  find_dominants(graph, pieces);
  out.in_pieces = std::make_shared<const Prepared>(std::move(pieces));
}

}  // namespace tailor::codegen
