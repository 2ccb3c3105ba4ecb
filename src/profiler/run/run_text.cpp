// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads launches as people write them down. The words of launches, uses and fills are tables; types are those of
// graphs, and C's names of integers (i32) beside them. Buffers are filled by named patterns that are the same on every
// machine. Called through run_text.h.
#include "profiler/run/run_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <random>

#include "base/error.h"
#include "base/text.h"
#include "ir/graph/number.h"
#include "profiler/run/npy.h"

namespace tailor::profiler {

namespace {

using simulator::BufferUse;

constexpr std::size_t most_bytes = std::size_t{4} << 30;

[[noreturn]] void fail(std::string message, std::string hint = {}) {
  throw Error(Fault::usage, std::move(message), std::move(hint));
}

template <class Value>
struct Word {
  std::string_view word;
  Value value;
};

constexpr auto use_words = std::to_array<Word<BufferUse>>({{"input", BufferUse::input},
                                                           {"output", BufferUse::output},
                                                           {"both", BufferUse::both},
                                                           {"scratch", BufferUse::scratch}});

std::optional<BufferUse> use_named(std::string_view word) {
  for (const auto& row : use_words)
    if (row.word == word) return row.value;
  return std::nullopt;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::int64_t whole_number(std::string_view key, std::string_view text, std::int64_t least, std::int64_t most) {
  const auto value = number_in<std::int64_t>(text);
  if (!value || *value < least || *value > most)
    fail(fmt::format("{}: found '{}', expected a whole number from {} to {}", key, text, least, most));
  return *value;
}

/// "f32" as graphs have it, "i32" as C does.
std::optional<ir::DType> type_named(std::string_view word) {
  const std::string own = word.starts_with('i') ? fmt::format("s{}", word.substr(1)) : std::string(word);
  const ir::DTypeRow* row = ir::find_dtype(own);
  if (row == nullptr || ir::element_bytes(row->dtype) == 0) return std::nullopt;
  return row->dtype;
}

ir::DType expected_type(std::string_view word) {
  const auto dtype = type_named(word);
  if (!dtype) fail(fmt::format("found type '{}', expected one such as f32, f16, bf16, f64, i32, u8, i64", word));
  return *dtype;
}

void put(std::byte* to, ir::DType dtype, std::uint64_t bits) {
  std::memcpy(to, &bits, static_cast<std::size_t>(ir::element_bytes(dtype)));
}

void put_real(std::byte* to, ir::DType dtype, double value) {
  put(to, dtype,
      is_floating(dtype) ? ir::encode(dtype, value) : static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
}

std::vector<std::byte> value_bytes(ir::DType dtype, std::string_view text) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(ir::element_bytes(dtype)));
  if (is_floating(dtype)) {
    const auto value = number_in<double>(text);
    if (!value) fail(fmt::format("found value '{}', expected a number of type {}", text, name(dtype)));
    put_real(bytes.data(), dtype, *value);
    return bytes;
  }
  const auto below = number_in<std::int64_t>(text);
  const auto above = number_in<std::uint64_t>(text);
  const std::uint64_t bits = below ? static_cast<std::uint64_t>(*below) : above.value_or(0);
  const int width = ir::row(dtype).bits;
  const bool fits = width == 64 ? is_signed(dtype) ? below.has_value() : above.has_value()
                                : below && ir::wrap_to(dtype, *below) == *below;
  if (!fits) fail(fmt::format("found value '{}', expected a number of type {}", text, name(dtype)));
  put(bytes.data(), dtype, bits);
  return bytes;
}

void fill(RunBuffer& buffer, std::string_view how, std::string_view seed) {
  const std::string key = fmt::format("{}.{}", seed, buffer.name);
  std::seed_seq sequence(key.begin(), key.end());
  std::mt19937 random(sequence);
  const auto width = static_cast<std::size_t>(ir::element_bytes(buffer.dtype));
  const auto each = [&](auto&& value) {
    for (std::size_t i = 0; i * width < buffer.bytes.size(); ++i)
      put_real(buffer.bytes.data() + i * width, buffer.dtype, value(i));
  };
  if (how == "zero") return;
  if (how == "random") {
    if (is_floating(buffer.dtype))
      return each([&](std::size_t) { return static_cast<double>(random()) / 2147483648.0 - 1.0; });
    for (std::byte& byte : buffer.bytes)
      byte = static_cast<std::byte>(buffer.dtype == ir::DType::pred ? random() & 1 : random());
    return;
  }
  if (how == "iota") return each([](std::size_t i) { return static_cast<double>(i); });
  if (how.starts_with("below:")) {
    const auto below = static_cast<std::uint32_t>(whole_number("below", how.substr(6), 1, UINT32_MAX));
    return each([&](std::size_t) { return static_cast<double>(random() % below); });
  }
  fail(fmt::format("buffer {}: found fill '{}', expected random, zero, iota, below:N or FILE.npy", buffer.name, how));
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  const bool blanks = trim(text).find(' ') != text.npos;
  if (blanks) {
    for (const std::string_view word : split(text, ' '))
      if (!word.empty()) words.push_back(word);
    return words;
  }
  // The fourth word keeps its colons: "below:64", "C:/x.npy".
  for (std::string_view rest = trim(text); !rest.empty();) {
    const std::size_t colon = words.size() == 3 ? rest.npos : rest.find(':');
    words.push_back(rest.substr(0, colon));
    rest = colon == rest.npos ? "" : rest.substr(colon + 1);
  }
  if (words.size() > 2 && use_named(words[1]))  // NAME:USE:FILL has three
    words = {words[0], words[1], text.substr(static_cast<std::size_t>(words[2].data() - text.data()))};
  return words;
}

/// "f32[4,8]"
void read_type(RunBuffer& buffer, std::string_view word) {
  const std::size_t bracket = word.find('[');
  if (bracket == word.npos || word.back() != ']')
    fail(fmt::format("buffer {}: found '{}', expected TYPE[COUNT] such as f32[512]", buffer.name, word));
  buffer.dtype = expected_type(word.substr(0, bracket));
  std::size_t bytes = static_cast<std::size_t>(ir::element_bytes(buffer.dtype));
  for (const std::string_view dim : split(word.substr(bracket + 1, word.size() - bracket - 2), ',')) {
    buffer.dims.push_back(whole_number(fmt::format("buffer {}", buffer.name), trim(dim), 0, std::int64_t{1} << 40));
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(buffer.dims.back()), &bytes) || bytes > most_bytes)
      fail(fmt::format("buffer {}: found {}, which takes more than 4 GB", buffer.name, word));
  }
  buffer.bytes.resize(bytes);
}

