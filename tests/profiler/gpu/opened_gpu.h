// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a test of a session begins with.
// Comes in: a machine. Goes out: its first GPU, opened to run kernels; a test that cannot have it ends there. Used by
// the tests of this room.
#pragma once

#include <doctest/doctest.h>

#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/session/gpu.h"

namespace tailor::tests {

inline gpu::Gpu opened(const FakeMachine& machine) {
  gpu::Gpu gpu;
  const gpu::Response response = gpu.answer(gpu::OpenRequest{machine.library_paths(), 0});
  REQUIRE_MESSAGE(response.outcome == ir::Outcome::ok, response.reason);
  return gpu;
}

}  // namespace tailor::tests
