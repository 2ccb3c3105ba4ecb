// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A fused model as the records of a picture: kernels, library calls and loops as boxes, values as lines with the level
// that serves them. Comes in: a graph, its fusion, the partition that counts it, a device for prices. Goes out: what
// report/picture.h writes as DOT or SVG. Called for `tailor fuse --to`.
#pragma once

#include <cstddef>
#include <stop_token>

#include "costmodel/model.h"
#include "explore/partition.h"
#include "report/picture.h"

namespace tailor::study {

/// What a picture may hold. 0: all there is.
struct PictureLimits {
  std::size_t kernels = 0;     ///< of all graphs together; the costliest stay
  std::size_t calls = 0;       ///< what runs beside kernels: library calls, loops
  std::size_t operations = 0;  ///< where the kernels that stay have more in all, none shows its operations
  std::size_t in_one = 0;      ///< a kernel with more does not show them
  bool summed = false;         ///< equal kernels between the same others are one box, values between two boxes one line
};

/// What a person can look at.
inline constexpr PictureLimits drawn_limits{
    .kernels = 150, .calls = 150, .operations = 400, .in_one = 80, .summed = true};

/// Without a device, shares are of the bytes that kernels move. Near-linear in the graph. Error(interrupted).
report::Picture fusion_picture(const ir::Graph& graph, const ir::Fusion& fusion, const explore::Partition& partition,
                               const costmodel::CalibratedDevice* device, const PictureLimits& limits,
                               const std::stop_token& stop = {});

}  // namespace tailor::study
