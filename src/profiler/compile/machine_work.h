// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's machine code holds, and what a launch of it executes. In: a compiled kernel and the extents of its
// launch. Out: ir::MachineWork. Called by the stages that compile candidates, and by the commands that show machine
// code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/binary.h"
#include "ir/kernel/launch.h"
#include "ir/machine_work.h"

namespace tailor::profiler {

/// The instructions of one kernel's code by operation and pipe; nothing is executed. Throws Error(failed) for an
/// architecture before sm_70 and for half an instruction.
ir::MachineWork machine_contents(std::span<const std::byte> code, int arch);

/// What is known of a launch beside its code.
struct MachineLaunch {
  ir::LaunchShape shape;
  const ir::MachineRequests* expected = nullptr;  ///< by the program the code was made from; nullptr: not known
  bool every_warp = false;                        ///< run all warps, and not those that stand for others
  bool every_trip = false;                        ///< execute all trips of loops, those like the one before included
};

/// What a launch of the code executes. Of a large grid some blocks are run; the others are taken to be like those
/// between which they lie, as long as the requests come out as expected. Throws as machine_contents does.
ir::MachineWork machine_work(std::span<const std::byte> code, int arch, const MachineLaunch& launch);
/// The same for the first kernel of a binary that compiled, or for another entry of it, without followers. Code that is
/// not read, because of its architecture, gives a record without contents whose `note` says so. Throws Error(failed)
/// for a cubin that is damaged.
ir::MachineWork machine_work(const ir::Binary& binary, const MachineLaunch& launch);
ir::MachineWork machine_work(const ir::Binary& binary, const ir::CompiledEntry& entry, const MachineLaunch& launch);

}  // namespace tailor::profiler
