// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What must hold of every parsed PTX module, whatever its text: every index lies where the contract says it does and
// every name views the module's own text. Comes in: a parsed module; goes out: what is broken, or nothing. Called by
// the tests of the PTX reader and by its fuzz target.
#pragma once

#include <string>

#include "profiler/simulator/ptx/ptx.h"

/// Empty, or one sentence on the first thing that does not hold.
std::string broken_invariant(const tailor::simulator::PtxModule& module);
