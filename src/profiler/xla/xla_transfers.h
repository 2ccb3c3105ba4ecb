// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of XLA's launch list: which bytes they move. In: a launch that is one, the optimised module and the
// buffer assignment. Out: a step with its places, or with the reason why they are not known, which costs no other step.
// Called by xla_dump.cpp.
#pragma once

#include "profiler/xla/xla_buffer_assignment.h"
#include "profiler/xla/xla_schedule.h"

namespace tailor::profiler {

/// Whether XLA has the driver copy within the GPU's memory, or fill it. Copies from and to the host are neither.
bool is_transfer(const XlaLaunch& launch);

/// Precondition: is_transfer.
XlaStep transfer_step(const hlo::HloModule& module, const XlaSchedule& schedule, const XlaBufferAssignment& assignment,
                      const XlaLaunch& launch);

}  // namespace tailor::profiler
