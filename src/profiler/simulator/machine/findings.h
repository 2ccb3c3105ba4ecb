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
  /// Keeps the first of its kind at its site, counts the others.
  void add(std::uint32_t site, Finding finding);
  bool seen(FindingKind kind, std::uint32_t site) const { return kept_.count({kind, site}) != 0; }
  /// Counts one more of a kind that was seen at a site.
  void again(FindingKind kind, std::uint32_t site, std::int64_t times = 1);
  bool empty() const { return kept_.empty(); }
  /// Sums the findings of several machines; the first is that of the lowest block. At most `most`, by block and line.
  static std::vector<Finding> merged(std::vector<Findings*> parts, int most);

 private:
  std::map<std::pair<FindingKind, std::uint32_t>, Finding> kept_;
};

}  // namespace tailor::simulator
