// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work from a description. A kernel of others comes in as launch, bytes, round trips and instructions; the counts that
// a model reads go out. Called for each observation once, before models are asked about it many times.
//
// The kernel is taken to have one array that it reads and one that it writes, accessed in vectors of 16 bytes by whole
// warps. What it loads again it loads as the same threads of the same block did before, so caches decide how far those
// loads go. Instructions are spread evenly over the blocks.
#include "calibrate/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

namespace tailor::calibrate {

namespace {

constexpr double sector = 32, access = 16, lanes = 32;
/// Registers of a kernel about which nothing is said: what streams need.
constexpr int usual_registers = 24;

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

/// No request spans two blocks, so that more blocks of a kind never make fewer requests each.
costmodel::Traffic traffic(double bytes, double blocks) {
  return {whole(std::ceil(bytes / blocks / (access * lanes)) * blocks), whole(std::ceil(bytes / sector)), whole(bytes)};
}

}  // namespace

costmodel::Work foreign_work(const ir::ForeignKernel& k) {
  costmodel::Work work;
  work.threads = static_cast<int>(k.threads);
  work.virtual_blocks = work.grid = k.blocks;
  work.shared_bytes = k.shared;
  const double blocks = static_cast<double>(std::max<std::int64_t>(1, k.blocks)), own = k.read - k.common;
  costmodel::BufferWork read, common, written;
  read.load = traffic(own + k.reread, blocks);
  read.reload_sectors = whole(k.reread / sector);
  read.read_bytes = whole(own);
  read.read_sectors = whole(std::ceil(own / sector));
  read.block_sectors = whole(std::ceil(own / blocks / sector));
  common.load = traffic(k.common * blocks, blocks);
  common.read_bytes = whole(k.common);
  common.read_sectors = common.block_sectors = whole(std::ceil(k.common / sector));
  written.store = traffic(k.written, blocks);
  written.written_bytes = whole(k.written);
  written.written_sectors = whole(std::ceil(k.written / sector));
  work.buffers = {read, written, common};
  const double warps = std::ceil(static_cast<double>(k.threads) / lanes) * static_cast<double>(k.blocks);
  work.pipes.memory = read.load.requests + common.load.requests + written.store.requests;
  work.pipes.xu = whole(k.transcendental / lanes);
  work.pipes.shuffle = work.shuffles = whole(k.shuffles * warps);
  work.pipes.barrier = work.barriers = whole(k.barriers * warps);
  // Which pipes they go to is not known: all of them take issue slots.
  work.pipes.control = std::max<std::int64_t>(0, whole(k.instructions) - work.pipes.xu);
  work.busiest_block = costmodel::instructions(work.pipes) / std::max<std::int64_t>(1, k.blocks);
  work.live_registers = k.registers > 0 ? static_cast<int>(k.registers) : usual_registers;
  work.critical_path.far = std::max(k.far_trips, k.read > 0 && k.far_trips == 0 ? 1.0 : 0.0);
  work.critical_path.memory = work.critical_path.far + k.near_trips;
  work.critical_path.xu = k.transcendental / std::max(1.0, static_cast<double>(k.threads) * blocks);
  work.critical_path.shuffle = k.shuffles;
  work.critical_path.barrier = k.barriers;
  const double threads = static_cast<double>(k.threads) * static_cast<double>(k.blocks);
  const double trips = std::max(1.0, work.critical_path.memory);
  work.bytes_in_flight = (k.read + k.reread + k.written) / threads / trips;
  work.loads_in_flight = std::max<std::int64_t>(1, whole((k.read + k.reread) / threads / trips / access));
  return work;
}

costmodel::GroupWork foreign_group(const ir::ForeignKernel& kernel) {
  costmodel::GroupWork group;
  group.bytes_read = kernel.read;
  group.bytes_written = kernel.written;
  return group;
}

Sample foreign_sample(const ir::Observation& observation) {
  const auto& kernel = std::get<ir::ForeignKernel>(observation.subject);
  if (kernel.blocks <= 0 || kernel.threads <= 0 || kernel.read + kernel.written <= 0)
    throw Error(Fault::failed,
                fmt::format("observation {}: the kernel '{}' has no {}, so no model can say its time",
                            short_hex(observation.id), kernel.operation,
                            kernel.blocks <= 0 || kernel.threads <= 0 ? "launch shape" : "bytes read or written"),
                "blocks, threads, read_bytes and written_bytes describe a kernel (docs/calibration.md)");
  Sample sample;
  sample.of = observation;
  sample.work = foreign_work(kernel);
  sample.group = foreign_group(kernel);
  sample.operation = kernel.operation;
  sample.bytes = kernel.read + kernel.written;
  return sample;
}

namespace {

/// What two samples have in common that are of one kernel. Of a kernel of others its launch and traffic belong to it: a
/// table need not name shapes.
std::string kernel_of(const Sample& sample) {
  const std::string where = sample.of.device + " " + text(sample.of.regime) + " ";
  if (const auto* own = std::get_if<ir::OwnKernel>(&sample.of.subject)) return where + hex(own->group) + hex(own->plan);
  const auto& k = std::get<ir::ForeignKernel>(sample.of.subject);
  return where + fmt::format("{} on {} as {}, {} of {}, {} to {}", k.operation, k.shape, k.variant, k.blocks, k.threads,
                             k.read, k.written);
}

}  // namespace

void refuse_contradictions(std::span<const Sample> samples) {
  std::map<std::string, const Sample*> seen;
  for (const Sample& sample : samples) {
    const auto [first, fresh] = seen.try_emplace(kernel_of(sample), &sample);
    if (fresh) continue;
    const double ratio = first->second->of.time.value / sample.of.time.value;
    constexpr double most = 10;
    if (ratio > most || ratio < 1 / most)
      throw Error(Fault::failed,
                  fmt::format("two observations of one kernel contradict each other: {} ({}) and {} ({})",
                              humane_seconds(first->second->of.time.value), first->second->of.source,
                              humane_seconds(sample.of.time.value), sample.of.source),
                  "is one of them in another unit?");
  }
}

Machine::Machine(const ir::Device& device, const ir::Calibration& calibration)
    : all_(costmodel::calibrated(device, calibration)) {
  for (const ir::Fit& fit : calibration.fits)
    if (!fit.operation.empty() && !by_operation_.contains(fit.operation))
      by_operation_.emplace(fit.operation, costmodel::calibrated(device, calibration, fit.operation));
}

const costmodel::CalibratedDevice& Machine::of(const std::string& operation) const {
  const auto at = by_operation_.find(operation);
  return at == by_operation_.end() ? all_ : at->second;
}

ir::Estimate estimate(const costmodel::Model& model, const Sample& sample, const costmodel::CalibratedDevice& device) {
  costmodel::ModelInputs inputs;
  inputs.group = &sample.group;
  inputs.work = &sample.work;
  inputs.device = &device;
  inputs.regime = sample.of.regime;
  return model.estimate(inputs);
}

}  // namespace tailor::calibrate
