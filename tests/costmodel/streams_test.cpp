// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory model against curves that others measured on GPUs: bandwidth against resident threads (write, read, scale,
// triad) and short passes in a stream and in a graph. In: tables of RRZE gpu-benches below the folder that the build
// option third_party_data names, our device files and the shipped calibration. Out: one line per curve with the median
// and the mean of |predicted / measured - 1|, held to a bound. The figures of the memory model were fitted to the
// first of these tables, so for it this says that the form of the model holds them, not that it predicts.
// Skipped without the folder. Part of the suite `costmodel`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "costmodel/model.h"
#include "support/paths.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

constexpr std::int64_t element = 8;  // the kernels move doubles, one a thread, without a loop
const std::string files = source_folder() + "/data";

/// One of the measured GPUs: the device file of its processor, and what differs on the board.
struct Board {
  std::string_view gpu, device;
  double sms, clock, dram_bandwidth;
};
constexpr Board boards[] = {
    {"V100", "v100", 80, 1.38e9, 898e9},    {"A100-80GB", "a100_80gb", 108, 1.41e9, 2039e9},
    {"GH200", "h200", 132, 1.98e9, 4022e9}, {"L40", "rtx4090", 142, 2.49e9, 864e9},
    {"H200", "h200", 132, 1.98e9, 4.8e12},
};

CalibratedDevice device_of(const Board& board) {
  CalibratedDevice d = calibrated(ir::find_device(board.device, files + "/devices"),
                                  ir::find_calibration("uncalibrated", files + "/calibrations"));
  d.sms = board.sms;
  d.clock = board.clock;
  d.dram_bandwidth = board.dram_bandwidth;
  d.limits.sms = static_cast<int>(board.sms);
  if (std::string_view(board.gpu) == "GH200") {
    // The H200's own microbenchmarks say how much of its memory they get; of this board's its sweep does.
    d.dram_read_efficiency = 0.984;
    d.dram_write_efficiency = 0.982;
    d.lone_share = d.first_wave = 0;
    d.dram_efficiency = 0.93;  // what copies showed on an H100 and an H200: two blocks on an SM do not saturate
  }
  return d;
}

