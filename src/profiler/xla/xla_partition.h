// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What XLA's fusion passes made of a module: for each fusion of the optimised module the instructions of the module
// before fusion that it computes, and what XLA says it takes. In: the files of a dump that tools/xla-dump keeps beside
// the kernels. Out: records. Called by the score of our XLA against XLA (study/module/xla_agreement).
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "profiler/xla/xla_dump.h"

namespace tailor::profiler {

/// A fusion of the optimised module.
struct XlaPart {
  std::string name;                  ///< the instruction that launches it
  std::string kind;                  ///< "loop", "input", "triton", "custom"
  std::vector<std::string> members;  ///< names in the module before fusion, sorted; empty: made after fusion
  std::optional<double> us;          ///< XLA's predicted time without launch overhead, in microseconds
  bool exact = true;                 ///< the final body has the same operations as the members, so often each
};

struct XlaPartition {
  std::vector<XlaPart> parts;  ///< all fusions that are launched, in the order of the text
  /// What does not fit together among the record and the modules before and after it, a sentence each: a step that
  /// names what is not there, a fusion that no steps make, a merge that did not happen. Then the members above are not
  /// XLA's.
  std::vector<std::string> faults;
};

/// Whether the dump has the module before fusion and the record of what fusion did.
bool has_partition(const XlaSource& source);

/// Throws Error(failed) with file and place for what cannot be read, and where a file is missing.
XlaPartition read_partition(const XlaSource& source, const std::stop_token& stop = {});

}  // namespace tailor::profiler
