// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The frame of every exported call: script first, then what must be true before (library initialised, a context
// current, no error that stays), then the body under the lock. Used by every *_calls.cpp. A body that has to wait gives
// `not_yet` and is called again, with the lock free in between.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <chrono>
#include <string_view>
#include <thread>

#include "fake_gpu/state.h"

namespace tailor::fake {

/// nothing: may come first. init: cuInit came before. context: also a current context, and no error that stays.
enum class Needs { nothing, init, context };

inline constexpr auto not_yet = static_cast<CUresult>(1022);  ///< no error of the driver has that number

/// What the script and the state say before a driver call's body; CUDA_SUCCESS to go on.
CUresult before_call(std::string_view name, Needs needs);
/// Of CUPTI and NVML: the script's error, 0 to go on.
int before_other_call(std::string_view name);
/// For what a body throws.
void tell(std::string_view name, std::string_view what);

template <class Body>
CUresult driver_call(std::string_view name, Needs needs, Body&& body) {
  if (const CUresult error = before_call(name, needs); error != CUDA_SUCCESS) return error;
  for (;;) {
    {
      const std::lock_guard lock(guard());
      State& gpu = state();
      CUresult result = CUDA_ERROR_UNKNOWN;
      try {
        result = body(gpu);
      } catch (const std::exception& thrown) {
        tell(name, thrown.what());
      }
      if (result != not_yet) return result;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

template <class Body>
CUptiResult cupti_call(std::string_view name, Body&& body) {
  if (const int error = before_other_call(name); error != 0) return static_cast<CUptiResult>(error);
  const std::lock_guard lock(guard());
  try {
    return body(state());
  } catch (const std::exception& thrown) {
    tell(name, thrown.what());
    return CUPTI_ERROR_UNKNOWN;
  }
}

template <class Body>
int nvml_call(std::string_view name, Body&& body) {
  if (const int error = before_other_call(name); error != 0) return error;
  const std::lock_guard lock(guard());
  return body(state());
}

}  // namespace tailor::fake
