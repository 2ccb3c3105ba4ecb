// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that nobody reads. In: a kernel. Out: the kernel without them. Called by codegen/lower at the end of each
// kernel, because it does not know ahead who will read what: numbers of 16 bits are widened when they are made, and
// readers who take them as they are leave what was widened to nobody.
#pragma once

#include "ir/kernel/kernel.h"

namespace tailor::ir {

/// Takes the statements away that name a value which no statement that stays reads, of `kernel` alone and not of its
/// followers. Loads stay, whoever reads what they bring. Names and values stay in their pools.
void drop_unread_lets(Kernel& kernel);

}  // namespace tailor::ir
