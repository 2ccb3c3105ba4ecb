// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How the self-test asks its worker: load a sequence, run or time it, and turn an unexpected response into a failed
// test that quotes it. The time limit of a request is generous, because how long a right kernel takes is a figure here
// and no failure. Called by the rows of right.cpp, faults.cpp and times.cpp.
#include "profiler/gpu/self_test/suite.h"

#include <fmt/format.h>

#include <cstring>

#include "profiler/gpu/self_test/kernels.h"

namespace tailor::tests {

namespace {

constexpr Seconds usual_limit{30};

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::string_view names[] = {"ok", "failed", "skipped"};
  return names[static_cast<std::size_t>(verdict)];
}

Observed seen(bool right, std::string figure) { return {right ? Verdict::ok : Verdict::failed, std::move(figure)}; }

Observed skipped(std::string reason) { return {Verdict::skipped, std::move(reason)}; }

Observed unexpected(const gpu::Response& response) {
  return {Verdict::failed, fmt::format("{}: {}", ir::name(response.outcome), response.reason)};
}

gpu::Response Subject::load(const gpu::Sequence& sequence) { return load(sequence, contents_of(sequence)); }

gpu::Response Subject::load(const gpu::Sequence& sequence, std::span<const std::byte> contents) {
  return worker_.call(gpu::LoadRequest{only_id, sequence}, contents, usual_limit);
}

gpu::Response Subject::run(const gpu::Sequence& sequence) {
  gpu::Response loaded = load(sequence);
  return loaded.outcome == ir::Outcome::ok ? call(gpu::RunRequest{only_id, 1, true}) : loaded;
}

gpu::Response Subject::call(const gpu::Request& question) { return worker_.call(question, {}, usual_limit); }

gpu::Response Subject::count(const gpu::Sequence& sequence, std::vector<std::string> metrics) {
  gpu::Response loaded = counting_.call(gpu::LoadRequest{only_id, sequence}, contents_of(sequence), usual_limit);
  if (loaded.outcome != ir::Outcome::ok) return loaded;
  return counting_.call(gpu::CountRequest{only_id, ir::CacheState::cold, std::move(metrics), true}, {}, usual_limit);
}

gpu::Response Subject::call_within(const gpu::Request& question, Seconds limit) {
  return worker_.call(question, {}, limit);
}

bool Subject::still_adds() {
  constexpr std::uint32_t n = 1000;
  std::vector<float> numbers(2 * n);
  for (std::uint32_t i = 0; i < 2 * n; ++i) numbers[i] = static_cast<float>(i) + 0.5f;
  if (load(addition(n), std::as_bytes(std::span(numbers))).outcome != ir::Outcome::ok) return false;
  const gpu::Response ran = call(gpu::RunRequest{only_id, 1, true});
  if (ran.outcome != ir::Outcome::ok || ran.blob.size() != n * sizeof(float)) return false;
  std::vector<float> sums(n);
  std::memcpy(sums.data(), ran.blob.data(), ran.blob.size());
  for (std::uint32_t i = 0; i < n; ++i)
    if (sums[i] != numbers[i] + numbers[n + i]) return false;
  return true;
}

std::vector<std::uint32_t> words_of(std::span<const std::byte> bytes) {
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

}  // namespace tailor::tests
