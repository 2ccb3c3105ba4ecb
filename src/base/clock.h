// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The time that passes, as a function that is handed in. In: nothing. Out: seconds of some clock that never goes back.
// Whoever decides something by how long ago another thing was takes a Clock, so that a test can say how late it is.
// Called by the console's progress line and by the sessions on a GPU.
#pragma once

#include <functional>

#include "base/units.h"

namespace tailor {

using Clock = std::function<Seconds()>;
/// Of the machine, from an arbitrary moment on.
Clock steady_clock();

}  // namespace tailor
