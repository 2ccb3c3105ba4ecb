// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Taking times of a loaded sequence: samples in batches, each sample with its cache state, its clock readings and its
// timestamps, all queued before anything is waited for.
#pragma once

#include "profiler/gpu/loaded.h"
#include "profiler/gpu/request.h"

namespace tailor::gpu {

/// Serves a TimeRequest.
Response take_times(OpenedGpu& gpu, LoadedSequence& loaded, const TimeRequest& request);

}  // namespace tailor::gpu
