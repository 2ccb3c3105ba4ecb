// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The cache of compiled kernels: what goes in comes out, a damaged file is a miss and never a wrong binary, and
// processes that share a folder see whole files only. Every byte of a file is changed and every length cut off once;
// several processes write the same entries at the same time. Part of the suite `profiler`; needs no NVRTC.
#include "profiler/compile/cache.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

ir::Binary sample(int number) {
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.source = id_of("sample " + std::to_string(number));
  binary.arch = "sm_90";
  binary.compiler = "NVRTC 13.0";
  binary.entry = "kernel";
  binary.log = "a warning\n";
  binary.ptx = std::string("ptx \0 with a NUL", 16);
  binary.cubin.assign(5000, static_cast<std::byte>(number));
  binary.registers = 40 + number;
  binary.spill_stores = 1;
  binary.spill_loads = 2;
  binary.local_bytes = 3;
  binary.static_shared = 4;
  binary.compile_time = {0.125};
  return binary;
}

/// Equal in all but `cached`, which tells where it came from.
bool same(const ir::Binary& a, const ir::Binary& b) { return packed(a) == packed(b); }

}  // namespace

TEST_CASE("a kept binary is found again, field for field") {
  const kernels::OwnFolder folder("cache");
  const BinaryCache cache{folder.path};
  const ir::Binary kept = sample(1);
  CHECK_FALSE(cache.find(kept.source));
  CHECK(cache.keep(kept).empty());
  const std::optional<ir::Binary> found = cache.find(kept.source);
  REQUIRE(found);
  CHECK(found->cached);
  CHECK(same(*found, kept));
  CHECK(found->ptx == kept.ptx);
  CHECK(found->cubin == kept.cubin);
  CHECK(found->registers == 41);
  CHECK(found->spill_loads == 2);
  CHECK(found->compile_time == kept.compile_time);
}

TEST_CASE("a file cut short or changed at any byte is a miss, and is written anew") {
  const kernels::OwnFolder folder("damage");
  const BinaryCache cache{folder.path};
  const ir::Binary kept = sample(2);
  const std::string whole = packed(kept);
  for (std::size_t size = 0; size < whole.size(); size += 7) CHECK_FALSE(unpacked(whole.substr(0, size)));
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_FALSE(unpacked(changed));
  }
  CHECK_FALSE(unpacked(whole + "x"));

  CHECK(cache.keep(kept).empty());
  std::ofstream(cache.file_of(kept.source), std::ios::binary | std::ios::trunc) << "damaged";
  CHECK_FALSE(cache.find(kept.source));
  CHECK(cache.keep(kept).empty());
  CHECK(cache.find(kept.source));
}

TEST_CASE("a cache that cannot be written says why, and finds nothing") {
  const kernels::OwnFolder folder("closed");
  std::ofstream(folder.path / "file") << "no folder";
  const BinaryCache below_a_file{folder.path / "file" / "cache"};
  CHECK_FALSE(below_a_file.keep(sample(1)).empty());
  CHECK_FALSE(below_a_file.find(sample(1).source));
  // A disk that is full: the file that would be renamed leads to /dev/full.
  const BinaryCache full{folder.path / "full"};
  const std::filesystem::path file = full.file_of(sample(1).source);
  std::filesystem::create_directories(file.parent_path());
  std::filesystem::create_symlink("/dev/full", file.string() + "." + std::to_string(getpid()) + ".partial");
  CHECK(full.keep(sample(1)) == "No space left on device");
  CHECK_FALSE(full.find(sample(1).source));
}

TEST_CASE("a file under another binary's name is a miss") {
  const kernels::OwnFolder folder("foreign");
  const BinaryCache cache{folder.path};
  CHECK(cache.keep(sample(1)).empty());
  CHECK(cache.keep(sample(2)).empty());
  std::filesystem::copy_file(cache.file_of(sample(1).source), cache.file_of(sample(2).source),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_FALSE(cache.find(sample(2).source));
}

TEST_CASE("processes that write the same entries at once leave whole files") {
  const kernels::OwnFolder folder("shared");
  const BinaryCache cache{folder.path};
  constexpr int processes = 4, entries = 20, rounds = 20;
  std::vector<pid_t> children;
  for (int child = 0; child < processes; ++child) {
    const pid_t process = fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      bool good = true;
      for (int round = 0; round < rounds; ++round) {
        for (int number = 0; number < entries; ++number) {
          cache.keep(sample(number));
          // Once written, an entry is never seen missing or torn, whoever writes it again.
          const std::optional<ir::Binary> found = cache.find(sample(number).source);
          good = good && found && same(*found, sample(number));
        }
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(process);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  for (int number = 0; number < entries; ++number) CHECK(cache.find(sample(number).source));
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path)) files += entry.is_regular_file();
  CHECK(files == entries);
}
