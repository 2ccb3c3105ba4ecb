// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor profile --module: all memory-bound kernels of a model, in order, as one stream of launches and as one CUDA
// graph, for every strategy, timed in turns in one run on one GPU. Library calls are left out of all of them, so what
// differs between the rows is the fusion.
#pragma once

#include "cli/commands.h"
#include "cli/inputs.h"
#include "report/table.h"

namespace tailor::cli {

/// The same table from records, without a GPU and a compiler. Throws Error(missing) when there is no time of the model.
void replay_module(const ProfileCommand& options, const Context& context);

/// Of both tables; `baseline` is the strategy that others are compared with.
std::vector<report::Column> module_columns(const std::string& baseline);
/// The strategies that were named, or all.
std::vector<std::string> named_strategies(const std::string& words);

void profile_module(const ProfileCommand& options, const Context& context, const profiler::Nvrtc& api,
                    const InterruptWatch& interrupts);

}  // namespace tailor::cli
