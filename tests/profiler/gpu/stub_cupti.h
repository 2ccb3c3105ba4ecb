// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A Range Profiler that is not there: functions that keep a log, hold the order of calls to what the real one demands,
// and fail at the call a test picks. One at a time, because CUPTI's functions carry no state of a caller. Used by
// count_test.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiler/gpu/cupti/cupti_api.h"

struct StubCupti {
  StubCupti();
  StubCupti(const StubCupti&) = delete;
  StubCupti& operator=(const StubCupti&) = delete;
  ~StubCupti();

  tailor::gpu::Cupti api;
  std::vector<std::string> log;  ///< names of functions without "cupti", and what callbacks add
  int fail_at = -1;              ///< the call with this number in the log fails
  CUptiResult failure = CUPTI_ERROR_UNKNOWN;
  std::size_t passes = 3;  ///< planned
  std::size_t needed = 3;  ///< submitted before all are
  std::size_t dropped = 0, ranges = 1;
  CUpti_Profiler_DeviceSupported_Params support = {};  ///< levels to answer

  std::map<std::string, int> open;  ///< what was begun and not ended: "profiler", "host", "range profiler", ...
  std::vector<std::string> wrong;   ///< calls in an order that CUPTI forbids
  std::size_t submitted = 0;
  bool decoded = false;

  bool all_ended() const;
};
