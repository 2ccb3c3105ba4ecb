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
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "base/counted.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/library.h"

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
  // Where a place more would be rounded into: the figures stay three.
  CHECK(three_figures(0.99949) == "0.999");
  CHECK(three_figures(0.9995) == "1.00");
  CHECK(three_figures(9.9949) == "9.99");
  CHECK(three_figures(9.996) == "10.0");
  CHECK(three_figures(99.94) == "99.9");
  CHECK(three_figures(99.96) == "100");
  CHECK(three_figures(999.4) == "999");
  CHECK(three_figures(999.6) == "1000");
  CHECK(three_figures(999999) == "999999");
  CHECK(three_figures(1e6) == "1.00e+06");
  CHECK(three_figures(0.001) == "0.00100");
  CHECK(three_figures(0.000999) == "9.99e-04");
  CHECK(three_figures(-12.345) == "-12.3");
  CHECK(three_figures(-0.05) == "-0.0500");
}

TEST_CASE("of a word that is longer than a line a message repeats the beginning, and cuts no letter") {
  CHECK(echoed("vector=4") == "vector=4");
  CHECK(echoed(std::string(60, 'x')) == std::string(60, 'x'));
  CHECK(echoed(std::string(61, 'x')) == std::string(60, 'x') + "... (61 bytes)");
  CHECK(echoed(std::string(59, 'x') + "\xC3\xA9\xC3\xA9") == std::string(59, 'x') + "... (63 bytes)");
}

TEST_CASE("humane units and commas") {
  CHECK(humane_bytes(12582912) == "12.6 MB");
  CHECK(humane_bytes(0) == "0 B");
  CHECK(humane_seconds(3.214e-6) == "3.21 us");
  CHECK(with_commas(1234567) == "1,234,567");
  CHECK(with_commas(-123) == "-123");
  for (const auto& [bytes, text] : std::initializer_list<std::pair<double, std::string>>{{999, "999 B"},
                                                                                         {1000, "1.00 KB"},
                                                                                         {999e3, "999 KB"},
                                                                                         {1e6, "1.00 MB"},
                                                                                         {2.5e9, "2.50 GB"},
                                                                                         {7e12, "7.00 TB"}})
    CHECK(humane_bytes(bytes) == text);
  for (const auto& [seconds, text] : std::initializer_list<std::pair<double, std::string>>{
           {2, "2.00 s"}, {1, "1.00 s"}, {0.5, "500 ms"}, {1e-3, "1.00 ms"}, {5e-7, "500 ns"}, {1e-9, "1.00 ns"}})
    CHECK(humane_seconds(seconds) == text);
  for (const auto& [number, text] : std::initializer_list<std::pair<std::int64_t, std::string>>{
           {0, "0"}, {999, "999"}, {1000, "1,000"}, {-1000, "-1,000"}, {999999, "999,999"}, {-1234567, "-1,234,567"}})
    CHECK(with_commas(number) == text);
}

TEST_CASE("what is counted has the word for one, or for many as English makes it") {
  for (const auto& [count, one, text] :
       std::initializer_list<std::tuple<std::int64_t, std::string, std::string>>{{0, "kernel", "0 kernels"},
                                                                                 {1, "kernel", "1 kernel"},
                                                                                 {2, "launch", "2 launches"},
                                                                                 {1200, "body", "1,200 bodies"},
                                                                                 {3, "array", "3 arrays"},
                                                                                 {2, "pass", "2 passes"},
                                                                                 {-1, "row", "-1 rows"}})
    CHECK(counted(count, one) == text);
  CHECK(counted(1, "group", "is", "are") == "1 group is");
  CHECK(counted(std::size_t{2}, "group", "is", "are") == "2 groups are");
}

TEST_CASE("fields are split at every separator, and blanks go from both ends alone") {
  using Fields = std::vector<std::string_view>;
  CHECK(split("a,,b,", ',') == Fields{"a", "", "b", ""});
  CHECK(split("", ',') == Fields{""});
  CHECK(split("abc", ',') == Fields{"abc"});
  CHECK(trim(" \t a b \r\n") == "a b");
  CHECK(trim(" \n ").empty());
  CHECK(trim("x") == "x");
}

