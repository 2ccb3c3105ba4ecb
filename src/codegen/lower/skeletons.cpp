// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of loop structures, made of the rows of ir/skeletons.def, and its first column; the phases of a group. In:
// a skeleton. Out: its row of functions. Called by prepare, lower, rules and shrinking. A row whose functions are
// missing does not link, so a new skeleton is a row there and functions here.
//
// Dominant nodes are those whose order in memory the loops of a plan can follow; candidates stand in the order of usual
// choice. Rows and columns follow what a reduction reads, one reduction for each shape that is read, of columns for
// each order in memory too; a flat loop follows an array as large as the largest output, tiles an output. Bodies of a
// pack have their own.
//
// Rows whose elements lie in short runs are prepared a second time, as columns in bundles (decision 66): the same
// phases and homes over another domain, with dominants and routes of their own.
#include "codegen/lower/skeletons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/indexed.h"

namespace tailor::codegen {

namespace {

constexpr std::array table = std::to_array<SkeletonLowering>({
#define SKELETON(name, unit, what, ...) {dominants_##name, mapping_##name, refuse_##name},
#include "ir/skeletons.def"
#undef SKELETON
});

}  // namespace

const SkeletonLowering& lowering(ir::Skeleton skeleton) { return row_for(table, skeleton); }

// ---- phases

namespace {

/// Number of reductions on the longest path up to and including each node. What is late has none. What reads a scan at
/// other places is one phase further, as if that had been reduced.
IndexedVector<std::int32_t> depths(const ir::Graph& graph, const Prepared& prepared,
                                   const std::vector<ir::NodeId>& late) {
  IndexedVector<std::int32_t> depth(graph.nodes.size(), 0);
  IndexedVector<std::int32_t> scanned(graph.nodes.size(), -1);  // the last phase of a scan whose place a value has
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.nodes[id];
    for (const ir::NodeId operand : node.operands) {
      depth[id] = std::max(depth[id], depth[operand]);
      scanned[id] = std::max(scanned[id], scanned[operand]);
    }
    if (moves_elements(graph, node)) depth[id] = std::max(depth[id], std::exchange(scanned[id], -1) + 1);
    if (node.op == ir::Op::reduce) scanned[id] = -1;
    if (ends_phase(prepared, graph, static_cast<ir::NodeId>(id))) ++depth[id];
    if (ir::scan_of(node)) scanned[id] = depth[id];
    if (std::binary_search(late.begin(), late.end(), static_cast<ir::NodeId>(id))) depth[id] = 0;
  }
  return depth;
}

/// Per node: whether some user of it, or of what is computed of it at its place, moves its elements.
IndexedVector<std::uint8_t> read_moved(const ir::Graph& graph, const Prepared& prepared) {
  IndexedVector<std::uint8_t> moved(graph.nodes.size(), 0);
  for (std::size_t id = graph.nodes.size(); id-- > 0;)
    for (const ir::NodeId user : prepared.users[id]) {
      const ir::Node& node = graph[user];
      const bool ends = node.op == ir::Op::reduce || ir::scan_of(node);
      if (moves_elements(graph, node) || (!ends && moved[user] != 0)) moved[id] = 1;
    }
  return moved;
}

}  // namespace

void find_phases(const ir::Graph& graph, const std::vector<ir::NodeId>& late, Prepared& out) {
  const auto is_late = [&](ir::NodeId id) { return std::binary_search(late.begin(), late.end(), id); };
  const IndexedVector<std::int32_t> depth = depths(graph, out, late);
  const std::int32_t deepest = depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
  out.phases.resize(static_cast<std::size_t>(deepest) + 1);
  if (!out.scans.empty()) {
    const IndexedVector<std::uint8_t> moved = read_moved(graph, out);
    for (const ir::NodeId id : out.scans)
      if (moved[id] != 0) out.phases[depth[id]].left.push_back(id);
  }
  for (ir::NodeId id = 0; id < static_cast<ir::NodeId>(graph.nodes.size()); ++id)
    if (graph[id].op == ir::Op::reduce && is_late(id))
      out.phases[depth[graph[id].operands[0]]].across.push_back(id);
    else if (ends_phase(out, graph, id))
      out.phases[depth[id] - 1].reductions.push_back(id);
  const Layout layout{out.skeleton, out.rows, out.columns, out.domain};
  out.across.clear();
  out.sets = {};
  for (const Phase& phase : out.phases)
    for (const ir::NodeId id : phase.across)
      if (const std::optional<AcrossSum> sum = across_sum(graph, graph[id], layout)) out.across.emplace_back(id, *sum);
  std::ranges::sort(out.across, {}, &std::pair<ir::NodeId, AcrossSum>::first);
  for (const auto& [id, sum] : out.across)
    if (sum.sets.count() > 1) out.sets = sum.sets;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ir::NodeId id = out.stored[i];
    const bool aside = row(out.skeleton).unit != ir::WorkUnit::elements &&
                       is_aside(layout, elements(graph[id].shape)) &&
                       chunk_of_output(out, static_cast<std::int32_t>(i)) == 0;
    std::vector<std::int32_t>& place = is_late(id)      ? out.late_outputs
                                       : !aside         ? out.phases[depth[id]].outputs
                                       : depth[id] == 0 ? out.free_aside
                                                        : out.reduced_aside;
    place.push_back(static_cast<std::int32_t>(i));
  }
  out.sums_across = !late.empty();
}

