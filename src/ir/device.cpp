// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Device files: the table of figures, the whole numbers that the occupancy rules need, and finding a file by name. In:
// a name or a path. Out: a Device, or an Error with its line. Called by every command that takes --device. Values are
// checked for sense here: nothing but one figure may be zero, and figures must say the same where two tell of one
// thing, as a slip in a unit is seen by nothing else.
#include "ir/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "ir/figures.h"

namespace tailor::ir {

const std::vector<FigureRow> figure_table = {
#define TAILOR_LIMIT(name, unit) {#name, unit, &Device::name},
#define TAILOR_FACT(name, unit) {#name, unit, &Device::name},
#include "ir/figures.def"
};

namespace {

/// The figures that rules use as whole numbers, and where they go.
struct LimitRow {
  Figure Device::*figure;
  int Limits::*member;
};
constexpr std::array limit_table = std::to_array<LimitRow>({
#define TAILOR_LIMIT(name, unit) {&Device::name, &Limits::name},
#include "ir/figures.def"
});

/// Nothing on board is allowed to be zero but what the system may not reserve at all.
bool may_be_zero(Figure Device::*member) { return member == &Device::shared_reserved_per_block; }

/// What a limit may be on any GPU that CUDA has had; the models divide by units and enumerate up to limits.
struct LimitBounds {
  Figure Device::*figure;
  int multiple_of = 1;
  int most = 0;
  Figure Device::*most_of = nullptr;  ///< another limit, in the place of `most`
};
// CUDA C++ programming guide, "Compute capabilities": a warp has 32 threads, a block at most 1,024, a thread at most
// 255 registers; 16 blocks are the most of a cluster, with leave.
constexpr std::array limit_bounds = std::to_array<LimitBounds>({
    {&Device::warp_size, 32, 32},
    {&Device::threads_per_block, 32, 1024},
    {&Device::threads_per_block, 1, 0, &Device::threads_per_sm},
    {&Device::threads_per_sm, 32, 1 << 16},
    {&Device::blocks_per_sm, 1, 0, &Device::threads_per_sm},
    {&Device::registers_per_thread, 1, 255},
    {&Device::registers_per_block, 1, 0, &Device::registers_per_sm},
    {&Device::register_unit, 32, 0, &Device::registers_per_block},
    {&Device::sub_partitions, 1, 32},
    {&Device::launch_partitions, 1, 32},
    {&Device::shared_per_block, 1, 0, &Device::shared_per_block_optin},
    {&Device::shared_per_block_optin, 1, 0, &Device::shared_per_sm},
    {&Device::shared_unit, 1, 0, &Device::shared_per_block},
    {&Device::blocks_per_cluster, 1, 16},
});

/// A figure that others give too.
struct ToldTwice {
  Figure Device::*figure;
  std::string_view by;
  double (*other)(const Device&);
};
constexpr std::array told_twice = std::to_array<ToldTwice>({
    {&Device::dram_bandwidth, "dram_pin_rate and dram_width",
     [](const Device& d) { return d.dram_pin_rate.value * d.dram_width.value / 8; }},
    {&Device::f32_peak, "sms, fma_rate and clock",
     [](const Device& d) { return 2 * d.sms.value * d.fma_rate.value * d.clock.value; }},
});
/// Data sheets round, and name one clock or another; a wrong unit is off by much more.
constexpr double told_twice_within = 1.25;

const FigureRow& row_of(Figure Device::*member) {
  return *std::find_if(figure_table.begin(), figure_table.end(),
                       [&](const FigureRow& row) { return row.member == member; });
}

void check_values(const Device& device, const std::string& file) {
  for (const FigureRow& row : figure_table)
    if ((device.*row.member).value == 0 && !may_be_zero(row.member))
      throw Error(Fault::failed, Position{file}, fmt::format("found 0 for '{}', expected a number above 0", row.key));
  for (const LimitRow& row : limit_table) {
    const double value = (device.*row.figure).value;
    if (value == std::floor(value) && value <= 1e9) continue;
    throw Error(Fault::failed, Position{file},
                fmt::format("found {} for '{}', expected a whole number", value, row_of(row.figure).key));
  }
  for (const LimitBounds& row : limit_bounds) {
    const double value = (device.*row.figure).value;
    const double most = row.most_of == nullptr ? row.most : (device.*row.most_of).value;
    if (value <= most && std::fmod(value, row.multiple_of) == 0) continue;
    throw Error(Fault::failed, Position{file},
                fmt::format("found {} for '{}', expected {}at most {}", value, row_of(row.figure).key,
                            row.multiple_of == 1 ? "" : fmt::format("a multiple of {}, ", row.multiple_of),
                            row.most_of == nullptr ? fmt::format("{}", most)
                                                   : fmt::format("{} ({})", row_of(row.most_of).key, most)));
  }
  for (const ToldTwice& row : told_twice) {
    const double one = (device.*row.figure).value, other = row.other(device);
    if (one <= other * told_twice_within && other <= one * told_twice_within) continue;
    const FigureRow& figure = row_of(row.figure);
    throw Error(Fault::failed, Position{file},
                fmt::format("found {:g} {} for '{}', expected about {:g}: {} give that", one, figure.unit, figure.key,
                            other, row.by),
                "one of these figures is wrong, or has another unit");
  }
}

}  // namespace

Limits limits(const Device& device) {
  Limits result;
  for (const LimitRow& row : limit_table) result.*row.member = static_cast<int>((device.*row.figure).value);
  return result;
}

Device parse_device(std::string_view text, const std::string& file) {
  static constexpr std::string_view words[] = {"title", "arch"}, optional_words[] = {"chip", "reported"};
  std::vector<FigureSchema> schema;
  for (const FigureRow& row : figure_table) schema.push_back({row.key, row.unit});
  FigureFile read = parse_figures(text, file, words, schema, optional_words);
  Device device;
  device.name = std::filesystem::path(file).stem().string();
  device.title = std::move(read.words[0]);
  device.arch = std::move(read.words[1]);
  device.chip = std::move(read.words[2]);
  device.reported = std::move(read.words[3]);
  for (std::size_t i = 0; i < figure_table.size(); ++i) device.*figure_table[i].member = std::move(read.figures[i]);
  check_values(device, file);
  if (device.arch != fmt::format("sm_{}", device.compute_capability.value))
    throw Error(Fault::failed, Position{file},
                fmt::format("found arch '{}' with compute_capability {}, expected 'sm_{}'", device.arch,
                            device.compute_capability.value, device.compute_capability.value));
  return device;
}

Device read_device(const std::string& path) { return parse_device(read_file(path), path); }

std::vector<std::string> device_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

/// Letters and digits in lower case; letters of other scripts as they are, for no GPU's name has them.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char one : name)
    if (const auto byte = static_cast<unsigned char>(one); byte >= 0x80 || std::isalnum(byte) != 0)
      letters += byte >= 0x80 ? one : static_cast<char>(std::tolower(byte));
  return letters;
}

