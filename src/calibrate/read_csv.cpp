// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of formats, and what a row of each means. In: cells. Out: observations: what was computed, the launch, the
// traffic, the regime of the time. Called by commands that take --observations and by tailor db import.
//
// tailor: the fields of an observation as columns with units. neusight: single calls of PyTorch from the host, warm,
// with the framework's floor in each time (the operation and its shape give the kernel, pytorch.h). gpu-benches: rows
// of bandwidths, from which follow times, since the volumes are known; launches in a stream or a graph, warm as far as
// the cache goes. tuning-space: every configuration of a kernel; what the kernel is and on which GPU, the JSON file
// beside it says.
#include "calibrate/read_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/compressed.h"
#include "base/error.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/text.h"
#include "calibrate/csv.h"
#include "calibrate/pytorch.h"

namespace tailor::calibrate {

namespace {

/// Letters and digits in lower case: 'Read Bytes' and 'readBytes' are 'readbytes'.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

struct Reading {
  const std::string& file;
  const Json& facts;
  std::span<const ir::Device> devices;
  std::vector<ir::Observation>& out;

  void add(const CsvRow& row, const std::string& device, const ir::Regime& regime, double seconds, double low,
           double high, std::string_view part, ir::ForeignKernel kernel) const {
    const std::string source = fmt::format("{} line {}{}{}", std::filesystem::path(file).filename().string(),
                                           row.position().line, part.empty() ? "" : ", ", part);
    with_position([&] { return row.position(); },
                  [&] {
                    out.push_back(ir::make_observation(device_called(devices, device), regime, {seconds}, {low}, {high},
                                                       source, std::move(kernel)));
                  });
  }
};

ir::Regime regime_of(ir::CacheState cache, ir::Timer timer, ir::LaunchMode launch = ir::LaunchMode::stream) {
  return {cache, timer, launch, ir::includes(timer)};
}

std::int64_t whole(const CsvRow& row, std::string_view column) {
  if (!row.find(column)) return 0;
  const double found = row.number(column);
  constexpr double most = 1e15;  // exact as a number with 53 bits
  if (found != std::floor(found) || found > most) row.fail(column, "a whole number");
  return static_cast<std::int64_t>(found);
}
double number_or_0(const CsvRow& row, std::string_view column) { return row.find(column) ? row.number(column) : 0; }
std::string text_or(const CsvRow& row, std::string_view column, std::string_view otherwise) {
  return row.find(column) ? row.text(column) : std::string(otherwise);
}

// ---- Tailor's own columns -------------------------------------------------------------------------------------------

void read_own(const CsvRow& row, const Reading& to) {
  ir::ForeignKernel k;
  k.operation = row.text("operation");
  if (k.operation.empty()) row.fail("operation", "what the kernel computes, for example 'softmax f32'");
  k.shape = text_or(row, "shape", "");
  k.variant = text_or(row, "variant", "");
  k.blocks = whole(row, "blocks");
  k.threads = whole(row, "threads");
  k.registers = whole(row, "registers");
  k.shared = static_cast<std::int64_t>(row.quantity("shared").value_or(0));
  k.read = row.quantity("read").value_or(0);
  k.written = row.quantity("written").value_or(0);
  k.common = row.quantity("common").value_or(0);
  k.reread = row.quantity("reread").value_or(0);
  if (k.common > k.read)
    throw Error(Fault::failed, row.position(),
                fmt::format("found {} bytes that every block loads, expected no more than the {} that are read",
                            k.common, k.read),
                "common_bytes is a part of read_bytes");
  k.far_trips = number_or_0(row, "far_trips");
  k.near_trips = number_or_0(row, "near_trips");
  k.shuffles = number_or_0(row, "shuffles");
  k.barriers = number_or_0(row, "barriers");
  k.instructions = number_or_0(row, "instructions");
  k.transcendental = number_or_0(row, "transcendental");
  const std::optional<double> time = row.quantity("time");
  if (!time || !(*time > 0)) row.fail("time_us", "a time above 0: time_s, time_ms, time_us or time_ns");
  const ir::Regime regime = row.find("regime") ? with_position([&] { return row.position(); },
                                                               [&] { return ir::parse_regime(row.text("regime")); })
                                               : ir::Regime{};
  to.add(row, row.text("device"), regime, *time, row.quantity("low").value_or(*time),
         row.quantity("high").value_or(*time), "", std::move(k));
}

/// As read_own() reads them; quantities have their unit behind them.
constexpr std::array<std::string_view, 14> own_columns = {
    "device",    "operation", "shape",      "variant",  "regime",   "blocks",       "threads",
    "registers", "far_trips", "near_trips", "shuffles", "barriers", "instructions", "transcendental"};
struct OwnQuantity {
  std::string_view name;
  UnitOf unit;
};
constexpr auto own_quantities = std::to_array<OwnQuantity>({
    {"time", UnitOf::time},
    {"low", UnitOf::time},
    {"high", UnitOf::time},
    {"shared", UnitOf::bytes},
    {"read", UnitOf::bytes},
    {"written", UnitOf::bytes},
    {"common", UnitOf::bytes},
    {"reread", UnitOf::bytes},
});

/// All names that something is read from.
std::vector<std::string> own_names() {
  std::vector<std::string> all(own_columns.begin(), own_columns.end());
  for (const OwnQuantity& quantity : own_quantities)
    for (const std::string_view unit : units_of(quantity.unit))
      all.push_back(fmt::format("{}_{}", quantity.name, unit));
  return all;
}

/// The name that a column seems to be meant by; empty where it is like none. `names`: own_names().
std::string meant_by(std::string_view name, const std::vector<std::string>& names) {
  const std::string letters = letters_of(name);
  for (const std::string& one : names)
    if (letters_of(one) == letters) return one;
  if (const std::string_view near = nearest(name, own_columns); !near.empty()) return std::string(near);
  // Of a quantity the unit says little: 'cache_bytes' is not 'read_bytes'.
  const std::string_view stem = name.substr(0, name.rfind('_'));
  std::vector<std::string_view> stems;
  for (const OwnQuantity& quantity : own_quantities) stems.push_back(quantity.name);
  const std::string_view near = nearest(stem, stems);
  if (stem == name || near.empty()) return {};
  const auto quantity = std::find_if(own_quantities.begin(), own_quantities.end(),
                                     [&](const OwnQuantity& one) { return one.name == near; });
  const std::vector<std::string_view> known = units_of(quantity->unit);
  const std::string_view unit = nearest(name.substr(stem.size() + 1), known);
  return fmt::format("{}_{}", near, unit.empty() ? known.front() : unit);
}

/// A column with a name of its own is the reader's, and is passed over; one that is nearly a column that tells
/// something would leave that untold.
void refuse_misspelled(const CsvTable& table) {
  const std::vector<std::string> names = own_names();
  for (const std::string& column : table.head) {
    if (std::find(names.begin(), names.end(), column) != names.end()) continue;
    const std::string meant = meant_by(column, names);
    if (meant.empty() || std::find(table.head.begin(), table.head.end(), meant) != table.head.end()) continue;
    throw Error(Fault::failed, Position{table.file, 1, 0},
                fmt::format("found column '{}', which nothing is read from", column),
                fmt::format("did you mean '{}'? A column of your own needs a name less like it", meant));
  }
}

// ---- NeuSight: single calls of PyTorch ------------------------------------------------------------------------------

void read_neusight(const CsvRow& row, const Reading& to) {
  const auto size = [&](std::string_view column) {
    const double found = row.positive(column);
    if (found != std::floor(found) || found > 1e9) row.fail(column, "a whole number");
    return static_cast<std::int64_t>(found);
  };
  if (row.text("dtype") != "f32") row.fail("dtype", "f32: the kernels of other types are not described");
  const std::int64_t blocks = size("grid_x") * size("grid_y") * size("grid_z");
  const std::int64_t threads = size("block_x") * size("block_y") * size("block_z");
  auto kernel = pytorch_kernel(row.text("op"), size("rows"), size("cols"), blocks, threads);
  if (!kernel) row.fail("op", fmt::format("one of {}", fmt::join(pytorch_operations(), ", ")));
  const double seconds = row.positive("latency_us") * 1e-6;
  to.add(row, row.text("gpu"), regime_of(ir::CacheState::warm, ir::Timer::host), seconds, seconds, seconds, "",
         std::move(*kernel));
}

// ---- gpu-benches: bandwidths, hence times ---------------------------------------------------------------------------

void read_small_kernels(const CsvRow& row, const Reading& to) {
  const std::string& mode = row.text("mode");
  const bool graph = mode == "graph";
  if (!graph && mode != "stream") return;  // a grid barrier or an atomic one in one kernel: no launch
  const double volume = row.positive("volume_bytes");
  for (const int threads : {4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    const std::string column = fmt::format("gbs_block{}", threads);
    if (!row.find(column)) continue;
    const double rate = row.number(column) * 1e9;
    if (rate == 0) continue;
    ir::ForeignKernel k;
    k.operation = "scale f64";
    k.shape = row.text("elements");
    k.variant = fmt::format("block={}", threads);
    k.threads = threads;
    k.blocks = static_cast<std::int64_t>(std::ceil(row.positive("elements") / threads));
    k.read = k.written = volume / 2;
    k.far_trips = 1;
    // The table holds whole GB/s.
    constexpr double rounding = 0.5e9;
    to.add(row, row.text("gpu"),
           regime_of(ir::CacheState::warm, graph ? ir::Timer::graph : ir::Timer::stream,
                     graph ? ir::LaunchMode::graph : ir::LaunchMode::stream),
           volume / rate, volume / (rate + rounding), volume / std::max(rate - rounding, rate / 2), column,
           std::move(k));
  }
}

/// Streams over arrays far larger than any cache, one element a thread.
struct StreamRow {
  std::string_view column, operation;
  int reads, writes;
};
constexpr std::array streams = std::to_array<StreamRow>({
    {"init_gbs", "init f64", 0, 1},
    {"read_gbs", "read f64", 1, 0},
    {"scale_gbs", "scale f64", 1, 1},
    {"triad_gbs", "triad f64", 3, 1},
});

void read_stream_occupancy(const CsvRow& row, const Reading& to) {
  if (row.text("blocks_per_sm").empty() || row.text("block").empty()) return;  // older runs do not say the launch
  constexpr double array = 2147483648.0, element = 8;
  for (const StreamRow& stream : streams) {
    if (row.text(stream.column).empty()) continue;
    const bool three = stream.operation == "triad f64" && row.text("triad_streams") == "3";
    ir::ForeignKernel k;
    k.operation = stream.operation;
    k.shape = "2 GiB";
    k.variant = fmt::format("block={} blocks_per_sm={}", row.text("block"), row.text("blocks_per_sm"));
    k.threads = whole(row, "block");
    k.blocks = static_cast<std::int64_t>(array / element) / k.threads;
    k.read = array * (three ? 2 : stream.reads);
    k.written = array * stream.writes;
    k.far_trips = 1;
    // Shared memory keeps so many blocks on an SM; how much it is differs by GPU, so the launch says it as the most of
    // one block that still lets them in.
    for (const ir::Device& device : to.devices)
      if (device.name == device_called(to.devices, row.text("gpu")))
        k.shared = static_cast<std::int64_t>(device.shared_per_sm.value / row.positive("blocks_per_sm") -
                                             device.shared_reserved_per_block.value);
    const double seconds = (k.read + k.written) / (row.positive(stream.column) * 1e9);
    to.add(row, row.text("gpu"), regime_of(ir::CacheState::cold, ir::Timer::stream), seconds, seconds, seconds,
           stream.column, std::move(k));
  }
}

// ---- brute-forced tuning spaces -------------------------------------------------------------------------------------

double parameter(const CsvRow& row, std::string_view name) { return row.find(name) ? row.positive(name) : 1; }

void read_tuning_space(const CsvRow& row, const Reading& to) {
  const Json *kernel = to.facts.find("kernel"), *device = to.facts.find("device"),
             *size = to.facts.find("problem_size"), *parameters = to.facts.find("parameters");
  if (kernel == nullptr || kernel->string() == nullptr || device == nullptr || device->string() == nullptr ||
      size == nullptr || size->array() == nullptr || size->array()->size() < 2 || parameters == nullptr ||
      parameters->object() == nullptr)
    throw Error(Fault::failed, row.position(), "found a tuning space without its kernel, device and problem size",
                "the JSON file of the same name beside it has them");
  if (row.text("status") != "ok") return;
  const auto extent = [&](std::size_t i) { return (*size->array())[i].number().value_or(1); };
  ir::ForeignKernel k;
  k.operation = *kernel->string();
  k.shape = fmt::format("{}x{}", extent(0), extent(1));
  for (const Json::Member& one : *parameters->object())
    if (one.value.array() != nullptr && one.value.array()->size() > 1)
      k.variant += fmt::format("{}{}={}", k.variant.empty() ? "" : " ", one.key, row.text(one.key));
  const double width = parameter(row, "block_size_x") * parameter(row, "tile_size_x");
  const double height = parameter(row, "block_size_y") * parameter(row, "tile_size_y");
  k.threads = static_cast<std::int64_t>(parameter(row, "block_size_x") * parameter(row, "block_size_y"));
  k.blocks = static_cast<std::int64_t>(std::ceil(extent(0) / width) * std::ceil(extent(1) / height));
  const double outputs = extent(0) * extent(1);
  constexpr double element = 4;
  k.written = outputs * element;
  if (row.find("filter_width")) {  // a filter: each block reads its tile and what lies around it
    const double halo_x = row.positive("filter_width") - 1, halo_y = row.positive("filter_height") - 1;
    k.read = (extent(0) + halo_x) * (extent(1) + halo_y) * element;
    k.reread = std::max(0.0, static_cast<double>(k.blocks) * (width + halo_x) * (height + halo_y) * element - k.read);
    k.instructions = outputs * (halo_x + 1) * (halo_y + 1) * 2 / 32;
    if (number_or_0(row, "use_shmem") > 0)
      k.shared = static_cast<std::int64_t>((width + halo_x) * (height + halo_y) * element);
  }
  const double seconds = row.positive("time_ms") * 1e-3;
  const double spread = row.number("std_ms") * 1e-3;
  to.add(row, *device->string(), regime_of(ir::CacheState::warm, ir::Timer::stream), seconds,
         std::max(seconds - spread, seconds / 2), seconds + spread, "", std::move(k));
}

struct FormatRow {
  CsvFormat format;
  void (*read)(const CsvRow& row, const Reading& to);
};
constexpr std::array format_table = std::to_array<FormatRow>({
    {{"neusight", "gpu,op,dtype,rows,cols,grid_x,block_x,latency_us",
      "single calls of PyTorch from the host, as NeuSight publishes them"},
     read_neusight},
    {{"gpu-benches small kernels", "gpu,mode,elements,volume_bytes", "short launches in a stream and in a graph"},
     read_small_kernels},
    {{"gpu-benches stream", "gpu,block,blocks_per_sm,init_gbs,read_gbs,scale_gbs,triad_gbs,triad_streams",
      "streams of 2 GiB by occupancy"},
     read_stream_occupancy},
    {{"tuning space", "block_size_x,block_size_y,status,time_ms,std_ms",
      "every configuration of a kernel, with the JSON file beside it"},
     read_tuning_space},
    {{"tailor", "device,operation", "Tailor's own columns"}, read_own},
});

constexpr auto formats = [] {
  std::array<CsvFormat, format_table.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = format_table[i].format;
  return all;
}();

const FormatRow& format_of(const CsvTable& table) {
  for (const FormatRow& row : format_table) {
    const std::vector<std::string_view> needed = split(row.format.columns, ',');
    if (std::all_of(needed.begin(), needed.end(), [&](std::string_view column) {
          return std::find(table.head.begin(), table.head.end(), column) != table.head.end();
        }))
      return row;
  }
  throw Error(Fault::failed, Position{table.file, 1, 0},
              fmt::format("found columns of no known table: {}", fmt::join(table.head, ", ")),
              "a table of your own needs device, operation and time_us; docs/calibration.md lists all columns");
}

/// Letters and digits without the words that vendors put in front.
std::string plain_name(std::string_view name) {
  std::string letters = letters_of(name);
  for (const std::string_view word : {"nvidia", "tesla"})
    if (letters.starts_with(word)) letters.erase(0, word.size());
  return letters;
}

}  // namespace

std::string device_called(std::span<const ir::Device> devices, std::string_view name) {
  for (const ir::Device& device : devices)
    if (device.name == name) return device.name;
  for (const ir::Device& device : devices)
    for (const std::string_view reported : split(device.reported, ';'))
      if (!reported.empty() && trim(reported) == name) return device.name;
  for (const ir::Device& device : devices)
    if (plain_name(device.name) == plain_name(name)) return device.name;
  return std::string(name);
}

std::span<const CsvFormat> csv_formats() { return formats; }

bool is_csv(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, std::min<std::size_t>(text.size(), 65536)), '\n')) {
    const std::string_view said = trim(line);
    if (said.empty() || said.starts_with('#')) continue;
    return !said.starts_with("observation ") && !said.starts_with('{') && said.find(',') != said.npos;
  }
  return false;
}

std::vector<ir::Observation> parse_measurements(std::string_view text, const std::string& file, std::string_view facts,
                                                std::span<const ir::Device> devices, const std::stop_token& stop) {
  const CsvTable table = parse_csv(text, file, stop);
  const FormatRow& format = format_of(table);
  if (format.read == read_own) refuse_misspelled(table);
  const Json parsed = facts.empty() ? Json{} : parse_json(facts, file);
  std::vector<ir::Observation> out;
  const Reading reading{file, parsed, devices, out};
  for (const CsvTable::Row& row : table.rows) {
    stop_if_asked(stop);
    format.read(CsvRow(table, row), reading);
  }
  return out;
}

std::vector<ir::Observation> read_measurements(const std::filesystem::path& path, std::span<const ir::Device> devices,
                                               const std::stop_token& stop) {
  std::filesystem::path beside = path;
  beside.replace_extension(".json");
  const std::string facts = std::filesystem::is_regular_file(beside) ? read_file(beside) : std::string();
  return parse_measurements(read_unpacked(path.string()), path.string(), facts, devices, stop);
}

}  // namespace tailor::calibrate
