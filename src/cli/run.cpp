// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor run: anybody's CUDA or PTX kernel on the simulator, under its sanitizers. In: a file, a launch and arguments,
// from the head of the file or the command line. Out: whether it is clean, what was found and where, what its buffers
// hold; arrays as .npy. Called by main's table of commands.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "profiler/check/check.h"
#include "profiler/compile/compile.h"
#include "profiler/run/run_kernel.h"
#include "study/pipeline/gpu_access.h"
#include "study/tables/run_tables.h"

namespace tailor::cli {

namespace {

namespace fs = std::filesystem;

/// NAME=FILE
std::pair<std::string, std::string> named_file(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    throw Error(Fault::usage, fmt::format("{}: found '{}', expected NAME=FILE", option, text));
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

/// The head of the file, and over it what the command line says.
profiler::RunSpec make_spec(const RunCommand& options, const std::string& text) {
  profiler::RunSpec spec = profiler::read_head(text, options.file);
  const auto word = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) read_launch_word(spec, fmt::format("{}={}", key, value));
  };
  word("grid", options.grid);
  word("block", options.block);
  word("cluster", options.cluster);
  if (options.shared >= 0) word("shared", std::to_string(options.shared));
  if (options.limit > 0) word("limit", std::to_string(options.limit));
  if (options.cooperative) spec.launch.cooperative = true;
  if (!options.arguments.empty()) {
    spec.buffers.clear();
    spec.parameters.clear();
  }
  const std::string stem = fs::path(options.file).stem().string();
  for (const std::string& one : options.arguments) read_argument(spec, one, stem, fs::current_path());
  for (const std::string& one : options.variables) read_variable(spec, one, stem, fs::current_path());
  if (!options.arch.empty()) spec.arch = options.arch;
  return spec;
}

std::string compiled_ptx(const RunCommand& options, const std::string& text, const std::string& arch,
                         const Context& context) {
  const profiler::FoundNvrtc nvrtc = study::find_compiler(options.compiler.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "a CUDA file needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  profiler::CompileRequest request{.cuda = text, .file = fs::path(options.file).filename().string(), .arch = arch};
  for (const std::string& one : options.defines) request.options.push_back("--define-macro=" + one);
  for (const std::string& one : options.includes) request.options.push_back("--include-path=" + one);
  const ir::Binary binary =
      profiler::Compiler(*nvrtc.api, study::compiler_setup(options.compiler)).compile(request, context.stop());
  if (context.stop().stop_requested()) throw Error(Fault::interrupted, "interrupted");
  if (binary.outcome == ir::CompileOutcome::unsupported)
    throw Error(Fault::missing, fmt::format("{} cannot compile for {}: {}", binary.compiler, arch, trim(binary.log)),
                "--arch names another architecture; tailor doctor lists those it knows");
  if (binary.outcome == ir::CompileOutcome::too_long)
    throw Error(Fault::failed, Position{options.file}, std::string(trim(binary.log)));
  const bool has_several = binary.outcome == ir::CompileOutcome::failed && !binary.cubin.empty();
  if (has_several && !options.entry.empty()) return binary.ptx;  // whose entries are looked through
  if (has_several)
    throw Error(Fault::usage, Position{options.file}, std::string(trim(binary.log)), "--entry NAME is the one to run");
  if (binary.outcome == ir::CompileOutcome::failed)
    throw Error(Fault::failed, Position{options.file}, fmt::format("does not compile:\n{}", trim(binary.log)),
                "NVRTC compiles device code: host code and its headers are to be left out");
  return binary.ptx;
}

profiler::RunOptions run_options(const RunCommand& options, const Context& context) {
  profiler::RunOptions how;
  how.simulation.seed = static_cast<std::uint64_t>(options.seed);
  how.simulation.threads = 1;
  how.simulation.sanitize = !options.no_sanitizers;
  how.simulation.time_limit = {options.time_limit};
  how.simulation.stop = context.stop();
  how.seeds = options.seeds;
  how.sample_blocks = options.blocks;
  how.tolerance = options.tolerance;
  for (const std::string& one : options.expect) {
    const auto [buffer, file] = named_file("--expect", one);
    how.expected.push_back({buffer, profiler::read_npy(file)});
  }
  return how;
}

/// What contradicts itself, before anything runs: a buffer or a file that is named twice, a file that is read and
/// written.
void check_options(const RunCommand& options, const profiler::RunSpec& spec) {
  if (options.seeds < 1) throw Error(Fault::usage, "--seeds: found 0, expected at least one schedule");
  refuse_not_above_zero("--time-limit", options.time_limit, "seconds");
  if (!(options.tolerance < 0) && !std::isfinite(options.tolerance))
    throw Error(Fault::usage, fmt::format("--tolerance: found {}, expected a number from 0 up", options.tolerance));
  if (options.blocks > 0 && !options.expect.empty())
    throw Error(Fault::usage, "found --blocks beside --expect, expected one of them",
                "what blocks write that do not run cannot be as expected");
  std::vector<std::string> read = spec.files;
  read.push_back(options.file);
  std::vector<std::string> expected, saved, written;
  for (const std::string& one : options.expect) {
    const auto [name, file] = named_file("--expect", one);
    expected.push_back(name);
    read.push_back(file);
  }
  for (const std::string& one : options.save) {
    const auto [name, file] = named_file("--save", one);
    saved.push_back(name);
    written.push_back(fs::weakly_canonical(fs::absolute(file)).string());
    refuse_own_input(read, file);
  }
  refuse_twice("--expect", expected);
  refuse_twice("--save", saved);
  refuse_twice("--save", written);
  for (const std::string& name : saved)
    if (std::none_of(spec.buffers.begin(), spec.buffers.end(),
                     [&](const profiler::RunBuffer& each) { return each.name == name; }))
      throw Error(Fault::usage, fmt::format("--save: no buffer is called '{}'", name));
}

void save_buffers(const RunCommand& options, const profiler::RunSpec& spec, const profiler::KernelRun& run,
                  const Context& context) {
  for (const std::string& one : options.save) {
    const auto [name, file] = named_file("--save", one);
    const auto at = std::find_if(spec.buffers.begin(), spec.buffers.end(),
                                 [&, &wanted = name](const profiler::RunBuffer& each) { return each.name == wanted; });
    const auto& bytes = run.buffers[static_cast<std::size_t>(at - spec.buffers.begin())].bytes;
    const std::optional<std::string> text = profiler::npy_text({at->dtype, at->dims, bytes});
    if (!text) throw Error(Fault::usage, fmt::format("--save: NumPy has no type {}", ir::name(at->dtype)));
    write_file(file, *text);
    context.console->note(fmt::format("{} is in {}", name, file));
  }
}

}  // namespace

void run_run(const RunCommand& options, const Context& context) {
  const bool is_ptx = options.file.ends_with(".ptx");
  std::string text = read_file(options.file);
  profiler::RunSpec spec = make_spec(options, text);
  check_options(options, spec);
  std::optional<ir::Device> device;
  if (!options.device.empty()) device = load_device(context, options.device);
  if (device && spec.machine.sms == 0) spec.machine = profiler::machine_limits(*device, spec.machine.blocks_per_sm);
  if (spec.arch.empty()) spec.arch = device ? device->arch : "sm_90";
  const simulator::PtxModule module =
      simulator::parse_ptx(is_ptx ? text : compiled_ptx(options, text, spec.arch, context), options.file);
  const simulator::PtxFunction& entry = profiler::find_entry(module, options.entry);
  const profiler::KernelRun run = profiler::run_kernel(module, entry, spec, run_options(options, context));
  if (context.stop().stop_requested()) throw Error(Fault::interrupted, "interrupted");
  CommandOutput answer{"tailor.run/1", options.device, {}, {}};
  answer.sections.push_back({"run", study::run_table(run, entry.name)});
  report::Table findings = study::run_finding_table(run, text);
  const bool all = context.format == Format::json;
  if (all || !findings.rows.empty()) answer.sections.push_back({"findings", std::move(findings)});
  if (all || !run.simulation.printed.empty()) answer.sections.push_back({"printed", study::run_printed_table(run)});
  answer.sections.push_back({"buffers", study::run_buffer_table(run, spec)});
  if (all || options.counters) answer.sections.push_back({"counters", study::run_counter_table(run)});
  if (all || options.lines) answer.sections.push_back({"lines", study::run_line_table(run, text)});
  show(context, answer);
  if (!run.buffers.empty()) save_buffers(options, spec, run, context);
  if (const std::optional<Error> fault = study::fault_of(run, spec)) throw *fault;
}

}  // namespace tailor::cli
