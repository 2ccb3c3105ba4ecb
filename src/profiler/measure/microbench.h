// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Microbenchmarks: small kernels written by hand that ask a GPU one question each: how fast it copies, how long an
// empty launch takes, what a grid barrier costs. Each is a sequence (profiler/gpu/request/sequence.h) with inputs that
// are made from nothing, outputs that can be checked, and a law from the median time to the answer. They are the
// ceilings that kernels are held against, and what a device file is compared with.
//
// All numbers of the machine come from the device file; sizes are round numbers of bytes, not properties of a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/device.h"
#include "ir/measurement.h"
#include "profiler/compile/compile.h"
#include "profiler/gpu/request/sequence.h"

namespace tailor::profiler {

/// What the text is made with; 0: the text does not use it.
struct BenchShape {
  std::int64_t threads = 0;  ///< of a block
  std::int64_t loads = 0;    ///< of 16 bytes, under way together in a thread
  std::int64_t rounds = 0;   ///< of barriers, exchanges, atomics
  std::int64_t spread = 0;   ///< words between the cells of neighbouring threads; 0: all use one cell
  /// Of `pipes`: which kinds of instructions, by the numbers of its text.
  std::int64_t instruction = 0, beside = 0;
  std::int64_t steps = 0;  ///< instructions of a round
  bool operator==(const BenchShape&) const = default;
};

struct BenchFamily;

struct Microbench {
  const BenchFamily* family = nullptr;
  std::string name;       ///< "copy, 64 MiB, cold": unique
  std::int64_t size = 0;  ///< what the family varies: see BenchFamily::size_is
  BenchShape shape;
  gpu::Sequence sequence;  ///< its one image holds no code until with_code
  ir::CacheState cache = ir::CacheState::cold;
  ir::LaunchMode launch = ir::LaunchMode::stream;
  double work = 0;  ///< of one run: bytes, barriers, launches, ...
};

/// The answer: work over time, or time over work.
enum class BenchAnswer : std::uint8_t { rate, time };

/// One question; a row of the table.
struct BenchFamily {
  std::string_view name;     ///< "copy"
  std::string_view meaning;  ///< one line
  std::string_view size_is;  ///< "bytes"
  std::string_view unit;     ///< of the answer: "B/s", "s"
  BenchAnswer answer = BenchAnswer::rate;
  int compute_capability = 0;  ///< the lowest that can run it
  std::string_view entry;      ///< of the kernel
  std::string_view text;       ///< CUDA, without its constants
  /// The host's launches are in the answer: timed by events in a process that never began CUPTI, whose records take
  /// time at every launch and show of a single one the kernel alone.
  bool by_events = false;
  /// Empty, or what is wrong with the outputs.
  std::string (*complaint)(const Microbench&, std::span<const std::uint32_t> outputs) = nullptr;
};
std::span<const BenchFamily> bench_families();

/// How large; the default is for a GPU, tests make all of it small.
struct BenchSizes {
  std::vector<std::int64_t> bytes = {std::int64_t{1} << 20, std::int64_t{1} << 22, std::int64_t{1} << 24,
                                     std::int64_t{1} << 26, std::int64_t{1} << 28};
  /// Arrays that are filled and looked at on the GPU: what memory delivers once its start and its end are nothing.
  std::vector<std::int64_t> large = {std::int64_t{1} << 30, std::int64_t{1} << 31, std::int64_t{1} << 32};
  /// Arrays that stay in L2, read so often that one pass more or less is nothing.
  std::vector<std::int64_t> resident = {8 << 20, 16 << 20, 24 << 20, 32 << 20, 40 << 20};
  std::int64_t passes = 24;
  /// Arrays through which one thread goes from word to word: a power of two.
  std::int64_t far = std::int64_t{1} << 28, near = 1 << 23;
  std::int64_t streamed = 0;  ///< bytes read by the bytes-in-flight curve; 0: four times L2
  /// Of straight-line code, around what the instruction caches of GPUs hold.
  std::vector<std::int64_t> code = {4 << 10,  8 << 10,  16 << 10,  24 << 10,  32 << 10, 48 << 10,
                                    64 << 10, 96 << 10, 128 << 10, 192 << 10, 256 << 10};
  int rounds = 1000;  ///< of barriers, exchanges, hops and operations; of atomics a part of it
  std::vector<int> launches = {1, 8, 64, 512};  ///< in a row
};

/// All microbenchmarks that a device can run, most valuable families first. No buffer takes more than a quarter of its
/// memory.
std::vector<Microbench> microbenchmarks(const ir::Device& device, const BenchSizes& sizes = {});

/// The whole CUDA text, and the request to compile it for an architecture. Several microbenchmarks share a text.
CompileRequest compile_request(const Microbench& bench, std::string_view arch);
/// The sequence with the code of its image: a cubin or PTX.
gpu::Sequence with_code(const Microbench& bench, std::span<const std::byte> code);
/// Of a microbenchmark of clusters: with no more of them than the GPU holds at once (KernelAttributes::clusters of its
/// load), as none may wait for another's end. Where the driver does not tell, with one. Empty where not even one fits;
/// others come back as they are.
std::optional<Microbench> with_clusters(const Microbench& bench, int at_once);
/// The contents of all inputs, in order of the buffers.
std::vector<std::byte> inputs_of(const Microbench& bench);
/// Empty, or what is wrong: `outputs` holds the buffers of role output, both and scratch after one run.
std::string complaint(const Microbench& bench, std::span<const std::byte> outputs);

/// What a microbenchmark says, from the median of its samples.
struct BenchResult {
  std::string name, family;
  std::int64_t size = 0;
  double value = 0;          ///< in `unit`
  double low = 0, high = 0;  ///< by the median's interval, low <= value <= high
  std::string unit;
  int samples = 0;
};
/// At least one sample. `confidence` of the interval, as a stop rule has it.
BenchResult evaluate(const Microbench& bench, std::span<const ir::Sample> samples, double confidence = 0.95);

}  // namespace tailor::profiler
