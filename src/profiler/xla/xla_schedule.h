// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which instructions of a module run by themselves, how often, and within which loops. In: a module's HLO. Out: a list
// in the order of execution. Bodies of loops count by their trip counts, both branches of a conditional count as taken.
// Called by whoever compares XLA's partition with ours.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "hlo/hlo_module.h"
#include "profiler/xla/xla_dump.h"

namespace tailor::profiler {

struct XlaScheduled {
  const hlo::HloInstruction* instruction = nullptr;
  double times = 0;            ///< that one run of the module executes it
  std::vector<XlaLoop> loops;  ///< around it where it is met first, the outermost first
};

/// Every instruction outside fusions by name. Views the module.
class XlaSchedule {
 public:
  explicit XlaSchedule(const hlo::HloModule& module);
  const XlaScheduled* find(std::string_view name) const;
  /// The fusion whose name, with every sign that PTX has no use for replaced, is the entry's; empty: none.
  std::string_view named_like(std::string_view entry) const;

 private:
  void visit(const hlo::HloComputation& computation, double times, std::vector<XlaLoop>& loops, int depth);
  void visit_all(std::string_view names, double times, std::vector<XlaLoop>& loops, int depth);
  double trips(const hlo::HloInstruction& loop) const;

  const hlo::HloModule& module_;
  std::map<std::string_view, XlaScheduled> places_;
};

}  // namespace tailor::profiler
