// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine code of a kernel as tables: instructions by pipe, beside those that the cost model counted in the
// program, and by operation. In: what was read and executed of the code, the program's work. Out: tables of
// report/table.h, and a sentence. Called by tailor explain and tailor emit.
#pragma once

#include <string>

#include "costmodel/work.h"
#include "ir/machine_work.h"
#include "report/table.h"

namespace tailor::study {

/// A row for each pipe that one of both uses.
report::Table machine_pipe_table(const ir::MachineWork& machine, const costmodel::Work& work);
/// A row for each operation, most instructions first.
report::Table machine_operation_table(const ir::MachineWork& machine);
/// Where the counts of a launch come from, or why there are none.
std::string machine_words(const ir::MachineWork& machine);

}  // namespace tailor::study
