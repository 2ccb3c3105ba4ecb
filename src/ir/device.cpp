// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Device files: the table of figures, the whole numbers that the occupancy rules need, and finding a file by name.
#include "ir/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "ir/figures.h"

namespace tailor::ir {

const std::vector<FigureRow> figure_table = {
    {"compute_capability", "10*major+minor", &Device::compute_capability},
    {"sms", "SM", &Device::sms},
    {"warp_size", "thread", &Device::warp_size},
    {"threads_per_block", "thread", &Device::threads_per_block},
    {"threads_per_sm", "thread", &Device::threads_per_sm},
    {"blocks_per_sm", "block", &Device::blocks_per_sm},
    {"registers_per_sm", "register", &Device::registers_per_sm},
    {"registers_per_block", "register", &Device::registers_per_block},
    {"registers_per_thread", "register", &Device::registers_per_thread},
    {"register_unit", "register", &Device::register_unit},
    {"sub_partitions", "1", &Device::sub_partitions},
    {"launch_partitions", "1", &Device::launch_partitions},
    {"shared_per_sm", "B", &Device::shared_per_sm},
    {"shared_per_block", "B", &Device::shared_per_block},
    {"shared_per_block_optin", "B", &Device::shared_per_block_optin},
    {"shared_reserved_per_block", "B", &Device::shared_reserved_per_block},
    {"shared_unit", "B", &Device::shared_unit},
    {"clock", "Hz", &Device::clock},
    {"dram_bandwidth", "B/s", &Device::dram_bandwidth},
    {"dram_pin_rate", "bit/s", &Device::dram_pin_rate},
    {"dram_width", "bit", &Device::dram_width},
    {"dram_bytes", "B", &Device::dram_bytes},
    {"dram_efficiency", "fraction", &Device::dram_efficiency},
    {"dram_latency", "s", &Device::dram_latency},
    {"dram_knee", "1", &Device::dram_knee},
    {"l2_bytes", "B", &Device::l2_bytes},
    {"l2_bandwidth", "B/s", &Device::l2_bandwidth},
    {"l2_latency", "s", &Device::l2_latency},
    {"l2_share", "fraction", &Device::l2_share},
    {"sm_bandwidth", "B/clk", &Device::sm_bandwidth},
    {"shared_bandwidth", "B/clk", &Device::shared_bandwidth},
    {"shared_latency", "clk", &Device::shared_latency},
    {"issue_rate", "warp/clk", &Device::issue_rate},
    {"fma_rate", "lane/clk", &Device::fma_rate},
    {"alu_rate", "lane/clk", &Device::alu_rate},
    {"xu_rate", "lane/clk", &Device::xu_rate},
    {"shuffle_rate", "lane/clk", &Device::shuffle_rate},
    {"f64_rate", "lane/clk", &Device::f64_rate},
    {"lsu_rate", "lane/clk", &Device::lsu_rate},
    {"widen_rate", "lane/clk", &Device::widen_rate},
    {"narrow_rate", "lane/clk", &Device::narrow_rate},
    {"f32_peak", "FLOP/s", &Device::f32_peak},
    {"fma_latency", "clk", &Device::fma_latency},
    {"xu_latency", "clk", &Device::xu_latency},
    {"shuffle_latency", "clk", &Device::shuffle_latency},
    {"barrier_latency", "clk", &Device::barrier_latency},
    {"launch_overhead", "s", &Device::launch_overhead},
    {"ramp", "s", &Device::ramp},
    {"atomic_rate", "sector/clk", &Device::atomic_rate},
};

namespace {

/// The figures that rules use as whole numbers, and where they go.
struct LimitRow {
  Figure Device::*figure;
  int Limits::*member;
};
constexpr std::array limit_table = std::to_array<LimitRow>({
    {&Device::compute_capability, &Limits::compute_capability},
    {&Device::sms, &Limits::sms},
    {&Device::warp_size, &Limits::warp_size},
    {&Device::threads_per_block, &Limits::threads_per_block},
    {&Device::threads_per_sm, &Limits::threads_per_sm},
    {&Device::blocks_per_sm, &Limits::blocks_per_sm},
    {&Device::registers_per_sm, &Limits::registers_per_sm},
    {&Device::registers_per_block, &Limits::registers_per_block},
    {&Device::registers_per_thread, &Limits::registers_per_thread},
    {&Device::register_unit, &Limits::register_unit},
    {&Device::sub_partitions, &Limits::sub_partitions},
    {&Device::launch_partitions, &Limits::launch_partitions},
    {&Device::shared_per_sm, &Limits::shared_per_sm},
    {&Device::shared_per_block, &Limits::shared_per_block},
    {&Device::shared_per_block_optin, &Limits::shared_per_block_optin},
    {&Device::shared_reserved_per_block, &Limits::shared_reserved_per_block},
    {&Device::shared_unit, &Limits::shared_unit},
});

/// Nothing on board is allowed to be zero but what the system may not reserve at all.
bool may_be_zero(Figure Device::*member) { return member == &Device::shared_reserved_per_block; }

void check_values(const Device& device, const std::string& file) {
  for (const FigureRow& row : figure_table)
    if ((device.*row.member).value == 0 && !may_be_zero(row.member))
      throw Error(Fault::failed, Position{file}, fmt::format("found 0 for '{}', expected a number above 0", row.key));
  for (const LimitRow& row : limit_table) {
    const double value = (device.*row.figure).value;
    if (value == std::floor(value) && value <= 1e9) continue;
    const auto named = std::find_if(figure_table.begin(), figure_table.end(),
                                    [&](const FigureRow& candidate) { return candidate.member == row.figure; });
    throw Error(Fault::failed, Position{file},
                fmt::format("found {} for '{}', expected a whole number", value, named->key));
  }
}

}  // namespace

Limits limits(const Device& device) {
  Limits result;
  for (const LimitRow& row : limit_table) result.*row.member = static_cast<int>((device.*row.figure).value);
  return result;
}

Device parse_device(std::string_view text, const std::string& file) {
  static constexpr std::string_view words[] = {"title", "arch"}, optional_words[] = {"chip"};
  std::vector<FigureSchema> schema;
  for (const FigureRow& row : figure_table) schema.push_back({row.key, row.unit});
  FigureFile read = parse_figures(text, file, words, schema, optional_words);
  Device device;
  device.name = std::filesystem::path(file).stem().string();
  device.title = std::move(read.words[0]);
  device.arch = std::move(read.words[1]);
  device.chip = std::move(read.words[2]);
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

Device find_device(std::string_view name, const std::string& folder) {
  const bool is_path = name.find('/') != name.npos || name.ends_with(".json");
  const std::filesystem::path path =
      is_path ? std::filesystem::path(name) : std::filesystem::path(folder) / fmt::format("{}.json", name);
  if (std::filesystem::is_regular_file(path)) return read_device(path.string());
  const std::vector<std::string> found = device_names(folder);
  const std::vector<std::string_view> known(found.begin(), found.end());
  if (known.empty()) throw Error(Fault::missing, fmt::format("no device '{}': no device files in {}", name, folder));
  throw Error(Fault::missing, fmt::format("no device '{}'; known: {}", name, fmt::join(known, ", ")),
              suggestion(name, known));
}

}  // namespace tailor::ir
