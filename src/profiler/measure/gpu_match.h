// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Is the GPU that was found the one that a device file describes? In: what the driver says of it, and a Device. Out:
// empty, or one sentence for each figure that differs. A time measured on one GPU and stored under the name of another
// would spoil every calibration made of it, so a mismatch is refused and never guessed away.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/device.h"
#include "profiler/gpu/request/request.h"

namespace tailor::profiler {

/// What differs, in words: "sms: the file says 132, the GPU has 114". Empty when the file fits.
std::vector<std::string> mismatches(const ir::Device& device, const gpu::GpuProperties& properties);

}  // namespace tailor::profiler
