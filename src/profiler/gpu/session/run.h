// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A checked run: poison outputs, run once, look at what the launches must not have touched, fetch the rest. In: a
// loaded sequence and a seed. Out: a response with the contents of its buffers, or what was written outside of them.
// Called by gpu.cpp for a RunRequest.
#pragma once

#include "profiler/gpu/request/request.h"
#include "profiler/gpu/session/loaded.h"

namespace tailor::gpu {

/// Serves a RunRequest.
Response run(OpenedGpu& gpu, LoadedSequence& loaded, const RunRequest& request);

/// The first guard zone that was written to, as an outcome. Waits.
CudaStatus inspect_guards(OpenedGpu& gpu, LoadedSequence& loaded);

}  // namespace tailor::gpu
