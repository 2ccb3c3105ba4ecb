// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names in CUDA texts. In: a text, or nothing. Out: the words in it that are names; the entries that it has; the names
// that a kernel's own must avoid, which are those of C++ and CUDA and of all that may stand in a printed text. Called
// by the printer and its prelude, and by study's stage that compiles, for texts out of a database too.
#include <array>
#include <cctype>
#include <set>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/prelude.h"

namespace tailor::codegen {

namespace {

constexpr auto language_names = std::to_array<std::string_view>({
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "memcpy",
    "float2",
    "float4",
    "int2",
    "int4",
    "dim3",
    "n_vblocks",
    "offset",
    "entry_0",
    "entry_1",
    "entry_2",
    "shared_memory",
});

}  // namespace

std::set<std::string_view> identifiers(std::string_view text) {
  std::set<std::string_view> found;
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && in_name(text[end])) ++end;
    if (end > at) found.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

std::vector<std::string_view> reserved_names() {
  std::set<std::string_view> names(language_names.begin(), language_names.end());
  for (const PreludeRow& row : prelude_table()) names.insert(row.name);
  for (const ir::OpRow& row : ir::op_table)
    for (const std::string_view pattern : {row.real, row.integer}) names.merge(identifiers(pattern));
  for (const ir::ArithmeticRow& row : ir::arithmetic_table) names.merge(identifiers(row.real));
  return {names.begin(), names.end()};
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
