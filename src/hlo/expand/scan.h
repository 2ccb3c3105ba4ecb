// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative reductions along one dimension.
// In: arrays, and whether windows begin or end at its end.
// Out: the tree of short windows that pass_scans.cpp explains.
// Called by pass_windows.cpp.
#pragma once

#include <optional>

#include "hlo/expand/combination.h"

namespace tailor::hlo {

enum class Direction : std::uint8_t { forward, backward };  ///< windows begin at the beginning; they end at the end

/// Of a window over a dimension of `length`: nothing where it is no cumulative reduction, or one of a few elements.
std::optional<Direction> scan_direction(const ir::WindowDim& window, std::int64_t length);

class Scans : public Combination {
 protected:
  using Combination::Combination;
  /// Whether windows of this length are no tree.
  bool is_short(std::int64_t length) const;
  /// Preconditions: the dimension is not empty, and one more dimension fits into a shape.
  Arrays scan(std::string_view word, const Arrays& x, int axis, Direction direction);

 private:
  ir::Dims dims_with(const Arrays& x, std::int64_t length, std::int64_t blocks = 0) const;
  Arrays short_scan(const Arrays& x, const std::string& word, int axis);
  Arrays inclusive(const Arrays& x, const std::string& level);
  Arrays moved(const Arrays& scan, const std::string& level);

  int axis_ = 0;
  bool forward_ = true;
};

}  // namespace tailor::hlo
