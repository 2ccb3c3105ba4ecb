// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands around the database: sweep fills it, report reads it, db looks after it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/db.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/profile_options.h"
#include "cli/report.h"
#include "cli/sweep.h"

namespace tailor::cli {

namespace {

/// Runs with a sink that gathers the answer, then writes it where the command line says.
template <class Work>
void answered(const Context& context, Work&& work) {
  std::string answer;
  const int code = work(Sink([&](std::string_view words) { answer += words; }));
  write_answer(context, answer);
  if (code != 0) throw Error(static_cast<Fault>(code), "the database is not sound", "see the answer above");
}

/// Who measures the short lists of a device, as the command line and the sweep's file say.
SweepMeasurer sweep_measurer(const SweepCommand& command, const Context& context, const ir::Device& device,
                             const ProfileConfig& config, const std::stop_token& stop) {
  ProfileCommand options;
  options.what.device = device.name;
  options.profiler = command.profiler;
  options.recorded = command.recorded;
  options.image = command.image;
  options.time_limit = command.time_limit;
  options.gpu = command.gpu;
  options.cache_states = fmt::format("{}", fmt::join(config.cache, ","));
  options.stop_rule = config.stop;
  options.counters = config.counters;
  options.graph = config.graph;
  options.checks = config.checks;
  SweepMeasurer by;
  by.how = measure_options(options, context, device, stop);
  auto measurer = std::make_shared<Measurer>(measurer_of(options, context, device, stop));
  by.name = measurer->name;
  by.measure = measurer->measure;
  by.keeps = measurer;
  return by;
}

}  // namespace

void run_sweep_command(const SweepCommand& command, const Context& context) {
  InterruptWatch watch;
  SweepOptions options;
  options.config = command.config;
  options.data = context.data;
  options.cache = command.cache.empty() ? usual_cache_folder() : std::filesystem::path(command.cache);
  options.nvrtc = compiler_places(command.nvrtc);
  if (!command.database.empty()) options.database = command.database;
  options.compile = !command.no_compile;
  options.check = !command.no_check;
  options.workers = static_cast<int>(command.workers);
  options.command = context.command;
  if (!command.profiler.empty())
    options.measurer = [&](const ir::Device& device, const ProfileConfig& config, const std::stop_token& stop) {
      return sweep_measurer(command, context, device, config, stop);
    };
  const SweepOutcome outcome = run_sweep(options, *context.talk, watch.token());
  if (!outcome.report.empty() && !watch.requested()) {
    ReportOptions report;
    report.database = outcome.database;
    report.folder = outcome.report;
    report.out = [](std::string_view) {};  // the pages are the answer; tailor report prints the tables
    run_report(report, *context.talk);
  }
  if (outcome.exit_code != 0) throw Error(static_cast<Fault>(outcome.exit_code), outcome.why, outcome.hint);
}

void run_report_command(const ReportCommand& command, const Context& context) {
  ReportOptions options;
  options.database = command.database;
  options.model = command.model;
  options.device = command.device;
  options.strategy = command.strategy;
  options.baseline = command.baseline;
  options.top = static_cast<int>(command.top);
  options.folder = command.folder;
  options.format = context.format;
  options.width = context.terminal.width;
  options.colour = context.colour;
  answered(context, [&](Sink out) {
    options.out = std::move(out);
    return run_report(options, *context.talk);
  });
}

void run_db_command(const DbCommand& command, const Context& context) {
  DbOptions options;
  options.database = command.database;
  options.format = context.format;
  options.width = context.terminal.width;
  options.colour = context.colour;
  answered(context, [&](Sink out) {
    options.out = std::move(out);
    if (command.action == "info") return run_db_info(options, *context.talk);
    if (command.action == "check") return run_db_check(options, *context.talk);
    if (command.action == "dump") return run_db_dump(options, *context.talk);
    if (command.action == "merge")
      return run_db_merge(options, {command.from.begin(), command.from.end()}, *context.talk);
    static constexpr std::array actions = std::to_array<std::string_view>({"info", "check", "dump", "merge"});
    throw Error(Fault::usage,
                fmt::format("found db action '{}', expected one of info, check, dump, merge", command.action),
                suggestion(command.action, actions));
  });
}

}  // namespace tailor::cli
