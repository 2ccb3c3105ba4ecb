// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where values lie, by XLA's buffer assignment. One file gives every value its bytes ("allocation 8: ...", then
// " value: <48 fusion.1 @0> (size=16384,offset=0): f32[4096]{0}"), the other says at which results a value is found and
// who reads it ("<48 fusion.1 @0>", " positions:", "  fusion.1 {0}", " uses:", "  fusion.2, operand 1 {}").
#include "profiler/xla/xla_buffer_assignment.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace tailor::profiler {

namespace {

/// The number after `mark`; throws when there is none.
std::int64_t number_after(std::string_view line, std::string_view mark, const Position& at) {
  std::int64_t value = 0;
  const std::size_t found = line.find(mark);
  const std::size_t first = found == line.npos ? line.size() : found + mark.size();
  if (std::from_chars(line.data() + first, line.data() + line.size(), value).ec != std::errc{})
    throw Error(Fault::failed, at, fmt::format("found '{}', expected a number after '{}'", line.substr(0, 100), mark));
  return value;
}

std::map<std::int64_t, XlaBufferAssignment::Slice> slices_by_value(const std::filesystem::path& path) {
  std::map<std::int64_t, XlaBufferAssignment::Slice> slices;
  const std::string content = read_file(path);
  std::int64_t allocation = -1;
  Position at{path.string(), 0, 1};
  for (const std::string_view raw : split(content, '\n')) {
    const std::string_view line = trim(raw);
    ++at.line;
    if (line.starts_with("allocation ")) allocation = number_after(line, "allocation ", at);
    if (line.starts_with("value: <"))
      slices[number_after(line, "value: <", at)] = {allocation, number_after(line, ",offset=", at)};
  }
  return slices;
}

/// "NAME {1}" and "NAME, operand 2 {}" lose their empty braces.
std::string key_of(std::string_view line) {
  if (line.ends_with(" {}")) line.remove_suffix(3);
  return std::string(line);
}

}  // namespace

XlaBufferAssignment::XlaBufferAssignment(const XlaSource& source) {
  if (source.assignment.empty() || source.values.empty()) return;
  const std::map<std::int64_t, Slice> by_value = slices_by_value(source.assignment);
  const std::string content = read_file(source.values);
  const Slice* place = nullptr;
  bool listing = false;
  Position at{source.values.string(), 0, 1};
  for (const std::string_view raw : split(content, '\n')) {
    ++at.line;
    const std::string_view line = trim(raw);
    if (raw.starts_with("<")) {
      const auto known = by_value.find(number_after(raw, "<", at));
      place = known == by_value.end() ? nullptr : &known->second;
      listing = false;
    } else if (line == "positions:" || line == "uses:") {
      listing = true;
    } else if (line.starts_with("from instruction:")) {
      listing = false;
    } else if (listing && place != nullptr && line != "(none)") {
      slices_.emplace(key_of(line), *place);
    }
  }
}

const XlaBufferAssignment::Slice* XlaBufferAssignment::result(std::string_view instruction,
                                                              std::string_view index) const {
  const auto found =
      slices_.find(index.empty() ? std::string(instruction) : fmt::format("{} {{{}}}", instruction, index));
  return found == slices_.end() ? nullptr : &found->second;
}

const XlaBufferAssignment::Slice* XlaBufferAssignment::operand(std::string_view instruction, std::int32_t number,
                                                               std::string_view index) const {
  const std::string key = fmt::format("{}, operand {}", instruction, number);
  const auto found = slices_.find(index.empty() ? key : fmt::format("{} {{{}}}", key, index));
  return found == slices_.end() ? nullptr : &found->second;
}

}  // namespace tailor::profiler
