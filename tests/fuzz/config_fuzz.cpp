// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: whatever bytes a sweep file holds, reading it accepts or throws an Error; what it accepts, its
// canonical text says again. Run by libFuzzer as config_fuzz, and over corpus/config with mutants in the suite `fuzz`
// (replay.cpp).
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "study/sweep/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    // A model has to exist for a config to be accepted: /dev/null is no regular file, /etc/passwd is one everywhere.
    const tailor::study::SweepConfig config = tailor::study::parse_config(text, "/etc/fuzz.json");
    const std::string canonical = tailor::study::canonical_text(config);
    assert(tailor::study::parse_config(canonical, "/etc/fuzz.json") == config);
  } catch (const tailor::Error& error) {
    static_cast<void>(tailor::error_text(error));
  }
  return 0;
}
