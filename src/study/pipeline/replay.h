// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Records as an answer to what would be measured: files of data/recorded, a file, or a database. In: where to look.
// Out: what a measurer asks. Called by make_measurer and by the commands that replay. An answer is always of the
// device that was named, never of another.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ir/device.h"
#include "profiler/measure/measure.h"
#include "store/recorded.h"

namespace tailor::study {

/// Records that hold measurements of `device`; `data` is the folder with recorded/; arguments and errors as below.
std::shared_ptr<const std::vector<store::Recorded>> recorded_files(const std::string& recorded,
                                                                   const std::filesystem::path& data,
                                                                   const ir::Device& device);

/// `recorded` names a recorded file, a folder of them, or a database; empty: data/recorded. Throws Error(missing) when
/// there are no measurements of `device` at all.
profiler::Lookup recorded_lookup(const std::string& recorded, const std::filesystem::path& data,
                                 const ir::Device& device);

}  // namespace tailor::study
