// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is worth saying about a kernel beside its statements: which values are reduced and in which order, where the
// results begin, who owns what. Found in the program itself, so the comments cannot say what the code does not do.
// Called by the printer (cuda.cpp).
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel/kernel.h"
#include "ir/kernel/kernel_names.h"

namespace tailor::codegen {

/// An array that statements accumulate into.
struct Reduction {
  ir::ArrayId array = ir::no_id;
  ir::Op op = ir::Op::add;
};

struct Remarks {
  std::vector<Reduction> reductions;                              ///< in order of their declarations
  std::size_t results = std::numeric_limits<std::size_t>::max();  ///< the outermost statement after the last reduction
  std::vector<bool> used;                                         ///< by let: some value reads it
};

Remarks remarks_on(const ir::Kernel& kernel);

/// "sum", "maximum", "product".
std::string_view reduction_word(ir::Op op);

/// `indent` spaces and "// " before each line of at most 120 columns, broken at spaces; later lines are indented
/// more. A longer word has a line of its own. Backslashes and control characters are replaced: none of them may end a
/// comment or carry it on.
std::string comment(std::string_view words, std::size_t indent = 0);

/// Comment lines: the threads of a block, the phases, and each buffer with the elements of its widest access.
/// `of_several`: the kernel is one of a program, so buffers that it leaves alone are left out, and workspaces are
/// named.
std::string in_words(const ir::Kernel& kernel, const ir::KernelNames& names, bool of_several = false);

/// The comment above one kernel of a program: its name, which launch or body it is, what it reads and writes, what a
/// launch of it needs. Above the first one also the plan, and what a caller owes the buffers.
std::string head(const ir::Kernel& program, const ir::Kernel& kernel, const ir::KernelNames& names,
                 std::string_view plan);

}  // namespace tailor::codegen
