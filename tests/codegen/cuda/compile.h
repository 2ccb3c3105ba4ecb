// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA C++ to PTX through NVRTC when it is on this machine, loaded at run time.
#pragma once

#include <optional>
#include <string>

/// The PTX for sm_90; "error: ..." with the compiler's log when it refuses; nothing when there is no compiler here.
std::optional<std::string> ptx_of(const std::string& source);
