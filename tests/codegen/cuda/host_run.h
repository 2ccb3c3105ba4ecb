// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Printed kernels on the host: texts are gathered, given to the host compiler as one file each some dozens, loaded and
// run. This checks what printing adds to a kernel: expressions, constants, conversions, guards, names and wrappers.
// Comes in: kernels with inputs and expected outputs; goes out: a line for each that went wrong. Called by
// host_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"
#include "reference/evaluate.h"

namespace tailor::ir {

/// A kernel to run and what must come out.
struct HostCase {
  std::string label;
  Kernel kernel;
  std::vector<reference::Tensor> inputs;
  std::vector<reference::Tensor> expected;
};

/// Compiles and runs all cases; one line for each that went wrong, or the compiler's words.
std::vector<std::string> host_failures(std::vector<HostCase> cases);

/// Random inputs for the group's parameters and the evaluator's outputs.
void fill_expected(const Graph& graph, HostCase& which);

}  // namespace tailor::ir
