// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What an import found, as tables. In: a graph with the report of its import, and how long reading took. Out: tables
// whose rows are the same in every form of an answer; a table is empty where there is nothing to say. Called by tailor
// import.
#pragma once

#include "base/units.h"
#include "hlo/import.h"
#include "report/table.h"

namespace tailor::study {

/// One row: the size of the text and of the graph, and the rate of reading, in bytes per second of `spent`.
report::Table import_summary_table(const hlo::Imported& imported, Seconds spent);
/// Nodes, bytes that their operands and results hold, and FLOPs of library calls, by class of operation; bodies of
/// loops are counted once.
report::Table import_class_table(const ir::Graph& graph);
/// The passes that changed something, in the order in which they ran.
report::Table import_pass_table(const ir::ImportReport& report);
/// A row for each name that is kept as an opaque node.
report::Table import_opaque_table(const ir::ImportReport& report);
report::Table import_warning_table(const ir::ImportReport& report);

}  // namespace tailor::study
