// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: whatever bytes a recorded file holds, reading it accepts or throws an Error; what it accepts is written
// and read back as the same rows, and can be asked. Bytes whose only fault is their last line, which tells the hash of
// the others, get a fitting one, so that lines behind it are judged too.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "store/recorded.h"

namespace {

void read(std::string_view text) {
  try {
    const tailor::store::RecordedRows rows = tailor::store::parse_recorded(text, "fuzz.jsonl");
    const std::string again = tailor::store::recorded_text(rows);
    const bool same = tailor::store::parse_recorded(again, "again.jsonl") == rows;
    assert(same);
    static_cast<void>(same);
  } catch (const tailor::Error& error) {
    static_cast<void>(tailor::error_text(error));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  read(text);
  const std::size_t end = text.rfind("\n{\"end\"");
  if (end == text.npos) return 0;
  const std::string before(text.substr(0, end + 1));
  std::size_t lines = 0;
  for (const char c : before) lines += c == '\n' ? 1 : 0;
  read(before + "{\"end\":{\"lines\":" + std::to_string(lines) + ",\"hash\":\"" +
       tailor::hex(tailor::id_of(std::string_view(before))) + "\"}}\n");
  return 0;
}
