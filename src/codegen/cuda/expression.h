// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values, references and constants as CUDA C++ expressions. In: a kernel's values and the names of what they refer to.
// Out: text that means the same on the host, where tests run it. Called by the printer for every statement that
// computes, and by access.cpp for addresses.
#pragma once

#include <span>
#include <string>

#include "ir/kernel/index_text.h"
#include "ir/kernel/kernel.h"
#include "ir/kernel/kernel_names.h"
#include "ir/kernel/roundings.h"

namespace tailor::codegen {

/// What an expression is printed with: the names of the kernel and the index names visible at this place.
struct Spelling {
  const ir::Kernel& kernel;
  const ir::KernelNames& names;
  const ir::IndexSpelling& indices;
  const ir::Roundings& roundings;
};

/// An index expression, in 64 bits where its range asks for it.
std::string index_text(const Spelling& spelling, ir::ExprId expr);
/// The (first) element a reference names: "x_row[t].v[e]".
std::string ref_text(const Spelling& spelling, const ir::Ref& ref);
std::string value_text(const Spelling& spelling, ir::ValueId value);
/// A guard's condition inside the unrolled loops `turns`, in parentheses where others stand beside it. It names the
/// turns in which it holds in any case: the compiler knows the turn of a copy, and not what parts of a thread's index
/// are at most.
std::string condition_text(const Spelling& spelling, const ir::Condition& condition, std::span<const ir::VarId> turns,
                           bool has_others);
/// The statement of an exchange. What is narrower than a register travels as an integer.
std::string exchange_text(const Spelling& spelling, const ir::Stmt& exchange);
/// Exact: shortest decimal that reads back as the same number; infinities and NaN by their bits.
std::string constant_text(ir::DType dtype, double real, std::int64_t integer);
/// A whole right-hand side or argument: the parentheses around an operation fall away.
std::string bare(const std::string& full);
/// The operation's row, of that class where it is computed in f32, with operands filled in. Throws std::logic_error
/// when the row has no CUDA text.
std::string operation_text(ir::Op op, ir::DType dtype, ir::Arithmetic arithmetic, const std::string& a,
                           const std::string& b = {}, const std::string& c = {});

}  // namespace tailor::codegen
