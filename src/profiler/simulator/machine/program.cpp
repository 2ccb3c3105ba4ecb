// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Program: the front door's handle on a decoded entry. In: a parsed module, one of its entries, and which instruction
// set of the host to use. Out: a program that launches share. Decoding itself is decode/decode.h; this file joins it
// with the machine's steps, which the decoder knows only as a table of pointers.
#include "base/error.h"
#include "profiler/simulator/decode/decode.h"
#include "profiler/simulator/machine/launch.h"
#include "profiler/simulator/machine/steps.h"

namespace tailor::simulator {

const MachineSteps machine_steps{address_steps, warp_steps, async_steps, matrix_steps, &find_atomic_step};

Program::Program(const PtxModule& module, const PtxFunction& entry, std::string_view instruction_set) {
  const LaneTable* lanes = lane_table(instruction_set);
  if (lanes == nullptr)
    throw Error(Fault::usage, "this machine has no instruction set '" + std::string(instruction_set) + "'");
  decoded_ = std::make_unique<const DecodedProgram>(decode(module, entry, *lanes, machine_steps));
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const std::string& Program::unsupported() const { return decoded_->unsupported; }
std::int64_t Program::static_shared() const { return decoded_->static_shared; }
bool Program::blocks_may_talk() const { return decoded_->orders_memory; }
std::int64_t Program::instructions() const { return static_cast<std::int64_t>(decoded_->sites.size()); }

}  // namespace tailor::simulator
