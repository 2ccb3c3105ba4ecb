// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Error bounds as tests read them.
// In: a bounded tensor, or a graph's lines and its inputs. Out: numbers, 0 where a value is exact.
// Called by the tests of bounds of the suite `reference`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "reference/error_bound.h"

namespace tailor::reference {

inline double error_of(const BoundedTensor& one, std::int64_t i) {
  return one.error.empty() ? 0 : one.error[static_cast<std::size_t>(i)];
}

/// The bounds of the first output of a graph with these lines.
inline std::vector<double> bounds_of(const std::string& lines, const std::vector<Tensor>& inputs) {
  const BoundedTensor found = evaluate_with_error_bounds(ir::parse_graph("graph g {" + lines + "}"), inputs)[0];
  std::vector<double> all;
  for (std::int64_t i = 0; i < ir::elements(found.value.shape); ++i) all.push_back(error_of(found, i));
  return all;
}

}  // namespace tailor::reference
