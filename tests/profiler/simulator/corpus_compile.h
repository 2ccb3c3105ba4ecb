// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel of the corpus through NVRTC: its PTX with line numbers, parsed. Each text is compiled once per process.
#pragma once

#include <string_view>

#include "profiler/compile/nvrtc.h"
#include "profiler/simulator/corpus.h"

namespace corpus {

/// The module of a kernel with one bug planted (none: empty name). Throws Error with the compiler's log.
const tailor::simulator::PtxModule& compiled(const tailor::profiler::Nvrtc& api, const CorpusKernel& kernel,
                                             std::string_view planted);

}  // namespace corpus
