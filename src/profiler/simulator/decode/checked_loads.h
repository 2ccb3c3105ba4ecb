// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plain loads that cannot go wrong because a compare-and-swap checks what they read. In: the flat list of instructions
// of an entry. Out: which of them are such loads. Called by decode.cpp, which treats them as relaxed ones; the method
// is told in checked_loads.cpp.
#pragma once

#include <vector>

#include "profiler/simulator/decode/flatten.h"

namespace tailor::simulator {

/// By flat index; empty when there is none.
std::vector<bool> checked_loads(const Flat& flat);

}  // namespace tailor::simulator
