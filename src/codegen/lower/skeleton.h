// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which loop structure a group needs. map: every value can be computed at any place from the inputs, so one flat loop
// over the outputs' elements will do. row: some values depend on reductions along rows; those may be used only by the
// row that made them. Everything else is named by the skeleton it would need.
//
// classify() is the last word, and it is the lowering's: a group is what it can be lowered to. read_structure() answers
// without lowering, from the graph alone, for searches that ask thousands of times. It is careful: what it accepts,
// classify() accepts with the same layout (tested over every group of every dump); what it refuses may still be
// lowered, badly: rows that are turned, outputs of several sizes.
//
// In a row group of R rows and N columns a value that depends on a reduction is either one number per row [R] or a full
// array [R,N], with rows outermost. Values that do not depend on a reduction are free to be read at any index.
#pragma once

#include <cstdint>
#include <variant>

#include "ir/fusion.h"
#include "ir/plan.h"

namespace tailor::codegen {

struct Layout {
  ir::Skeleton skeleton = ir::Skeleton::map;
  std::int64_t rows = 0;     ///< map: elements of the largest output
  std::int64_t columns = 1;  ///< row: elements reduced per row; map: 1
  bool operator==(const Layout&) const = default;
};

using Classified = std::variant<Layout, ir::Rejection>;

/// The lowering's word: prepares the group and lowers it for one thread per row, on a device without limits.
Classified classify(const ir::Group& group);

/// The shortcut: what the inside of a border needs. Names in the rejection are those of `graph`.
Classified read_structure(const ir::Graph& graph, const ir::Boundary& border);
Classified read_structure(const ir::Group& group);

/// Kinds of reduction: which dimensions go.
enum class ReduceKind : std::uint8_t { row, column, full, mixed };
/// Dimensions of size 1 do not count. row: the minor-most dimensions of a row-major operand go, some stay.
ReduceKind reduce_kind(const ir::Graph& graph, ir::NodeId reduce);
/// Rows and columns of a row reduction (a full one has one row).
Layout row_layout(const ir::Graph& graph, ir::NodeId reduce);

std::string_view name(ReduceKind kind);

}  // namespace tailor::codegen
