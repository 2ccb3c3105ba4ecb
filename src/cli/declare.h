// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How the options of each command are written on the command line: one overload per struct of commands.h. The pages of
// help are made from these words.
#pragma once

#include <cstdint>
#include <string>

#include "cli/commands.h"

namespace CLI {
class Option;
}

namespace tailor::cli {

void declare(CLI::App& app, ImportOptions& options);
void declare(CLI::App& app, FuseOptions& options);
void declare(CLI::App& app, ExploreOptions& options);
void declare(CLI::App& app, ExplainOptions& options);
void declare(CLI::App& app, EmitOptions& options);
void declare(CLI::App& app, CheckCommand& options);
void declare(CLI::App& app, ImportXlaOptions& options);
void declare(CLI::App& app, ProfileCommand& options);
void declare(CLI::App& app, MicrobenchCommand& options);
void declare(CLI::App& app, DevicesOptions& options);
void declare(CLI::App& app, CountersOptions& options);
void declare(CLI::App& app, ListOptions& options);
void declare(CLI::App& app, SweepCommand& options);
void declare(CLI::App& app, ReportCommand& options);
void declare(CLI::App& app, DbCommand& options);
void declare(CLI::App& app, DoctorOptions& options);

// Parts of several commands.

/// A count of which 0 means all.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::int64_t& into, const std::string& what);
void declare_gpu(CLI::App& app, GpuOptions& options);
void declare_group(CLI::App& app, GroupOptions& options);

inline constexpr const char* plan_words = "a plan's text, or its rank in tailor explore (default: the best)";
inline constexpr const char* nvrtc_words = "the NVRTC library to load (default: found, see tailor doctor)";

}  // namespace tailor::cli
