// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel as CUDA C++ that a person would sign: a head comment with the plan, the few functions it needs, a device
// function of one virtual block and a thin __global__ wrapper around it. One statement of the kernel is one statement
// of the text. The printer decides names and spelling, nothing else: what is fast was decided by the lowering.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel/kernel.h"
#include "ir/plan.h"

namespace tailor::codegen {

struct Options {
  bool head_comment = true;
  /// Plain C++ in place of PTX in the functions in front of the kernel. For reading and for running on the host; never
  /// for measuring, since accesses are then not pinned.
  bool portable = false;
};

/// The whole translation unit; its entry is an extern "C" function called kernel.name whose arguments are the buffers
/// in order, and so there is one for each kernel that follows. Needs no header. Dynamic shared memory, when
/// kernel.dynamic_shared, is kernel.shared_bytes at launch. Precondition: verify(kernel) passes. Throws
/// std::logic_error for what CUDA cannot say: an atomic without hardware support, an operation without CUDA text.
std::string cuda(const ir::Kernel& kernel, const ir::Plan* plan = nullptr, const Options& options = {});
/// With the plan's text at hand; empty: none.
std::string cuda(const ir::Kernel& kernel, std::string_view plan, const Options& options = {});

/// The entries of a text that cuda() made, in order: more than one where it is a program of several launches. A text
/// that is kept somewhere says so by itself.
std::vector<std::string> entries_in(std::string_view cuda);

}  // namespace tailor::codegen
