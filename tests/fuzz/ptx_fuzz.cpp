// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the PTX reader: any text either is refused with an Error that says where, or becomes a module in which every
// index is in range. Anything else (a crash, another exception, a leak) is a bug. Run by libFuzzer as ptx_fuzz, and
// over corpus/ptx with mutants in the suite `fuzz` (replay.cpp).
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "support/ptx_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const auto module = tailor::simulator::parse_ptx({reinterpret_cast<const char*>(bytes), size}, "fuzz.ptx");
    if (!broken_invariant(module).empty()) std::abort();
  } catch (const tailor::Error& error) {
    if (error.fault != tailor::Fault::failed || error.at.line < 1 || error.at.column < 1) std::abort();
  }
  return 0;
}
