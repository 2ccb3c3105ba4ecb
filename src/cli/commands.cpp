// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of commands, help, and the way from words to a command that runs. In: the words of a command line. Out:
// what the command shows, or an Error. One parser is made, for the command that was named. A row declares its options
// in a function of its own and says what must be given; the rest (format, output, console, unknown words) is the same
// for all. Called by main.cpp, and by `list commands`, which shows the table.
#include "cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/installation.h"
#include "base/text.h"
#include "cli/declare.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "profiler/measure/worker.h"
#include "report/width.h"
#include "study/pipeline/gpu_access.h"

namespace tailor::cli {

constexpr std::string_view tool_words = "tailor " TAILOR_VERSION;
const std::string_view tool_name = tool_words;

namespace {

/// Options that every command has.
struct Common {
  std::string format = "table", colour = "auto", output, data;
  bool quiet = false, verbose = false, help = false;
};

void declare_common(OptionList& list, Common& common) {
  list.section = section_of_all;
  list.add("--format", &common.format, "table, json, csv or md (default table)", "FORM");
  list.add("-o,--output", &common.output, "write the answer to FILE instead of stdout; - is stdout", "FILE");
  list.add("--data", &common.data, "folder with devices/, calibrations/ and models/", "DIR");
  list.add("--color,--colour", &common.colour, "auto, always or never (default auto)", "WHEN");
  list.add("-q,--quiet", &common.quiet, "say nothing but warnings and errors");
  list.add("-v,--verbose", &common.verbose, "say more");
  list.add("-h,--help", &common.help, "this page");
}

template <class Options, void (*Run)(const Options&, const Context&)>
std::function<void(const Context&)> bound(OptionList& list) {
  const auto options = std::make_shared<Options>();
  declare(list, *options);
  return [options](const Context& context) { Run(*options, context); };
}

constexpr CommandRow command(std::string_view name, std::string_view what, std::string_view examples,
                             std::string_view needs, std::function<void(const Context&)> (*declare)(OptionList&),
                             bool own_formats = false) {
  return {name, what, examples, needs, declare, own_formats};
}

constexpr std::array command_table = std::to_array({
    command("import", "what a model's file holds, and what normalising it did",
            "import data/models/bert_infer_l12_b1_s128_f16.hlo\n"
            "import model.hlo.gz --text -o model.graph",
            "MODEL", bound<ImportOptions, run_import>),
    command("import-xla", "XLA's own kernels of a model: bound to fusions, executed, compared, counted, timed",
            "import-xla dump\n"
            "import-xla dump --device h200 --compare --store xla.db\n"
            "import-xla dump --module jit_f --kernel input_reduce_fusion\n"
            "import-xla dump --device h200 --profiler gpu --module-times --store xla.db",
            "DIR", bound<ImportXlaOptions, run_import_xla>),
    command("evaluate", "a model by the reference: arrays as .npy in and out, held against NumPy's or JAX's",
            "evaluate model.hlo --folder arrays\n"
            "evaluate model.hlo --inputs x=x.npy,w=w.npy --expect y=y.npy",
            "MODEL", bound<EvaluateCommand, run_evaluate>),
    command("fuse", "how a strategy cuts a model into kernels",
            "fuse model.hlo --device h200\n"
            "fuse model.hlo --compare --device h200,a100_80gb\n"
            "fuse model.hlo --why add.7 --device h200\n"
            "fuse model.hlo --device h200 --to model.svg",
            "MODEL", bound<FuseOptions, run_fuse>),
    command("explore", "the plan space of one group: what was dropped and why, and the best plans",
            "explore data/models/layernorm_fwd_tf_f32_4096x768.hlo --device h200\n"
            "explore model.hlo --device a100_80gb --group 3 --axis threads=128,256 --axis vector=4 --top 5",
            "MODEL --device", bound<ExploreOptions, run_explore>),
    command("explain", "one kernel beside its estimate, or two plans of it against each other",
            "explain data/models/layernorm_fwd_tf_f32_4096x768.hlo --device h200\n"
            "explain model.hlo --device h200 --group 3 --plan 2 --simulate\n"
            "explain model.hlo 1 xla --device h200",
            "MODEL --device", bound<ExplainOptions, run_explain>),
    command("emit", "the CUDA C++ of one plan, or its PTX",
            "emit data/models/softmax_fwd_f32_4096x1024.hlo --device h200 -o softmax.cu\n"
            "emit model.hlo --device h200 --group 3 --plan 2 --ptx",
            "MODEL --device", bound<EmitOptions, run_emit>),
    command("check", "execute compiled kernels on the simulator and compare what they compute with the reference",
            "check data/models/softmax_fwd_f32_4096x1024.hlo --device h200\n"
            "check model.hlo --device h200 --group 3 --plan 2 --seeds 5\n"
            "check model.hlo --device h200 --group 3 --all-plans --format json",
            "MODEL --device", bound<CheckCommand, run_check>),
    command("run", "run anybody's CUDA or PTX kernel on the simulator, under sanitizers",
            "run kernel.cu --grid 4 --block 128 --arg x:f32[512]:input:random --arg y:f32[512]:output --arg i32:512\n"
            "run kernel.cu --seeds 8 --counters --lines\n"
            "run kernel.ptx --entry add --grid 64 --block 256 --arg x:input:x.npy --arg y:f32[16384]:output "
            "--expect y=y.npy",
            "FILE", bound<RunCommand, run_run>),
    command("profile", "run plans on a GPU: checked against the reference, raced, counted; or replay what was recorded",
            "profile data/models/softmax_fwd_f32_4096x1024.hlo --device h200\n"
            "profile model.hlo --device h200 --group 3 --cache-state cold,produced --store h200.db\n"
            "profile model.hlo --device h200 --module --strategy unfused,tailor --xla dump\n"
            "profile model.hlo --device h200 --profiler replay --recorded h200.db",
            "MODEL --device", bound<ProfileCommand, run_profile>),
    command("microbench", "what a GPU's ceilings are: copies, launches, barriers, bytes in flight",
            "microbench --device h200\n"
            "microbench --device h200 --only copy,read,write --store h200.db",
            "--device", bound<MicrobenchCommand, run_microbench>),
    command("sweep", "the main job from a file: import, fuse, explore, compile, check, store; goes on where it stopped",
            "sweep experiments/00-hello.json\n"
            "sweep experiments/00-hello.json --dry-run\n"
            "sweep experiments/00-hello.json --store /tmp/hello.db --no-compile",
            "CONFIG", bound<SweepCommand, run_sweep_command>),
    command("report", "what a sweep found: strategies, groups, plans, what was rejected and why",
            "report out/00-hello.db\n"
            "report out/00-hello.db --model bert_infer_l12_b1_s128_f16 --folder out/00-hello",
            "DB", bound<ReportCommand, run_report_command>),
    command("db",
            "look into a database, check it, print it, bring an older one to today's form, merge others into it; "
            "measurements in and out",
            "db info out/00-hello.db\n"
            "db merge all.db shard1.db shard2.db\n"
            "db migrate old.db\n"
            "db export --recorded h200.jsonl.gz all.db --device h200\n"
            "db export --format kernel-tuner --folder exported all.db\n"
            "db import h200.jsonl.gz mine.db\n"
            "db observations all.db",
            "ACTION DB", bound<DbCommand, run_db_command>, true),
    command("calibrate", "fit the numbers of the models to observations of a GPU",
            "calibrate neusight_train.csv --device v100_pcie --write v100_pcie.json\n"
            "calibrate campaign.db --device h200 --write h200.json\n"
            "calibrate few.csv --device new.json --few --write new_fit.json\n"
            "calibrate --device new.json --budget 20",
            "--device", bound<CalibrateCommand, run_calibrate>),
    command("validate", "how well models, and predictors without physics, say times that were observed",
            "validate campaign.db\n"
            "validate neusight_train.csv --device v100_pcie --by operation,size\n"
            "validate all.db --cost-model projected --calibration uncalibrated,mine.json --format json",
            "OBSERVATIONS", bound<ValidateCommand, run_validate>),
    command("replay", "searches replayed on a tuning space that was measured whole: how near to the optimum, how soon",
            "replay convolution_a100.csv\n"
            "replay space.csv.gz --tries 25,100,400 --runs 30 --format csv\n"
            "replay other.csv --time median --parameters block_x,block_y,unroll",
            "TABLE", bound<ReplayCommand, run_replay>),
    command("devices", "the GPUs that there is a file for, every figure of one, or a file for another one",
            "devices\n"
            "devices h200 --format md\n"
            "devices new gh200 --from h200",
            "", bound<DevicesOptions, run_devices>),
    command("counters", "what a GPU can count, by which of CUPTI's metrics, in how many passes",
            "counters --device h200\n"
            "counters --chip GA100 --tier 0 --format csv\n"
            "counters --chip GB202 --counters dram_read_bytes,lts__t_sectors.sum\n"
            "counters --chips",
            "", bound<CountersOptions, run_counters>),
    command("list", "the rows of Tailor's own tables",
            "list strategies\n"
            "list rules --format json",
            "TABLE", bound<ListOptions, run_list>),
    command("doctor", "what was found on this machine, what is missing, what to do",
            "doctor\n"
            "doctor -v",
            "", bound<DoctorOptions, run_doctor>),
});

/// A command on as many lines as it takes, each of which a shell takes for the same command. An option stays with its
/// value.
std::string shell_lines(std::string_view command, int width) {
  constexpr char tied = '\x01';
  std::string words(command);
  for (std::size_t at = 0; (at = words.find(" -", at)) != words.npos; ++at)
    if (const std::size_t end = words.find(' ', at + 1); end != words.npos && words[end + 1] != '-') words[end] = tied;
  std::string out, lead = "  tailor ";
  for (std::string line : report::wrapped(words, width - 11, true)) {
    std::replace(line.begin(), line.end(), tied, ' ');
    out += fmt::format("{}{}{}", out.empty() ? "" : " \\\n", lead, line);
    lead = "      ";
  }
  return out + "\n";
}

/// Words under a name, broken at the screen's edge, a name that is too long on a line of its own.
std::string named_lines(const std::string& name, const std::string& what, std::size_t indent, int width) {
  const std::string next = '\n' + std::string(indent, ' ');
  std::string out = name.size() + 3 > indent ? "  " + name + next : fmt::format("  {:<{}} ", name, indent - 3);
  std::string_view gap;
  for (const std::string& line : report::wrapped(what, std::max(20, width - static_cast<int>(indent)), true)) {
    out += fmt::format("{}{}", gap, line);
    gap = next;
  }
  return out + '\n';
}

std::string overview(int width) {
  std::string out;
  for (const std::string& line : report::wrapped("Tailor decides how to fuse a model's memory-bound operations into "
                                                 "GPU kernels, writes them, and predicts how "
                                                 "fast they run.",
                                                 width, true))
    out += line + "\n";
  out += "\nexamples\n";
  for (const CommandRow& row : command_table) out += shell_lines(split(row.examples, '\n').front(), width);
  out += "\nusage\n  tailor COMMAND [options]\n\ncommands\n";
  for (const CommandRow& row : command_table)
    out += named_lines(std::string(row.name), std::string(row.what), 13, width);
  out += "\n" + named_lines("tailor help COMMAND", "examples and options of a command, as --help behind it", 25, width);
  return out + named_lines("tailor --version", "the version", 25, width);
}

std::string help_text(const OptionList& list, const CommandRow& row, int width) {
  std::string out = broken_lines(fmt::format("tailor {}: {}", row.name, row.what), width) + "\n\nexamples\n";
  for (const std::string_view line : split(row.examples, '\n')) out += shell_lines(line, width);
  std::string usage = fmt::format("tailor {}", row.name), options;
  const std::vector<std::string_view> needs = split(row.needs, ' ');
  std::string_view section;
  for (const Option& option : list.options) {
    const bool needed = std::find(needs.begin(), needs.end(), option.names) != needs.end();
    const std::string lead = option.value.empty() ? option.names : option.names + " " + option.value;
    if (needed || option.positional()) usage += needed ? " " + lead : fmt::format(" [{}]", lead);
    if (option.section != section) options += fmt::format("\n{}\n", section = option.section);
    options += named_lines(lead, option.what, 25, width);
  }
  return out + fmt::format("\nusage\n{}\n{}", broken_lines(fmt::format("  {} [options]", usage), width), options);
}

/// The command's own page.
std::string help_of(const CommandRow& row, int width) { return help_text(shown_options(row), row, width); }

const CommandRow& find_command(std::string_view name) {
  std::vector<std::string_view> known;
  for (const CommandRow& row : command_table) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  if (name.starts_with('-'))
    throw Error(Fault::usage, fmt::format("found option '{}', expected a command first", name), "see tailor --help");
  throw Error(Fault::usage, fmt::format("no command is called '{}'", name), suggestion(name, known));
}

/// Words that no option took.
void refuse_unknown_arguments(const OptionList& list, std::span<const std::string> unknown, const CommandRow& row) {
  if (unknown.empty()) return;
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  if (!word.starts_with('-'))
    throw Error(Fault::usage, fmt::format("tailor {}: found '{}', which is one word too many", row.name, word),
                fmt::format("see tailor {} --help; words with spaces need quotes", row.name));
  std::vector<std::string_view> known;
  for (const Option& option : list.options)
    for (const std::string_view name : split(option.names, ','))
      if (name.starts_with("--")) known.push_back(name);
  throw Error(Fault::usage, fmt::format("tailor {} has no option '{}'", row.name, word), suggestion(word, known));
}

void refuse_missing_arguments(const OptionList& list, std::span<const Option* const> given, const CommandRow& row) {
  if (row.needs.empty()) return;
  for (const std::string_view need : split(row.needs, ' ')) {
    const Option* option = list.find(need);
    if (std::find(given.begin(), given.end(), option) == given.end())
      throw Error(Fault::usage, fmt::format("tailor {} needs {}: {}", row.name, need, option->what),
                  fmt::format("for example: tailor {}", split(row.examples, '\n').front()));
  }
}

Colour parse_colour(const std::string& word) {
  constexpr std::array names = std::to_array<std::string_view>({"auto", "always", "never"});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) return static_cast<Colour>(i);
  throw Error(Fault::usage, fmt::format("--color: found '{}', expected one of {}", word, fmt::join(names, ", ")),
              suggestion(word, names));
}

/// The command as one could type it again.
std::string typed(std::span<char* const> words) {
  std::string out = "tailor";
  for (const std::string_view word : words.subspan(1)) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|<>;()*?%") == word.npos;
    out += plain ? fmt::format(" {}", word) : fmt::format(" '{}'", word);
  }
  return out;
}

