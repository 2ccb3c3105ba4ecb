// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counters of a loaded sequence: what count.h collects, over buffers and caches that are put back before every pass.
#pragma once

#include "profiler/gpu/loaded.h"
#include "profiler/gpu/request.h"

namespace tailor::gpu {

/// Serves a CountRequest.
Response collect(OpenedGpu& gpu, LoadedSequence& loaded, const CountRequest& request);

}  // namespace tailor::gpu
