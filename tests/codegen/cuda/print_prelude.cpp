// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the part of the prelude that needs no CUDA, for a host compiler to include, and the forms without PTX of the
// types of 8 bits. The build runs it once and gives its output to prelude_test.cpp as prelude_mirror.h, so that the
// test compiles the very text that stands in printed kernels.
#include <cstdio>

#include "codegen/cuda/prelude.h"

namespace {

using tailor::codegen::PreludeRow;

void print(std::string_view text) { std::printf("%.*s\n", static_cast<int>(text.size()), text.data()); }

/// What the rows of the types of 8 bits call.
bool is_called(const PreludeRow& row) { return row.name == "float_of" && row.only_with == "f16"; }

}  // namespace

int main() {
  const std::size_t narrow = tailor::codegen::narrow_float_rows().size();
  const std::vector<PreludeRow>& all = tailor::codegen::prelude_table();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_narrow = i >= all.size() - narrow;
    if (all[i].plain || is_narrow || is_called(all[i])) print(all[i].portable.empty() ? all[i].text : all[i].portable);
  }
}
