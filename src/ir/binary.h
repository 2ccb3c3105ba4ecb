// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Binary: what a compiler made of one kernel's text, or why it made nothing. Filled by the compilers
// of the profiler; read by the store, the checks and the models. A compile error is an outcome that is
// stored, not an exception. The text of a program has an entry for each of its kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/chain.h"
#include "base/hash.h"
#include "base/units.h"

namespace tailor::ir {

/// unsupported: the compiler does not know the architecture; the log names those it knows. too_long: it was given up at
/// a limit of time; `compile_time` says after how long.
enum class CompileOutcome : std::uint8_t { ok, failed, unsupported, too_long };

/// Whether the text is what has no kernel, whatever the architecture.
constexpr bool has_no_kernel(CompileOutcome outcome) {
  return outcome == CompileOutcome::failed || outcome == CompileOutcome::too_long;
}

/// What the compiler says of one entry of a text.
struct CompiledEntry {
  std::string entry;      ///< name of the kernel in the cubin
  int registers = 0;      ///< per thread
  int spill_stores = 0;   ///< bytes per thread
  int spill_loads = 0;    ///< bytes per thread
  int local_bytes = 0;    ///< stack frame per thread
  int static_shared = 0;  ///< bytes per block, without what the system reserves
  std::int64_t machine_instructions = 0;
  std::int64_t loads_outstanding = 0;  ///< loads from global memory that a thread has on their way at once; 0: not read
};

/// Itself an entry: the first kernel's, or the only one's.
struct Binary : CompiledEntry {
  CompileOutcome outcome = CompileOutcome::failed;
  Id source;             ///< hash of the CUDA text, the options and the compiler's version
  std::string arch;      ///< "sm_90"
  std::string compiler;  ///< "NVRTC 13.0"
  std::string log;       ///< the compiler's words, when it said any
  std::string ptx;
  std::vector<std::byte> cubin;
  std::vector<CompiledEntry> followers;  ///< of the other kernels of a program, in the order of their launches
  Seconds compile_time;                  ///< inside the compiler
  bool cached = false;                   ///< came from the cache on disk
};

/// The entries in the order of their launches.
inline Chain<CompiledEntry> entries_of(const Binary& binary) { return {binary, binary.followers}; }
Chain<CompiledEntry> entries_of(Binary&&) = delete;
/// The most that any of the entries has of a figure.
template <class Number>
Number most_of(const Binary& binary, Number CompiledEntry::*figure) {
  Number most = 0;
  for (const CompiledEntry& entry : entries_of(binary)) most = entry.*figure > most ? entry.*figure : most;
  return most;
}

}  // namespace tailor::ir