/// -o must not name a file that the command reads.
void refuse_own_output(std::span<char* const> words, const std::string& output) {
  std::vector<std::string> others(words.begin(), words.end());
  if (const auto own = std::find(others.begin(), others.end(), output); own != others.end()) others.erase(own);
  refuse_own_input(others, output);
}

void run_command(std::span<char* const> words, const Terminal& terminal) {
  const CommandRow& row = find_command(words[1]);
  OptionList list;
  const auto run = row.declare(list);
  Common common;
  declare_common(list, common);
  const ParsedWords parsed = parse_options(list, words.subspan(2), row.name);
  if (common.help) {
    write_stdout(help_text(list, row, terminal.help_width));
    return;
  }
  refuse_unknown_arguments(list, parsed.unknown, row);
  refuse_missing_arguments(list, parsed.given, row);
  if (common.output == "-") common.output.clear();
  refuse_own_output(words.subspan(2), common.output);
  const Colour colour = parse_colour(common.colour);
  Verbosity verbosity = common.verbose ? Verbosity::verbose : Verbosity::normal;
  if (common.quiet) verbosity = Verbosity::quiet;
  Console console(standard_error(),
                  {verbosity, coloured_errors(colour, terminal), terminal.errors_is_terminal && !terminal.dumb,
                   terminal.errors_width, terminal.errors_is_terminal, Seconds{1}},
                  steady_clock());
  const InterruptWatch interrupts;
  Context context{row.own_formats ? Format::table : parse_format(common.format),
                  common.output,
                  common.data,
                  terminal,
                  coloured_output(colour, terminal),
                  common.verbose,
                  &console,
                  &interrupts,
                  typed(words),
                  common.format};
  if (context.data.empty()) context.data = own_installation().data;
  run(context);
}

}  // namespace

