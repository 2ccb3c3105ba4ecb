// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel stands in its program. In: the work of a program and the number of one of its kernels. Out: what the
// launches before it left in L2, and what the whole asks of memory once. Used by projected.cpp, which adds up kernels.
#pragma once

#include <cstddef>
#include <vector>

#include "costmodel/model.h"
#include "costmodel/work.h"

namespace tailor::costmodel {

/// Of one buffer, what the last launch before that touched it left.
struct Left {
  double touched = 0;  ///< bytes; 0: none of them touched it
  double between = 0;  ///< bytes of all buffers that were touched since, on average over them
};

struct Place {
  bool follows = false;    ///< it is launched behind another one
  double once = 0;         ///< bytes that the whole program moves at least
  GroupWork compulsory;    ///< of them those of this kernel
  std::vector<Left> left;  ///< by buffer; empty: nothing was launched before
};
Place place_in(const Work& program, std::size_t kernel);

}  // namespace tailor::costmodel
