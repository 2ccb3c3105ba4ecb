// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading files that may be packed: what comes out is what went in, and a file that would fill the memory is refused
// with the limit in its message before it does. Files are packed here by the writer, so that a few kilobytes unpack to
// megabytes. Part of the suite `base`.
#include "base/compressed.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

struct PackedFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tailor_packed_" + std::to_string(::getpid()) + ".gz");
  explicit PackedFile(const std::string& text) { write_file(path, packed(text, path)); }
  ~PackedFile() { std::filesystem::remove(path); }
};

/// The most memory this process ever held, in bytes.
std::size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

TEST_CASE("a packed file reads back, also when it unpacks to just what is allowed") {
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 100'000}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; i += 7) text[i] = static_cast<char>('a' + i % 23);
    const PackedFile file(text);
    CHECK(read_unpacked(file.path.string()) == text);
    CHECK(read_unpacked(file.path.string(), size) == text);
  }
}

TEST_CASE("packed files one behind the other are one text, and what follows that is no packed file is left out") {
  const std::string first(5000, 'a'), second(70'000, 'b');
  const auto packed_bytes = [](const std::string& text) {
    const PackedFile file(text);
    return read_file(file.path);
  };
  const PackedFile file("");
  write_file(file.path, packed_bytes(first) + packed_bytes("") + packed_bytes(second));
  CHECK(read_unpacked(file.path.string()) == first + second);
  CHECK_THROWS_AS(read_unpacked(file.path.string(), first.size() + second.size() - 1), Error);
  write_file(file.path, packed_bytes(first) + std::string(512, '\0'));  // padding, as archives have it
  CHECK(read_unpacked(file.path.string()) == first);
  const std::string whole = packed_bytes(first) + packed_bytes(second);
  write_file(file.path, whole.substr(0, whole.size() - 9));
  CHECK_THROWS_WITH_AS(read_unpacked(file.path.string()), doctest::Contains("damaged or truncated"), Error);
}

TEST_CASE("a packed file that unpacks to more than is allowed is refused, with the limit and a way out") {
  const PackedFile file(std::string(3'000'001, 'x'));
  try {
    read_unpacked(file.path.string(), 3'000'000);
    FAIL("a file beyond the limit was read");
  } catch (const Error& error) {
    CHECK(error.fault == Fault::failed);
    CHECK(error.at.file == file.path.string());
    CHECK(error.message == "found a gzip file that unpacks to more than 3.00 MB, expected at most that");
    CHECK(error.hint.find("gunzip") != std::string::npos);
  }
}

TEST_CASE("refusing a file that unpacks to eight times the limit takes no more memory than twice the limit" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::size_t limit = testing::effort(10'000'000, 25'000'000);
  const PackedFile file("");
  const pid_t child = fork();  // packs it, so that this process never held the text
  REQUIRE(child >= 0);
  if (child == 0) {
    write_file(file.path, packed(std::string(8 * limit, 'x'), file.path));
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const std::size_t before = peak_bytes();
  CHECK_THROWS_AS(read_unpacked(file.path.string(), limit), Error);
  CHECK(peak_bytes() - before <= 2 * limit + 5'000'000);
}

TEST_CASE("a damaged packed file is not taken for one that is too large") {
  const PackedFile file(std::string(100'000, 'x'));
  const std::string whole = read_file(file.path.string());
  write_file(file.path, whole.substr(0, whole.size() / 2));
  try {
    read_unpacked(file.path.string(), 1'000'000);
    FAIL("half a file was read");
  } catch (const Error& error) {
    CHECK(error.message.find("damaged or truncated") != std::string::npos);
  }
}

TEST_CASE("a file of another packer is known by its first bytes, and told how to unpack") {
  const PackedFile file("");
  for (const auto& [bytes, name] : {std::pair<std::string, std::string>{"BZh91AY", "bzip2"},
                                    {"\x28\xb5\x2f\xfd\x24", "zstd"},
                                    {std::string("\xfd"
                                                 "7zXZ\0",
                                                 6),
                                     "xz"},
                                    {"PK\x03\x04\x14", "zip"}}) {
    CAPTURE(name);
    write_file(file.path, bytes);
    try {
      read_unpacked(file.path);
      FAIL("it was read");
    } catch (const Error& error) {
      CHECK(error.message == "found a file packed by " + name + ", expected text, plain or by gzip");
      CHECK(error.hint.starts_with("unpack it first: "));
    }
  }
  write_file(file.path, "BZ is no packed file");
  CHECK(read_unpacked(file.path) == "BZ is no packed file");
}
