// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading an image. In: bytes. Out: a module or the driver's error. The number of registers is made up from the PTX,
// because only the assembler knows it: it grows with the virtual registers and keeps to the bounds that the entry asks
// for.
#include "fake_gpu/module.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace tailor::fake {
namespace {

constexpr int newest_ptx_major = 9, newest_ptx_minor = 0;
constexpr int warp = 32;

struct Target {
  int number = 0;
  char suffix = ' ';
};

Target target_of(std::string_view text) {
  Target made;
  if (text.starts_with("sm_")) text.remove_prefix(3);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), made.number);
  if (read.ptr != text.data() + text.size()) made.suffix = *read.ptr;
  return made;
}

/// Family-specific code (f) runs within a major version, architecture-specific code (a) on its own number only.
bool runs_on(const Target& target, int chip) {
  if (target.suffix == 'a') return target.number == chip;
  if (target.suffix == 'f') return target.number <= chip && target.number / 10 == chip / 10;
  return target.number <= chip;
}

bool is_newer_version(std::string_view version) {
  int major = 0, minor = 0;
  const auto read = std::from_chars(version.data(), version.data() + version.size(), major);
  if (read.ptr != version.data() + version.size())
    std::from_chars(read.ptr + 1, version.data() + version.size(), minor);
  return major > newest_ptx_major || (major == newest_ptx_major && minor > newest_ptx_minor);
}

std::int64_t threads_in(const std::array<std::uint32_t, 3>& extent) {
  return std::int64_t{std::max(extent[0], 1u)} * std::max(extent[1], 1u) * std::max(extent[2], 1u);
}

void size_up(Function& function, const Chip& chip) {
  const simulator::PtxFunction& entry = *function.entry;
  std::int64_t words = 0;
  for (const simulator::PtxRegister& one : entry.registers) words += one.bits > 1 ? (one.bits + 31) / 32 : 0;
  const bool bounded = entry.reqntid[0] != 0 || entry.maxntid[0] != 0;
  const std::int64_t threads = bounded ? threads_in(entry.reqntid[0] != 0 ? entry.reqntid : entry.maxntid) : 1024;
  const std::int64_t most =
      std::min<std::int64_t>(255, chip.registers_per_sm / std::max<std::int64_t>(threads, warp) / 8 * 8);
  function.registers = static_cast<int>(std::clamp<std::int64_t>(16 + words / 4 / 8 * 8, 16, most));
  const std::int64_t by_registers = chip.registers_per_sm / function.registers / warp * warp;
  function.threads = static_cast<int>(std::min({std::int64_t{1024}, bounded ? threads : 1024, by_registers}));
  function.dynamic_allowed = std::max<std::int64_t>(0, chip.shared_per_block - static_shared(function));
}

/// Special registers that tell time.
constexpr std::string_view clocks[] = {"%globaltimer_lo", "%globaltimer_hi", "%globaltimer",
                                       "%clock64",        "%clock_hi",       "%clock"};

/// Whether an entry reads clocks, and each once: who reads one twice measures itself, and gets the simulator's clocks,
/// which go on meanwhile.
bool reads_clock_once(const simulator::PtxFunction& entry) {
  std::vector<std::string_view> read;
  for (const simulator::PtxOperand& operand : entry.operands)
    if (operand.kind == simulator::PtxOperandKind::special &&
        std::find(std::begin(clocks), std::end(clocks), operand.name) != std::end(clocks))
      read.push_back(operand.name);
  std::sort(read.begin(), read.end());
  return !read.empty() && std::adjacent_find(read.begin(), read.end()) == read.end();
}

/// Whether no instruction of an entry could leave something in memory, wait or call: an allow-list of beginnings.
bool is_storeless(const simulator::PtxFunction& entry) {
  constexpr std::string_view harmless[] = {"ld.",  "mov.",  "cvt.",  "cvta.", "add.", "sub.", "mul.",
                                           "mad.", "setp.", "shl.",  "shr.",  "and.", "or.",  "xor.",
                                           "min.", "max.",  "selp.", "bra",   "ret",  "exit"};
  return std::all_of(entry.instructions.begin(), entry.instructions.end(), [&](const simulator::PtxInstruction& one) {
    return std::any_of(std::begin(harmless), std::end(harmless),
                       [&](std::string_view begin) { return one.opcode.starts_with(begin); });
  });
}

