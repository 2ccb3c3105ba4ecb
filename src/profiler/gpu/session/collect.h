// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counters of a loaded sequence. In: a CountRequest with CUPTI's metric names. Out: a response with a value for
// each. Called by gpu.cpp; what cupti/count.h collects, over buffers and caches that are put back before every
// pass.
#pragma once

#include "profiler/gpu/request/request.h"
#include "profiler/gpu/session/loaded.h"

namespace tailor::gpu {

/// Serves a CountRequest.
Response collect(OpenedGpu& gpu, LoadedSequence& loaded, const CountRequest& request);

}  // namespace tailor::gpu
