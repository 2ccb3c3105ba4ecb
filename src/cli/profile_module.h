// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor profile --module: all memory-bound kernels of a model, in order, as one stream of launches and as one CUDA
// graph, for every strategy, timed in turns in one run on one GPU. Library calls are left out of all of them, so what
// differs between the rows is the fusion.
#pragma once

#include "cli/commands.h"
#include "cli/inputs.h"

namespace tailor::cli {

void profile_module(const ProfileCommand& options, const Context& context, const profiler::Nvrtc& api,
                    const InterruptWatch& interrupts);

}  // namespace tailor::cli
