// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor import: what a file holds, what normalising it did, and what was not understood. In: a model's file. Out:
// tables on stdout, or with --text the graph's text form. How long reading took, and at which rate, stands in the
// summary.
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/tables/import_tables.h"

namespace tailor::cli {

void run_import(const ImportOptions& options, const Context& context) {
  context.interrupts->holds_nothing();
  const Clock clock = steady_clock();
  const Seconds started = clock();
  const hlo::Imported imported = load_model(context, options.model);
  const Seconds spent = clock() - started;
  CommandOutput answer{"tailor.import/1", "", {}, ""};
  if (options.text) {
    answer.text = ir::text(imported.graph);
    report::Table table{
        "", {column("module", "module"), column("graph", "graph")}, {{imported.report.module, answer.text}}, {}, 0, ""};
    answer.sections.push_back({"graph", std::move(table)});
    return show(context, answer);
  }
  answer.sections.push_back({"summary", study::import_summary_table(imported, spent)});
  answer.sections.push_back({"classes", study::import_class_table(imported.graph)});
  answer.sections.push_back({"passes", study::import_pass_table(imported.report)});
  report::Table opaque = study::import_opaque_table(imported.report);
  if (!opaque.rows.empty()) answer.sections.push_back({"opaque", std::move(opaque)});
  report::Table warnings = study::import_warning_table(imported.report);
  if (!warnings.rows.empty()) answer.sections.push_back({"warnings", std::move(warnings)});
  show(context, answer);
}

}  // namespace tailor::cli
