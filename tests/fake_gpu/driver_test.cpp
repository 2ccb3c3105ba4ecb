// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake driver against what NVIDIA's documentation says a driver does.
#include <doctest/doctest.h>

#include "fake_gpu/fake_kernels.h"
#include "fake_gpu/fake_library.h"

namespace tailor::fake {

TEST_CASE("the fake adds vectors") {
  FakeLibrary gpu;
  const std::vector<float> a = {1, 2, 3, 4, 5}, b = {10, 20, 30, 40, 50};
  CUdeviceptr at_a = gpu.floats(a), at_b = gpu.floats(b), out = gpu.floats(std::vector<float>(5, -1));
  unsigned n = 5;
  CHECK(gpu.launch(gpu.entry(kernels, "add"), 2, 32, {&at_a, &at_b, &out, &n}) == CUDA_SUCCESS);
  CHECK(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(gpu.floats(out, 5) == std::vector<float>{11, 22, 33, 44, 55});
}

}  // namespace tailor::fake
