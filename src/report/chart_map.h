// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The picture of a fusion on a page. In: a FusionMap, the share of the time of each of its boxes. Out: SVG text. Called
// by the page. Equal groups are one box here, as a page has little room; pictures of every kernel and operation of a
// fusion are `tailor fuse --to`'s (picture.h).
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"

namespace tailor::report {

struct DrawnMap {
  std::string svg;                 ///< empty: nothing to draw
  std::size_t boxes_left_out = 0;  ///< the cheapest, for a person can look at so many
};

/// `shares` is parallel to `map.boxes`: 0-1 of the time of a run's fused kernels, negative where unknown. A number on a
/// line is the place of its reason in `map.refused`, from 1. Near-linear in boxes and links.
DrawnMap map_chart(const FusionMap& map, const std::vector<double>& shares);

/// "group-4f2a91c0a1": where the page has a group's section.
std::string section_of(const std::string& group_id);

}  // namespace tailor::report
