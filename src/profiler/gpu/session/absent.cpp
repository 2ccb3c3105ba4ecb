// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A GPU where the program was built without CUDA's headers: every request has the same
// response, outcome unavailable, with the reason and what to do. Takes the place of gpu.cpp in
// the build.
#include "profiler/gpu/session/gpu.h"

namespace tailor::gpu {

struct Gpu::Body {};

Gpu::Gpu(Clock) {}
Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;

Response Gpu::answer(const Request&, std::span<const std::byte>) {
  Response none;
  none.outcome = ir::Outcome::unavailable;
  none.reason = "this program was built without CUDA's headers";
  none.capabilities.push_back(
      {"GPU support", "missing", none.reason,
       "run tools/setup, which fetches them into .venv, or install a toolkit; then build again"});
  return none;
}

}  // namespace tailor::gpu
