// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the head of each corpus file: launch, buffers, tolerances, planted bugs and the lines they are found at.
// Buffers are filled by named patterns, the same on every machine, because each seed comes from the kernel's and the
// buffer's name. corpus.h describes the form of a head; a head that does not read is an Error with its file.
#include "profiler/simulator/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include "base/error.h"
#include "base/text.h"
#include "ir/graph/types.h"
#include "profiler/run/run_text.h"
#include "support/paths.h"

namespace corpus {

namespace {

using tailor::simulator::BufferUse;
using tailor::simulator::FindingKind;

template <class Value>
struct Row {
  std::string_view name;
  Value value;
};

constexpr auto type_rows = std::to_array<Row<ElementType>>({{"i8", ElementType::i8},
                                                            {"u8", ElementType::u8},
                                                            {"i32", ElementType::i32},
                                                            {"u32", ElementType::u32},
                                                            {"u64", ElementType::u64},
                                                            {"f16", ElementType::f16},
                                                            {"bf16", ElementType::bf16},
                                                            {"f32", ElementType::f32},
                                                            {"f64", ElementType::f64}});
constexpr auto kind_rows = std::to_array<Row<FindingKind>>({{"out_of_bounds", FindingKind::out_of_bounds},
                                                            {"misaligned", FindingKind::misaligned},
                                                            {"store_to_input", FindingKind::store_to_input},
                                                            {"uninitialised_read", FindingKind::uninitialised_read},
                                                            {"race", FindingKind::race},
                                                            {"divergent_barrier", FindingKind::divergent_barrier},
                                                            {"mismatched_barrier", FindingKind::mismatched_barrier},
                                                            {"bad_mask", FindingKind::bad_mask},
                                                            {"bad_cluster_rank", FindingKind::bad_cluster_rank},
                                                            {"async_misuse", FindingKind::async_misuse},
                                                            {"deadlock", FindingKind::deadlock},
                                                            {"trap", FindingKind::trap},
                                                            {"too_long", FindingKind::too_long},
                                                            {"launch", FindingKind::launch}});

[[noreturn]] void fail(const std::string& message) { throw tailor::Error(tailor::Fault::failed, message); }

template <class Rows>
auto find(const Rows& rows, std::string_view name) {
  for (const auto& row : rows)
    if (row.name == name) return row.value;
  fail(fmt::format("found '{}', expected one of the head's words", name));
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : tailor::split(line, ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

CorpusPlant read_plant(const std::vector<std::string_view>& words, const CorpusLaunch& launch) {
  if (words.size() < 2) fail("expected '// plant: NAME KIND'");
  CorpusPlant made;
  made.name = words[0];
  made.launch = launch;
  if (words[1] != "missed")
    for (const std::string_view kind : tailor::split(words[1], '|')) made.kinds.push_back(find(kind_rows, kind));
  tailor::profiler::RunSpec spec;
  spec.launch = launch.launch;
  spec.machine = launch.machine;
  spec.limit = launch.limit;
  for (std::size_t i = 2; i < words.size(); ++i) read_launch_word(spec, words[i]);
  made.launch = {spec.launch, spec.machine, spec.limit};
  return made;
}

/// What the head said, in the corpus' own words.
void take_spec(CorpusKernel& made, const tailor::profiler::RunSpec& spec) {
  if (!spec.arch.empty()) made.arch = spec.arch;
  made.launch = {spec.launch, spec.machine, spec.limit};
  for (const tailor::profiler::RunBuffer& buffer : spec.buffers) {
    const std::string_view type = tailor::ir::name(buffer.dtype);
    CorpusBuffer one{buffer.name, find(type_rows, type.starts_with('s') ? "i" + std::string(type.substr(1)) : type),
                     buffer.use, buffer.bytes};
    made.buffers.push_back(std::move(one));
  }
  for (const tailor::profiler::RunParameter& one : spec.parameters) made.parameters.push_back({one.buffer, one.value});
}

void read_marks(CorpusKernel& made, std::string_view line, std::int64_t number_of_line) {
  constexpr std::string_view mark = "// BUG ";
  const std::size_t at = line.find(mark);
  if (at == line.npos) return;
  for (const std::string_view name : words_of(line.substr(at + mark.size()))) {
    const auto plant = std::find_if(made.plants.begin(), made.plants.end(),
                                    [&](const CorpusPlant& each) { return each.name == name; });
    if (plant == made.plants.end()) fail(fmt::format("line {}: no plant '{}'", number_of_line, name));
    plant->lines.push_back(number_of_line);
  }
}

/// A float as the nearest value of 1 + `exponent_bits` + `fraction_bits`, ties to even, subnormals kept.
double rounded(double value, int fraction_bits, int least_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), least_exponent);
  return std::scalbn(std::nearbyint(std::scalbn(value, fraction_bits - exponent)), exponent - fraction_bits);
}

std::uint16_t f16_bits(double value) {
  const double v = rounded(value, 10, -14);
  const auto sign = static_cast<std::uint16_t>(std::signbit(v) ? 0x8000 : 0);
  const double magnitude = std::fabs(v);
  if (magnitude == 0) return sign;
  if (magnitude > 65504) return static_cast<std::uint16_t>(sign | 0x7c00);
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const int scaled = static_cast<int>(std::scalbn(magnitude, 10 - exponent));
  return static_cast<std::uint16_t>(sign | (scaled + ((exponent + 14) << 10)));
}

double f16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0    ? std::scalbn(fraction, -24)
                           : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                            : std::scalbn(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t bf16_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

int CorpusBuffer::element_bytes() const {
  switch (type) {
    case ElementType::i8:
    case ElementType::u8:
      return 1;
    case ElementType::f16:
    case ElementType::bf16:
      return 2;
    case ElementType::u64:
    case ElementType::f64:
      return 8;
    default:
      return 4;
  }
}

double CorpusBuffer::operator[](std::int64_t i) const {
  const std::byte* const at = bytes.data() + i * element_bytes();
  const auto as = [&]<class Value>(Value value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case ElementType::i8:
      return as(std::int8_t{});
    case ElementType::u8:
      return as(std::uint8_t{});
    case ElementType::i32:
      return as(std::int32_t{});
    case ElementType::u32:
      return as(std::uint32_t{});
    case ElementType::u64:
      return static_cast<double>(as(std::uint64_t{}));
    case ElementType::f16:
      return f16_value(as(std::uint16_t{}));
    case ElementType::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(as(std::uint16_t{})) << 16);
    case ElementType::f32:
      return as(0.0f);
    case ElementType::f64:
      return as(0.0);
  }
  return 0;
}

void CorpusBuffer::set(std::int64_t i, double value) {
  std::byte* const at = bytes.data() + i * element_bytes();
  const auto put = [&](auto made) { std::memcpy(at, &made, sizeof made); };
  switch (type) {
    case ElementType::i8:
      return put(static_cast<std::int8_t>(value));
    case ElementType::u8:
      return put(static_cast<std::uint8_t>(value));
    case ElementType::i32:
      return put(static_cast<std::int32_t>(value));
    case ElementType::u32:
      return put(static_cast<std::uint32_t>(value));
    case ElementType::u64:
      return put(static_cast<std::uint64_t>(value));
    case ElementType::f16:
      return put(f16_bits(value));
    case ElementType::bf16:
      return put(bf16_bits(value));
    case ElementType::f32:
      return put(static_cast<float>(value));
    case ElementType::f64:
      return put(value);
  }
}

CorpusBuffer& CorpusKernel::at(std::string_view buffer) {
  for (CorpusBuffer& each : buffers)
    if (each.name == buffer) return each;
  fail(fmt::format("{} has no buffer '{}'", name, buffer));
}

std::vector<std::string> CorpusKernel::defines(std::string_view planted) const {
  std::vector<std::string> made;
  for (const CorpusPlant& plant : plants)
    made.push_back(fmt::format("--define-macro={}={}", plant.name, plant.name == planted ? 1 : 0));
  return made;
}

namespace {

/// A part of a file, after `blank` empty lines, so that lines keep their numbers.
CorpusKernel read_part(const std::filesystem::path& file, std::string name, std::string text) {
  CorpusKernel made;
  made.name = std::move(name);
  made.text = std::move(text);
  tailor::profiler::RunSpec spec;
  spec.limit = made.launch.limit;
  std::vector<std::string_view> plants;
  std::int64_t line_number = 0;
  bool head = true;
  for (const std::string_view line : tailor::split(made.text, '\n')) {
    ++line_number;
    head = head && (line.empty() || line.starts_with("//"));
    const std::size_t colon = line.find(": ");
    const std::string_view key = head && colon != line.npos ? line.substr(3, colon - 3) : "";
    if (!key.empty() && key.find_first_of(" -") == key.npos && key != "kernel")
      tailor::with_position(
          [&] {
            return tailor::Position{file.string(), line_number, 1};
          },
          [&] {
            const std::string_view rest = line.substr(colon + 2);
            if (key == "plant")
              plants.push_back(rest);
            else if (!read_head_line(spec, key, rest, made.name, file.parent_path()))
              fail(fmt::format("found '{}', expected launch, machine, arch, buffer, value or plant", key));
          });
    if (!head && !plants.empty() && made.plants.empty()) {
      take_spec(made, spec);
      for (const std::string_view rest : plants) made.plants.push_back(read_plant(words_of(rest), made.launch));
    }
    if (!head) read_marks(made, line, line_number);
  }
  if (made.plants.empty()) take_spec(made, spec);
  return made;
}

}  // namespace

std::vector<CorpusKernel> read_kernels(const std::filesystem::path& file) {
  constexpr std::string_view mark = "// kernel: ";
  const std::string whole = tailor::read_file(file);
  std::vector<CorpusKernel> made;
  std::string name = file.stem().string(), text;
  bool several = false;
  std::size_t lines = 0;
  const auto end_part = [&] {
    if (several || whole.find(mark) == whole.npos) made.push_back(read_part(file, name, std::move(text)));
    text.assign(lines, '\n');
  };
  for (const std::string_view line : tailor::split(whole, '\n')) {
    if (line.starts_with(mark)) {
      end_part();
      several = true;
      name = line.substr(mark.size());
    }
    text.append(line).push_back('\n');
    ++lines;
  }
  end_part();
  return made;
}

const std::vector<CorpusKernel>& kernels() {
  static const std::vector<CorpusKernel> all = [] {
    std::vector<CorpusKernel> found;
    for (const auto& file :
         std::filesystem::directory_iterator(tailor::source_folder() + "/tests/profiler/simulator/corpus"))
      if (file.path().extension() == ".cu")
        for (CorpusKernel& kernel : read_kernels(file.path())) found.push_back(std::move(kernel));
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
  }();
  return all;
}

}  // namespace corpus
