// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A checked run: poison, run once, look at what the launches must not have touched, fetch the rest.
#pragma once

#include "profiler/gpu/loaded.h"
#include "profiler/gpu/request.h"

namespace tailor::gpu {

/// Serves a RunRequest.
Response run(OpenedGpu& gpu, LoadedSequence& loaded, const RunRequest& request);

/// The first guard zone that was written to, as an outcome. Waits.
CudaStatus inspect_guards(OpenedGpu& gpu, LoadedSequence& loaded);

}  // namespace tailor::gpu
