// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Look-ups in the operation table. In: an operation or its opcode. Out: its row,
// its class, its cost. Called by the importer, the evaluator, the lowering and the
// counters.
#include "ir/graph/op.h"

#include <algorithm>

#include "base/indexed.h"

namespace tailor::ir {

namespace {

/// Rows sorted by one of their names, built once at compile time.
template <auto Key>
constexpr auto sorted_rows() {
  std::array<std::uint8_t, op_table.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint8_t>(i);
  std::sort(order.begin(), order.end(),
            [](std::uint8_t a, std::uint8_t b) { return op_table[a].*Key < op_table[b].*Key; });
  return order;
}

template <auto Key>
const OpRow* find(std::string_view wanted) {
  static constexpr auto order = sorted_rows<Key>();
  const auto at = std::lower_bound(order.begin(), order.end(), wanted,
                                   [](std::uint8_t i, std::string_view key) { return op_table[i].*Key < key; });
  if (at == order.end() || op_table[*at].*Key != wanted) return nullptr;
  return &op_table[*at];
}

constexpr std::array class_names = std::to_array<std::string_view>(
    {"leaf", "elementwise", "mapped", "index", "lookup", "reduction", "window", "library", "composite", "random",
     "structure", "control", "communication", "opaque"});

}  // namespace

const OpRow* find_hlo_op(std::string_view hlo) { return hlo.empty() ? nullptr : find<&OpRow::hlo>(hlo); }

const OpRow* find_op(std::string_view id) { return find<&OpRow::id>(id); }

std::string_view name(OpClass kind) { return row_for(class_names, kind); }

}  // namespace tailor::ir
