// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Feeds any bytes to the reader of device files: they are a device or one Error, never anything else.
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
