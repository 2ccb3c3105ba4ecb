// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of a kernel's variables, buffers, arrays and values as they are printed. All of them share one scope in the
// printed text, while the kernel's own names may repeat and may be no identifiers: taken names are reserved first,
// then later comers are numbered.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/kernel/kernel.h"

namespace tailor::ir {

/// Hands out identifiers, each once.
class NameScope {
 public:
  explicit NameScope(std::span<const std::string_view> reserved);
  /// `wanted` as an identifier, numbered (x, x_1, x_2) when taken.
  std::string unique(std::string_view wanted);

 private:
  std::unordered_set<std::string> taken_;
};

struct KernelNames {
  std::vector<std::string> vars, buffers, arrays, lets;
  std::vector<std::string> named;  ///< by statement: the name that an index statement gives; empty for others
};

/// In this order: buffers, variables, arrays, index names, values.
KernelNames make_names(const Kernel& kernel, NameScope scope);

}  // namespace tailor::ir
