// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How the options of each command are written on the command line: one overload per struct of commands.h. The pages of
// help are made from these words. In: an empty list of options and a struct to fill. Out: the list that options.cpp
// parses a command line by.
#pragma once

#include "cli/commands.h"
#include "cli/options.h"

namespace tailor::cli {

void declare(OptionList& list, ImportOptions& options);
void declare(OptionList& list, FuseOptions& options);
void declare(OptionList& list, EvaluateCommand& options);
void declare(OptionList& list, ExploreOptions& options);
void declare(OptionList& list, ExplainOptions& options);
void declare(OptionList& list, EmitOptions& options);
void declare(OptionList& list, RunCommand& options);
void declare(OptionList& list, CheckCommand& options);
void declare(OptionList& list, ImportXlaOptions& options);
void declare(OptionList& list, ProfileCommand& options);
void declare(OptionList& list, MicrobenchCommand& options);
void declare(OptionList& list, CalibrateCommand& options);
void declare(OptionList& list, ValidateCommand& options);
void declare(OptionList& list, ReplayCommand& options);
void declare(OptionList& list, DevicesOptions& options);
void declare(OptionList& list, CountersOptions& options);
void declare(OptionList& list, ListOptions& options);
void declare(OptionList& list, SweepCommand& options);
void declare(OptionList& list, ReportCommand& options);
void declare(OptionList& list, DbCommand& options);
void declare(OptionList& list, DoctorOptions& options);

// Parts of several commands.

void declare_gpu(OptionList& list, GpuOptions& options);
void declare_compiler(OptionList& list, CompilerOptions& options);
void declare_group(OptionList& list, GroupOptions& options);

inline constexpr const char* plan_words = "a plan's text, its rank in tailor explore, or xla (default: the best)";
inline constexpr const char* inputs_words =
    "what parameters hold: NAME=FILE.npy or a folder of them (default: drawn by --seed)";
inline constexpr const char* nvrtc_words = "the NVRTC library to load (default: found, see tailor doctor)";

}  // namespace tailor::cli