Loaded load_elf(const unsigned char* bytes, const Chip& chip) {
  constexpr std::size_t flags_at = 48, abi_at = 8;
  std::uint32_t flags = 0;
  std::memcpy(&flags, bytes + flags_at, sizeof flags);
  // From the assembler of CUDA 13 on (ABI version 8) the architecture stands one byte further up.
  const int built_for = static_cast<int>(bytes[abi_at] >= 8 ? flags >> 8 & 0xff : flags & 0xff);
  const bool fits = built_for / 10 == chip.compute_capability / 10 && built_for <= chip.compute_capability;
  if (!fits) return {CUDA_ERROR_NO_BINARY_FOR_GPU, "", nullptr};
  return {CUDA_ERROR_INVALID_IMAGE, "the fake GPU executes PTX only, this is machine code", nullptr};
}

}  // namespace

TimedProgram program_at(const Function& function, std::uint64_t cycles, std::int64_t nanoseconds) {
  const auto time = static_cast<std::uint64_t>(nanoseconds);
  const std::uint64_t values[] = {time & 0xffffffffu, time >> 32, time, cycles, cycles >> 32, cycles & 0xffffffffu};
  TimedProgram made;
  made.module = std::make_unique<simulator::PtxModule>(*function.module);
  simulator::PtxFunction& entry = made.module->functions[function.entry - function.module->functions.data()];
  for (simulator::PtxOperand& operand : entry.operands) {
    const auto clock = std::find(std::begin(clocks), std::end(clocks), operand.name);
    if (operand.kind != simulator::PtxOperandKind::special || clock == std::end(clocks)) continue;
    operand = {};
    operand.kind = simulator::PtxOperandKind::immediate;
    operand.value = static_cast<std::int64_t>(values[clock - std::begin(clocks)]);
  }
  made.program = std::make_unique<simulator::Program>(*made.module, entry);
  return made;
}

std::int64_t static_shared(const Function& function) { return function.program->static_shared(); }

int resident_blocks(const Function& function, int threads, std::int64_t dynamic, const Chip& chip) {
  constexpr std::int64_t register_unit = 256, shared_unit = 128;
  if (threads <= 0 || threads > function.threads) return 0;
  const std::int64_t warps = (threads + warp - 1) / warp;
  const std::int64_t per_warp =
      (std::int64_t{function.registers} * warp + register_unit - 1) / register_unit * register_unit;
  const std::int64_t shared =
      (static_shared(function) + dynamic + chip.shared_reserved + shared_unit - 1) / shared_unit * shared_unit;
  return static_cast<int>(std::min({std::int64_t{chip.blocks_per_sm}, chip.threads_per_sm / (warps * warp),
                                    chip.registers_per_sm / (warps * per_warp), chip.shared_per_sm / shared}));
}

int resident_clusters(const Function& function, int threads, std::int64_t dynamic, std::int64_t blocks,
                      const Chip& chip) {
  const int of_sm = resident_blocks(function, threads, dynamic, chip);
  std::int64_t clusters = 0;
  for (int part = 0; part < chip.gpcs; ++part) {
    const int sms = chip.sms * (part + 1) / chip.gpcs - chip.sms * part / chip.gpcs;
    clusters += std::int64_t{sms} * of_sm / blocks;
  }
  return static_cast<int>(clusters);
}

Loaded load(const void* image, const Chip& chip) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  constexpr unsigned char elf[] = {0x7f, 'E', 'L', 'F'};
  if (std::memcmp(bytes, elf, sizeof elf) == 0) return load_elf(bytes, chip);
  const char* text = static_cast<const char*>(image);
  if (std::strstr(text, ".version") == nullptr) return {CUDA_ERROR_INVALID_IMAGE, "", nullptr};
  Loaded made;
  try {
    auto module = std::make_shared<const simulator::PtxModule>(simulator::parse_ptx(text, "ptx"));
    if (is_newer_version(module->version))
      return {CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
              "ptxas fatal   : Unsupported .version " + std::string(module->version) + "; current version is '9.0'",
              {}};
    if (!runs_on(target_of(module->target), chip.compute_capability))
      return {CUDA_ERROR_NO_BINARY_FOR_GPU,
              "ptxas fatal   : SM version specified by .target is higher than default SM version assumed",
              {}};
    made.module = std::make_shared<Module>();
    for (const simulator::PtxFunction& entry : module->functions) {
      if (!entry.entry) continue;
      auto function = std::make_shared<Function>();
      function->module = module;
      function->entry = &entry;
      function->program = std::make_unique<simulator::Program>(*module, entry);
      size_up(*function, chip);
      function->reads_clock = reads_clock_once(entry);
      function->storeless = is_storeless(entry);
      made.module->functions.push_back(std::move(function));
    }
  } catch (const Error& error) {
    return {CUDA_ERROR_INVALID_PTX,
            "ptxas application ptx input, line " + std::to_string(error.at.line) + "; error   : " + error.message,
            {}};
  }
  return made;
}

}  // namespace tailor::fake
