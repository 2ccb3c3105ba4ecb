// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// At which places of a value its elements are asked for, and so how often they are computed. In: places of a node's
// result, and a step from that node to one of its operands. Out: the places of the operand. Called by the facts of
// groups, which find the steps, and by their summaries, which take them from readers to makers.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::costmodel {

/// One dimension of a box: the elements low .. low + size - 1, which stand `shift` behind dimension `of` of the index
/// of who asks at last.
struct Along {
  std::int32_t of = 0;  ///< dimensions of size 1 are not counted; -1: none, it is one element
  std::int64_t shift = 0, low = 0, size = 0;
  auto operator<=>(const Along&) const = default;
};

/// A kernel computes a value once for all that ask at one place: with the same index, under the same conditions.
struct AskedPlace {
  std::uint64_t way = 0;       ///< who asks, and what lies between but for moves along dimensions
  double times = 1;            ///< that each element of the box is asked for
  std::vector<Along> along{};  ///< by dimension; empty: all elements, none of them moved
  std::uint64_t extents = 0;   ///< of the index whose dimensions `along` tells of; 0 where that is empty
  bool operator==(const AskedPlace&) const = default;
};

/// All places of one value, by way and moves; none: each element once, where it is. So values that nobody asks for at
/// other places, which is most of them, take no memory.
using AskedPlaces = std::vector<AskedPlace>;

/// From a node to one of its operands.
struct PlaceStep {
  enum class Kind : std::uint8_t {
    stays,  ///< the same index
    once,   ///< each element once, whoever asks: what is reduced, a single number
    moves,  ///< each dimension is one of the result's, moved, and cut where it ends
    folds,  ///< all of it is the same index; of moved parts it is another
    anew,   ///< another index
  };
  Kind kind = Kind::stays;
  std::uint64_t way = 0;           ///< of anew and folds: its own
  double factor = 1;               ///< of anew: elements that are asked for, for each of the result
  bool clips = false;              ///< of moves: what lies outside is not asked for
  double at_once = 1;              ///< of moves: elements of dimensions that it lacks which ask together
  ir::Dims result, operand;        ///< their extents
  std::vector<int> from{};         ///< of moves: dimension of the result by that of the operand; -1: none, it has one
  std::vector<std::int64_t> by{};  ///< and how far it moves
};

/// The step to operand `k`.
PlaceStep place_step(const ir::Graph& graph, ir::NodeId node, std::size_t k);

/// The place of a value of so many elements that is asked for where it is.
AskedPlace own_place(double elements);
/// Takes a place of the result to the operand. False: no element is asked for.
bool go(const PlaceStep& step, AskedPlace& place);
/// Elements that are computed for it, of a value of so many.
double evaluations(const AskedPlace& place, double elements);
/// For all of them; `elements` where there are none.
double evaluations(const AskedPlaces& places, double elements);

/// One more. Those that are equal are computed once.
void add_place(AskedPlaces& places, const AskedPlace& place);
/// Sorts and bounds them: beyond `most_places` those with fewest elements count as one, and are told apart no more.
/// Empty where it is the value's own place alone.
void bound_places(AskedPlaces& places, double elements);
inline constexpr std::size_t most_places = 64;

}  // namespace tailor::costmodel