/// Files that are read for it join `files`.
RunBuffer read_buffer(std::span<const std::string_view> words, std::string_view seed,
                      const std::filesystem::path& folder, std::vector<std::string>& files) {
  RunBuffer made;
  made.name = words[0];
  const bool typed = !use_named(words[1]);
  if (typed) read_type(made, words[1]);
  const std::size_t at = typed ? 2 : 1;
  const std::string_view use = words.size() > at ? words[at] : "input";
  if (!use_named(use))
    fail(fmt::format("buffer {}: found use '{}', expected input, output, both or scratch", made.name, use));
  made.use = *use_named(use);
  const std::string_view how = words.size() > at + 1 ? words[at + 1] : "zero";
  if (words.size() > at + 2)
    fail(fmt::format("buffer {}: found '{}', which is one word too many", made.name, words[at + 2]));
  if (!how.ends_with(".npy")) {
    if (!typed) fail(fmt::format("buffer {}: found no type, expected TYPE[COUNT] or a file", made.name));
    fill(made, how, seed);
    return made;
  }
  NpyArray array = read_npy(folder / how);
  files.push_back((folder / how).string());
  if (typed && (array.dims != made.dims || array.dtype != made.dtype))
    fail(fmt::format("buffer {}: found {}[{}] in {}, expected {}", made.name, name(array.dtype),
                     fmt::join(array.dims, ","), how, words[1]));
  made.dtype = array.dtype;
  made.dims = std::move(array.dims);
  made.bytes = std::move(array.bytes);
  return made;
}

}  // namespace

std::string_view use_word(BufferUse use) {
  for (const auto& row : use_words)
    if (row.value == use) return row.word;
  return "";
}

simulator::Extent3 parse_extents(std::string_view text) {
  simulator::Extent3 all{1, 1, 1};
  const std::vector<std::string_view> parts = split(text, text.find('x') == text.npos ? ',' : 'x');
  if (parts.size() > 3) fail(fmt::format("found '{}', expected at most three numbers", text));
  for (std::size_t i = 0; i < parts.size(); ++i)
    all[i] = static_cast<std::uint32_t>(whole_number("extent", trim(parts[i]), 1, INT32_MAX));
  return all;
}

