// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CudaStatus: what came of a call to the driver, as a value. It holds the outcome of the measurement, one sentence
// naming the call and CUDA's error, and whether the context is gone with it. In: a CUresult. Out: ok(), or what went
// wrong. Every function of gpu/ that calls the driver returns one. One table says which error is which outcome; it is
// the only place that knows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/measurement.h"
#include "profiler/gpu/driver/driver.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// One CUDA error. Errors without a row are Outcome::crashed and lose the context.
struct ErrorRow {
  CUresult error = CUDA_SUCCESS;
  ir::Outcome outcome = ir::Outcome::crashed;
  bool context_lost = false;  ///< "sticky": every later call of this process fails alike
};
std::span<const ErrorRow> error_table();

struct [[nodiscard]] CudaStatus {
  ir::Outcome outcome = ir::Outcome::ok;
  std::string reason;
  bool context_lost = false;
  bool ok() const { return outcome == ir::Outcome::ok; }
};

/// Nothing for success; else "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY, out of memory".
CudaStatus to_status(const Driver& driver, CUresult result, std::string_view call);
Response to_response(const CudaStatus& status);

}  // namespace tailor::gpu