TEST_CASE("a word of a shell is what the shell reads as that text, and bare where it can be") {
  CHECK(shell_word("out/a-b_1.db") == "out/a-b_1.db");
  CHECK(shell_word("") == "''");
  for (const std::string text :
       {"a b", "it's", "''", "$HOME `id` \"x\"", "\\", "*", "~", "#", "a;b|c&d", "\xc3\xbc q"}) {
    CAPTURE(text);
    FILE* shell = ::popen(("printf '[%s]' " + shell_word(text)).c_str(), "r");
    REQUIRE(shell != nullptr);
    std::array<char, 256> said{};
    const std::size_t size = std::fread(said.data(), 1, said.size(), shell);
    CHECK(::pclose(shell) == 0);
    CHECK(std::string(said.data(), size) == "[" + text + "]");
  }
}

TEST_CASE("the nearest name is suggested, a far one is not") {
  constexpr auto known = std::to_array<std::string_view>({"threads", "vector", "homes"});
  CHECK(nearest("thread", known) == "threads");
  CHECK(nearest("zzzzzzzz", known).empty());
  const std::vector<std::string_view> forms{"table", "json", "csv", "md"};
  CHECK(nearest("xml", forms).empty());
  CHECK(nearest("cvs", forms) == "csv");
  CHECK(nearest("cs", forms) == "csv");
  CHECK(suggestion("vectr", known) == "did you mean 'vector'?");
  CHECK(suggestion("zzzzzzzz", known) == "known: threads, vector, homes");
  // Up to a third of the length and one more: letters that are left out, put in, exchanged; the first of equals.
  constexpr auto two = std::to_array<std::string_view>({"abcdef", "abcdeg"});
  CHECK(nearest("abcdeh", two) == "abcdef");
  CHECK(nearest("abcdegg", two) == "abcdeg");
  CHECK(nearest("bcde", two) == "abcdef");
  CHECK(nearest("xbcxef", two) == "abcdef");
  CHECK(nearest("xbxdxf", two) == "abcdef");
  CHECK(nearest("xxxdxf", two).empty());
  CHECK(nearest("", two).empty());
}

TEST_CASE("ids are stable and round-trip") {
  const Id id = id_of(std::string_view("tailor"));
  CHECK(id_from_hex(hex(id)) == id);
  CHECK(id != id_of(std::string_view("tailoR")));
  CHECK_THROWS_AS(id_from_hex("xyz"), Error);
  // XXH3's 128 bits as its own tool writes them: databases and files refer to them.
  CHECK(hex(id) == "9347910184720c6fd9e99e4032b5df88");
  CHECK(hex(id_of(std::string_view())) == "99aa06d3014798d86001c324468d497f");
  CHECK(short_hex(id) == "9347910184");
  CHECK(hex(Id{1, 2}) == "00000000000000010000000000000002");
  CHECK((id_from_hex("0000000000000001000000000000000F") == Id{1, 15}));
  CHECK_THROWS_AS(id_from_hex("0000000000000001000000000000000"), Error);
  CHECK_THROWS_AS(id_from_hex("000000000000000g0000000000000002"), Error);
  CHECK_THROWS_AS(id_from_hex("0000000000000001000000000000000g"), Error);
}

TEST_CASE("an error says where, what, while doing what from the inside out, and what to try") {
  const auto text_of = [](const Position& at, const std::string& hint) {
    try {
      doing("reading all",
            [&] { doing("reading one", [&]() -> int { throw Error(Fault::failed, at, "bad", hint); }); });
    } catch (const Error& error) {
      return error_text(error);
    }
    return std::string();
  };
  const std::string frames = "  while reading one\n  while reading all\n";
  CHECK(text_of({}, "") == "error: bad\n" + frames);
  CHECK(text_of({"f"}, "try") == "error: f: bad\n" + frames + "  hint: try\n");
  CHECK(text_of({"f", 3}, "") == "error: f:3: bad\n" + frames);
  CHECK(text_of({"f", 3, 7}, "") == "error: f:3:7: bad\n" + frames);
  CHECK(text_of({"f", 0, 7}, "") == "error: f: bad\n" + frames);
  // A place is given once: who knew it first was nearer.
  for (const char* file : {"", "inner"}) try {
      with_position(
          [] {
            return Position{"outer", 1, 2};
          },
          [&]() -> int {
            throw Error(Fault::missing, Position{file, 5, 6}, "bad");
          });
    } catch (const Error& error) {
      CHECK(error.at.file == (*file == '\0' ? "outer" : "inner"));
      CHECK(error.fault == Fault::missing);
    }
}

