// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The few declarations of NVRTC's binary interface that Tailor uses, written from its documentation, so that no
// toolkit is needed to build. Used by nvrtc.h. A test compares them with the vendor's header where one is
// installed.
#pragma once

#include <cstddef>

namespace tailor::profiler::nvrtc_abi {

using Program = struct _nvrtcProgram*;

/// nvrtcResult. Only the values that Tailor tells apart are named; nvrtcGetErrorString has a name for each.
enum Result : int {
  success = 0,
  out_of_memory = 1,
  invalid_option = 5,
  compilation_failed = 6,
  internal_error = 11,
  cancelled = 16,
};

using ErrorString = const char* (*)(Result);

}  // namespace tailor::profiler::nvrtc_abi