void dispatch(std::span<char* const> words, const Terminal& terminal) {
  const std::string_view first = words.size() > 1 ? words[1] : "";
  if (first == "--version" || first == "-V") {
    write_stdout(fmt::format("{}\n", tool_name));
  } else if (first == "help" && words.size() > 2) {
    write_stdout(help_of(find_command(words[2]), terminal.help_width));
  } else if (first.empty() || first == "--help" || first == "-h" || first == "help") {
    write_stdout(overview(terminal.help_width));
  } else if (first == study::worker_flag) {
    if (profiler::serve(profiler::worker_socket) != 0)
      throw Error(Fault::usage, fmt::format("{} is how Tailor starts itself to own a GPU", study::worker_flag),
                  "tailor profile does that");
  } else if (first == study::compiler_flag) {
    if (profiler::serve_compiler(child_socket) != 0)
      throw Error(Fault::usage, fmt::format("{} is how Tailor starts itself to compile", study::compiler_flag),
                  "tailor check does that");
  } else {
    run_command(words, terminal);
  }
}

std::string refusal_text(const Error& error, std::span<char* const> words, const Terminal& terminal) {
  Colour colour = Colour::automatic;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i], name = word.substr(0, word.find('='));
    if (name != "--color" && name != "--colour") continue;
    const std::string_view value = name != word           ? word.substr(name.size() + 1)
                                   : i + 1 < words.size() ? words[i + 1]
                                                          : "";
    if (value == "always" || value == "never") colour = value == "never" ? Colour::never : Colour::always;
  }
  std::string text = error_text(error);
  if (terminal.errors_is_terminal) text = broken_lines(trim(text), terminal.errors_width) + "\n";
  if (!coloured_errors(colour, terminal)) return text;
  return "\x1b[1;31merror:\x1b[0m" + text.substr(text.find(':') + 1);
}

int refused(const Error& error, std::span<char* const> words, const Terminal& terminal) {
  fmt::print(stderr, "{}", refusal_text(error, words, terminal));
  return static_cast<int>(error.fault);
}

std::span<const CommandRow> commands() { return command_table; }

OptionList shown_options(const CommandRow& row) {
  OptionList list;
  Common common;
  row.declare(list);
  declare_common(list, common);
  return list;
}

}  // namespace tailor::cli
