// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: whatever bytes a device file holds, the reader makes a device of them or throws one Error. Another
// exception, a crash or a leak is a bug. Run by libFuzzer as device_fuzz, and over corpus/device with mutants in the
// suite `fuzz` (replay.cpp).
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "ir/device.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    tailor::ir::parse_device(text, "fuzz.json");
  } catch (const tailor::Error&) {
    return 0;
  }
  return 0;
}
