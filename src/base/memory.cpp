// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the system says of memory. In: a range of fresh memory, or nothing. Out: huge pages where it could be had, and
// numbers of bytes. Called by the makers of large arrays, and by the checks before they start.
//
// Only whole huge pages inside a range are announced, because others may share its ends. A control group's limit counts
// the page cache too, which the system gives up when asked: files that nobody reads are added to what is free. A group
// inside another is bounded by both.
#include "base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "base/parallel.h"

namespace tailor {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The number after `key` in a file of "key number" or "key: number kB" lines; without a key the file's first word.
/// Nothing for a file that is not there and for the word "max".
std::optional<std::int64_t> number_in(const std::filesystem::path& path, const std::string& key = {}) {
  std::ifstream file(path);
  std::string word;
  if (!key.empty()) {
    while (file >> word && word != key) file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    if (word != key) return {};
  }
  std::int64_t value = 0;
  if (!(file >> value)) return {};
  if (!key.empty() && key.back() == ':') value *= 1024;
  return value;
}

/// What a control group of either version leaves; unlimited where it has no limit.
std::int64_t left_by(const std::filesystem::path& group) {
  const auto left = [&](const char* limit_file, const char* used_file, const char* files) {
    const std::optional<std::int64_t> limit = number_in(group / limit_file), used = number_in(group / used_file);
    if (!limit || !used) return unlimited;
    // Version 1 spells "no limit" as a number beyond any machine.
    if (*limit > unlimited / 4) return unlimited;
    return std::max<std::int64_t>(*limit - *used + number_in(group / "memory.stat", files).value_or(0), 0);
  };
  return std::min(left("memory.max", "memory.current", "inactive_file"),
                  left("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
}

/// Least that the groups of /proc/self/cgroup and all around them leave. A container may see only its own group, at the
/// top.
std::int64_t left_by_groups(const std::filesystem::path& root) {
  const std::filesystem::path top = root / "sys/fs/cgroup";
  std::int64_t least = std::min(left_by(top), left_by(top / "memory"));
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("memory") == std::string::npos) continue;
    const std::filesystem::path base = controllers.empty() ? top : top / "memory";
    for (std::filesystem::path at = std::filesystem::path(line.substr(second + 1)).relative_path(); !at.empty();
         at = at.parent_path())
      least = std::min(least, left_by(base / at));
  }
  return least;
}

}  // namespace

std::int64_t free_memory(const std::filesystem::path& root) {
  return std::min(number_in(root / "proc/meminfo", "MemAvailable:").value_or(unlimited), left_by_groups(root));
}

std::int64_t held_memory(const std::filesystem::path& root) {
  return number_in(root / "proc/self/status", "VmRSS:").value_or(0);
}

void expect_all(const void* first, std::size_t bytes) {
  constexpr std::uintptr_t huge = std::uintptr_t{1} << 21;
  const auto from = (reinterpret_cast<std::uintptr_t>(first) + huge - 1) & ~(huge - 1);
  const auto to = (reinterpret_cast<std::uintptr_t>(first) + bytes) & ~(huge - 1);
  if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

void take_all(const void* first, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto from = (reinterpret_cast<std::uintptr_t>(first) + page - 1) & ~(page - 1);
  const auto to = (reinterpret_cast<std::uintptr_t>(first) + bytes) & ~(page - 1);
  const std::int64_t pages = to > from ? static_cast<std::int64_t>((to - from) / page) : 0;
  constexpr std::int64_t worth_threads = 4;
  if (pages < worth_threads || threads_allowed() == 1) return;
  in_parallel(pages, 1, [from](std::int64_t begin, std::int64_t end) {
    const std::uintptr_t at = from + static_cast<std::uintptr_t>(begin) * page;
    // Where the kernel does not know this, the first touch does it.
    madvise(reinterpret_cast<void*>(at), static_cast<std::size_t>(end - begin) * page, MADV_POPULATE_WRITE);
  });
#endif
}

}  // namespace tailor
