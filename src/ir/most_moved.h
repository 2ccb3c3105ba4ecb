// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where to look first: at the group that moves most bytes in a run of the model, of those that can be planned. In: what
// each group moves, in the order of the fusion. Out: a place in that order. Called by the commands that show one group
// when none is named, and by the report, so that both mean the same group. Bytes and no time, because a time needs a
// plan for every group and a model that may change its mind.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace tailor::ir {

struct GroupTraffic {
  bool planned = false;  ///< a kernel can be made for it
  double bytes = 0;      ///< in one run of the model: all its places, loops by their trips
};

/// The first of those that move most; one that cannot be planned only where none can. Nothing without groups.
inline std::optional<std::size_t> most_moved(std::span<const GroupTraffic> groups) {
  const auto key = [&](std::size_t i) { return std::pair(groups[i].planned, groups[i].bytes); };
  std::optional<std::size_t> most;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (!most || key(i) > key(*most)) most = i;
  return most;
}

}  // namespace tailor::ir
