// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands: for each a struct with what can be asked and a function that answers. They know nothing of how options
// are written: declare.h has the words, the table in commands.cpp fills the structs; main.cpp turns an Error into an
// exit code. A new command is all of these but the last, its function in a file of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/format.h"
#include "cli/terminal.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/question.h"

namespace tailor::cli {

struct OptionList;

/// "tailor 0.1.0".
extern const std::string_view tool_name;

/// What every command is given beside its options.
struct Context {
  Format format = Format::table;
  std::filesystem::path output;  ///< empty: stdout
  std::filesystem::path data;    ///< folder with devices/, calibrations/ and models/
  Terminal terminal;
  bool colour = false;   ///< of stdout
  bool verbose = false;  ///< -v
  Console* console = nullptr;
  const InterruptWatch* interrupts = nullptr;
  std::string command;      ///< as it was typed
  std::string format_word;  ///< after --format; one of `format`'s own but for commands with formats of their own

  std::stop_token stop() const { return interrupts->token(); }
  study::Watch watch() const { return {*console, stop()}; }
};

using study::CompilerOptions;
using study::GpuOptions;

struct ImportOptions {
  std::string model;
  bool text = false;  ///< the graph's text form instead of the summary
};
void run_import(const ImportOptions& options, const Context& context);

struct ImportXlaOptions {
  std::string folder;                        ///< XLA's dump, or a digest
  std::string module;                        ///< needed when the folder holds several
  std::string kernel;                        ///< an entry; empty: all
  std::string device;                        ///< limits and cache of the simulated machine; empty: none
  std::string calibration = "uncalibrated";  ///< of `compare`
  std::string database;                      ///< store checks and counters there; empty: nowhere
  bool list = false;                         ///< tie kernels to fusions, execute none
  bool compare = false;                      ///< what our strategies would launch and move beside XLA
  bool agreement = false;                    ///< how far xla-priority and xla-model agree with the digests there
  std::string save;                          ///< a file for that, as data/agreement.json; empty: none
  bool no_sanitizers = false;
  std::int64_t seed = 1, seeds = 1;                    ///< of inputs and schedules: the first, and how many
  std::int64_t threads = 0;                            ///< 0: one per processor
  double time_limit = 60;                              ///< seconds of one execution
  std::int64_t most_elements = std::int64_t{1} << 28;  ///< larger kernels are left out; 0: none is
  std::int64_t blocks = 0;                             ///< of larger kernels execute about so many; 0: leave them out
  std::string profiler;                                ///< gpu: run and time them there; empty: on the simulator
  std::string cache_states = "cold", timed_by = "auto", stop_rule = "standard";  ///< of the GPU
  bool module_times = false;  ///< also all kernels in order, as a stream and as a graph
  GpuOptions gpu;
};
void run_import_xla(const ImportXlaOptions& options, const Context& context);

struct FuseOptions {
  std::string model;
  std::string strategy;              ///< empty: the default for so many devices
  std::vector<std::string> devices;  ///< a column of bounds for each
  std::string calibration = "uncalibrated";
  bool why = false;             ///< the notes on edges instead of the groups
  std::string node;             ///< as `why`, for the edges of this node; empty: not asked
  bool compare = false;         ///< all strategies instead of one
  std::vector<std::string> to;  ///< files of the fusion in other forms, by their endings
  std::string write_partition;  ///< file for the groups by name, which reads back as a strategy; empty: none
  std::int64_t top = -1;        ///< rows shown; 0: all; negative: 20 where a person reads, all where a program does
};
void run_fuse(const FuseOptions& options, const Context& context);

/// A command takes as long as it takes, unless somebody says how long it may.
inline constexpr double no_time_limit = std::numeric_limits<double>::infinity();

struct EvaluateCommand {
  std::string model;
  std::vector<std::string> inputs, outputs;  ///< NAME=FILE.npy, or folders; outputs: what results are held against
  std::string folder;                        ///< write arrays there; empty: none
  std::int64_t seed = 1;                     ///< of parameters without a file
  double scale = 1;                          ///< of floats that are drawn
  double memory = 4;                         ///< GB that the evaluation may hold
  double time_limit = no_time_limit;         ///< s
  bool list_inputs = false;                  ///< inputs too where a person reads
};
/// Throws when all is shown: Error(failed) when a result differs from its file, Error(missing) when none of its
/// elements could be judged or there is not the memory or the time.
void run_evaluate(const EvaluateCommand& options, const Context& context);

/// Which group of which model, on which device: what explore, explain and emit ask about.
using GroupOptions = study::Question;

struct ExploreOptions {
  GroupOptions what;
  std::int64_t top = 10;       ///< plans shown; 0: all
  std::int64_t max_plans = 0;  ///< 0: all
  bool sound_only = false;     ///< apply no heuristic rule
};
void run_explore(const ExploreOptions& options, const Context& context);

struct ExplainOptions {
  GroupOptions what;
  std::vector<std::string> plans;  ///< words behind the model: one as `plan`, two are set against each other
  std::string plan;                ///< a plan's text, or its rank in `explore`; empty: the best
  bool simulate = false;           ///< compile and execute it, show what that counted beside the model's counts
  std::int64_t blocks = 0;         ///< of --simulate: execute a sample of about so many; 0: all
  std::int64_t top = 100;          ///< rows of a table and lines of the program that a person is shown; 0: all
  CompilerOptions compiler;        ///< of --simulate and --profiler
  std::string profiler;            ///< also measure it: gpu, replay; empty: do not
  std::string recorded;            ///< of replay
  std::string counters = "0", image = "cubin";
  GpuOptions gpu;
};
void run_explain(const ExplainOptions& options, const Context& context);

struct EmitOptions {
  GroupOptions what;
  std::string plan;  ///< as above
  bool ptx = false;  ///< compile and print PTX
  std::string arch;  ///< of --ptx; empty: the device's
  CompilerOptions compiler;
};
void run_emit(const EmitOptions& options, const Context& context);

struct RunCommand {
  std::string file;                  ///< CUDA, or PTX by its ending
  std::string entry;                 ///< empty: the only one
  std::string grid, block, cluster;  ///< as "4" or "4x2"; empty: as the file's head says
  std::int64_t shared = -1;          ///< dynamic, bytes; negative: as the head says
  bool cooperative = false;
  std::vector<std::string> arguments;  ///< none: as the head says
  std::vector<std::string> variables, expect, save, defines, includes;
  double tolerance = -1;  ///< below 0: by the buffer's type
  std::string arch, device;
  CompilerOptions compiler;
  std::int64_t seed = 1, seeds = 1, blocks = 0;
  std::int64_t limit = 0;  ///< instructions of one warp; 0: as the head says, or the default
  double time_limit = 60;  ///< s
  bool no_sanitizers = false, counters = false, lines = false;
};
void run_run(const RunCommand& options, const Context& context);

struct CheckCommand {
  GroupOptions what;       ///< no group and no plan: every group of the model that can be planned
  std::string plan;        ///< as above; of one group
  std::int64_t top = 4;    ///< plans of each group; 0: all
  bool all_plans = false;  ///< the same as top 0
  std::int64_t seed = 1;
  std::int64_t seeds = 1;       ///< executions of each kernel
  std::int64_t blocks = -1;     ///< execute a sample of about so many; 0: all; below 0: a sample of large launches
  std::string shape = "whole";  ///< or "small": fewer rows under the same plan, where the group allows that
  std::int64_t threads = 0;     ///< 0: one per processor
  double time_limit = 60;       ///< s, of one execution
  double memory = 4;            ///< GB that the process may hold
  std::vector<std::string> inputs, outputs;  ///< as of evaluate; with either no inputs are drawn for groups
  double scale = 1;                          ///< of floats that are drawn for a model on such arrays
  bool passed = false;                       ///< list kernels that passed too
  bool no_sanitizers = false;
  std::string database;  ///< also store there
  std::string cache;     ///< folder of compiled kernels; empty: .cache/tailor in the home folder
  CompilerOptions compiler;
};
/// Throws when all is shown: Error(failed) when a kernel is wrong, Error(missing) when one could not be executed or
/// judged and when there is none, Error(interrupted) when it was stopped.
void run_check(const CheckCommand& options, const Context& context);

/// How to measure is in the part that other commands have too.
struct ProfileCommand : study::MeasureWords {
  GroupOptions what;  ///< no group and no plan: every group of the model that can be planned
  std::string plan;   ///< as above; of one group
  std::int64_t top = 4, random = 0;
  std::int64_t consider = 0;  ///< plans of each group that are compiled, of which `top` run; at most `top`: these run
  bool all_plans = false, no_odd_shape = false, compile_only = false;
  /// Time the whole model under several strategies instead: those of `what`, separated by commas; none there: all.
  bool module = false;
  std::int64_t rounds = 30;
  std::string xla;       ///< of module: a dump of the same model, whose kernels run in turn with ours
  std::string database;  ///< also store there
  std::string cache;     ///< folder of compiled kernels; empty: .cache/tailor in the home folder
  CompilerOptions compiler;
  std::int64_t threads = 0;
};
/// Throws when all is shown: Error(failed) when a kernel is refuted, Error(missing) without a GPU or records.
void run_profile(const ProfileCommand& options, const Context& context);

struct MicrobenchCommand {
  std::string device;
  std::string families;          ///< separated by commas; empty: all
  std::int64_t most_bytes = 0;   ///< leave out larger sizes; 0: none
  bool compile_only = false;     ///< fill the cache, measure nothing
  std::string profiler = "gpu";  ///< or replay
  std::string recorded;          ///< of replay
  std::string timed_by = "auto", stop_rule = "standard", image = "cubin";
  double time_limit = 20;  ///< s, of one question to the GPU
  std::string database, cache;
  CompilerOptions compiler;
  GpuOptions gpu;
};
/// Throws when all is shown: Error(failed) when one gave no answer; Error(missing) without a GPU.
void run_microbench(const MicrobenchCommand& options, const Context& context);

struct ValidateCommand {
  std::vector<std::string> sources;                   ///< databases, recorded files, lines of observations, CSV
  std::string device;                                 ///< empty: all
  std::vector<std::string> models, calibrations, by;  ///< empty: the usual ones
  std::string split = "held-out";
  bool ablate = false;  ///< rows for each model without one of its parts
};
void run_validate(const ValidateCommand& options, const Context& context);

struct ReplayCommand {
  std::string table;
  std::string time = "time";                              ///< the column of times, without its unit
  std::vector<std::string> parameters, tries, searchers;  ///< empty: the usual ones
  std::vector<std::string> learn_from;                    ///< empty: as many as tries
  std::int64_t runs = 10, seed = 1;
};
void run_replay(const ReplayCommand& options, const Context& context);

struct CalibrateCommand {
  std::vector<std::string> sources;  ///< databases, recorded files, lines of observations, CSV
  std::string device;
  std::string calibration = "uncalibrated";  ///< what is believed before
  std::string write;                         ///< file; empty: none is written
  bool few = false, residual = false;        ///< priors from other calibrated GPUs; trees on what is left over
  bool informative = false;                  ///< shots that say most
  std::int64_t shots = 0, seed = 1;          ///< fit to so many, drawn by the seed; 0: all
  std::int64_t budget = 0;                   ///< above 0: propose so many measurements instead
  std::vector<std::string> models;           ///< of which plans may be proposed; empty: those that ship
};
void run_calibrate(const CalibrateCommand& options, const Context& context);

struct DevicesOptions {
  std::vector<std::string> words;  ///< none: all, in one table; a name; "new" and the name of a file to write
  std::string from;                ///< of new: the GPU that it is a relative of
  std::string calibration = "uncalibrated";
};
void run_devices(const DevicesOptions& options, const Context& context);

struct CountersOptions {
  std::string chip, device;           ///< at most one; neither: the table alone
  std::vector<std::string> counters;  ///< counters or CUPTI's own metrics; empty: all up to `tier`
  std::int64_t tier = -1;             ///< below 0: all
  bool chips = false;                 ///< list chips instead
  std::string cupti;                  ///< a library file; empty: the usual places
};
void run_counters(const CountersOptions& options, const Context& context);

struct ListOptions {
  std::string what;
};
void run_list(const ListOptions& options, const Context& context);

struct DoctorOptions {
  std::string nvrtc;  ///< a library file; empty: the usual places
  GpuOptions gpu;
};
void run_doctor(const DoctorOptions& options, const Context& context);

struct SweepCommand {
  std::string config;
  std::string database;     ///< instead of the file's
  std::string calibration;  ///< likewise
  std::string cache;        ///< folder of compiled kernels; empty: .cache/tailor in the home folder
  CompilerOptions compiler;
  bool no_compile = false, no_check = false;
  bool dry_run = false, show_effective = false;
  std::int64_t threads = 0;     ///< 0: one per processor
  std::string profiler;         ///< who measures; empty: nobody
  std::string recorded;         ///< of replay
  std::string image = "cubin";  ///< or ptx
  double time_limit = 10;       ///< s, of one question to the GPU
  GpuOptions gpu;
};
/// Throws when all is stored: Error(missing) without a compiler, Error(claim), Error(interrupted).
void run_sweep_command(const SweepCommand& options, const Context& context);

struct ReportCommand {
  std::string database, model, device, strategy, baseline;
  std::int64_t top = 10;
  std::string folder;           ///< of report.md and report.html; empty: none are written
  std::vector<std::string> by;  ///< what the points of a grid are grouped by; empty: the report
};
void run_report_command(const ReportCommand& options, const Context& context);

struct DbCommand {
  std::string action, database;   ///< of import: the recorded file
  std::vector<std::string> from;  ///< of merge: databases; of import: the database
  std::string recorded, folder;   ///< of export: one of the two
  std::string device, group;      ///< of export
};
void run_db_command(const DbCommand& options, const Context& context);

/// A command as the command line knows it.
struct CommandRow {
  std::string_view name;
  std::string_view what;      ///< one line
  std::string_view examples;  ///< one per line, without "tailor"
  std::string_view needs;     ///< options that must be given, separated by spaces: "MODEL --device"
  /// Declares the options; the result runs the command with what was parsed into them.
  std::function<void(const Context&)> (*declare)(OptionList& list);
  bool own_formats = false;  ///< judges format_word itself
};
std::span<const CommandRow> commands();
/// The options of a command with those that all have, for pages about it: nothing can be parsed into them.
OptionList shown_options(const CommandRow& row);

/// Runs the command that the words name; words[0] is the program. Throws Error for all that is wrong.
void dispatch(std::span<char* const> words, const Terminal& terminal);
/// What stderr says of an error: coloured as --color among the words asks for, wherever reading them ended.
std::string refusal_text(const Error& error, std::span<char* const> words, const Terminal& terminal);
/// Says it; returns the exit code.
int refused(const Error& error, std::span<char* const> words, const Terminal& terminal);

}  // namespace tailor::cli