/// `blocks` of `threads` that read `loads` arrays and write `stores`; at most `per_sm` blocks on an SM, 0: any number.
Work stream(int threads, std::int64_t blocks, int loads, int stores, int per_sm, const CalibratedDevice& d) {
  Work w;
  w.threads = threads;
  w.virtual_blocks = w.grid = blocks;
  if (per_sm > 0) w.shared_bytes = d.limits.shared_per_sm / per_sm - d.limits.shared_reserved_per_block - (per_sm == 1);
  if (per_sm == 1) w.shared_bytes = d.limits.shared_per_sm / 2 + d.limits.shared_unit;
  const std::int64_t bytes = blocks * threads * element;
  for (int i = 0; i < loads + stores; ++i) {
    BufferWork buffer;
    const std::int64_t sectors = bytes / sector_bytes;
    if (i < loads) {
      buffer.load.sectors = buffer.read_sectors = sectors;
      buffer.read_bytes = bytes;
      buffer.block_sectors = threads * element / sector_bytes;
    } else {
      buffer.store.sectors = buffer.written_sectors = sectors;
      buffer.written_bytes = bytes;
    }
    w.buffers.push_back(buffer);
  }
  if (loads > 0) w.critical_path.memory = w.critical_path.far = 1;
  w.critical_path.further = std::max(0, loads - 1);
  return w;
}

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& name) {
  const std::string path = third_party_folder() + "/measurements/gpu_benches/" + name;
  if (third_party_folder().empty() || !std::filesystem::exists(path)) return {};
  std::vector<Row> rows;
  const std::string text = read_file(path);
  std::vector<std::string_view> names;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (names.empty()) {
      names = cells;
      continue;
    }
    if (cells.size() != names.size()) continue;
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[std::string(names[i])] = std::string(cells[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Errors {
  std::vector<double> all;
  double median() {
    std::sort(all.begin(), all.end());
    return all.empty() ? 1 : all[all.size() / 2];
  }
  double mean() const {
    double sum = 0;
    for (const double one : all) sum += one;
    return all.empty() ? 1 : sum / static_cast<double>(all.size());
  }
};

}  // namespace

TEST_CASE("bandwidth against resident threads is as measured, for writes, reads and mixtures") {
  const std::vector<Row> rows = rows_of("stream_occupancy.csv");
  if (rows.empty()) return skip("no folder of measurements");
  ir::Regime bare;
  bare.includes = {};
  struct Kernel {
    std::string column;
    int loads, stores;
  };
  const Kernel kernels[] = {{"init_gbs", 0, 1}, {"read_gbs", 1, 0}, {"scale_gbs", 1, 1}, {"triad_gbs", 3, 1}};
  for (const Board& board : boards) {
    const CalibratedDevice d = device_of(board);
    Errors of_board;
    for (const Kernel& kernel : kernels) {
      Errors of_curve;
      for (const Row& row : rows) {
        if (row.at("gpu") != board.gpu) continue;
        const int threads = std::stoi(row.at("block"));
        if (threads % 32 != 0) continue;
        const int per_sm = std::stoi(row.at("blocks_per_sm"));
        const std::int64_t blocks = (std::int64_t{1} << 28) / threads;
        const Work w = stream(threads, blocks, kernel.loads, kernel.stores, per_sm, d);
        const double bytes = static_cast<double>(blocks * threads * element * (kernel.loads + kernel.stores));
        const double predicted = bytes / projected(w, d, bare).total.value;
        of_curve.all.push_back(std::abs(predicted / (1e9 * std::stod(row.at(kernel.column))) - 1));
        of_board.all.push_back(of_curve.all.back());
      }
      if (of_curve.all.empty()) continue;
      fmt::print("# {} {}: median {:.1f} %, mean {:.1f} % of {} points\n", board.gpu, kernel.column,
                 100 * of_curve.median(), 100 * of_curve.mean(), of_curve.all.size());
      CAPTURE(board.gpu);
      CAPTURE(kernel.column);
      CHECK(of_curve.median() < 0.05);
    }
    if (!of_board.all.empty()) {
      fmt::print("# {}: median {:.1f} %, mean {:.1f} %\n", board.gpu, 100 * of_board.median(), 100 * of_board.mean());
      CHECK(of_board.median() < 0.025);
    }
  }
}

TEST_CASE("short passes take what was measured in a stream and in a graph") {
  const std::vector<Row> rows = rows_of("small_kernels.csv");
  if (rows.empty()) return skip("no folder of measurements");
  for (const Board& board : boards)
    for (const bool in_graph : {false, true}) {
      const CalibratedDevice d = device_of(board);
      ir::Regime regime;
      regime.cache = ir::CacheState::warm;  // one array becomes the other, and both stay in L2
      if (in_graph) {
        regime.timer = ir::Timer::graph;
        regime.launch = ir::LaunchMode::graph;
      }
      Errors errors;
      for (const Row& row : rows) {
        if (row.at("gpu") != board.gpu || row.at("mode") != (in_graph ? "graph" : "stream")) continue;
        if (std::stod(row.at("volume_bytes")) > 4e6) continue;
        const std::int64_t elements = std::stoll(row.at("elements"));
        for (const int threads : {64, 128, 256, 512, 1024}) {
          const std::string cell = row.at(fmt::format("gbs_block{}", threads));
          if (cell.empty()) continue;
          const Work w = stream(threads, (elements + threads - 1) / threads, 1, 1, 0, d);
          const double measured = std::stod(row.at("volume_bytes")) / (1e9 * std::stod(cell));
          errors.all.push_back(std::abs(projected(w, d, regime).total.value / measured - 1));
        }
      }
      if (errors.all.empty()) continue;
      fmt::print("# {} {}: median {:.1f} %, mean {:.1f} % of {} passes up to 4 MB\n", board.gpu,
                 in_graph ? "graph" : "stream", 100 * errors.median(), 100 * errors.mean(), errors.all.size());
      CAPTURE(board.gpu);
      CHECK(errors.median() < 0.11);
    }
}
