// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a launch of anybody's kernel is written down: the words of a launch and of its arguments, as they stand on a
// command line or in the first comment lines of a CUDA file:
//
//   // launch: grid=4 block=128 shared=512 cluster=2 cooperative limit=100000
//   // machine: sms=2 blocks_per_sm=2        what bounds resident blocks; without the line nothing does
//   // arch: sm_90
//   // buffer: x f32[512] input random       parameters in order; fills: random, zero, iota, below:64, FILE.npy
//   // value: i32 512
//   // variable: w f32[5] random             what a __constant__ or __device__ variable holds; or: n i32 512
//
// In: that text. Out: a RunSpec with filled buffers. Called by tailor run and by the tests' corpus of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/types.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::profiler {

struct RunBuffer {
  std::string name;
  ir::DType dtype = ir::DType::f32;
  std::vector<std::int64_t> dims;
  simulator::BufferUse use = simulator::BufferUse::input;
  std::vector<std::byte> bytes;  ///< what it holds before the launch
  bool operator==(const RunBuffer&) const = default;
};

/// One parameter of the kernel: a buffer by number, or bytes.
struct RunParameter {
  int buffer = -1;
  std::vector<std::byte> value;
  bool operator==(const RunParameter&) const = default;
};

struct RunSpec {
  std::string arch = {};     ///< empty: not said
  simulator::Launch launch;  ///< without arguments; with the contents of variables
  simulator::MachineLimits machine;
  std::int64_t limit = std::int64_t{1} << 24;  ///< instructions of one warp; a spin that never ends is to be seen
  std::vector<RunBuffer> buffers = {};
  std::vector<RunParameter> parameters = {};  ///< in the kernel's order
  std::vector<std::string> files = {};        ///< that contents were read from
};

/// "input", "output", "both", "scratch".
std::string_view use_word(simulator::BufferUse use);
/// A number of blocks or threads: "4", "4x2" or "4,2,1". Throws Error(usage).
simulator::Extent3 parse_extents(std::string_view text);
/// One word of a launch: "grid=4", "cooperative". Throws Error(usage) naming the words there are.
void read_launch_word(RunSpec& spec, std::string_view word);
/// Appends a parameter: "x f32[512] input random", "x input x.npy", "y f32[4,8] output" or "i32 512". Colons may stand
/// for the blanks. Random contents depend on `seed` and the buffer's name only. Files are looked for in `folder`.
/// Throws Error(usage) for what does not read or would take more than 4 GB, Error(failed) for a file.
void read_argument(RunSpec& spec, std::string_view text, std::string_view seed, const std::filesystem::path& folder);
/// A variable of the file: "w f32[5] iota", "w f32[5] w.npy", "n i32 512". Throws as read_argument() does.
void read_variable(RunSpec& spec, std::string_view text, std::string_view seed, const std::filesystem::path& folder);
/// One line of a head by its key. False for a key that is not of this form.
bool read_head_line(RunSpec& spec, std::string_view key, std::string_view rest, std::string_view seed,
                    const std::filesystem::path& folder);
/// The comment lines in front of a CUDA text. Lines of other comments say nothing. Throws Error with file and line.
RunSpec read_head(std::string_view cuda, const std::filesystem::path& file);

}  // namespace tailor::profiler
