// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which loop structure a group needs, from its structure alone. map: every value can be computed at any place from the
// inputs, so one flat loop over the outputs' elements will do. row: some values depend on reductions along rows; those
// may be used only by the row that made them. Everything else is named by the skeleton it would need.
//
// In a row group of R rows and N columns a value that depends on a reduction is either one number per row [R] or a full
// array [R,N], with rows outermost. Values that do not depend on a reduction are free to be read at any index.
#pragma once

#include <cstdint>
#include <variant>

#include "ir/fusion.h"
#include "ir/plan.h"

namespace tailor::explore {

struct Layout {
  ir::Skeleton skeleton = ir::Skeleton::map;
  std::int64_t rows = 0;     ///< map: elements of each output
  std::int64_t columns = 1;  ///< row: elements reduced per row; map: 1
  bool operator==(const Layout&) const = default;
};

using Classified = std::variant<Layout, ir::Rejection>;

/// What the inside of a border needs. Names in the rejection are those of `graph`.
Classified classify(const ir::Graph& graph, const ir::Boundary& border);
Classified classify(const ir::Group& group);

/// Kinds of reduction: which dimensions go.
enum class ReduceKind : std::uint8_t { row, column, full, mixed };
/// Dimensions of size 1 do not count. row: the minor-most dimensions of a row-major operand go, some stay.
ReduceKind reduce_kind(const ir::Graph& graph, ir::NodeId reduce);
/// Rows and columns of a row reduction (a full one has one row).
Layout row_layout(const ir::Graph& graph, ir::NodeId reduce);

std::string_view name(ReduceKind kind);

}  // namespace tailor::explore