TEST_CASE("a file that is not there is missing, a folder and what may not be read are failures") {
  namespace fs = std::filesystem;
  const auto fault_of = [](const fs::path& path) {
    try {
      (void)read_file(path);
    } catch (const Error& error) {
      return error.fault;
    }
    return Fault::usage;
  };
  const fs::path file = fs::temp_directory_path() / ("tailor-fault-" + std::to_string(::getpid()));
  CHECK(fault_of(file) == Fault::missing);
  write_file(file, "x");
  CHECK(fault_of(file / "below") == Fault::missing);
  CHECK(fault_of(fs::temp_directory_path()) == Fault::failed);
  fs::remove(file);
}

TEST_CASE("folders are listed by name from a beginning on, in order, and wheels of CUDA below an environment") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("tailor-entries-" + std::to_string(::getpid()));
  for (const char* name :
       {"lib/python3.11/site-packages/nvidia/cuda_nvrtc", "lib/python3.11/site-packages/nvidia/cupti",
        "lib/python3.9/dist-packages/nvidia/cu13", "lib/other/site-packages/nvidia/no"})
    fs::create_directories(folder / name);
  const auto names = [&](const std::vector<fs::path>& found) {
    std::string all;
    for (const fs::path& one : found) all += fs::relative(one, folder).string() + "\n";
    return all;
  };
  CHECK(names(entries(folder / "lib", "python")) == "lib/python3.11\nlib/python3.9\n");
  CHECK(names(entries(folder / "lib", "")) == "lib/other\nlib/python3.11\nlib/python3.9\n");
  CHECK(entries(folder / "none", "").empty());
  CHECK(names(wheel_packages(folder)) ==
        "lib/python3.11/site-packages/nvidia/cuda_nvrtc\nlib/python3.11/site-packages/nvidia/cupti\n"
        "lib/python3.9/dist-packages/nvidia/cu13\n");
  fs::remove_all(folder);
  // A library is the first that opens, and each that did not says why.
  const fs::path candidates[] = {folder / "none.so", "libc.so.6", "libm.so.6"};
  const tailor::Library library = open_library(candidates, "the C library", "printf");
  REQUIRE(library.handle != nullptr);
  CHECK(library.file.filename() == "libc.so.6");
  REQUIRE(library.looked.size() == 2);
  CHECK(library.looked[1] == "libc.so.6: opened");
  const tailor::Library absent = open_library(std::span(candidates).first(1), "the C library", "printf");
  CHECK(absent.handle == nullptr);
  CHECK(absent.reason.starts_with("the C library was not found; the first place tried: " + candidates[0].string()));
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

TEST_CASE("an error tells control bytes and what is no UTF-8 as bytes, and leaves all else as it is") {
  const std::string told =
      error_text({Fault::failed, "found '\x1b[31mred\x07\x7f', \xc2\x9b, \xff\xc3(", "caf\xc3\xa9\tor tea"});
  CHECK(told == "error: found '\\x1b[31mred\\x07\\x7f', \\xc2\\x9b, \\xff\\xc3(\n  hint: caf\xc3\xa9\tor tea\n");
  // Cut off in the middle of a letter, and one that only looks like the second half of a control character.
  CHECK(error_text({Fault::failed, "caf\xc3"}) == "error: caf\\xc3\n");
  CHECK(error_text({Fault::failed, "\xe2\x80\xa6\xc2\xa0"}) == "error: \xe2\x80\xa6\xc2\xa0\n");
}

TEST_CASE("a count that was added up in double stays a count, however large") {
  CHECK(whole_count(0) == 0);
  CHECK(whole_count(2.6) == 3);
  CHECK(whole_count(-2.6) == -3);
  CHECK(whole_count(0x1p62) == std::int64_t{1} << 62);
  CHECK(whole_count(1.6e37) == std::numeric_limits<std::int64_t>::max());
  CHECK(whole_count(0x1p63) == std::numeric_limits<std::int64_t>::max());
  CHECK(whole_count(std::numeric_limits<double>::infinity()) == std::numeric_limits<std::int64_t>::max());
  CHECK(whole_count(-1e30) == std::numeric_limits<std::int64_t>::min());
}
