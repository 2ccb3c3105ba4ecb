// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The corpus: CUDA kernels with known results, each with bugs that can be planted in it. A file of corpus/ opens with
// lines that say all a launch needs:
//
//   // launch: grid=4 block=128 shared=512 cluster=2 cooperative limit=100000
//   // machine: sms=2 blocks_per_sm=2        what bounds resident blocks; without the line nothing does
//   // arch: sm_90                           without the line sm_80
//   // buffer: x f32[512] input random       parameters in order; fills: random, zero, iota, below:64
//   // value: i32 512
//   // plant: NAME kind|kind grid=8          a bug: kinds of finding that tell it, changes of the launch
//   // plant: NAME missed                    a bug that is known not to be found; the line above says why
//
// A file of several kernels has a line "// kernel: NAME" before each one's head; the text of each is its part of the
// file, at the same lines.
//
// The text is compiled with every plant's name defined as 0, or one of them as 1. Lines that the finding must name end
// in "// BUG NAME"; a plant without any has no single line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/simulator/machine/launch.h"

namespace corpus {

enum class ElementType : std::uint8_t { i8, u8, i32, u32, u64, f16, bf16, f32, f64 };

struct CorpusBuffer {
  std::string name;
  ElementType type = ElementType::f32;
  tailor::simulator::BufferUse use = tailor::simulator::BufferUse::input;
  std::vector<std::byte> bytes;

  int element_bytes() const;
  std::int64_t size() const { return static_cast<std::int64_t>(bytes.size()) / element_bytes(); }
  double operator[](std::int64_t i) const;
  /// Rounds to the type as the machine does.
  void set(std::int64_t i, double value);
  void add(std::int64_t i, double value) { set(i, (*this)[i] + value); }
};

/// A parameter: buffer number or bytes.
struct CorpusParameter {
  int buffer = -1;
  std::vector<std::byte> value;
};

struct CorpusLaunch {
  tailor::simulator::Launch launch;  ///< without arguments
  tailor::simulator::MachineLimits machine;
  std::int64_t limit = 1'000'000;  ///< instructions of a warp
};

struct CorpusPlant {
  std::string name;
  std::vector<tailor::simulator::FindingKind> kinds;  ///< none: known to be missed
  CorpusLaunch launch;
  std::vector<std::int64_t> lines;
};

struct CorpusKernel {
  std::string name;  ///< of the file
  std::string text;
  std::string arch = "sm_80";
  CorpusLaunch launch;
  std::vector<CorpusBuffer> buffers;  ///< filled
  std::vector<CorpusParameter> parameters;
  std::vector<CorpusPlant> plants;

  CorpusBuffer& at(std::string_view buffer);
  /// -D options; empty name: no bug.
  std::vector<std::string> defines(std::string_view planted) const;
};

/// Throws Error naming the line of a head that cannot be read.
std::vector<CorpusKernel> read_kernels(const std::filesystem::path& file);
/// All files of the corpus, by name.
const std::vector<CorpusKernel>& kernels();

/// Writes what the kernel must leave in its outputs, or returns false: no result is known for a kernel of this name.
bool compute_results(CorpusKernel& kernel);

}  // namespace corpus
