// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that stay whole. In: a node. Out: their length. Called by prepare.cpp.
//
// Between arrays of one layout an operation that cuts or joins along some dimensions leaves those below them in memory
// as they are. So a run is the product of the faster dimensions, times what all numbers of the first broken dimension
// (its sizes, where a piece begins) have as a common divisor: a run begins at a multiple of itself on both sides then.
// A transpose keeps the fastest dimensions that stay where they are. A broadcast repeats elements or runs of them up to
// the end of its fastest run, where a vector would read one more of them.
#include "codegen/structure/unbroken.h"

#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "codegen/structure/index_map.h"
#include "ir/graph/domain.h"
#include "ir/graph/window_strips.h"

namespace tailor::codegen {

namespace {

/// Of two arrays of one layout, which differ along the dimensions of which `common` says more than 0: by what numbers
/// of these can be divided.
template <class Common>
std::int64_t below(const ir::Shape& from, const ir::Shape& to, const Common& common) {
  if (from.rank() != to.rank() || !from.same_layout(to)) return 1;
  std::int64_t run = 1;
  for (int i = 0; i < to.rank(); ++i) {
    const int dim = to.minor_to_major[static_cast<std::size_t>(i)];
    if (const std::int64_t divisor = common(dim); divisor > 0) return run * divisor;
    run *= to.dims[dim];
  }
  return 0;
}

std::int64_t of_transpose(const ir::Shape& from, const ir::Shape& to, const ir::Dims& axes) {
  const std::vector<int> sources = ir::wide_dimensions(from), results = ir::wide_dimensions(to);
  std::int64_t run = 1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (sources[i] != axes[results[i]]) return run;
    run *= to.dims[results[i]];
  }
  return 0;
}

/// Neighbours are neighbours below, or one element, up to the end of the fastest run.
std::int64_t of_broadcast(const ir::Node& node, const ir::Shape& from) {
  const std::optional<ir::Domain> domain = ir::spread_domain(node, from);
  return domain && domain->runs.size() > 1 ? domain->fastest() : 0;
}

}  // namespace

bool turns_or_cuts(const ir::Node& node) {
  const bool renames = node.op == ir::Op::broadcast || node.op == ir::Op::reshape || node.op == ir::Op::bitcast;
  return reads_elsewhere(class_of(node.op)) && !renames && !ir::scan_of(node);
}

std::int64_t unbroken_run(const ir::Graph& graph, const ir::Node& node) {
  if (node.op == ir::Op::broadcast) return of_broadcast(node, graph[node.operands[0]].shape);
  if (!turns_or_cuts(node)) return 0;
  if (node.operands.empty()) return 1;  // an iota: neighbours differ
  const ir::Shape &from = graph[node.operands[0]].shape, &to = node.shape;
  const auto sizes = [&](int dim) { return std::gcd(from.dims[dim], to.dims[dim]); };
  switch (node.op) {
    case ir::Op::transpose:
      return of_transpose(from, to, axes(node));
    case ir::Op::concatenate: {
      std::int64_t run = 0;
      for (const ir::NodeId piece : node.operands) {
        const ir::Shape& shape = graph[piece].shape;
        run = std::gcd(run, below(shape, to, [&](int dim) { return dim == ir::axis(node) ? shape.dims[dim] : 0; }));
      }
      return run;
    }
    case ir::Op::slice:
      return below(from, to, [&](int dim) -> std::int64_t {
        const ir::SliceRange& range = slice_range(node, dim);
        if (range.stride != 1) return 1;
        return from.dims[dim] == to.dims[dim] ? 0 : std::gcd(range.start, sizes(dim));
      });
    case ir::Op::pad:
      return below(from, to, [&](int dim) -> std::int64_t {
        const ir::PadRange& range = pad_range(node, dim);
        if (range.interior != 0) return 1;
        return range.low == 0 && range.high == 0 ? 0 : std::gcd(std::abs(range.low), sizes(dim));
      });
    case ir::Op::dynamic_slice:
      return below(from, to, [&](int dim) { return from.dims[dim] == to.dims[dim] ? 0 : 1; });
    case ir::Op::dynamic_update_slice: {
      const ir::Shape& window = graph[node.operands[1]].shape;
      return below(window, to, [&](int dim) { return window.dims[dim] == to.dims[dim] ? 0 : 1; });
    }
    default:
      return 1;
  }
}

}  // namespace tailor::codegen
