// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA C++ to PTX through NVRTC, which is loaded at run time where this machine has it. Comes in: the text of a
// kernel; goes out: its PTX, the compiler's complaint, or nothing when there is no compiler. Used by the tests that
// look at the instructions of printed kernels.
#pragma once

#include <optional>
#include <string>

/// The PTX for an architecture; "error: ..." with the compiler's log when it refuses; nothing when there is no compiler
/// here.
std::optional<std::string> ptx_of(const std::string& source, const std::string& arch = "compute_90");
