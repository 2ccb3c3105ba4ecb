// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Each way of going wrong, by a kernel or a launch that does it: the outcome it must come to, and that an addition is
// right afterwards, on the same worker or on the next one. The endless kernel tries the time limit, which no other
// test does. Part of the program gpu_self_test, which suite.h describes.
#include <fmt/format.h>

#include <chrono>

#include "profiler/gpu/self_test/kernels.h"
#include "profiler/gpu/self_test/suite.h"

namespace tailor::tests {

namespace {

using gpu::BufferRole;
using gpu::Response;
using gpu::Sequence;
using ir::Outcome;

/// Right when the answer has the outcome, and the GPU still adds. `lost`: whether the context must be lost, or must
/// not.
Observed came_to(Subject& subject, const Response& response, Outcome outcome, bool lost) {
  const auto begun = std::chrono::steady_clock::now();
  const bool adds = subject.still_adds();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
  return seen(
      response.outcome == outcome && response.context_lost == lost && adds,
      fmt::format("{}: {}; context {}; next answer {} after {:.2f} s", ir::name(response.outcome), response.reason,
                  response.context_lost ? "lost" : "kept", adds ? "right" : "WRONG", spent.count()));
}

Observed kernel_comes_to(Subject& subject, const char* entry, std::vector<gpu::Argument> arguments, Outcome outcome) {
  return came_to(subject, subject.run(on_x(BufferRole::output, plain_launch(entry, std::move(arguments)))), outcome,
                 true);
}

Observed endless(Subject& subject) {
  const Response loaded = subject.load(on_x(BufferRole::output, plain_launch("endless", {buffer_argument(0)})));
  if (loaded.outcome != Outcome::ok) return unexpected(loaded);
  const auto begun = std::chrono::steady_clock::now();
  const Response response = subject.call_within(gpu::RunRequest{only_id, 1, true}, subject.hang_limit);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
  Observed made = came_to(subject, response, Outcome::timed_out, false);
  // The worker that hangs in the driver is given two seconds to die.
  if (spent.count() > subject.hang_limit.value + 4) made.verdict = Verdict::failed;
  made.figure += fmt::format("; ended after {:.2f} s", spent.count());
  return made;
}

Observed trapping(Subject& subject) { return kernel_comes_to(subject, "trapping", {}, Outcome::trapped); }
Observed wild(Subject& subject) { return kernel_comes_to(subject, "wild", {}, Outcome::illegal_access); }
Observed crooked(Subject& subject) {
  return kernel_comes_to(subject, "crooked", {buffer_argument(0)}, Outcome::illegal_access);
}

Observed failing(Subject& subject) {
  Sequence sequence;
  sequence.images = {ptx_image(asserting_kernels)};
  sequence.launches = {plain_launch("failing", {})};
  return came_to(subject, subject.run(sequence), Outcome::trapped, true);
}

Observed too_much_shared(Subject& subject) {
  const std::int64_t bytes = subject.properties().shared_per_block_optin + 16;
  return came_to(subject, subject.run(with_shared(bytes)), Outcome::refused, false);
}

Observed too_many_threads(Subject& subject) {
  Sequence sequence = addition(100);
  sequence.launches[0].block = {2048, 1, 1};
  return came_to(subject, subject.run(sequence), Outcome::refused, false);
}

Observed no_code(Subject& subject) {
  Sequence sequence = addition(100);
  sequence.images = {ptx_image("this is no code")};
  return came_to(subject, subject.run(sequence), Outcome::unloadable, false);
}

Observed broken_code(Subject& subject) {
  Sequence sequence = addition(100);
  sequence.images = {
      ptx_image(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry add() { what.is this; }\n")};
  return came_to(subject, subject.run(sequence), Outcome::unloadable, false);
}

Observed missing_entry(Subject& subject) {
  Sequence sequence = addition(100);
  sequence.launches[0].entry = "subtract";
  return came_to(subject, subject.run(sequence), Outcome::unloadable, false);
}

Observed too_many_arguments(Subject& subject) {
  Sequence sequence = addition(100);
  sequence.launches[0].arguments.push_back(buffer_argument(0));
  if (subject.properties().driver_api < 12'040) return skipped("the driver tells the sizes of parameters from 12.4 on");
  return came_to(subject, subject.run(sequence), Outcome::refused, false);
}

Observed too_much_memory(Subject& subject) {
  Sequence sequence = addition(100);
  sequence.buffers[2].bytes = 2 * subject.properties().memory_bytes;
  return came_to(subject, subject.run(sequence), Outcome::no_memory, false);
}

constexpr SelfTest fault_rows[] = {
    {"endless loop", "timed out at its limit, the next question is answered", endless},
    {"trap", "trapped, the next worker adds", trapping},
    {"illegal address", "illegal access, the next worker adds", wild},
    {"misaligned address", "illegal access, the next worker adds", crooked},
    {"failed assertion", "trapped, the next worker adds", failing},
    {"too much shared memory", "refused, the context is kept", too_much_shared},
    {"too many threads", "refused, the context is kept", too_many_threads},
    {"too many arguments", "refused, the context is kept", too_many_arguments},
    {"no code", "unloadable, the context is kept", no_code},
    {"broken code", "unloadable, the context is kept", broken_code},
    {"missing entry", "unloadable, the context is kept", missing_entry},
    {"too much memory", "out of memory, the context is kept", too_much_memory},
};

}  // namespace

std::span<const SelfTest> fault_tests() { return fault_rows; }

}  // namespace tailor::tests
