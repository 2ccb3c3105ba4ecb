// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Random dimension numbers. In: a source of randomness. Out: what a gather says of its dimensions, as text, with shapes
// that fit. Asked by the tests of gathers and of scatters, whose numbers are the same under other names. Every
// dimension of the operand is a slice's, collapsed or batching, and is indexed or not.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace tailor::testing {

/// A gather's dimension numbers as HLO has them, with its shapes.
struct GatherText {
  std::string text;
  std::vector<std::int64_t> array, indices, result;
};

inline std::string list(const std::vector<std::int64_t>& numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }

/// Every dimension of the operand is a slice's, collapsed or batching, and is indexed or not; the dimensions of slices
/// lie among those of places in any order.
inline GatherText random_gather(std::mt19937& random) {
  const auto below = [&](std::int64_t limit) { return static_cast<std::int64_t>(random() % limit); };
  const auto shuffled = [&](std::int64_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  GatherText made;
  std::vector<std::int64_t> collapsed, batching, batching_places, map, slices, window;
  std::vector<std::int64_t> places;
  for (std::int64_t i = below(3); i >= 0; --i) places.push_back(1 + below(4));
  const std::vector<std::int64_t> free_places = shuffled(std::ssize(places));
  const std::int64_t rank = 1 + below(3);
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t kind = below(4);
    if (kind == 0 && batching.size() < places.size()) {
      batching.push_back(d);
      batching_places.push_back(free_places[batching.size() - 1]);
      made.array.push_back(places[static_cast<std::size_t>(batching_places.back())]);
      window.push_back(1);
      continue;
    }
    made.array.push_back(1 + below(6));
    window.push_back(kind == 1 ? 1 : 1 + below(made.array.back()));
    if (kind == 1)
      collapsed.push_back(d);
    else
      slices.push_back(window.back());
    if (below(3) != 0 || kind == 1) map.push_back(d);
  }
  std::shuffle(map.begin(), map.end(), random);
  const bool has_vector = map.size() != 1 || below(2) == 0;
  const std::int64_t vector_dim = has_vector ? below(std::ssize(places) + 1) : std::ssize(places);
  made.indices = places;
  if (has_vector) made.indices.insert(made.indices.begin() + vector_dim, std::ssize(map));
  for (std::int64_t& dim : batching_places) dim += has_vector && dim >= vector_dim ? 1 : 0;
  std::vector<std::int64_t> offsets = shuffled(std::ssize(places) + std::ssize(slices));
  offsets.resize(slices.size());
  std::sort(offsets.begin(), offsets.end());
  made.result.assign(places.size() + slices.size(), 0);
  for (std::size_t i = 0; i < offsets.size(); ++i) made.result[static_cast<std::size_t>(offsets[i])] = slices[i];
  for (std::size_t i = 0, next = 0; i < made.result.size(); ++i)
    if (made.result[i] == 0) made.result[i] = places[next++];
  made.text = fmt::format(
      "offset_dims={{{}}}, collapsed_slice_dims={{{}}}, start_index_map={{{}}}, operand_batching_dims={{{}}}, "
      "start_indices_batching_dims={{{}}}, index_vector_dim={}, slice_sizes={{{}}}",
      list(offsets), list(collapsed), list(map), list(batching), list(batching_places), vector_dim, list(window));
  return made;
}

}  // namespace tailor::testing
