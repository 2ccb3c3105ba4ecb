// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The time of what runs outside groups: matrix products, convolutions, custom calls. A library call takes at least the
// time its operands and results need at the specified bandwidth; what its arithmetic needs is not modelled, because
// which pipes a library uses (tensor cores, at which precision) cannot be seen in the graph. Study stores it for every
// call.
#include "costmodel/model.h"
#include "costmodel/parts.h"

namespace tailor::costmodel {

ir::Estimate library(const LibraryWork& work, const CalibratedDevice& device, const ir::Regime& regime) {
  ir::Estimate estimate;
  estimate.level = ir::Level::sol;
  part(estimate, ir::Part::launch) = launch_gap(device, regime);
  part(estimate, ir::Part::dram) = {work.bytes / device.dram_bandwidth};
  const Seconds body = part(estimate, ir::Part::dram);
  estimate.bottleneck = body < part(estimate, ir::Part::launch) ? ir::Part::launch : ir::Part::dram;
  close(estimate, with_floor(body + part(estimate, ir::Part::launch), device, regime), device.sol_low, device.sol_high);
  return estimate;
}

}  // namespace tailor::costmodel