/// As drivers call a GPU, without the vendor and the brand in front: "NVIDIA H200", "Tesla T4".
std::string without_brand(std::string_view name) {
  std::string letters = plain(name);
  for (const std::string_view brand : {"nvidia", "tesla", "geforce", "quadro"})
    if (letters.starts_with(brand)) letters.erase(0, brand.size());
  return letters;
}

/// Digits of its first number: an h20 is no misspelled h200, while an h210 and an h20o may be.
std::size_t digits(std::string_view name) {
  const std::string letters = plain(name);
  const std::size_t first = std::min(letters.find_first_of("0123456789"), letters.size());
  const std::size_t end = std::min(letters.find_first_not_of("0123456789", first), letters.size());
  return end - first;
}

/// Up to the first digit: the series of a GPU. A p100 is no misspelled a100.
std::string series(std::string_view name) {
  const std::string letters = plain(name);
  return letters.substr(0, letters.find_first_of("0123456789"));
}

/// Whether `wanted` is where a word or a number of the name ends: h100 of h100_sxm, but not h20 of h200, which is
/// another GPU.
bool begins_with(const std::string& name, const std::string& wanted) {
  const auto kind = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalpha(byte) != 0 ? 'a' : std::isdigit(byte) != 0 ? '0' : '_';
  };
  for (std::size_t end = 1; end < name.size(); ++end)
    if (kind(name[end]) != kind(name[end - 1]) && plain(name.substr(0, end)) == wanted) return true;
  return false;
}

std::string hint_for(std::string_view name, const std::vector<std::string>& known) {
  std::vector<std::string_view> alike;
  for (const std::string& one : known)
    if (series(one) == series(name) && (digits(one) == digits(name) || plain(one).size() == plain(name).size()))
      alike.push_back(one);
  const std::string_view near = nearest(name, alike);
  if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  return "tailor devices lists them; a file of your own is named by its path";
}

/// Calibrations and records are found by a GPU's name, so a file that says another GPU must not have the name of one
/// that is known.
void check_name_is_free(const Device& device, const std::string& path, const std::string& folder) {
  const std::filesystem::path known = std::filesystem::path(folder) / fmt::format("{}.json", device.name);
  std::error_code fault;
  if (!std::filesystem::is_regular_file(known, fault) || std::filesystem::equivalent(known, path, fault)) return;
  const Device other = read_device(known.string());
  if (other.arch == device.arch && other.title == device.title) return;
  throw Error(Fault::failed, Position{path},
              fmt::format("found {} ({}) in a file with the name of {} ({}), expected another name", device.title,
                          device.arch, other.title, other.arch),
              "what was measured of a GPU is found by the name of its file: give this one a name of its own");
}

}  // namespace

Device find_device(std::string_view name, const std::string& folder) {
  const bool is_path = name.find('/') != name.npos || name.ends_with(".json");
  const std::filesystem::path path =
      is_path ? std::filesystem::path(name) : std::filesystem::path(folder) / fmt::format("{}.json", name);
  if (std::filesystem::is_regular_file(path)) {
    Device device = read_device(path.string());
    if (is_path) check_name_is_free(device, path.string(), folder);
    return device;
  }
  const std::vector<std::string> known = device_names(folder);
  if (known.empty())
    throw Error(Fault::missing, fmt::format("no device '{}': no device files in {}", name, folder),
                "--data names the folder with devices/ and calibrations/; tailor doctor says where it is looked for");
  std::vector<std::string> meant;
  const std::string wanted = without_brand(name);
  for (const std::string& one : known) {
    const bool exactly = plain(one) == wanted;
    if (is_path || wanted.empty() || !(exactly || begins_with(one, wanted))) continue;
    if (exactly) meant.clear();
    meant.push_back(one);
    if (exactly) break;
  }
  if (meant.size() == 1) return read_device((std::filesystem::path(folder) / (meant.front() + ".json")).string());
  if (meant.size() > 1)
    throw Error(Fault::missing, fmt::format("device '{}' may be {}", name, fmt::join(meant, " or ")),
                "add letters until only one is meant");
  throw Error(Fault::missing, fmt::format("no device '{}'; known: {}", name, fmt::join(known, ", ")),
              hint_for(name, known));
}

}  // namespace tailor::ir
