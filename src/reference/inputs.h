// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs with which a check says something. Plain random numbers would send most look-ups out of range, square roots
// below zero and quotients to infinity, where any kernel agrees with any other. So what a parameter is used for is
// followed back from those operations: integers that become indices lie inside what they index (those of a scatter
// that replaces, or says that its windows lie apart, without repetition where there is room), floats that end under a
// root, a logarithm or a bar are positive.
//
// Random numbers of moderate size reach no edge of a type either. So some elements are edges: of integers the ends of
// their range, widths and powers of two, of indices places outside, of floats both zeros, ties, the smallest and
// largest numbers, infinities and NaN. Where elements meet one another (a reduction, a matrix product), one NaN takes a
// whole row with it: there they are few, so that the other rows say something, and only in the largest inputs.
//
// Some edges make results that nobody can judge: a sum that overflows in one order of additions and not in another.
// Which ones, depends on the graph; they can be found from the results and left out.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "reference/error_bound.h"
#include "reference/evaluate.h"

namespace tailor::reference {

/// What is asked of a parameter's elements.
struct InputRange {
  std::int64_t limit = 0;  ///< integers from 0 to limit - 1; 0: any small ones
  bool distinct = false;   ///< no integer twice while there are unused ones
  bool positive = false;   ///< floats in [0.5, 2)
};

/// One per parameter, in order of number.
std::vector<InputRange> input_ranges(const ir::Graph& graph);

/// Contents for one parameter, none of them edges. The same seed gives the same tensor. Error(interrupted) when asked
/// to stop, as below.
Tensor input_tensor(const ir::Shape& shape, const InputRange& range, std::uint64_t seed,
                    const std::stop_token& stop = {});

/// Which edges some elements are; each level has those before it.
enum class Edges : std::uint8_t {
  none,
  mild,       ///< floats: zeros of both signs, ties, equal values, the smallest numbers: a sum with them stays a number
  finite,     ///< floats: the largest and what overflows soon; integers and indices: all of theirs
  not_finite  ///< floats: infinities and NaN
};

/// By parameter, the edges (finite ones, infinities, NaN) that none of its elements is to be. Parameters beyond the end
/// have none.
using LeftOut = std::vector<std::vector<double>>;

/// One per parameter, in order of number.
std::vector<Tensor> sensible_inputs(const ir::Graph& graph, std::uint64_t seed, Edges edges = Edges::none,
                                    const LeftOut& left_out = {}, const std::stop_token& stop = {});

/// The edges among the inputs that elements of the results without a bound are computed from (NaN as NaN, once). An
/// input need not be at fault that only stands beside one that is. `outputs` are what the graph makes of `inputs`.
/// Nothing where that cannot be traced (blame.h) or no such edge is found. Throws Error(interrupted) when asked to
/// stop.
LeftOut edges_without_bound(const ir::Graph& graph, std::span<const Tensor> inputs,
                            std::span<const BoundedTensor> outputs, const std::stop_token& stop = {});

}  // namespace tailor::reference
