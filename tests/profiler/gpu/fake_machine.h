// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A machine with a fake GPU for one test, gone with it, so that what one test makes go wrong no other test sees; and
// sequences to run on it. Comes in: a configuration as fake_gpu/config.h reads it; goes out: the paths of the
// libraries to open. Used by the suites `gpu`, `profiler` and `study`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/gpu/request/request.h"
#include "support/fake_gpu.h"

namespace tailor::tests {

class FakeMachine {
 public:
  /// See fake_gpu() in support/fake_gpu.h.
  explicit FakeMachine(std::string_view configuration = "{}", const std::vector<std::string>& without = {});
  ~FakeMachine();
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;
  gpu::LibraryPaths library_paths() const;
  std::vector<std::string> calls() const { return gpu_.calls(); }

 private:
  FakeGpu gpu_;
};

/// The configuration that makes the nth call of a function fail.
std::string failing(std::string_view call, int error, int nth = 1);

/// PTX with the kernels twice(in, out, n), plus_one(both, n), poke(at, offset), trapping(), wild(), crooked(at),
/// much_shared(out), each over u32.
gpu::Image test_image();

/// out = 2 * in over `n` numbers 0, 1, 2, ... (buffers "in" and "out").
gpu::Sequence doubling(std::uint32_t n);
std::vector<std::byte> counting(std::uint32_t n);

gpu::Argument of_buffer(int buffer, std::int64_t offset = 0);
template <class Value>
gpu::Argument of_value(Value value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  return {-1, 0, {first, first + sizeof value}};
}
gpu::Launch launch_of(std::string entry, std::vector<gpu::Argument> arguments, std::uint32_t blocks = 1,
                      std::uint32_t threads = 1);

}  // namespace tailor::tests
