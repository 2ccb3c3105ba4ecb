// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests of the profiler share: the compiler that was found on this machine (the case is skipped without one),
// CUDA texts whose registers, shared memory, stack or spills are known, and a folder that goes away with the test.
// Used by the suites `profiler`, `simulator` and `study`.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "profiler/compile/nvrtc.h"
#include "support/paths.h"
#include "support/skip.h"

namespace kernels {

/// The machine's NVRTC; marks the test case as skipped when there is none.
inline const tailor::profiler::Nvrtc* nvrtc_or_skip() {
  static const tailor::profiler::FoundNvrtc found =
      tailor::profiler::find_nvrtc(tailor::profiler::default_nvrtc_paths({tailor::source_folder() + "/.venv"}));
  if (!found) skip(found.reason);
  return found.api.get();
}

/// b[i] = scale * a[i].
inline std::string scaled(int scale) {
  return fmt::format(
      "extern \"C\" __global__ void scaled(const float* a, float* b, int n) {{\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) b[i] = {}.0f * a[i];\n"
      "}}\n",
      scale);
}

/// Reverses a block of 256 through 1024 bytes of shared memory.
inline const std::string reversed = R"(
extern "C" __global__ void reversed(const float* a, float* b) {
  __shared__ float tile[256];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = tile[255 - threadIdx.x];
})";

/// An array indexed at run time: 400 bytes of stack.
inline const std::string stacked = R"(
extern "C" __global__ void stacked(const float* a, float* b, int n) {
  float v[100];
  for (int i = 0; i < 100; i++) v[i] = a[threadIdx.x * 100 + i];
  float sum = 0;
  for (int i = 0; i < 100; i++) sum += v[(i * n) % 100];
  b[threadIdx.x] = sum;
})";

/// 128 values that live across a barrier under a cap of 32 registers: they spill.
inline const std::string spilled = R"(
extern "C" __global__ void __maxnreg__(32) spilled(const float* a, float* b) {
  float v[128];
#pragma unroll
  for (int i = 0; i < 128; i++) v[i] = a[threadIdx.x + i * 1024];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 128; i++) b[threadIdx.x + i * 1024] = v[i] * v[(i + 64) % 128];
})";

/// A fresh folder, removed at the end.
struct OwnFolder {
  std::filesystem::path path;
  explicit OwnFolder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / fmt::format("tailor-{}-{}", name, ::getpid())) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~OwnFolder() {
    std::error_code none;
    std::filesystem::remove_all(path, none);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
};

}  // namespace kernels
