// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of levels and parts of an estimate. In: an enumeration's value. Out: its
// word, as tables, files and databases show it. Called by the report, the store
// and the commands.
#include "ir/estimate.h"

#include "base/indexed.h"

namespace tailor::ir {

namespace {
constexpr std::array level_names =
    std::to_array<std::string_view>({"sol", "projected", "compiled", "simulated", "profiled"});
constexpr std::array part_names = std::to_array<std::string_view>(
    {"launch", "dram", "l2", "shared", "issue", "fma", "alu", "xu", "latency", "barrier", "atomic", "spill"});
static_assert(part_names.size() == part_count);
}  // namespace

std::string_view name(Level level) { return row_for(level_names, level); }
std::string_view name(Part part) { return row_for(part_names, part); }

}  // namespace tailor::ir
