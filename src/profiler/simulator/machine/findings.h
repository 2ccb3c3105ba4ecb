// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings as one machine collects them: the first of each kind at each instruction is kept whole, the rest are only
// counted. In: a finding at a site. Out: a sorted list that is merged over host threads. Used by Machine while it runs,
// and by simulate.cpp at the end.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profiler/simulator/machine/finding.h"

namespace tailor::simulator {

class Findings {
 public:
  /// Keeps the first of its kind at its site, counts the others. An error takes the place of advice.
  void add(std::uint32_t site, Finding finding);
  /// Whether one as bad or worse is kept.
  bool seen(FindingKind kind, std::uint32_t site, Severity severity = Severity::error) const;
  /// Counts one more of a kind that was seen at a site, if it is as bad as the one that is kept.
  void again(FindingKind kind, std::uint32_t site, Severity severity = Severity::error);
  bool empty() const { return kept_.empty(); }
  /// Sums the findings of several machines; the first is that of the lowest block. At most `most`, by block and line.
  static std::vector<Finding> merged(std::vector<Findings*> parts, int most);

 private:
  std::map<std::pair<FindingKind, std::uint32_t>, Finding> kept_;
};

}  // namespace tailor::simulator
