// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tailor's own tables as answers. What multiplies is a table in the code, and this shows it, so that no page of
// documentation has to repeat it. Each is one function here that reads the table in the code; the devices, which are
// files, have a closer look too. In: the data folder. Out: tables. Called by tailor list and tailor devices.
#include "study/tables/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "costmodel/model.h"
#include "explore/plans/rules.h"
#include "explore/plans/xla_style.h"
#include "explore/strategy.h"
#include "hlo/normalise.h"
#include "ir/device_template.h"
#include "ir/refusal.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/question.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

Cell words(std::string_view text) { return std::string(text); }

void list_ops(const std::filesystem::path&, Table& table) {
  table.columns = {column("op", "operation"),
                   column("hlo", "HLO", Hint::text, 1),
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

void list_dtypes(const std::filesystem::path&, Table& table) {
  table.columns = {column("dtype", "dtype"), column("bits", "bits", Hint::integer), column("cuda_spelling", "CUDA"),
                   column("compute", "computed as")};
  for (const ir::DTypeRow& row : ir::dtype_table)
    table.rows.push_back({words(row.name), std::int64_t{row.bits}, words(row.cuda), words(ir::name(row.compute))});
}

void list_strategies(const std::filesystem::path&, Table& table) {
  table.columns = {column("strategy", "strategy"), column("decides_by", "needs"), column("meaning", "what it does"),
                   column("source", "source", Hint::text, 1)};
  for (const explore::Strategy& row : explore::strategies())
    table.rows.push_back({words(row.name), text(row.needs), words(row.what), words(row.source)});
}

void list_models(const std::filesystem::path&, Table& table) {
  table.columns = {column("cost_model", "model"), column("sees", "sees"), column("accounts_for", "accounts for"),
                   column("ranks_plans", "--cost-model takes it")};
  for (const costmodel::Model& row : costmodel::models())
    table.rows.push_back(
        {words(row.name), words(row.sees), words(row.accounts_for), words(row.ranks_plans ? "yes" : "no")});
}

void list_rules(const std::filesystem::path&, Table& table) {
  table.columns = {column("rule", "rule"), column("soundness", "kind"), column("refuses", "of a"),
                   column("why", "drops")};
  for (const explore::Rule& row : explore::rules())
    table.rows.push_back({words(row.name), words(row.sound ? "sound" : "heuristic"), words(name(ir::Refused::plan)),
                          words(row.reason)});
  for (const ir::RefusalRow& row : ir::refusals())
    table.rows.push_back({words(row.name), words("sound"), words(name(row.of)), words(row.what)});
}

void list_emitters(const std::filesystem::path&, Table& table) {
  table.columns = {column("emitter", "XLA's emitter"), column("deals", "who computes what"),
                   column("as_plan", "as a plan", Hint::text, 1), column("has_plan", "plan")};
  for (const explore::XlaEmitter& row : explore::xla_emitters())
    table.rows.push_back(
        {words(name(row.form)), words(row.deals), words(row.as), words(row.plan != nullptr ? "yes" : "no")});
}

void list_profilers(const std::filesystem::path&, Table& table) {
  table.columns = {column("profiler", "profiler"), column("meaning", "what it does")};
  for (const ProfilerRow& row : profilers()) table.rows.push_back({words(row.name), words(row.what)});
}

void list_stop_rules(const std::filesystem::path&, Table& table) {
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

void list_axes(const std::filesystem::path&, Table& table) {
  table.columns = {column("axis", "axis"), column("values", "example"), column("range", "asked about; legal")};
  for (const ir::PlanField axis : explore::axes_of())
    table.rows.push_back({words(row(axis).name), fmt::format("--axis {}={}", row(axis).name, row(axis).example),
                          words(explore::values_asked(axis))});
}

void list_passes(const std::filesystem::path&, Table& table) {
  table.columns = {column("pass", "pass"), column("meaning", "what it does")};
  for (const hlo::PassRow& row : hlo::pass_table) table.rows.push_back({words(row.name), words(row.what)});
}

void list_devices(const std::filesystem::path& data, Table& table) {
  table.columns = {column("device", "device"), column("device_title", "GPU"), column("arch", "arch")};
  for (const std::string& name : ir::device_names((data / "devices").string())) {
    const ir::Device device = load_device(data, name);
    table.rows.push_back({device.name, device.title, device.arch});
  }
}

constexpr std::array catalogue_rows = std::to_array<CatalogueRow>({
    {"ops", list_ops},
    {"dtypes", list_dtypes},
    {"strategies", list_strategies},
    {"models", list_models},
    {"rules", list_rules},
    {"axes", list_axes},
    {"emitters", list_emitters},
    {"profilers", list_profilers},
    {"stop-rules", list_stop_rules},
    {"passes", list_passes},
    {"devices", list_devices},
});

}  // namespace

std::span<const CatalogueRow> catalogue() { return catalogue_rows; }

Table device_table(const std::filesystem::path& data) {
  Table table;
  table.title = "devices";
  table.columns = {column("device", "name"),
                   column("device_title", "GPU", Hint::text, 1),
                   column("arch", "arch"),
                   column("sms", "SMs", Hint::integer),
                   column("dram_bandwidth", "DRAM", Hint::rate),
                   column("dram_capacity", "capacity", Hint::bytes, 2),
                   column("l2", "L2", Hint::bytes, 3),
                   column("shared_per_sm", "shared per SM", Hint::bytes, 4),
                   column("f32_peak_per_s", "f32 per s", Hint::flops, 5)};
  for (const std::string& name : ir::device_names((data / "devices").string())) {
    const ir::Device d = load_device(data, name);
    table.rows.push_back({d.name, d.title, d.arch, static_cast<std::int64_t>(d.sms.value), d.dram_bandwidth.value,
                          d.dram_bytes.value, d.l2_bytes.value, d.shared_per_sm.value, d.f32_peak.value});
  }
  return table;
}

Table figure_table(const ir::Device& device) {
  Table table;
  table.title = fmt::format("{} ({}, {})", device.title, device.name, device.arch);
  table.columns = {column("figure", "figure"), column("value", "value", Hint::number), column("unit", "unit"),
                   column("source", "source")};
  for (const ir::FigureRow& row : ir::figure_table) {
    const ir::Figure& figure = device.*row.member;
    table.rows.push_back({std::string(row.key), figure.value, figure.unit, figure.source});
  }
  return table;
}

Table open_figure_table(const ir::Device& from) {
  Table table;
  table.title = fmt::format("still to be found on the GPU's own data sheet; beside them what {} has", from.name);
  table.columns = {column("figure", "figure"), column("value", "value", Hint::number), column("unit", "unit"),
                   column("source", "source")};
  for (const ir::FigureRow& row : ir::figure_table) {
    const std::span<const std::string_view> open = ir::product_figures();
    if (std::find(open.begin(), open.end(), row.key) == open.end()) continue;
    const ir::Figure& figure = from.*row.member;
    table.rows.push_back({std::string(row.key), figure.value, figure.unit, figure.source});
  }
  return table;
}

Table fitted_figure_table(const ir::Device& device, const ir::Calibration& calibration) {
  Table table;
  table.title = fmt::format("how it behaves, as calibration '{}' has it", calibration.name);
  table.columns = {column("figure", "figure"), column("value", "value", Hint::number), column("unit", "unit"),
                   column("source", "source")};
  for (const ir::FigureName& row : ir::figure_names())
    if (const ir::Fit* fit = ir::find_fit(calibration, device.name, row.key))
      table.rows.push_back({fit->figure, fit->value, fit->unit, fit->source});
  return table;
}

}  // namespace tailor::study
