// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Binary: what a compiler made of one kernel's text, or why it made nothing. Filled by the compilers
// of the profiler; read by the store, the checks and the models. A compile error is an outcome that is
// stored, not an exception.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/units.h"

namespace tailor::ir {

/// unsupported: the compiler does not know the architecture; the log names those it knows.
enum class CompileOutcome : std::uint8_t { ok, failed, unsupported };

struct Binary {
  CompileOutcome outcome = CompileOutcome::failed;
  Id source;             ///< hash of the CUDA text, the options and the compiler's version
  std::string arch;      ///< "sm_90"
  std::string compiler;  ///< "NVRTC 13.0"
  std::string entry;     ///< name of the kernel in the cubin
  std::string log;       ///< the compiler's words, when it said any
  std::string ptx;
  std::vector<std::byte> cubin;
  int registers = 0;      ///< per thread
  int spill_stores = 0;   ///< bytes per thread
  int spill_loads = 0;    ///< bytes per thread
  int local_bytes = 0;    ///< stack frame per thread
  int static_shared = 0;  ///< bytes per block, without what the system reserves
  std::int64_t machine_instructions = 0;
  std::int64_t loads_outstanding = 0;  ///< loads from global memory that a thread has on their way at once; 0: not read
  Seconds compile_time;                ///< inside the compiler
  bool cached = false;                 ///< came from the cache on disk
};

}  // namespace tailor::ir
