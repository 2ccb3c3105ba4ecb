// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the part of the prelude that needs no CUDA, for a host compiler to include. The build runs it once and gives
// its output to prelude_test.cpp as prelude_mirror.h, so that the test compiles the very text that stands in printed
// kernels.
#include <cstdio>

#include "codegen/cuda/prelude.h"

int main() {
  for (const tailor::codegen::PreludeRow& row : tailor::codegen::prelude_table())
    if (row.plain) std::printf("%.*s\n", static_cast<int>(row.text.size()), row.text.data());
}
