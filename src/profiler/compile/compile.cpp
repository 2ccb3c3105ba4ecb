// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One call of NVRTC gives PTX and machine code. Registers and stack come from the cubin; spills and static shared
// memory from the assembler's log, the only exact source: the cubin's shared section also counts what the system
// reserves.
#include "profiler/compile/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "profiler/compile/cubin.h"
#include "profiler/compile/machine_code.h"

namespace tailor::profiler {
namespace {

using nvrtc_abi::Program;
using nvrtc_abi::Result;

class OwnedProgram {
 public:
  OwnedProgram(const Nvrtc& api, const CompileRequest& request) : api_(api) {
    created = api.nvrtcCreateProgram(&program, request.cuda.c_str(), request.file.c_str(), 0, nullptr, nullptr);
  }
  ~OwnedProgram() {
    if (program != nullptr) api_.nvrtcDestroyProgram(&program);
  }
  OwnedProgram(const OwnedProgram&) = delete;
  OwnedProgram& operator=(const OwnedProgram&) = delete;

  Program program = nullptr;
  Result created;

 private:
  const Nvrtc& api_;
};

/// The options that decide the result, in the order NVRTC gets them.
std::vector<std::string> deciding_options(const CompileRequest& request) {
  // -default-device: functions without a mark are for the device, so printed text needs no marks.
  std::vector<std::string> options = {"--gpu-architecture=" + request.arch, "-default-device", "--std=c++17",
                                      "--ptxas-options=-v"};
  if (request.line_info) options.push_back("--generate-line-info");
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

/// Reads one of NVRTC's sized results (a getter of the size, a getter of the bytes).
template <class Container>
Container sized(Result (*size_of)(Program, std::size_t*), Result (*bytes_of)(Program, char*), Program program) {
  std::size_t size = 0;
  Container bytes;
  if (size_of(program, &size) != nvrtc_abi::success) return bytes;
  bytes.resize(size);
  if (bytes_of(program, reinterpret_cast<char*>(bytes.data())) != nvrtc_abi::success) bytes.clear();
  return bytes;
}

/// NVRTC ends its texts with a NUL that it counts.
std::string without_nul(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

/// The log without the assembler's figures, which are kept as numbers.
std::string words_of(std::string_view log) {
  std::string words;
  for (std::string_view line : split(log, '\n')) {
    const std::string_view shown = trim(line);
    if (shown.empty() || shown.starts_with("ptxas info") || shown.find("bytes stack frame") != shown.npos) continue;
    words += line;
    words += '\n';
  }
  return words;
}

/// The number before `unit` in a line: 32 in "Used 32 registers".
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == line.npos) return 0;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  int number = 0;
  std::from_chars(line.data() + start, line.data() + end, number);
  return number;
}

/// Fills what the cubin and the log tell of the kernel that the entry names; what is wrong where there is none.
std::string describe_entry(ir::CompiledEntry& entry, const std::vector<CubinKernel>& kernels, const std::string& log,
                           int arch) {
  auto kernel =
      std::find_if(kernels.begin(), kernels.end(), [&](const CubinKernel& one) { return one.name == entry.entry; });
  if (entry.entry.empty() && kernels.size() == 1) kernel = kernels.begin();
  if (kernel == kernels.end()) {
    std::vector<std::string> names;
    for (const CubinKernel& one : kernels) names.push_back(one.name);
    if (names.empty()) return "found no kernel in the text, expected one: extern \"C\" __global__ void NAME(...)\n";
    return entry.entry.empty()
               ? fmt::format("found {} kernels in the text, expected one to be named: {}\n", names.size(),
                             fmt::join(names, ", "))
               : fmt::format("found no kernel '{}' in the text, which has: {}\n", entry.entry, fmt::join(names, ", "));
  }
  const AssemblerFigures figures = assembler_figures(log, kernel->name);
  entry.entry = kernel->name;
  entry.registers = kernel->registers;
  entry.local_bytes = kernel->stack_bytes;
  entry.spill_stores = figures.spill_stores;
  entry.spill_loads = figures.spill_loads;
  entry.static_shared = figures.static_shared;
  const MachineCode code = read_machine_code(kernel->code, arch);
  entry.machine_instructions = code.instructions;
  entry.loads_outstanding = code.loads_outstanding;
  return {};
}

/// Describes all entries; a text without one of them becomes a failure.
void describe(ir::Binary& binary, const std::string& log) {
  const std::vector<CubinKernel> kernels = read_cubin(binary.cubin);
  const int arch = arch_number(binary.arch);
  std::string wrong = describe_entry(binary, kernels, log, arch);
  for (ir::CompiledEntry& follower : binary.followers) wrong += describe_entry(follower, kernels, log, arch);
  binary.outcome = wrong.empty() ? ir::CompileOutcome::ok : ir::CompileOutcome::failed;
  binary.log += wrong;
}

/// Lets NVRTC ask, at points of its own, whether to go on.
int asked_to_stop(void* stop, void*) { return static_cast<std::stop_token*>(stop)->stop_requested() ? 1 : 0; }

}  // namespace

int arch_number(const std::string& arch) {
  int number = 0;
  const char *first = arch.data() + 3, *last = arch.data() + arch.size();
  if (arch.starts_with("sm_") && arch.size() > 3) {
    const auto [end, fault] = std::from_chars(first, last, number);
    if (fault == std::errc{} && (end == last || (end + 1 == last && (*end == 'a' || *end == 'f')))) return number;
  }
  throw Error(Fault::usage, fmt::format("found architecture '{}', expected one such as sm_90", arch));
}

std::optional<Unsupported> unsupported(const Nvrtc& api, const std::string& arch) {
  const int number = arch_number(arch);
  if (std::binary_search(api.archs.begin(), api.archs.end(), number)) return {};
  std::vector<std::string> known;
  for (const int one : api.archs) known.push_back(fmt::format("sm_{}", one));
  return Unsupported{
      fmt::format("{} does not compile for {}; it does for {}", version(api), arch, fmt::join(known, ", ")),
      number < api.archs.front() ? "an older release does: the wheel nvidia-cuda-nvrtc-cu12 goes back to sm_50"
                                 : "a newer release may"};
}

std::string nearest_arch(const Nvrtc& api, const std::string& arch) {
  const int number = arch_number(arch);
  if (api.archs.empty() || std::binary_search(api.archs.begin(), api.archs.end(), number)) return arch;
  int best = api.archs.front();
  for (const int one : api.archs)
    if (std::abs(one - number) <= std::abs(best - number)) best = one;
  return fmt::format("sm_{}", best);
}

Id source_id(const Nvrtc& api, const CompileRequest& request) {
  // The library's size stands for the patch release: two that call themselves 13.0 may make different code.
  std::vector<std::string> entries{request.entry};
  entries.insert(entries.end(), request.followers.begin(), request.followers.end());
  return id_of(fmt::format("{} of {} bytes\n{}\n{}\n{}", version(api), api.library_bytes,
                           fmt::join(deciding_options(request), "\n"), fmt::join(entries, "\n"), request.cuda));
}

AssemblerFigures assembler_figures(std::string_view log, std::string_view kernel) {
  AssemblerFigures figures;
  bool within = false, own_properties = false;
  for (std::string_view line : split(log, '\n')) {
    if (line.find("Compiling entry function") != line.npos) {
      within = line.find(fmt::format("'{}'", kernel)) != line.npos;
    } else if (line.find("Function properties for") != line.npos) {
      own_properties = line.ends_with(fmt::format(" {}", kernel));
    } else if (within && own_properties && line.find("bytes stack frame") != line.npos) {
      figures.frame_bytes = number_before(line, " bytes stack frame");
      figures.spill_stores = number_before(line, " bytes spill stores");
      figures.spill_loads = number_before(line, " bytes spill loads");
    } else if (within && line.find("Used ") != line.npos) {
      figures.registers = number_before(line, " registers");
      figures.static_shared = number_before(line, " bytes smem");
      figures.found = true;
    }
  }
  return figures;
}

namespace {

/// What a log begins with that says nothing final of the text.
constexpr std::string_view interrupted_words = "interrupted while it was compiled";
constexpr std::string_view died_words = "the compiler died: ";
constexpr std::string_view waited_words = "compiling did not end while over ";

}  // namespace

bool is_final(const ir::Binary& binary) {
  constexpr std::array<std::string_view, 4> passing = {"NVRTC_ERROR_", interrupted_words, died_words, waited_words};
  return std::none_of(passing.begin(), passing.end(),
                      [&](std::string_view one) { return binary.log.starts_with(one); });
}

void cut_short(ir::Binary& binary, CutShort why, std::string_view words) {
  const bool too_long = why == CutShort::waited || why == CutShort::too_long;
  binary.outcome = too_long ? ir::CompileOutcome::too_long : ir::CompileOutcome::failed;
  switch (why) {
    case CutShort::interrupted:
      binary.log = fmt::format("{}\n", interrupted_words);
      break;
    case CutShort::died:
      binary.log = fmt::format("{}{}\n", died_words, words);
      break;
    case CutShort::waited:
      binary.log = fmt::format("{}{} passed, most of it without a processor: given up\n", waited_words, words);
      break;
    case CutShort::too_long:
      binary.log = fmt::format("compiling takes over {} of processor time: given up (--compile-limit)\n", words);
      break;
  }
}

ir::Binary uncompiled(const Nvrtc& api, const CompileRequest& request) {
  ir::Binary binary;
  binary.source = source_id(api, request);
  binary.arch = request.arch;
  binary.compiler = version(api);
  binary.entry = request.entry;
  for (const std::string& follower : request.followers) binary.followers.emplace_back().entry = follower;
  return binary;
}

ir::Binary compile(const Nvrtc& api, const CompileRequest& request, std::stop_token stop) {
  ir::Binary binary = uncompiled(api, request);
  if (const std::optional<Unsupported> why = unsupported(api, request.arch)) {
    binary.outcome = ir::CompileOutcome::unsupported;
    binary.log = fmt::format("{}\nhint: {}\n", why->words, why->hint);
    return binary;
  }

  std::vector<std::string> options = deciding_options(request);
  for (const auto& folder : api.include_folders) options.push_back("-I" + folder.string());
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());

