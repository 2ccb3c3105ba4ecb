// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor list: the rows of Tailor's own tables. What multiplies is a table in the code, and this shows it, so that no
// page of documentation has to repeat it. In: the name of a table. Out: its rows on stdout. Each table is one function
// here that reads the table in the code.
#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "costmodel/model.h"
#include "explore/rules.h"
#include "explore/strategy.h"
#include "hlo/normalise.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

Cell words(std::string_view text) { return std::string(text); }

void list_ops(const Context&, Table& table) {
  table.columns = {column("op", "operation"),
                   column("hlo", "HLO"),
                   column("class", "class"),
                   column("arity", "operands", Hint::integer),
                   column("fma", "fma", Hint::integer),
                   column("alu", "alu", Hint::integer),
                   column("xu", "xu", Hint::integer),
                   column("cuda_spelling", "CUDA", Hint::text, 1)};
  for (const ir::OpRow& row : ir::op_table)
    table.rows.push_back({words(row.id), words(row.hlo), words(ir::name(row.kind)),
                          row.arity >= 0 ? Cell(std::int64_t{row.arity}) : Cell(), std::int64_t{row.fma},
                          std::int64_t{row.alu}, std::int64_t{row.xu},
                          words(row.real.empty() ? row.integer : row.real)});
}

void list_dtypes(const Context&, Table& table) {
  table.columns = {column("dtype", "dtype"), column("bits", "bits", Hint::integer), column("cuda_spelling", "CUDA"),
                   column("compute", "computed as")};
  for (const ir::DTypeRow& row : ir::dtype_table)
    table.rows.push_back({words(row.name), std::int64_t{row.bits}, words(row.cuda), words(ir::name(row.compute))});
}

void list_strategies(const Context&, Table& table) {
  table.columns = {column("strategy", "strategy"), column("decides_by", "needs"), column("meaning", "what it does"),
                   column("source", "source", Hint::text, 1)};
  for (const explore::Strategy& row : explore::strategies())
    table.rows.push_back({words(row.name), text(row.needs), words(row.what), words(row.source)});
}

void list_models(const Context&, Table& table) {
  table.columns = {column("cost_model", "model"), column("sees", "sees"), column("accounts_for", "accounts for")};
  for (const costmodel::Model& row : costmodel::models())
    table.rows.push_back({words(row.name), words(row.sees), words(row.accounts_for)});
}

void list_rules(const Context&, Table& table) {
  table.columns = {column("rule", "rule"), column("soundness", "kind"), column("why", "drops")};
  for (const explore::Rule& row : explore::rules())
    table.rows.push_back({words(row.name), words(row.sound ? "sound" : "heuristic"), words(row.reason)});
}

void list_profilers(const Context&, Table& table) {
  table.columns = {column("profiler", "profiler"), column("meaning", "what it does")};
  for (const study::ProfilerRow& row : study::profilers()) table.rows.push_back({words(row.name), words(row.what)});
}

void list_stop_rules(const Context&, Table& table) {
  table.columns = {column("stop_rule", "rule"),
                   column("half_width", "median known to", Hint::fraction),
                   column("confidence", "at confidence", Hint::fraction),
                   column("min_samples", "samples from", Hint::integer),
                   column("max_samples", "to", Hint::integer),
                   column("longest", "time at most", Hint::seconds),
                   column("meaning", "meaning", Hint::text, 1)};
  for (const profiler::StopRule& rule : profiler::stop_rules())
    table.rows.push_back({words(rule.name), rule.half_width, rule.confidence, std::int64_t{rule.min_samples},
                          std::int64_t{rule.max_samples}, rule.max_time.value, words(rule.meaning)});
}

void list_axes(const Context&, Table& table) {
  table.columns = {column("axis", "axis"), column("values", "example"), column("range", "asked about; legal")};
  for (const ir::PlanField axis : explore::axes_of())
    table.rows.push_back({words(row(axis).name), fmt::format("--axis {}={}", row(axis).name, row(axis).example),
                          words(explore::values_asked(axis))});
}

void list_passes(const Context&, Table& table) {
  table.columns = {column("pass", "pass"), column("meaning", "what it does")};
  for (const hlo::PassRow& row : hlo::pass_table) table.rows.push_back({words(row.name), words(row.what)});
}

void list_devices(const Context& context, Table& table) {
  table.columns = {column("device", "device"), column("device_title", "GPU"), column("arch", "arch")};
  for (const std::string& name : ir::device_names((context.data / "devices").string())) {
    const ir::Device device = load_device(context, name);
    table.rows.push_back({device.name, device.title, device.arch});
  }
}

void list_commands(const Context&, Table& table) {
  table.columns = {column("command", "command"), column("meaning", "what it does")};
  for (const CommandRow& row : commands()) table.rows.push_back({words(row.name), words(row.what)});
}

struct ListRow {
  std::string_view name;
  void (*fill)(const Context&, Table&);
};
constexpr std::array list_table = std::to_array<ListRow>({
    {"ops", list_ops},
    {"dtypes", list_dtypes},
    {"strategies", list_strategies},
    {"models", list_models},
    {"rules", list_rules},
    {"axes", list_axes},
    {"profilers", list_profilers},
    {"stop-rules", list_stop_rules},
    {"passes", list_passes},
    {"devices", list_devices},
    {"commands", list_commands},
});

}  // namespace

void run_list(const ListOptions& options, const Context& context) {
  std::vector<std::string_view> known;
  for (const ListRow& row : list_table) {
    known.push_back(row.name);
    if (row.name != options.what) continue;
    CommandOutput answer{fmt::format("tailor.list.{}/1", row.name), "", {{options.what, {}}}, ""};
    row.fill(context, answer.sections.front().table);
    return show(context, answer);
  }
  throw Error(Fault::usage, fmt::format("found '{}', expected one of {}", options.what, fmt::join(known, ", ")),
              suggestion(options.what, known));
}

}  // namespace tailor::cli
