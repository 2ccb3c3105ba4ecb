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
#include <string_view>
#include <vector>

#include "ir/device.h"
#include "profiler/measure/measure.h"
#include "store/recorded.h"

namespace tailor::study {

/// Records that hold measurements of `device`; `data` is the folder with recorded/; arguments and errors as below.
std::shared_ptr<const std::vector<store::Recorded>> recorded_files(const std::string& recorded,
                                                                   const std::filesystem::path& data,
                                                                   const ir::Device& device);

/// The first record's answer, or one of outcome not_recorded whose reason is of all records together: under which
/// protocols one of them has the kernel, or how many other kernels they have. Where a kernel `named` so was measured,
/// the reason says that the program behind the name is another one today.
ir::Measurement ask(const std::vector<store::Recorded>& records, Id kernel, const ir::Protocol& protocol,
                    std::string_view named = {});

/// `recorded` names a recorded file, a folder of them, or a database; empty: data/recorded. Throws Error(missing) when
/// there are no measurements of `device` at all.
profiler::Lookup recorded_lookup(const std::string& recorded, const std::filesystem::path& data,
                                 const ir::Device& device);

}  // namespace tailor::study
