// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What neighbouring results read in common. In: results, a dimension. Out: bytes, apart and together. Called through
// shared_reads.h.
//
// A stencil that is written with slices, pads or rolls is a sum of one array at several places: a causal convolution of
// four taps reads x[t-3] .. x[t] for its result at t, and three of these again for the next. Each result is walked down
// to what it loads, at its place as an index expression. Equal expressions have equal ids, so places that two results
// have in common are counted once: of 8 results of four taps there are 11 and not 32.
#include "codegen/structure/shared_reads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/division.h"
#include "codegen/structure/strip.h"

namespace tailor::codegen {

namespace {

class ReadWalk {
 public:
  explicit ReadWalk(const ir::Graph& graph) : graph_(graph), known_(graph.nodes.size()) {}

  /// Whether it went through all that the element is made of.
  bool visit(ir::NodeId result, const Coordinates& place) {
    note(result, place);
    while (!open_.empty()) {
      const auto [id, coordinates] = open_.back();
      open_.pop_back();
      if (++steps_ > most_steps) return false;
      const ir::Node& node = graph_[id];
      for (int k = 0; k < static_cast<int>(node.operands.size()); ++k)
        if (is_read(node, k, coordinates))
          note(node.operands[k], operand_coordinates(build_, graph_, node, k, coordinates));
    }
    return true;
  }

  bool is_loaded(ir::NodeId id) const {
    return graph_[id].op == ir::Op::parameter || (!is_passed(id) && ir::class_of(graph_[id].op) != ir::OpClass::leaf);
  }

  /// Different places of each node that is loaded.
  IndexedVector<std::int64_t> places() const {
    IndexedVector<std::int64_t> counts(known_.size());
    for (ir::NodeId id = 0; ir::index(id) < known_.size(); ++id)
      counts[id] = is_loaded(id) ? std::ssize(known_[id]) : 0;
    return counts;
  }

  /// The most places of a node that lie in one aligned piece of so many elements.
  int most_in_piece(ir::NodeId id, std::int64_t piece) {
    std::vector<ir::ExprId> begins;  // of the pieces of those whose place in a piece is known
    for (const Coordinates& place : known_[id]) {
      const ir::ExprId address = build_.expand(memory_index(build_, graph_[id].shape, place));
      const std::int64_t constant = build_.pool()[address].constant;
      const ir::ExprId begin = build_.add_constant(address, floor_div(constant, piece) * piece - constant);
      if (build_.is_multiple(begin, piece)) begins.push_back(begin);
    }
    std::ptrdiff_t most = 0;
    for (const ir::ExprId begin : begins) most = std::max(most, std::count(begins.begin(), begins.end(), begin));
    return static_cast<int>(most);
  }

  IndexBuilder& build() { return build_; }

 private:
  static constexpr int most_steps = 1 << 13;

  bool is_passed(ir::NodeId id) const {
    const ir::OpClass kind = ir::class_of(graph_[id].op);
    return kind == ir::OpClass::elementwise || kind == ir::OpClass::index;
  }

  void note(ir::NodeId id, const Coordinates& place) {
    std::vector<Coordinates>& known = known_[id];
    if (std::find(known.begin(), known.end(), place) != known.end()) return;
    known.push_back(place);
    if (is_passed(id)) open_.emplace_back(id, place);
  }

  bool is_read(const ir::Node& node, int k, const Coordinates& coordinates) {
    if (node.op == ir::Op::concatenate) return may_hold(build_, make_inside(build_, graph_, node, k, coordinates));
    if (node.op != ir::Op::pad || k != 0) return true;
    for (int dim = 0; dim < node.shape.rank(); ++dim)
      if (!may_hold(build_, make_inside(build_, graph_, node, dim, coordinates))) return false;
    return true;
  }

  const ir::Graph& graph_;
  IndexBuilder build_;
  IndexedVector<std::vector<Coordinates>> known_;
  std::vector<std::pair<ir::NodeId, Coordinates>> open_;
  int steps_ = 0;
};

}  // namespace

IndexedVector<int> places_side_by_side(const ir::Graph& graph, std::span<const ir::NodeId> results) {
  constexpr std::int64_t piece = 4;
  IndexedVector<int> most(graph.nodes.size(), 0);
  ReadWalk walk(graph);
  IndexBuilder& build = walk.build();
  const ir::Shape& shape = graph[results.front()].shape;
  const ir::ExprId position = build.var(build.add_var({"p", ir::VarKind::loop, elements(shape), 1}));
  const Coordinates at = delinearize_memory(build, shape, position);
  for (const ir::NodeId result : results)
    if (!walk.visit(result, at)) return most;
  for (ir::NodeId id = 0; ir::index(id) < most.size(); ++id)
    if (walk.is_loaded(id)) most[id] = walk.most_in_piece(id, piece);
  return most;
}

std::optional<SharedReads> shared_reads(const ir::Graph& graph, std::span<const ir::NodeId> results, int dim,
                                        int rows) {
  ReadWalk walk(graph);
  IndexBuilder& build = walk.build();
  const ir::Shape& shape = graph[results.front()].shape;
  const ir::Shape piece = strip_shape(shape, dim, rows);
  const ir::ExprId position = build.var(build.add_var({"p", ir::VarKind::loop, elements(piece), 1}));
  IndexedVector<std::int64_t> one;  // places that the first result of a strip reads
  for (std::int32_t number = 0; number < rows; ++number) {
    Coordinates at = strip_coordinates(build, piece, position, dim, rows, number);
    const ir::Interval range = build.pool()[at[dim]].range;
    if (range.low >= shape.dims[dim]) continue;
    if (range.high >= shape.dims[dim]) at[dim] = build.narrow(at[dim], {0, shape.dims[dim] - 1});
    for (const ir::NodeId result : results)
      if (!walk.visit(result, at)) return std::nullopt;
    if (number == 0) one = walk.places();
  }
  const IndexedVector<std::int64_t> all = walk.places();
  SharedReads shared;
  for (ir::NodeId id = 0; ir::index(id) < one.size(); ++id) {
    if (one[id] == 0) continue;
    const std::int64_t bytes = element_bytes(graph[id].shape.dtype);
    shared.apart += rows * one[id] * bytes;
    shared.together += all[id] * bytes;
    const bool is_whole = elements(graph[id].shape) >= elements(graph[results.front()].shape);
    const bool is_moved = one[id] < all[id] || (is_whole && one[id] > 1);
    shared.overlaps = shared.overlaps || (is_moved && all[id] < rows * one[id]);
  }
  return shared;
}

}  // namespace tailor::codegen
