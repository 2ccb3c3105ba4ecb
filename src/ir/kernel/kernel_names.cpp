// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handing out names. In: a kernel whose names may repeat and need not be identifiers. Out: a name for each variable,
// buffer, array and value, all different. Called by the two printers. Buffers come first because they are the kernel's
// interface; index names are short because they stand in every address.
#include "ir/kernel/kernel_names.h"

#include <fmt/format.h>

#include <cctype>

namespace tailor::ir {

namespace {

/// Letters, digits and single underscores, starting with a letter: no reserved form of C++ can arise.
std::string identifier(std::string_view wanted) {
  std::string out;
  for (const char c : wanted) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) return fmt::format("v{}", out);
  return out;
}

}  // namespace

NameScope::NameScope(std::span<const std::string_view> reserved) {
  for (const std::string_view name : reserved) taken_.emplace(name);
}

std::string NameScope::unique(std::string_view wanted) {
  const std::string base = identifier(wanted);
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

KernelNames make_names(const Kernel& kernel, NameScope scope) {
  KernelNames names;
  for (const Buffer& buffer : kernel.buffers) names.buffers.push_back(scope.unique(buffer.name));
  for (const Var& var : kernel.indices.vars) names.vars.push_back(scope.unique(var.name));
  for (const Array& array : kernel.arrays) names.arrays.push_back(scope.unique(array.name));
  for (const Stmt& stmt : kernel.body)
    names.named.push_back(stmt.kind == StmtKind::index ? scope.unique("i") : std::string());
  for (const Let& let : kernel.lets) names.lets.push_back(scope.unique(let.name));
  return names;
}

}  // namespace tailor::ir
