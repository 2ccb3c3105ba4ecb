// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Is the GPU that was found the one that a device file describes? A time measured on one GPU and stored under the name
// of another would poison every calibration made of it, so a mismatch is refused and never guessed away.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/device.h"
#include "profiler/gpu/request.h"

namespace tailor::profiler {

/// What differs, in words: "sms: the file says 132, the GPU has 114". Empty when the file fits.
std::vector<std::string> mismatches(const ir::Device& device, const gpu::GpuProperties& properties);

}  // namespace tailor::profiler