void read_launch_word(RunSpec& spec, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals), value = equals != word.npos    ? word.substr(equals + 1)
                                                               : key == "cooperative" ? "1"
                                                                                      : "";
  const auto number = [&](std::int64_t most) { return whole_number(key, value, 0, most); };
  if (key == "grid") return void(spec.launch.grid = parse_extents(value));
  if (key == "block") return void(spec.launch.block = parse_extents(value));
  if (key == "cluster") return void(spec.launch.cluster = parse_extents(value));
  if (key == "shared") return void(spec.launch.dynamic_shared = number(1 << 30));
  if (key == "cooperative") return void(spec.launch.cooperative = number(1) != 0);
  if (key == "limit") return void(spec.limit = number(std::int64_t{1} << 40));
  if (key == "sms") return void(spec.machine.sms = static_cast<int>(number(1 << 16)));
  if (key == "blocks_per_sm") return void(spec.machine.blocks_per_sm = static_cast<int>(number(1 << 10)));
  fail(fmt::format("found '{}', expected grid=, block=, cluster=, shared=, cooperative, limit=, sms= or blocks_per_sm=",
                   word));
}

void read_argument(RunSpec& spec, std::string_view text, std::string_view seed, const std::filesystem::path& folder) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2)
    fail(fmt::format("found argument '{}', expected a value or a buffer", text),
         "for example i32:512, x:f32[512]:input:random, y:f32[512]:output or x:input:x.npy");
  if (words.size() == 2 && type_named(words[0])) {
    spec.parameters.push_back({-1, value_bytes(expected_type(words[0]), words[1])});
    return;
  }
  const bool known =
      std::any_of(spec.buffers.begin(), spec.buffers.end(), [&](const RunBuffer& one) { return one.name == words[0]; });
  if (known) fail(fmt::format("found a second buffer '{}'", words[0]));
  RunBuffer buffer = read_buffer(words, seed, folder, spec.files);
  spec.parameters.push_back({static_cast<int>(spec.buffers.size()), {}});
  spec.buffers.push_back(std::move(buffer));
}

void read_variable(RunSpec& spec, std::string_view text, std::string_view seed, const std::filesystem::path& folder) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 3)
    fail(fmt::format("found variable '{}', expected its name, its type and what it holds", text),
         "for example n:i32:512, w:f32[5]:random or w:f32[5]:w.npy");
  const std::string name(words[0]);
  for (const simulator::VariableContents& one : spec.launch.variables)
    if (one.name == name) fail(fmt::format("found variable '{}' twice", name));
  if (type_named(words[1])) {
    spec.launch.variables.push_back({name, value_bytes(expected_type(words[1]), words[2])});
    return;
  }
  const std::string how = fmt::format("{}", fmt::join(words.begin() + 2, words.end(), ":"));  // "below:64"
  const std::string_view as_buffer[] = {words[0], words[1], "input", how};
  spec.launch.variables.push_back({name, read_buffer(as_buffer, seed, folder, spec.files).bytes});
}

bool read_head_line(RunSpec& spec, std::string_view key, std::string_view rest, std::string_view seed,
                    const std::filesystem::path& folder) {
  if (key == "launch" || key == "machine") {
    for (const std::string_view word : split(rest, ' '))
      if (!trim(word).empty()) read_launch_word(spec, trim(word));
  } else if (key == "arch") {
    spec.arch = trim(rest);
  } else if (key == "buffer" || key == "value") {
    read_argument(spec, trim(rest), seed, folder);
  } else if (key == "variable") {
    read_variable(spec, trim(rest), seed, folder);
  } else {
    return false;
  }
  return true;
}

RunSpec read_head(std::string_view cuda, const std::filesystem::path& file) {
  RunSpec spec;
  std::int64_t number = 0;
  for (const std::string_view line : split(cuda, '\n')) {
    ++number;
    if (!line.starts_with("//")) break;
    const std::size_t colon = line.find(": ");
    if (colon == line.npos || colon < 4) continue;
    with_position(
        [&] {
          return Position{file.string(), number, 1};
        },
        [&] {
          read_head_line(spec, line.substr(3, colon - 3), line.substr(colon + 2), file.stem().string(),
                         file.parent_path());
        });
  }
  return spec;
}

}  // namespace tailor::profiler
