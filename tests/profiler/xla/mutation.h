// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How many wrong kernels a check of XLA's kernels sees. In: kernels that match their reference with every result
// judged. Each is changed in one instruction of its PTX at a time: another operation, comparison, operand, constant or
// address, a guard turned round, an instruction left out. Out: how many changes were seen, and of those that were not,
// why. Called by the suite of the profiler on the kernels that ship, and by its slow suite on those of the reference
// folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/xla/xla_dump.h"

namespace mutation {

struct Score {
  int kernels = 0;                     ///< that were changed
  int not_ptx = 0;                     ///< changes that no assembler takes; not among the others
  int mutants = 0;                     ///< all other changes that were tried
  int seen = 0;                        ///< wrong, a finding, without an end, or not to be compared any more
  int not_run = 0;                     ///< no lane comes to the instruction
  int same_bits = 0;                   ///< the results are those of the kernel, bit by bit, and nothing was found
  int within = 0;                      ///< the results differ, within their bounds
  std::vector<std::string> survivors;  ///< of the last kind: kernel, line, change
  /// Of the changes that a run can show.
  double share() const { return 1.0 * seen / std::max(1, mutants - not_run - same_bits); }
};

/// Adds up to `most` changes of one kernel, drawn by `seed`, each on two seeds of inputs. Nothing when the kernel does
/// not match, is larger than `most_elements`, or has more than a tenth of its results without a bound.
void try_mutants(Score& score, const tailor::profiler::XlaModule& module, const tailor::profiler::XlaKernel& kernel,
                 int most, std::int64_t most_elements, std::uint64_t seed);

/// The score for people, survivors line by line.
std::string text(const Score& score);

}  // namespace mutation
