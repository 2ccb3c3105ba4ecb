// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A checked run: poison, run once, look at what the launches must not have touched, fetch the rest.
#pragma once

#include "gpu/ask.h"
#include "gpu/loaded.h"

namespace tailor::gpu {

/// Answers AskRun.
Answer run(Opened& gpu, LoadedSequence& loaded, const AskRun& ask);

/// The first guard zone that was written to, as an outcome. Waits.
Trouble inspect_guards(Opened& gpu, LoadedSequence& loaded);

}  // namespace tailor::gpu
