// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan in the head comment of a printed kernel. In: a kernel, its plan or none. Out: the whole text, with the
// plan's own text wrapped by the printer. It stands apart from cuda.cpp, so that the printer itself needs no plan.
// Called by study's print stage and by tests.
#include "codegen/cuda/cuda.h"

namespace tailor::codegen {

std::string cuda(const ir::Kernel& kernel, const ir::Plan* plan, const Options& options) {
  return cuda(kernel, std::string_view(plan == nullptr ? std::string() : ir::text(*plan)), options);
}

}  // namespace tailor::codegen
