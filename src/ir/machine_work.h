// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// MachineWork: what the machine code of a kernel holds and what one launch of it executes, by pipe and by operation.
// Filled by profiler/compile from a cubin; read by level `compiled` of the cost model and by the tables of explain and
// emit. Instructions are warp instructions: predicated off or not, each takes an issue slot.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/chain.h"

namespace tailor::ir {

enum class MachinePipe : std::uint8_t {
#define TAILOR_MACHINE_PIPE(name, words) name,
#include "ir/machine_pipes.def"
};
inline constexpr std::size_t machine_pipe_count = 0
#define TAILOR_MACHINE_PIPE(name, words) +1
#include "ir/machine_pipes.def"
    ;
using PipeCounts = std::array<std::int64_t, machine_pipe_count>;  ///< indexed by MachinePipe

std::string_view name(MachinePipe pipe);
std::string_view words(MachinePipe pipe);

/// An operation of the machine, as the vendor's disassembler names it without its modifiers.
struct MachineOperation {
  std::string name;  ///< "FFMA"; "0x1f3" for one that the table does not have
  MachinePipe pipe = MachinePipe::other;
  std::int64_t instructions = 0;  ///< in the code, without the filling of its last line
  std::int64_t executed = 0;      ///< by all warps of a launch; 0 where `counted` is false
  bool operator==(const MachineOperation&) const = default;
};

/// Memory instructions and what meets other lanes, executed with at least one lane switched on.
struct MachineRequests {
  std::int64_t global_loads = 0, global_stores = 0, global_atomics = 0;
  std::int64_t shared_loads = 0, shared_stores = 0;
  std::int64_t shuffles = 0, barriers = 0;
  bool operator==(const MachineRequests&) const = default;
  MachineRequests& operator+=(const MachineRequests& other);
};
MachineRequests operator*(const MachineRequests& requests, std::int64_t times);
/// The kinds of requests, by name.
struct RequestKind {
  std::string_view name;
  std::int64_t MachineRequests::*count = nullptr;
};
std::span<const RequestKind> request_kinds();

/// Where branches go is found by executing what they depend on, for some warps of the launch or for all of them.
struct MachineWork {
  std::string arch;                          ///< of the code: "sm_90"
  std::vector<MachineOperation> operations;  ///< most instructions first, then by name
  PipeCounts instructions{};                 ///< in the code
  PipeCounts executed{};                     ///< by all warps of a launch
  MachineRequests requests;                  ///< by all warps of a launch
  std::int64_t busiest_block = 0;            ///< instructions that the warps of one block execute, at most
  bool counted = false;                      ///< `executed`, `requests` and `busiest_block` are there
  std::int64_t warps_run = 0;                ///< of those of a launch, some both ways, to find the counts
  std::int64_t warps_total = 0;
  std::int64_t assumed = 0;  ///< branches in the code whose way depends on data: what was assumed is in `note`
  std::string note;          ///< why `counted` is false, or what was assumed
  std::vector<MachineWork> followers;  ///< of the kernels behind this one in its program, in order
  bool operator==(const MachineWork&) const = default;
};

/// That of each kernel, in the order of their launches.
inline Chain<MachineWork> works_of(const MachineWork& work) { return {work, work.followers}; }
Chain<MachineWork> works_of(MachineWork&&) = delete;

/// For tables: what all launches hold and execute together, without followers. It is counted where all of them are.
MachineWork together(const MachineWork& program);

std::int64_t total(const PipeCounts& counts);

}  // namespace tailor::ir
