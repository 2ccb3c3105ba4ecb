// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel of XLA's too large to be run and evaluated as a whole, judged by a sample of its blocks. It takes the way of
// our own kernels (profiler/check): inputs repeat, the reference is that of the rows that are made, memory is made
// where the blocks touch it, and what they wrote is compared. Called by xla_check.cpp. A kernel whose blocks say
// nothing one by one has that as its reason.
#pragma once

#include "profiler/xla/xla_check.h"

namespace tailor::profiler {

/// `options.sample_blocks` blocks of the kernel. Throws what decoding and evaluating throw; Error(interrupted) when
/// asked to stop.
XlaCheck check_sample(const XlaModule& module, const XlaKernel& kernel, const XlaCheckOptions& options);

}  // namespace tailor::profiler
