// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative reductions along one dimension.
// In: arrays, and whether windows begin or end at its end.
// Out: scans that kernels go through, or the tree of short windows, as pass_scans.cpp explains.
// Called by pass_windows.cpp.
#pragma once

#include "hlo/expand/combination.h"
#include "ir/graph/window_strips.h"

namespace tailor::hlo {

/// Of a window over a dimension of `length`: nothing where it is no cumulative reduction, or one of a few elements.
std::optional<ir::ScanDirection> long_scan(const ir::WindowDim& window, std::int64_t length);
/// Whether a kernel goes along that dimension of the array as it is: the fastest one in memory, not too long for the
/// threads of a block, unless there are blocks enough.
bool is_walked(const ir::Shape& array, int axis);

class Scans : public Combination {
 protected:
  using Combination::Combination;
  /// Whether windows of this length are no tree.
  bool is_short(std::int64_t length) const;
  /// `x`, or a copy of it that lies as `made` does, where a kernel goes along the dimension then and not before.
  Arrays laid_along(std::string_view word, const Arrays& x, int axis, const ir::Shape& made);
  /// Preconditions: the dimension is not empty, and one more dimension fits into a shape.
  Arrays scan(std::string_view word, const Arrays& x, int axis, ir::ScanDirection direction);

 private:
  ir::Dims dims_with(const Arrays& x, std::int64_t length, std::int64_t blocks = 0) const;
  Arrays short_scan(const Arrays& x, const std::string& word, int axis);
  Arrays inclusive(const Arrays& x, const std::string& level);
  Arrays in_blocks(const Arrays& x, const std::string& level, std::int64_t block);
  Arrays moved(const Arrays& scan, const std::string& level);

  int axis_ = 0;
  bool forward_ = true;
};

}  // namespace tailor::hlo
