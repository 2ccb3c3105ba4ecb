// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch list. In XLA's dump it is two files: the thunk sequence, a line per thunk with a kernel's entry and
// launch dimensions, indented under loops ("004: kCustomKernel [prev=003 (1) | sink] f grid: [8, 1, 1] threads: [128,
// 1, 1]  shared_memory: 0 bytes"), and the metadata, a text proto that ties a thunk's number to its instruction. A
// digest holds both in JSON. Thunks that only order others (loops, command buffers) are left out.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "profiler/xla/xla_digest.h"

namespace tailor::profiler {

namespace {

/// Thunks that hold or order others.
constexpr std::array ordering = std::to_array<std::string_view>(
    {"Sequential", "While", "Conditional", "CommandBuffer", "AsyncStart", "AsyncDone", "DynamicSliceFusion"});

bool orders_only(std::string_view thunk) {
  return std::find(ordering.begin(), ordering.end(), thunk) != ordering.end();
}

/// A line and where it stands. What cannot be read is 0 or empty, and `fault` says so: one line of another form is a
/// launch that is not run, and not the end of the module.
struct TextLine {
  const std::string& file;
  std::int64_t number;
  std::string_view text;
  mutable std::string fault = {};  ///< the first

  void fail(std::string_view expected) const {
    if (fault.empty())
      fault = fmt::format("{} line {}: found '{}', expected {}", std::filesystem::path(file).filename().string(),
                          number, text.substr(0, 120), expected);
  }
  std::int64_t integer(std::string_view digits) const {
    std::int64_t value = 0;
    digits = trim(digits);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc{} && end == digits.data() + digits.size()) return value;
    fail("a number");
    return 0;
  }
  /// What follows `mark` up to `end`; empty when the mark is not there.
  std::string_view between(std::string_view mark, std::string_view end) const {
    const std::size_t at = text.find(mark);
    if (at == text.npos) return {};
    const std::size_t first = at + mark.size();
    const std::size_t last = text.find(end, first);
    if (last != text.npos) return text.substr(first, last - first);
    fail(fmt::format("'{}' after '{}'", end, mark));
    return {};
  }
  void extent(std::string_view mark, std::array<std::uint32_t, 3>& into) const {
    const std::string_view list = between(mark, "]");
    if (list.empty()) return;
    const auto fields = split(list, ',');
    if (fields.size() != 3) return fail("three numbers");
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t size = integer(fields[i]);
      if (size < 1 || size > INT32_MAX) return fail(fmt::format("sizes of 1 and more after '{}'", mark));
      into[i] = static_cast<std::uint32_t>(size);
    }
  }
};

/// Thunk number -> instruction, from the metadata's blocks.
std::map<std::int64_t, std::string> instructions_by_thunk(const std::filesystem::path& path) {
  std::map<std::int64_t, std::string> by_number;
  if (path.empty()) return by_number;
  const std::string file = path.string();
  const std::string content = read_file(path);
  std::string annotation;
  std::int64_t number = 0;
  for (const std::string_view raw : split(content, '\n')) {
    const TextLine line{file, ++number, trim(raw)};
    if (line.text == "thunk_metadata {") annotation.clear();
    if (line.text.starts_with("profile_annotation:")) annotation = line.between("\"", "\"");
    if (!line.text.starts_with("thunk_id:")) continue;
    const std::int64_t thunk = line.integer(line.text.substr(9));
    if (line.fault.empty()) by_number[thunk] = annotation;
  }
  return by_number;
}

/// The entry stands between the neighbours in brackets and "grid:".
std::string_view entry_in(const TextLine& line) {
  std::string_view head = trim(line.text.substr(0, line.text.find(" grid: [")));
  const std::size_t blank = head.find_last_of(" ]");
  return blank == head.npos ? head : head.substr(blank + 1);
}

std::vector<XlaLaunch> dumped_launches(const XlaSource& source) {
  const std::map<std::int64_t, std::string> instructions = instructions_by_thunk(source.metadata);
  const std::string file = source.launches.string();
  const std::string content = read_file(source.launches);
  std::vector<XlaLaunch> launches;
  std::int64_t number = 0;
  for (const std::string_view raw : split(content, '\n')) {
    const TextLine line{file, ++number, trim(raw)};
    const std::size_t colon = line.text.find(": k");
    if (colon == line.text.npos) continue;  // headings of loops: "condition:", "body:"
    XlaLaunch launch;
    const std::string_view kind = line.text.substr(colon + 3);
    launch.thunk = kind.substr(0, kind.find_first_of(" \t"));
    if (orders_only(launch.thunk)) continue;
    if (const auto known = instructions.find(line.integer(line.text.substr(0, colon))); known != instructions.end())
      launch.instruction = known->second;
    if (line.text.find(" grid: [") != line.text.npos) {
      launch.entry = entry_in(line);
      line.extent("grid: [", launch.grid);
      line.extent("threads: [", launch.block);
      line.extent("cluster: [", launch.cluster);
      launch.dynamic_shared = line.integer(line.between("shared_memory: ", " bytes"));
    }
    launch.fault = line.fault;
    launches.push_back(std::move(launch));
  }
  return launches;
}

std::vector<XlaLaunch> digested_launches(const XlaSource& source) {
  std::vector<XlaLaunch> launches;
  for (XlaDigestKernel& kernel : read_digest(source.launches).kernels)
    for (XlaLaunch& launch : kernel.launches) launches.push_back(std::move(launch));
  return launches;
}

}  // namespace

std::vector<XlaLaunch> read_launches(const XlaSource& source) {
  if (source.launches.empty())
    throw Error(Fault::failed, Position{source.hlo.parent_path().string()},
                fmt::format("not found: {}.thunk_sequence.txt, which says how kernels are launched", source.name),
                "dump again with --xla_dump_hlo_as_text, or see tools/xla-dump --help");
  return source.kind == XlaFolder::dump ? dumped_launches(source) : digested_launches(source);
}

}  // namespace tailor::profiler
