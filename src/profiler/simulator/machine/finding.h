// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a kernel, as a record: the kind, how bad, one sentence, the PTX and source line, where it first
// happened and how often. Made by the machine (findings.h collects them), handed out with a Simulation (launch.h), read
// by checks and printed for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tailor::simulator {

enum class FindingKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  store_to_input,
  uninitialised_read,
  race,
  divergent_barrier,
  mismatched_barrier,
  bad_mask,  ///< a warp instruction whose mask names lanes that cannot answer, or reads one that did not
  bad_cluster_rank,
  async_misuse,  ///< read before the copy was waited for, mbarrier not initialised, wrong sizes
  deadlock,
  trap,  ///< trap or a failed assertion
  too_long,
  launch,            ///< what a driver would refuse, cooperative grids that cannot be resident
  unwritten_output,  ///< of a whole launch: a buffer that it was to write, or part of it, holds nothing
};
std::string_view name(FindingKind kind);  ///< "out-of-bounds access", as in messages

/// error: a GPU may go wrong there. advice: a strict reading of the language forbids it, and no GPU goes wrong; it
/// decides no verdict and no exit code.
enum class Severity : std::uint8_t { error, advice };
std::string_view name(Severity severity);  ///< "error", "advice"

struct Finding {
  FindingKind kind = FindingKind::trap;
  Severity severity = Severity::error;
  std::string text;              ///< one sentence with buffer, element index, thread and block
  std::int64_t ptx_line = 0;     ///< 0: no single line
  std::int64_t source_line = 0;  ///< of the CUDA text; 0: the PTX carries no lines
  std::string source_file;
  std::int64_t block = -1;  ///< linear, first occurrence
  int warp = -1;
  int lane = -1;
  int buffer = -1;
  std::int64_t times = 1;  ///< occurrences at this line and kind
};

/// How many are errors.
std::int64_t errors(std::span<const Finding> findings);
/// The first error; nullptr: there is none.
const Finding* first_error(std::span<const Finding> findings);

/// One line for people: kind, text, where.
std::string describe(const Finding& finding);

}  // namespace tailor::simulator
