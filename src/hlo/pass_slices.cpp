// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of scans. In: a graph while it is rewritten. Out: the same graph, in which a slice that is the only reader of a
// scan, and begins where the scan does, stands in front of it if it is short, so that no more is scanned than is read;
// the last element of a scan is a reduction. Called as a row of the table of passes.
//
// A scan's element is made of those before it alone: of the first ten of 4,096 the others need not be read. A slice of
// more than half stays behind, where it may be one of what makes an exclusive scan, and saves little. Slice and scan
// change places, so that there are as many nodes as before. Graphs with groups that a file gave stay as they are:
// each of the two may be in another one. Windows of up to 64 elements are no scans (ir/graph/window_strips.h), which
// are computed where they are read.
#include "hlo/expand/combination.h"
#include "hlo/normalise.h"
#include "ir/graph/reducer.h"
#include "ir/graph/window_strips.h"

namespace tailor::hlo {

namespace {

/// Of the slice, but for this dimension.
bool takes_all_else(const ir::Node& slice, const ir::Shape& from, int dim) {
  for (int d = 0; d < from.rank(); ++d)
    if (d != dim && slice.shape.dims[d] != from.dims[d]) return false;
  return true;
}

/// Windows of a scan over an array of these dimensions.
std::string scan_text(const ir::Dims& dims, const ir::Scan& scan) {
  IndexedVector<ir::WindowDim> windows(static_cast<std::size_t>(dims.size()));
  ir::WindowDim& along = windows[scan.dim];
  along.size = dims[scan.dim];
  (scan.direction == ir::ScanDirection::forward ? along.pad_low : along.pad_high) = along.size - 1;
  return window_text(windows);
}

/// The slice of the first elements of the scan: it is taken before.
void take_before(ir::Node& scan, ir::Node& slice, const ir::Scan& form) {
  const ir::NodeId start = scan.operands[1];
  const ir::RegionCall call{reducer(scan), scan_text(slice.shape.dims, form)};
  scan.op = ir::Op::slice;
  scan.shape = slice.shape;
  scan.operands = {scan.operands[0]};
  scan.attributes = slice.attributes;
  slice.op = ir::Op::reduce_window;
  slice.operands = {slice.operands[0], start};
  slice.attributes = call;
}

/// The last element of the scan: a reduction.
void reduce_whole(ir::Node& scan, ir::Node& slice, const ir::Scan& form) {
  ir::Dims kept;
  for (int d = 0; d < scan.shape.rank(); ++d)
    if (d != form.dim) kept.push_back(scan.shape.dims[d]);
  scan.attributes = ir::Reduction{{form.dim}, reducer(scan)};
  scan.op = ir::Op::reduce;
  scan.shape = ir::make_shape(scan.shape.dtype, kept);
  slice.op = ir::Op::reshape;
  slice.attributes = {};
}

bool is_reducer(ir::Reducer reducer) { return reducer != ir::Reducer::none && reducer != ir::Reducer::custom; }

bool change_places(ir::Node& scan, ir::Node& slice) {
  const std::optional<ir::Scan> form = ir::scan_of(scan);
  if (!form || !is_reducer(reducer(scan)) || !is_row_major(scan.shape) || !is_row_major(slice.shape)) return false;
  if (!takes_all_else(slice, scan.shape, form->dim)) return false;
  const std::int64_t length = scan.shape.dims[form->dim];
  const ir::SliceRange range = ir::attributes_as<ir::SliceRanges>(slice).ranges[form->dim];
  const bool forward = form->direction == ir::ScanDirection::forward;
  if (range.stride != 1 || range.limit - range.start == length) return false;
  if (range.limit - range.start == 1 && range.start == (forward ? length - 1 : 0)) {
    reduce_whole(scan, slice, *form);
    return true;
  }
  if (forward ? range.start != 0 : range.limit != length) return false;
  if (2 * (range.limit - range.start) > length) return false;
  take_before(scan, slice, *form);
  return true;
}

}  // namespace

void slice_scans(Rewrite& rewrite, PassCount& count) {
  if (!rewrite.graph.given.empty()) return;
  const auto nodes = static_cast<ir::NodeId>(rewrite.graph.nodes.size());
  IndexedVector<int> readers(rewrite.graph.nodes.size(), 0);
  for (const ir::NodeId output : rewrite.graph.outputs) readers[rewrite.current(output)] += 2;
  for (ir::NodeId id = 0; id < nodes; ++id) {
    rewrite.refresh(rewrite.node(id));
    if (rewrite.current(id) != id) continue;
    for (const ir::NodeId operand : rewrite.node(id).operands) ++readers[operand];
  }
  for (ir::NodeId id = 0; id < nodes; ++id) {
    ir::Node& node = rewrite.node(id);
    if (node.op != ir::Op::slice || rewrite.current(id) != id || readers[node.operands[0]] != 1) continue;
    if (change_places(rewrite.node(node.operands[0]), node)) ++count.rewrites;
  }
}

}  // namespace tailor::hlo
