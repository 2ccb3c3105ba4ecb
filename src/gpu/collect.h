// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counters of a loaded sequence: what count.h collects, over buffers and caches that are put back before every pass.
#pragma once

#include "gpu/ask.h"
#include "gpu/loaded.h"

namespace tailor::gpu {

/// Answers AskCount.
Answer collect(Opened& gpu, LoadedSequence& loaded, const AskCount& ask);

}  // namespace tailor::gpu
