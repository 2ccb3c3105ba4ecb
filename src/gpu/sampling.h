// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Taking times of a loaded sequence: samples in batches, each sample with its cache state, its clock readings and its
// timestamps, all queued before anything is waited for.
#pragma once

#include "gpu/ask.h"
#include "gpu/loaded.h"

namespace tailor::gpu {

/// Answers AskTime.
Answer take_times(Opened& gpu, LoadedSequence& loaded, const AskTime& ask);

}  // namespace tailor::gpu
