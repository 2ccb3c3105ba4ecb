// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan in the head comment of a printed kernel. In: a plan. Out: its text, to be wrapped by the printer, which is
// the only caller.
#include "codegen/cuda/cuda.h"

namespace tailor::codegen {

std::string cuda(const ir::Kernel& kernel, const ir::Plan* plan, const Options& options) {
  return cuda(kernel, std::string_view(plan == nullptr ? std::string() : ir::text(*plan)), options);
}

}  // namespace tailor::codegen
