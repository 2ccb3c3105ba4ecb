// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Taking times of a loaded sequence. In: a TimeRequest: how many samples, in which cache state, by which timer, as a
// stream or a graph. Out: a response with the samples, each with the clock it ran at. Called by gpu.cpp. The method is
// told in sampling.cpp.
#pragma once

#include "profiler/gpu/request/request.h"
#include "profiler/gpu/session/loaded.h"

namespace tailor::gpu {

/// Serves a TimeRequest.
Response take_times(OpenedGpu& gpu, LoadedSequence& loaded, const TimeRequest& request);

}  // namespace tailor::gpu
