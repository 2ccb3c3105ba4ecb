// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of index expressions in 64 bits, compiled once for all who ask for them.
// In and out as index_columns.h says, where the method is.
// Called by exact counting and by the interpreter of tests.
#include "ir/kernel/index_columns.h"

namespace tailor::ir {

template class IndexColumnsOf<std::int64_t>;

}  // namespace tailor::ir
