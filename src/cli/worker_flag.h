// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The word with which the program starts itself as a worker (profiler/measure/worker.h). Not a command: it is in no
// help.
#pragma once

#include <string_view>

namespace tailor::cli {

inline constexpr std::string_view worker_flag = "--worker";

}  // namespace tailor::cli
