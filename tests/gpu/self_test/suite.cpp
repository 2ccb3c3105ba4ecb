// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Asking. The limit of a question is generous: how long a right kernel takes is a figure, not a failure.
#include "gpu/self_test/suite.h"

#include <fmt/format.h>

#include <cstring>

#include "gpu/self_test/kernels.h"

namespace tailor::tests {

namespace {

constexpr Seconds usual_limit{30};

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::string_view names[] = {"ok", "failed", "skipped"};
  return names[static_cast<std::size_t>(verdict)];
}

Seen seen(bool right, std::string figure) { return {right ? Verdict::ok : Verdict::failed, std::move(figure)}; }

Seen skipped(std::string why) { return {Verdict::skipped, std::move(why)}; }

Seen unexpected(const gpu::Answer& answer) {
  return {Verdict::failed, fmt::format("{}: {}", ir::name(answer.outcome), answer.reason)};
}

gpu::Answer Subject::load(const gpu::Sequence& sequence) { return load(sequence, contents_of(sequence)); }

gpu::Answer Subject::load(const gpu::Sequence& sequence, std::span<const std::byte> contents) {
  return worker_.ask(gpu::AskLoad{only_id, sequence}, contents, usual_limit);
}

gpu::Answer Subject::run(const gpu::Sequence& sequence) {
  gpu::Answer loaded = load(sequence);
  return loaded.outcome == ir::Outcome::ok ? ask(gpu::AskRun{only_id, 1, true}) : loaded;
}

gpu::Answer Subject::ask(const gpu::Ask& question) { return worker_.ask(question, {}, usual_limit); }

gpu::Answer Subject::ask_within(const gpu::Ask& question, Seconds limit) { return worker_.ask(question, {}, limit); }

bool Subject::still_adds() {
  constexpr std::uint32_t n = 1000;
  std::vector<float> numbers(2 * n);
  for (std::uint32_t i = 0; i < 2 * n; ++i) numbers[i] = static_cast<float>(i) + 0.5f;
  if (load(addition(n), std::as_bytes(std::span(numbers))).outcome != ir::Outcome::ok) return false;
  const gpu::Answer ran = ask(gpu::AskRun{only_id, 1, true});
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
