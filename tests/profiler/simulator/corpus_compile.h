// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel of the corpus through NVRTC: comes in, a kernel and the name of a bug to plant in it; goes out, its PTX
// with line numbers, parsed. Each text is compiled once per process. Used by the tests of the corpus, which are
// skipped without NVRTC.
#pragma once

#include <string_view>

#include "profiler/compile/nvrtc.h"
#include "profiler/simulator/corpus.h"

namespace corpus {

/// The module of a kernel with one bug planted (none: empty name). Throws Error with the compiler's log.
const tailor::simulator::PtxModule& compiled(const tailor::profiler::Nvrtc& api, const CorpusKernel& kernel,
                                             std::string_view planted);

}  // namespace corpus
