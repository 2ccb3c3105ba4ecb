// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor import-xla: XLA's own kernels of a model, out of a dump folder: tied to their fusions, executed on the
// simulator, compared with the reference, counted. What stops one kernel is told in its row.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "profiler/xla_check.h"

namespace tailor::cli {

namespace {

using profiler::XlaOutcome;
using report::Cell;
using report::Hint;
using report::Table;

struct Checked {
  const profiler::XlaKernel* kernel = nullptr;
  profiler::XlaCheck check;
};

double moved(const profiler::XlaKernel& kernel) {
  double sum = 0;
  for (const profiler::XlaArgument& argument : kernel.arguments) sum += static_cast<double>(ir::bytes(argument.shape));
  return sum;
}

Table kernel_table(const std::vector<Checked>& all, bool executed) {
  Table table;
  table.title = "XLA's kernels";
  table.columns = {column("entry", "entry"),
                   column("kind", "kind", Hint::text, 5),
                   column("places", "places", Hint::count),
                   column("runs", "runs", Hint::count, 4),
                   column("blocks", "blocks", Hint::count, 6),
                   column("threads", "threads", Hint::integer, 6),
                   column("arrays", "arrays", Hint::bytes, 3)};
  if (executed)
    for (report::Column& added : std::vector<report::Column>{
             column("outcome", "outcome"), column("worst", "worst error", Hint::number, 2),
             column("load_sectors", "load sectors", Hint::count, 2),
             column("store_sectors", "store sectors", Hint::count, 2), column("dram", "DRAM", Hint::bytes, 1)})
      table.columns.push_back(added);
  table.columns.push_back(column("detail", "detail", Hint::text, 1));
  for (const Checked& row : all) {
    const profiler::XlaKernel& kernel = *row.kernel;
    const auto& launch = kernel.launch;
    std::vector<Cell> cells{kernel.entry,
                            kernel.kind,
                            static_cast<std::int64_t>(kernel.places.size()),
                            static_cast<std::int64_t>(kernel.times),
                            std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2],
                            std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2],
                            moved(kernel)};
    if (executed) {
      const simulator::Counters& counters = row.check.simulation.counters;
      const bool ran = row.check.executed;
      const auto count = [ran](std::int64_t value) { return ran ? Cell(value) : Cell(); };
      cells.emplace_back(std::string(profiler::name(row.check.outcome)));
      cells.push_back(ran ? Cell(row.check.worst) : Cell());
      cells.push_back(count(counters.global_load_sectors));
      cells.push_back(count(counters.global_store_sectors));
      cells.push_back(ran ? Cell(static_cast<double>(counters.dram_read_bytes + counters.dram_write_bytes)) : Cell());
    }
    cells.emplace_back(executed ? row.check.detail : kernel.problem);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table other_table(const profiler::XlaModule& module) {
  Table table;
  table.title = "launches that are no kernel of XLA's own";
  table.columns = {column("thunk", "thunk"), column("places", "places", Hint::count),
                   column("runs", "runs", Hint::count)};
  for (const profiler::XlaOther& other : module.others)
    table.rows.push_back({other.thunk, other.places, static_cast<std::int64_t>(other.times)});
  return table;
}

/// Kernels by outcome, in the order of the enumeration.
Table outcome_table(const std::vector<Checked>& all) {
  Table table;
  table.title = "outcomes";
  table.columns = {column("outcome", "outcome"), column("kernels", "kernels", Hint::count)};
  std::map<XlaOutcome, std::int64_t> counts;
  for (const Checked& row : all) ++counts[row.check.outcome];
  for (const auto& [outcome, count] : counts) table.rows.push_back({std::string(profiler::name(outcome)), count});
  return table;
}

std::vector<const profiler::XlaKernel*> chosen_kernels(const profiler::XlaModule& module, const std::string& name) {
  std::vector<const profiler::XlaKernel*> chosen;
  std::vector<std::string_view> known;
  for (const profiler::XlaKernel& kernel : module.kernels) {
    known.push_back(kernel.entry);
    if (name.empty() || kernel.entry == name) chosen.push_back(&kernel);
  }
  if (chosen.empty() && !name.empty())
    throw Error(Fault::usage, fmt::format("no kernel is called '{}'", name), suggestion(name, known));
  return chosen;
}

}  // namespace

void run_import_xla(const ImportXlaOptions& options, const Context& context) {
  const std::vector<profiler::XlaSource> modules = profiler::xla_modules(options.folder);
  const profiler::XlaModule module = profiler::read_xla(profiler::choose_module(modules, options.module));
  profiler::XlaCheckOptions how;
  how.seed = static_cast<std::uint64_t>(options.seed);
  how.most_elements = options.most_elements;
  how.simulation.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  how.simulation.count_cache = true;
  std::vector<Checked> all;
  for (const profiler::XlaKernel* kernel : chosen_kernels(module, options.kernel)) {
    all.push_back({kernel, {}});
    if (!options.list) all.back().check = profiler::check(module, *kernel, how);
  }
  if (!module.unused_entries.empty())
    context.talk->note(fmt::format("{} PTX entries are launched by nothing", module.unused_entries.size()));

  Answer answer{"tailor.import-xla/1", options.device, {}, ""};
  answer.sections.push_back({"kernels", kernel_table(all, !options.list)});
  if (!options.list) answer.sections.push_back({"outcomes", outcome_table(all)});
  if (!module.others.empty()) answer.sections.push_back({"others", other_table(module)});
  show(context, answer);
  const auto wrong = std::count_if(all.begin(), all.end(), [](const Checked& row) {
    return row.check.outcome == XlaOutcome::differs || row.check.outcome == XlaOutcome::findings;
  });
  if (!options.list && wrong > 0)
    throw Error(Fault::failed, fmt::format("{} of {} kernels are not what the reference says", wrong, all.size()),
                "see their rows");
}

}  // namespace tailor::cli
