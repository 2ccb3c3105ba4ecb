// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is free of a machine's memory, on folders that look like /proc and /sys of machines with and without control
// groups, of both versions. The oracle is arithmetic on the numbers that were written there.
// Part of the suite `base`.
#include "base/memory.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <string>

#include "base/text.h"

using namespace tailor;

namespace {

constexpr std::int64_t gb = 1'000'000'000;

struct Machine {
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("tailor_memory_" + std::to_string(::getpid()));
  Machine() { std::filesystem::remove_all(root); }
  ~Machine() { std::filesystem::remove_all(root); }
  void has(const std::string& path, const std::string& contents) const {
    std::filesystem::create_directories((root / path).parent_path());
    write_file(root / path, contents);
  }
};

}  // namespace

TEST_CASE("without control groups what the system calls available is free") {
  const Machine machine;
  machine.has("proc/meminfo", "MemTotal:       24000000 kB\nMemFree: 100 kB\nMemAvailable:   20000000 kB\n");
  CHECK(free_memory(machine.root) == 20'000'000LL * 1024);
}

TEST_CASE("a control group's limit counts, less what it uses, its unread files given back") {
  const Machine machine;
  machine.has("proc/meminfo", "MemAvailable:   20000000 kB\n");
  machine.has("proc/self/cgroup", "0::/user.slice/job\n");
  machine.has("sys/fs/cgroup/user.slice/memory.max", "max\n");
  machine.has("sys/fs/cgroup/user.slice/memory.current", std::to_string(9 * gb));
  machine.has("sys/fs/cgroup/user.slice/job/memory.max", std::to_string(8 * gb));
  machine.has("sys/fs/cgroup/user.slice/job/memory.current", std::to_string(5 * gb));
  machine.has("sys/fs/cgroup/user.slice/job/memory.stat",
              "anon 1\nfile 7\ninactive_file " + std::to_string(gb) + "\nactive_file 3\n");
  CHECK(free_memory(machine.root) == 4 * gb);
  // A group around it that is nearly full leaves less.
  machine.has("sys/fs/cgroup/user.slice/memory.max", std::to_string(10 * gb));
  CHECK(free_memory(machine.root) == gb);
}

TEST_CASE("control groups of version 1 count too, and their word for no limit is none") {
  const Machine machine;
  machine.has("proc/meminfo", "MemAvailable:   20000000 kB\n");
  machine.has("proc/self/cgroup", "3:cpu:/box\n2:memory:/box\n");
  machine.has("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.has("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
  CHECK(free_memory(machine.root) == 20'000'000LL * 1024);
  machine.has("sys/fs/cgroup/memory/box/memory.limit_in_bytes", std::to_string(2 * gb));
  machine.has("sys/fs/cgroup/memory/box/memory.usage_in_bytes", std::to_string(3 * gb));
  CHECK(free_memory(machine.root) == 0);
}

TEST_CASE("a system that says nothing sets no bound, this one says something") {
  const Machine machine;
  CHECK(free_memory(machine.root) == std::numeric_limits<std::int64_t>::max());
  CHECK(held_memory(machine.root) == 0);
  CHECK(free_memory() > 0);
  CHECK(held_memory() > 100'000);
}
