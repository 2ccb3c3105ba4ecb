// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep file with nothing left out. In: a SweepConfig, and which of its keys the file and the command line gave. Out:
// a sweep file that has every key, with paths in full, and says of each where its value is from. Called by tailor sweep
// --show-effective.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "study/sweep/config.h"

namespace tailor::study {

/// The keys that a sweep file gives, as config_keys() has them; those of a grid too.
std::vector<std::string> given_keys(const std::filesystem::path& file);
/// The file as it is taken, for people and to be run again from any folder: every key, null where nothing is asked,
/// paths in full, and under "$from" who said so: "file", "grid", "command line", "default". `given` and `changed` are
/// keys of the file and of the command line.
std::string effective_text(const SweepConfig& config, const std::vector<std::string>& given,
                           const std::vector<std::string>& changed);
}  // namespace tailor::study
