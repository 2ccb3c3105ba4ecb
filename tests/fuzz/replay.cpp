// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target, without libFuzzer, over every file of a corpus folder and over seeded mutants of each: what once
// broke a reader stays a test, and with any compiler. Linked with one target each. A text that breaks the target is
// written to stderr; the process ends before its line is printed, and the plan at the head of the output makes that a
// failure. Unlike libFuzzer it does not see what a mutant covers, so it finds less; it is a net, not a search.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

/// What the target is reading, for the handler.
std::string current;

extern "C" void on_death(int signal_number) {
  constexpr std::string_view head = "\nthe target died reading:\n";
  for (const std::string_view part : {head, std::string_view(current)}) {
    if (write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void read(std::string text) {
  current = std::move(text);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

/// Numbers and characters at which readers go wrong.
constexpr std::array tokens = std::to_array<std::string_view>({"0",
                                                               "-1",
                                                               "1",
                                                               "2147483648",
                                                               "9223372036854775807",
                                                               "-9223372036854775808",
                                                               "18446744073709551616",
                                                               "1e999",
                                                               "nan",
                                                               "{",
                                                               "}",
                                                               "(",
                                                               ")",
                                                               "[",
                                                               "]",
                                                               "\"",
                                                               "\\",
                                                               "\\u",
                                                               ",",
                                                               "=",
                                                               ":",
                                                               "%",
                                                               "#1",
                                                               "{...}",
                                                               "f32",
                                                               "s4",
                                                               "token",
                                                               "tuple",
                                                               "\n",
                                                               "\xff",
                                                               "//",
                                                               "/*"});

/// `text` with one to four changes: a byte, a token, a number, a span taken out, doubled or swapped in from `other`.
std::string mutant(std::string text, const std::string& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  for (std::size_t change = 0, changes = 1 + below(4); change < changes; ++change) {
    const std::size_t at = below(text.size() + 1), length = below(std::min<std::size_t>(64, text.size() - at + 1));
    const std::string_view token = tokens[below(tokens.size())];
    switch (below(6)) {
      case 0:
        text.replace(at, at < text.size() ? 1 : 0, 1, static_cast<char>(below(256)));
        break;
      case 1:
        text.insert(at, token);
        break;
      case 2: {
        const std::size_t digit = text.find_first_of("0123456789", at);
        const std::size_t end = text.find_first_not_of("0123456789", digit);
        if (digit != std::string::npos) text.replace(digit, std::min(end, text.size()) - digit, token);
        break;
      }
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      default:
        text.replace(at, length, other.substr(below(other.size() + 1), length));
        break;
    }
  }
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: {} FOLDER MUTANTS SEED\n", arguments[0]);
    return 2;
  }
  for (const int death : {SIGABRT, SIGSEGV, SIGFPE, SIGILL}) std::signal(death, on_death);
  const int mutants = std::stoi(arguments[2]);
  std::mt19937_64 random(std::stoull(arguments[3]));

  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }

  fmt::print("1..{}\n", files.size() + 1);
  fmt::print("{} 1 - the corpus has files\n", files.empty() ? "not ok" : "ok");
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::fflush(stdout);
    read(texts[i]);
    for (int m = 0; m < mutants; ++m) read(mutant(texts[i], texts[random() % texts.size()], random));
    fmt::print("ok {} - {} and {} mutants of it (seed {}) are read or refused\n", i + 2, files[i].filename().string(),
               mutants, arguments[3]);
  }
  return 0;
}