void find_walks(Prepared& out) {
  out.walks = 0;
  for (Phase& phase : out.phases) {
    const auto is_walked = [&](std::int32_t output) { return goes_over(out, output); };
    const auto sums_elements = [&](ir::NodeId sum) { return reads_elements(out, sum); };
    phase.walks = !phase.reductions.empty() || !phase.left.empty() ||
                  std::any_of(phase.across.begin(), phase.across.end(), sums_elements) ||
                  std::any_of(phase.outputs.begin(), phase.outputs.end(), is_walked);
    out.walks += phase.walks ? 1 : 0;
  }
}

// ---- dominants

/// Outputs and parameters as large as the largest output, one of each shape and layout.
void dominants_map(const ir::Graph& graph, Prepared& prepared) {
  const auto offer = [&](ir::NodeId id) {
    const ir::Node& node = graph[id];
    if (elements(node.shape) != prepared.columns) return;
    const bool known = std::any_of(prepared.dominants.begin(), prepared.dominants.end(), [&](ir::NodeId other) {
      return graph[other].shape.dims == node.shape.dims && graph[other].shape.same_layout(node.shape);
    });
    if (!known) prepared.dominants.push_back(id);
  };
  for (const ir::NodeId id : prepared.stored) offer(id);
  for (const ir::NodeId id : parameters(graph)) offer(id);
}

/// The output of whose dimensions tiles are made.
void dominants_transpose(const ir::Graph&, Prepared& prepared) { prepared.dominants = {prepared.turn->dominant}; }

/// The first reduction, and others that read an array of other dimensions or of another order in memory; without any
/// the first scan.
void dominants_column(const ir::Graph& graph, Prepared& prepared) {
  const auto source = [&](ir::NodeId id) -> const ir::Shape& { return graph[graph[id].operands[0]].shape; };
  for (const Phase& phase : prepared.phases)
    for (const ir::NodeId id : phase.reductions) {
      const bool known = std::any_of(prepared.dominants.begin(), prepared.dominants.end(), [&](ir::NodeId other) {
        return source(other).dims == source(id).dims && source(other).same_layout(source(id)) &&
               axes(graph[other]) == axes(graph[id]);
      });
      if (!known) prepared.dominants.push_back(id);
    }
  if (prepared.dominants.empty()) prepared.dominants.push_back(prepared.scans.front());
}

void prepare_bundles(const ir::Graph& graph, const ir::Boundary& border, Prepared& prepared) {
  const Layout layout{prepared.skeleton, prepared.rows, prepared.columns, prepared.domain};
  if (!has_bundles(Region(graph, border), layout) || !prepared.free_aside.empty() || !prepared.reduced_aside.empty())
    return;
  Prepared columns = prepared;
  columns.skeleton = ir::Skeleton::column;
  columns.bundle = prepared.domain.bundle();
  columns.domain = prepared.domain.unbundled();
  columns.rows = columns.domain.kept();
  columns.columns = columns.domain.reduced();
  columns.dominants.clear();
  columns.dominant_domains.clear();
  columns.routes.clear();
  dominants_column(graph, columns);
  for (const ir::NodeId id : columns.dominants) {
    columns.dominant_domains.push_back(domain_of(graph, graph[id]).unbundled());
    columns.routes.push_back(
        find_routes(graph, columns, graph[id].operands[0], std::span(columns.stored.begin(), columns.stored.end())));
  }
  columns.title = fmt::format("{}_{}", title_of(graph), name(columns.skeleton));
  columns.element_code = code_of_element(graph, columns);
  prepared.in_bundles = std::make_shared<const Prepared>(std::move(columns));
}

/// The first reduction of elements, and others whose operands have other dimensions; without any the first scan, or the
/// first reduction of chunks.
void dominants_row(const ir::Graph& graph, Prepared& prepared) {
  for (const Phase& phase : prepared.phases)
    for (const ir::NodeId id : phase.reductions)
      if (reads_elements(prepared, id) &&
          (prepared.dominants.empty() ||
           graph[graph[id].operands[0]].shape.dims != graph[graph[prepared.dominants[0]].operands[0]].shape.dims))
        prepared.dominants.push_back(id);
  if (prepared.dominants.empty())
    prepared.dominants.push_back(prepared.scans.empty() ? prepared.chunks.front().first : prepared.scans.front());
}

void dominants_pack(const ir::Graph&, Prepared&) {}

}  // namespace tailor::codegen
