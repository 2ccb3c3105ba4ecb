// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One CUDA text in, one Binary out: PTX, machine code and what they cost in registers and memory. Text that does not
// compile, and an architecture the compiler does not know, are outcomes with a log. Floating-point contraction stays as
// CUDA has it; fast-math is never on unless the caller's options say so.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ir/binary.h"
#include "profiler/compile/nvrtc.h"

namespace tailor::profiler {

struct CompileRequest {
  std::string cuda = {};                    ///< the text
  std::string file = "kernel.cu";           ///< what PTX and the compiler's messages call it
  std::string entry = {};                   ///< the kernel's name in the cubin; empty: the text has just one
  std::vector<std::string> followers = {};  ///< names of the other kernels of a program; then `entry` is the first's
  std::string arch = "sm_90";               ///< "sm_90", "sm_90a"
  bool line_info = true;                    ///< the text's lines in PTX and machine code, for findings and profilers
  std::vector<std::string> options = {};    ///< more of NVRTC's own options
};

/// What the result depends on: text, entries, options, architecture and the exact compiler. Folders are not part of it,
/// so the id is the same on every machine with that compiler.
Id source_id(const Nvrtc& api, const CompileRequest& request);

/// Compiles. A stop request ends a compile that is under way where the library can (NVRTC 12.8 and later do).
/// Throws Error(usage) when `arch` is not of the form sm_NN.
ir::Binary compile(const Nvrtc& api, const CompileRequest& request, std::stop_token stop = {});

/// Why nothing compiles for an architecture with this compiler, and what may help.
struct Unsupported {
  std::string words, hint;
};
/// Nothing for one that it compiles for. Throws Error(usage) when `arch` is not of the form sm_NN.
std::optional<Unsupported> unsupported(const Nvrtc& api, const std::string& arch);

/// `arch` where the compiler knows it, else the one with the nearest number, of two the later.
std::string nearest_arch(const Nvrtc& api, const std::string& arch);

/// 90 of "sm_90" and of "sm_90a". Throws Error(usage) for another form.
int arch_number(const std::string& arch);

/// What is known of a binary before its text is compiled: outcome failed, without a log.
ir::Binary uncompiled(const Nvrtc& api, const CompileRequest& request);

/// How a compile ended that did not come to an end of its own. None but `too_long` says anything of the text.
enum class CutShort : std::uint8_t {
  interrupted,
  died,      ///< its process did; `words` say how
  waited,    ///< over so much time passed, most of it without a processor; `words` say how much
  too_long,  ///< it computed for longer than it may: `words` say how long that is
};
/// Sets outcome and log; the outcome is too_long of the last two, else failed.
void cut_short(ir::Binary& binary, CutShort why, std::string_view words = {});

/// Whether another try would give the same answer: false for a compile that was interrupted, whose process died, that
/// waited too long for a processor or ran out of memory.
bool is_final(const ir::Binary& binary);

/// What the assembler logs of one kernel.
struct AssemblerFigures {
  int registers = 0;
  int frame_bytes = 0;    ///< per thread
  int spill_stores = 0;   ///< bytes per thread
  int spill_loads = 0;    ///< bytes per thread
  int static_shared = 0;  ///< bytes per block, without what the system reserves
  bool found = false;
};

AssemblerFigures assembler_figures(std::string_view log, std::string_view kernel);

}  // namespace tailor::profiler
