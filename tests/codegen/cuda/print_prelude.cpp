// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the plain part of the prelude, for a host compiler to include.
#include <cstdio>

#include "codegen/cuda/prelude.h"

int main() {
  for (const tailor::codegen::PreludeRow& row : tailor::codegen::prelude_table())
    if (row.plain) std::printf("%.*s\n", static_cast<int>(row.text.size()), row.text.data());
}
