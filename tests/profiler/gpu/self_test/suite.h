// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the measuring arm takes for granted about a GPU, as a list of tests that ask a real one: each has a stated
// expectation and answers with what was seen. They ask through a worker process, as every measurement does, so a test
// that takes the process down costs that test alone. Expectations hold for every GPU from Volta on; what a GPU cannot
// do is skipped with the reason, never passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/gpu/request/sequence.h"
#include "profiler/measure/worker.h"

namespace tailor::tests {

enum class Verdict : std::uint8_t { ok, failed, skipped };
std::string_view name(Verdict verdict);  ///< "ok", "failed", "skipped"

/// What a test saw. `figure`: the measured number with its unit, or the outcome; of a skipped test: why.
struct Observed {
  Verdict verdict = Verdict::failed;
  std::string figure;
};
Observed seen(bool right, std::string figure);
Observed skipped(std::string reason);
/// Of an answer that should have been ok.
Observed unexpected(const gpu::Response& response);

/// The GPU under test.
class Subject {
 public:
  /// `counting` was opened to count, `worker` was not.
  Subject(profiler::Worker& worker, profiler::Worker& counting, std::int64_t bytes, Seconds hang)
      : copy_bytes(bytes), hang_limit(hang), worker_(worker), counting_(counting) {}

  const std::int64_t copy_bytes;  ///< of the copies that are timed and counted
  const Seconds hang_limit;       ///< given to a kernel that never ends

  const gpu::Response& opened() { return worker_.opened(); }
  const gpu::GpuProperties& properties() { return worker_.opened().properties; }
  const gpu::Response& opened_to_count() { return counting_.opened(); }
  /// Loads where one counts, and counts these metrics of CUPTI's, cold.
  gpu::Response count(const gpu::Sequence& sequence, std::vector<std::string> metrics);
  /// Loads as the only sequence there is.
  gpu::Response load(const gpu::Sequence& sequence);
  gpu::Response load(const gpu::Sequence& sequence, std::span<const std::byte> contents);
  /// Loads and runs once, results fetched; the answer that went wrong, or the last.
  gpu::Response run(const gpu::Sequence& sequence);
  /// Asks about the sequence that was loaded last.
  gpu::Response call(const gpu::Request& question);
  gpu::Response call_within(const gpu::Request& question, Seconds limit);
  /// Whether an addition still comes out right: what every test leaves behind must be able to do it.
  bool still_adds();

 private:
  profiler::Worker &worker_, &counting_;
};

/// The number under which Subject loads.
inline constexpr int only_id = 1;

struct SelfTest {
  std::string_view name, expectation;
  Observed (*look)(Subject& subject);
};
std::span<const SelfTest> right_tests();  ///< properties, results, guards, shapes of launches
std::span<const SelfTest> fault_tests();  ///< what goes wrong is an outcome, and the next question is answered
std::span<const SelfTest> time_tests();   ///< laws of times and clocks
std::span<const SelfTest> count_tests();  ///< counters against arithmetic

std::vector<std::uint32_t> words_of(std::span<const std::byte> bytes);

}  // namespace tailor::tests
