// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a module lie, by XLA's buffer assignment. In: the text files of a dump. Out: for each result and
// operand its allocation, offset and size. Called by xla_dump.cpp. A kernel whose result shares the bytes of an operand
// works in place and must be given one pointer twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "profiler/xla/xla_dump.h"

namespace tailor::profiler {

/// Which bytes the values of a module take, by the names that HLO gives them.
class XlaBufferAssignment {
 public:
  struct Slice {
    std::int64_t allocation = -1, offset = 0;
    bool operator==(const Slice&) const = default;
  };
  /// Reads both files of a dump; empty when one is missing. Throws Error(failed) with file and line.
  explicit XlaBufferAssignment(const XlaSource& source);
  bool empty() const { return slices_.empty(); }
  /// Of result `index` ("", "1") of an instruction, or of its operand; nullptr: not told.
  const Slice* result(std::string_view instruction, std::string_view index) const;
  const Slice* operand(std::string_view instruction, std::int32_t number, std::string_view index) const;

 private:
  std::map<std::string, Slice, std::less<>> slices_;  ///< "NAME {1}", "NAME, operand 2 {}"
};

}  // namespace tailor::profiler
