// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan in the head comment of a printed kernel. In: a kernel, its plan or none. Out: the whole text, with the
// plan's own text wrapped by the printer. It stands apart from cuda.cpp, so that the printer itself needs no plan. And
// the way back from a text: which entries it has.
// Called by study's print stage and by tests.
#include "codegen/cuda/cuda.h"

namespace tailor::codegen {

std::string cuda(const ir::Kernel& kernel, const ir::Plan* plan, const Options& options) {
  return cuda(kernel, std::string_view(plan == nullptr ? std::string() : ir::text(*plan)), options);
}

std::vector<std::string> entries_in(std::string_view cuda) {
  constexpr std::string_view opening = "extern \"C\" __global__ ", type = " void ";
  std::vector<std::string> names;
  for (std::size_t at = cuda.find(opening); at != cuda.npos; at = cuda.find(opening, at + 1)) {
    const std::size_t name = cuda.find(type, at) + type.size(), end = cuda.find('(', name);
    if (end != cuda.npos) names.emplace_back(cuda.substr(name, end - name));
  }
  return names;
}

}  // namespace tailor::codegen
