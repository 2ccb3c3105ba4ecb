// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading a gather's dimension numbers and holding them against the shapes. In: a node with its operands' shapes. Out:
// GatherNumbers, or nothing. Called through gather.h, which says what the numbers mean. A list must name dimensions
// that exist, each once; a slice must fit the operand and be what the result shows of it; the dimensions of places
// must be as long as those of the indices.
#include "codegen/lower/gather.h"

#include <algorithm>

#include "ir/graph/attribute_text.h"

namespace tailor::codegen {

namespace {

bool within(const ir::Dims& numbers, int rank) {
  for (int i = 0; i < numbers.size(); ++i)
    for (int j = 0; j < numbers.size(); ++j)
      if (numbers[i] < 0 || numbers[i] >= rank || (i != j && numbers[i] == numbers[j])) return false;
  return true;
}

int place_of(const ir::Dims& numbers, std::int64_t wanted) {
  for (int i = 0; i < numbers.size(); ++i)
    if (numbers[i] == wanted) return i;
  return -1;
}

}  // namespace

int GatherNumbers::open(int operand_rank) const {
  int count = 0;
  for (int d = 0; d < operand_rank; ++d) count += along[d].index >= 0 && along[d].last > 0;
  return count;
}

std::optional<GatherNumbers> gather_numbers(const ir::Graph& graph, const ir::Node& gather) {
  if (gather.operands.size() != 2 || gather.shape.dtype == ir::DType::tuple) return std::nullopt;
  const std::string_view text = hlo_text(gather);
  const ir::Shape &array = graph[gather.operands[0]].shape, &indices = graph[gather.operands[1]].shape;
  const ir::Dims offsets = ir::attribute_numbers(text, "offset_dims"),
                 collapsed = ir::attribute_numbers(text, "collapsed_slice_dims"),
                 batching = ir::attribute_numbers(text, "operand_batching_dims"),
                 batching_places = ir::attribute_numbers(text, "start_indices_batching_dims"),
                 map = ir::attribute_numbers(text, "start_index_map"),
                 window = ir::attribute_numbers(text, "slice_sizes");
  const std::int64_t vector_dim = ir::attribute_number(text, "index_vector_dim", indices.rank());
  const bool has_vector = vector_dim < indices.rank();
  if (vector_dim < 0 || vector_dim > indices.rank() || window.size() != array.rank() ||
      map.size() != (has_vector ? indices.dims[static_cast<int>(vector_dim)] : 1) ||
      batching.size() != batching_places.size() || !within(offsets, gather.shape.rank()) ||
      !within(collapsed, array.rank()) || !within(batching, array.rank()) || !within(map, array.rank()) ||
      !within(batching_places, indices.rank()))
    return std::nullopt;

  GatherNumbers found;
  found.vector_dim = static_cast<int>(vector_dim);
  for (int d = 0; d < gather.shape.rank(); ++d)
    if (!offsets.contains(d)) found.places.push_back(d);
  if (found.places.size() != indices.rank() - (has_vector ? 1 : 0)) return std::nullopt;
  for (int d = 0, next = 0; d < indices.rank(); ++d)
    if (d != vector_dim && gather.shape.dims[static_cast<int>(found.places[next++])] != indices.dims[d])
      return std::nullopt;

  int next = 0;
  for (int d = 0; d < array.rank(); ++d) {
    GatherNumbers::Along& along = found.along[d];
    if (window[d] < 0 || window[d] > array.dims[d]) return std::nullopt;
    along.index = place_of(map, d);
    along.last = array.dims[d] - window[d];
    const int batch = place_of(batching, d);
    if (batch >= 0 || collapsed.contains(d)) {
      if (window[d] != 1 || (batch >= 0 && (collapsed.contains(d) || along.index >= 0))) return std::nullopt;
    } else {
      if (next == offsets.size()) return std::nullopt;
      along.offset = static_cast<int>(offsets[next++]);
      if (gather.shape.dims[along.offset] != window[d]) return std::nullopt;
    }
    if (batch < 0) continue;
    const std::int64_t of_indices = batching_places[batch];
    if (of_indices == vector_dim || indices.dims[static_cast<int>(of_indices)] != array.dims[d]) return std::nullopt;
    along.place = static_cast<int>(found.places[static_cast<int>(of_indices - (of_indices > vector_dim ? 1 : 0))]);
  }
  return next == offsets.size() ? std::optional(found) : std::nullopt;
}

}  // namespace tailor::codegen
