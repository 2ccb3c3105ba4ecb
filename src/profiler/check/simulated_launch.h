// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From the records of a launch in `ir` to the simulator's, which knows `base` only. The executor of our kernels and
// the check of XLA's both come through here; nobody else spells out what a role means to the simulator. In: a launch
// shape and roles of buffers. Out: the simulator's launch without arguments, which the caller adds.
#pragma once

#include "ir/kernel/launch.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::profiler {

/// A workspace and a ticket are the same to the simulator: zero at first. That a ticket is zero afterwards is for the
/// caller to look at.
constexpr simulator::BufferUse buffer_use(ir::BufferRole role) {
  switch (role) {
    case ir::BufferRole::input:
      return simulator::BufferUse::input;
    case ir::BufferRole::output:
      return simulator::BufferUse::output;
    case ir::BufferRole::in_place:
      return simulator::BufferUse::both;
    case ir::BufferRole::workspace:
    case ir::BufferRole::ticket:
      break;
  }
  return simulator::BufferUse::scratch;
}

/// Without arguments. Static shared memory and the wanted blocks per SM are in the PTX.
inline simulator::Launch simulated_launch(const ir::LaunchShape& shape) {
  simulator::Launch launch;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.cluster = shape.cluster;
  launch.dynamic_shared = shape.dynamic_shared;
  launch.cooperative = shape.cooperative;
  return launch;
}

}  // namespace tailor::profiler