  const auto start = std::chrono::steady_clock::now();
  const OwnedProgram owned(api, request);
  Result result = owned.created;
  std::string log;
  if (result == nvrtc_abi::success) {
    if (stop.stop_possible() && api.nvrtcSetFlowCallback != nullptr) {
      api.nvrtcSetFlowCallback(owned.program, asked_to_stop, &stop);
    }
    result = api.nvrtcCompileProgram(owned.program, static_cast<int>(words.size()), words.data());
    log = without_nul(sized<std::string>(api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog, owned.program));
  }
  if (result == nvrtc_abi::success) {
    binary.ptx = without_nul(sized<std::string>(api.nvrtcGetPTXSize, api.nvrtcGetPTX, owned.program));
    binary.cubin = sized<std::vector<std::byte>>(api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN, owned.program);
  }
  binary.compile_time.value = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  binary.log = words_of(log);
  if (result == nvrtc_abi::success) {
    describe(binary, log);
  } else if (stop.stop_requested()) {
    // NVRTC calls what it was told to stop a failed compilation, without a word. It says nothing of the text.
    cut_short(binary, CutShort::interrupted);
  } else if (result != nvrtc_abi::compilation_failed) {
    binary.log = fmt::format("{}\n{}", api.nvrtcGetErrorString(result), binary.log);
  }
  return binary;
}

}  // namespace tailor::profiler
