// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a launch needs before it runs. In: a program, a launch and the caller's memory. Out: whether a driver would take
// it, its parameters and module variables in memory, and the slots that are the same for all its blocks. Called by
// simulate.cpp, and by the fake GPU, which refuses what a driver refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/simulator/machine/aligned_bytes.h"
#include "profiler/simulator/machine/machine.h"

namespace tailor::simulator {

inline std::int64_t volume(const Extent3& e) { return std::int64_t{e[0]} * e[1] * e[2]; }

/// Why a driver would refuse the launch; empty: it would not.
std::string refusal(const DecodedProgram& program, const Launch& launch, const Memory& memory, const Extent3& cluster,
                    const SimulationOptions& options);

/// The parameter block and the module's variables as buffers that come after the caller's; removed at the end.
class LaunchMemory {
 public:
  LaunchMemory(const DecodedProgram& program, const Launch& launch, Memory& memory);
  ~LaunchMemory();
  LaunchMemory(const LaunchMemory&) = delete;
  LaunchMemory& operator=(const LaunchMemory&) = delete;

  const std::vector<std::byte>& params() const { return params_; }
  std::uint64_t address(std::uint32_t variable) const { return addresses_[variable]; }
  std::uint64_t grid_workspace() const { return grid_workspace_; }

 private:
  void relocate(const DecodedProgram& program, std::size_t k);

  Memory& memory_;
  int first_;
  std::vector<std::byte> params_;
  std::vector<std::uint64_t> addresses_;
  std::uint64_t grid_workspace_ = 0;  ///< of a cooperative launch whose program asks for it; else 0
};

/// Constants of the launch, and tid and its kin for each warp of a block.
AlignedBytes make_launch_bank(const LaunchState& state, const LaunchMemory& launch_memory);
AlignedBytes make_thread_bank(const LaunchState& state);

}  // namespace tailor::simulator
