// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Records as an answer to what would be measured: files of data/recorded, a file, or a database.
#pragma once

#include <string>

#include "cli/commands.h"
#include "ir/device.h"
#include "profiler/measure.h"

namespace tailor::cli {

/// `recorded` names a recorded file, a folder of them, or a database; empty: data/recorded. Throws Error(missing) when
/// there are no measurements of `device` at all.
profiler::Lookup recorded_lookup(const std::string& recorded, const Context& context, const ir::Device& device);

}  // namespace tailor::cli
