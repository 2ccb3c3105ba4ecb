// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands around the database: sweep fills it, report reads it, db looks after it. In: their options. Out: what
// the study, the report or the store did, and the exit code as an Error. Their work is study's and the store's; here
// it is turned into output.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/counted.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/db.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/report.h"
#include "study/sweep/dry_run.h"
#include "study/sweep/effective.h"
#include "study/sweep/grid_table.h"
#include "study/sweep/sweep.h"
#include "study/sweep/sweep_tables.h"

namespace tailor::cli {

namespace {

/// Runs with a sink that gathers the answer, then writes it where the command line says.
template <class Work>
void answered(const Context& context, Work&& work) {
  std::string answer;
  const int code = work(Sink([&](std::string_view words) { answer += words; }));
  if (!answer.empty() || !context.output.empty()) write_output(context, answer);
  if (code != 0) throw Error(static_cast<Fault>(code), "the database is not sound", "see the answer above");
}

/// The file as this command line takes it.
std::string shown_config(const study::SweepOptions& options, const Context& context) {
  study::SweepConfig config = study::effective_config(options, context.watch());
  std::vector<std::string> changed;
  if (options.database) changed.insert(changed.end(), {"database", "report"});
  if (options.calibration) changed.emplace_back("calibration");
  if (!options.compile) changed.emplace_back("compile");
  if (!options.check) changed.emplace_back("check.top");
  if (!options.compile) config.compile = false;
  if (!options.check) config.check.top = 0;
  return study::effective_text(config, study::given_keys(options.config), changed);
}

}  // namespace

void run_sweep_command(const SweepCommand& command, const Context& context) {
  const ThreadLimit limit(static_cast<int>(command.threads));
  study::SweepOptions options;
  options.config = command.config;
  options.data = context.data;
  options.cache = cache_folder(command.cache);
  options.nvrtc = study::nvrtc_paths(command.compiler.nvrtc);
  options.compiler = study::compiler_setup(command.compiler);
  if (!command.database.empty()) options.database = command.database;
  if (!command.calibration.empty()) options.calibration = command.calibration;
  options.compile = !command.no_compile;
  options.check = !command.no_check;
  options.workers = static_cast<int>(command.threads);
  options.command = context.command;
  if (!command.profiler.empty())
    options.measure = {.profiler = command.profiler,
                       .recorded = command.recorded,
                       .time_limit = command.time_limit,
                       .image = command.image,
                       .gpu = command.gpu};
  if (command.show_effective) return write_output(context, shown_config(options, context));
  if (command.dry_run) {
    const study::DryRun run = study::dry_run(options, context.watch());
    CommandOutput answer{"tailor.sweep/1", "", {{"steps", study::dry_run_table(run)}}, ""};
    if (!run.outcome.left_out.empty()) answer.sections.push_back({"left_out", study::left_out_table(run.outcome)});
    return show(context, answer);
  }
  const study::SweepOutcome outcome = study::run_sweep(options, context.watch());
  if (!outcome.report.empty() && outcome.models > 0 && !context.stop().stop_requested()) {
    ReportOptions report{
        .database = outcome.database, .data = context.data, .each_device = true, .folder = outcome.report};
    report.out = [](std::string_view) {};  // the pages are the answer; tailor report prints the tables
    report.stop = context.stop();
    run_report(report, *context.console);
  }
  CommandOutput answer{"tailor.sweep/1", "", {{"strategies", study::strategies_table(outcome)}}, ""};
  answer.sections.push_back({"sweep", study::done_table(outcome)});
  answer.verdict = study::nothing_swept(outcome);
  if (!outcome.left_out.empty()) answer.sections.push_back({"left_out", study::left_out_table(outcome)});
  show(context, answer);
  if (outcome.exit_code != 0) throw Error(static_cast<Fault>(outcome.exit_code), outcome.reason, outcome.hint);
}

void run_report_command(const ReportCommand& command, const Context& context) {
  if (!command.by.empty()) {
    const store::Store store = store::Store::open_read_only(command.database, {.stop = context.stop()});
    study::GridAnswer grid = study::grid_table(store, command.by);
    CommandOutput answer{"tailor.reports.grid/1", "", {{"points", grid.table}, {"left_out", grid.left_out}}, ""};
    answer.verdict = std::move(grid.words);
    return show(context, answer);
  }
  ReportOptions options{.database = command.database,
                        .data = context.data,
                        .model = command.model,
                        .device = command.device,
                        .strategy = command.strategy,
                        .baseline = command.baseline,
                        .top = static_cast<int>(command.top),
                        .format = context.format,
                        .folder = command.folder,
                        .width = context.terminal.width,
                        .colour = context.colour,
                        .stop = context.stop()};
  answered(context, [&](Sink out) {
    options.out = std::move(out);
    return run_report(options, *context.console);
  });
}

namespace {

constexpr std::array db_actions =
    std::to_array<std::string_view>({"info", "check", "dump", "migrate", "merge", "export", "import", "observations"});

void refuse_strays(const DbCommand& command) {
  const bool exports = command.action == "export";
  if (!exports && !(command.recorded + command.folder + command.device + command.group).empty())
    throw Error(Fault::usage, fmt::format("--recorded, --folder, --device and --group belong to db export, found db {}",
                                          command.action));
  if (exports && command.recorded.empty() && command.folder.empty())
    throw Error(Fault::usage, "db export needs --recorded FILE, or --folder DIR with --format",
                "for example: tailor db export --recorded h200.jsonl.gz all.db");
  if (command.action == "merge" && command.from.empty())
    throw Error(Fault::usage, "db merge takes the database to merge into, and those to merge, found 1 word",
                "for example: tailor db merge all.db shard1.db shard2.db");
  const std::size_t expected = command.action == "import" ? 1 : 0;
  if (command.action != "merge" && command.from.size() != expected)
    throw Error(
        Fault::usage,
        fmt::format("db {} takes {}, found {}", command.action,
                    expected == 1 ? "a file and a database" : "one database", counted(command.from.size() + 1, "word")),
        "see tailor db --help");
}

int run_db_action(const DbCommand& command, DbOptions options, const DbExport& what, Console& console) {
  if (command.action == "export") return run_db_export(options, what, console);
  if (command.action == "info") return run_db_info(options, console);
  if (command.action == "check") return run_db_check(options, console);
  if (command.action == "dump") return run_db_dump(options, console);
  if (command.action == "migrate") return run_db_migrate(options, console);
  if (command.action == "observations") return run_db_observations(options, console);
  if (command.action == "merge") return run_db_merge(options, {command.from.begin(), command.from.end()}, console);
  options.database = command.from.front();
  return run_db_import(options, command.database, console);
}

}  // namespace

void run_db_command(const DbCommand& command, const Context& context) {
  if (std::find(db_actions.begin(), db_actions.end(), command.action) == db_actions.end())
    throw Error(Fault::usage,
                fmt::format("found db action '{}', expected one of {}", command.action, fmt::join(db_actions, ", ")),
                suggestion(command.action, db_actions));
  refuse_strays(command);
  DbOptions options;
  options.database = command.database;
  options.command = context.command;
  options.data = context.data;
  options.width = context.terminal.width;
  options.colour = context.colour;
  options.stop = context.stop();
  const DbExport what{command.recorded, context.format_word, command.folder, command.device, command.group};
  const bool files = command.action == "export" && command.recorded.empty();  // --format is of the files then
  options.format = files ? Format::table : parse_format(context.format_word);
  Context rendered = context;
  rendered.format = options.format;
  answered(rendered, [&](Sink out) {
    options.out = std::move(out);
    return run_db_action(command, options, what, *context.console);
  });
}

}  // namespace tailor::cli
