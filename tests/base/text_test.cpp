// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Small text functions: figures with three digits, units and commas for people, the nearest known name for a mistyped
// one, and ids that are hashes of a text. Expected texts are written out; ids must be the same in every run and come
// back from their hexadecimal form. Part of the suite `base`.
#include "base/text.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/hash.h"

using namespace tailor;

TEST_CASE("three figures keep three figures over twelve decades") {
  CHECK(three_figures(0) == "0");
  CHECK(three_figures(1.2345) == "1.23");
  CHECK(three_figures(12.345) == "12.3");
  CHECK(three_figures(123.45) == "123");
  CHECK(three_figures(9.999) == "10.0");
  CHECK(three_figures(0.0123456) == "0.0123");
  CHECK(three_figures(123456) == "123456");
  CHECK(three_figures(1.5e9) == "1.50e+09");
}

TEST_CASE("humane units and commas") {
  CHECK(humane_bytes(12582912) == "12.6 MB");
  CHECK(humane_bytes(0) == "0 B");
  CHECK(humane_seconds(3.214e-6) == "3.21 us");
  CHECK(with_commas(1234567) == "1,234,567");
  CHECK(with_commas(-123) == "-123");
}

TEST_CASE("the nearest name is suggested, a far one is not") {
  constexpr auto known = std::to_array<std::string_view>({"threads", "vector", "residence"});
  CHECK(nearest("thread", known) == "threads");
  CHECK(nearest("zzzzzzzz", known).empty());
  CHECK(suggestion("vectr", known) == "did you mean 'vector'?");
}

TEST_CASE("ids are stable and round-trip") {
  const Id id = id_of(std::string_view("tailor"));
  CHECK(id_from_hex(hex(id)) == id);
  CHECK(id != id_of(std::string_view("tailoR")));
  CHECK_THROWS_AS(id_from_hex("xyz"), Error);
}

TEST_CASE("a file that is written again keeps its mode, and one of several names stays the file of all of them") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("tailor-mode-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto mode = [&](const char* name) { return static_cast<int>(fs::status(folder / name).permissions()); };
  write_file(folder / "plain", "first");
  const int usual = mode("plain");
  for (const int wanted : {0600, 0640, 0755, 0444}) {
    fs::permissions(folder / "plain", static_cast<fs::perms>(wanted));
    write_file(folder / "plain", std::to_string(wanted));
    CHECK(mode("plain") == wanted);
    CHECK(read_file(folder / "plain") == std::to_string(wanted));
  }
  write_file(folder / "other", "first");
  CHECK(mode("other") == usual);
  fs::create_hard_link(folder / "other", folder / "name");
  fs::permissions(folder / "other", static_cast<fs::perms>(0600));
  write_file(folder / "name", "by its second name");
  CHECK(read_file(folder / "other") == "by its second name");
  CHECK(fs::hard_link_count(folder / "other") == 2);
  CHECK(mode("name") == 0600);
  fs::remove_all(folder);
}

TEST_CASE("an input without an end, or larger than any text, is refused before it fills the memory") {
  namespace fs = std::filesystem;
  CHECK_THROWS_WITH_AS(read_file("/dev/zero"), "found no end within 256 MB, expected a text", Error);
  const fs::path large = fs::temp_directory_path() / ("tailor-large-" + std::to_string(::getpid()));
  write_file(large, "x");
  fs::resize_file(large, 3'000'000'000);  // a hole: nothing is on the disk
  CHECK_THROWS_WITH_AS(read_file(large), "found 3.00 GB, expected a text of at most 1.00 GB", Error);
  fs::resize_file(large, 2);
  CHECK(read_file(large).size() == 2);
  fs::remove(large);
}

TEST_CASE("a written file replaces a file whole, follows links, and goes through what is no file") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("tailor-write-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  write_file(folder / "plain", "first, and longer");
  write_file(folder / "plain", "second");
  CHECK(read_file(folder / "plain") == "second");

  fs::create_symlink("plain", folder / "link");
  write_file(folder / "link", "through the link");
  CHECK(fs::is_symlink(fs::symlink_status(folder / "link")));
  CHECK(read_file(folder / "plain") == "through the link");
  fs::create_symlink("later", folder / "dangling");
  write_file(folder / "dangling", "made");
  CHECK(read_file(folder / "later") == "made");
  fs::create_symlink("round", folder / "round");
  CHECK_THROWS_AS(write_file(folder / "round", "x"), Error);

  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::string came;
  {
    const std::jthread reader([&] { came = read_file(folder / "pipe"); });
    write_file(folder / "pipe", "down the pipe");
  }
  CHECK(came == "down the pipe");
  CHECK(fs::is_fifo(fs::status(folder / "pipe")));

  // As /dev/stdout is where it is a pipe: a link whose end has no name.
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  fs::create_symlink("/proc/self/fd/" + std::to_string(ends[1]), folder / "nameless");
  write_file(folder / "nameless", "through");
  std::array<char, 16> got{};
  CHECK(::read(ends[0], got.data(), got.size()) == 7);
  CHECK(std::string_view(got.data()) == "through");
  ::close(ends[0]);
  ::close(ends[1]);

  fs::create_symlink("/dev/null", folder / "null");
  write_file(folder / "null", "nowhere");
  CHECK(fs::is_character_file(fs::status(folder / "null")));
  CHECK_THROWS_WITH_AS(write_file("/dev/full", "x"), "cannot write: No space left on device", Error);
  CHECK_THROWS_WITH_AS(write_file(folder, "x"), "cannot write: it is a folder", Error);
  CHECK_THROWS_AS(write_file(folder / "none" / "x", "x"), Error);
  std::size_t left = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    left += entry.path().extension() == ".partial" ? 1 : 0;
  CHECK(left == 0);
  fs::remove_all(folder);
}
