// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading a gather's or a scatter's dimension numbers and holding them against the shapes. In: a node with its
// operands' shapes. Out: GatherNumbers, or the first thing that does not fit. Called through gather_numbers.h, which
// says what the numbers mean. A list must name dimensions that exist, each once; a slice must fit the operand and be
// what the result shows of it; the dimensions of places must be as long as those of the indices.
#include "ir/graph/gather_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "ir/graph/attribute_text.h"

namespace tailor::ir {

namespace {

int place_of(const Dims& numbers, std::int64_t wanted) {
  for (int i = 0; i < numbers.size(); ++i)
    if (numbers[i] == wanted) return i;
  return -1;
}

/// What an operation calls its lists of dimension numbers.
struct Keys {
  std::string_view offsets, collapsed, batching, batching_places, map;
};
constexpr Keys of_gather{"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
                         "start_index_map"};
constexpr Keys of_scatter{"update_window_dims", "inserted_window_dims", "input_batching_dims",
                          "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};

/// The attributes as they stand, and what they are about. Of a scatter the result is its updates.
struct Text {
  const Keys& keys;
  const Shape &result, &array, &indices;
  Dims offsets, collapsed, batching, batching_places, map, window;
  std::int64_t vector_dim = 0;

  bool has_vector() const { return vector_dim < indices.rank(); }
  int places() const { return indices.rank() - (has_vector() ? 1 : 0); }
};

/// All but the window.
Text text_of(const Graph& graph, const Node& node, const Keys& keys, const Shape& result) {
  const std::string_view text = hlo_text(node);
  const Shape& indices = graph[node.operands[1]].shape;
  return {.keys = keys,
          .result = result,
          .array = graph[node.operands[0]].shape,
          .indices = indices,
          .offsets = attribute_numbers(text, keys.offsets),
          .collapsed = attribute_numbers(text, keys.collapsed),
          .batching = attribute_numbers(text, keys.batching),
          .batching_places = attribute_numbers(text, keys.batching_places),
          .map = attribute_numbers(text, keys.map),
          .window = {},
          .vector_dim = attribute_number(text, "index_vector_dim", indices.rank())};
}

Text text_of_gather(const Graph& graph, const Node& gather) {
  Text made = text_of(graph, gather, of_gather, gather.shape);
  made.window = attribute_numbers(hlo_text(gather), "slice_sizes");
  return made;
}

/// Its window is what the updates show of it.
Text text_of_scatter(const Graph& graph, const Node& scatter) {
  const Shape& updates = graph[scatter.operands[2]].shape;
  Text made = text_of(graph, scatter, of_scatter, updates);
  int next = 0;
  for (int d = 0; d < made.array.rank(); ++d) {
    const bool shown = !made.collapsed.contains(d) && !made.batching.contains(d) && next < made.offsets.size();
    const std::int64_t from = shown ? made.offsets[next++] : -1;
    made.window.push_back(from >= 0 && from < updates.rank() ? updates.dims[static_cast<int>(from)] : 1);
  }
  return made;
}

using Misfit = std::optional<GatherMisfit>;

/// Each number once and a dimension of `rank`; in order where the result's dimensions are counted by them.
Misfit misfit_of(std::string_view key, const Dims& numbers, int rank, bool ascending) {
  bool fits = true;
  for (int i = 0; i < numbers.size(); ++i) {
    fits = fits && numbers[i] >= 0 && numbers[i] < rank && place_of(numbers, numbers[i]) == i;
    fits = fits && (!ascending || i == 0 || numbers[i - 1] < numbers[i]);
  }
  if (fits) return std::nullopt;
  return GatherMisfit{fmt::format("{}={{{}}}", key, fmt::join(numbers.begin(), numbers.end(), ",")),
                      fmt::format("distinct dimensions below {}{}", rank, ascending ? ", in order" : "")};
}

Misfit misfit_of_lists(const Text& text) {
  struct List {
    std::string_view key;
    const Dims& numbers;
    int rank;
    bool ascending;
  };
  const int rank = text.array.rank();
  for (const List& list :
       {List{text.keys.offsets, text.offsets, text.result.rank(), true},
        List{text.keys.collapsed, text.collapsed, rank, true}, List{text.keys.batching, text.batching, rank, true},
        List{text.keys.map, text.map, rank, false},
        List{text.keys.batching_places, text.batching_places, text.indices.rank(), false}})
    if (Misfit misfit = misfit_of(list.key, list.numbers, list.rank, list.ascending)) return misfit;
  return std::nullopt;
}

Misfit misfit_of_counts(const Text& text) {
  const auto count = [](std::string_view key, std::int64_t found, std::int64_t expected, std::string_view why) {
    return GatherMisfit{fmt::format("{} of {} numbers", key, found), fmt::format("{}, {}", expected, why)};
  };
  if (text.vector_dim < 0 || text.vector_dim > text.indices.rank())
    return GatherMisfit{fmt::format("index_vector_dim={}", text.vector_dim),
                        fmt::format("0 to {}, the rank of the indices", text.indices.rank())};
  const std::int64_t numbers = text.has_vector() ? text.indices.dims[static_cast<int>(text.vector_dim)] : 1;
  if (text.map.size() != numbers)
    return count(text.keys.map, text.map.size(), numbers, "as many as the indices have at a place");
  if (text.batching.size() != text.batching_places.size())
    return count(text.keys.batching_places, text.batching_places.size(), text.batching.size(),
                 fmt::format("one for each of {}", text.keys.batching));
  const int slice = text.array.rank() - text.collapsed.size() - text.batching.size();
  if (text.offsets.size() != slice)
    return count(text.keys.offsets, text.offsets.size(), slice, "one for each dimension of the slice that stays");
  if (text.result.rank() != text.places() + slice)
    return GatherMisfit{fmt::format("a result of {} dimensions", text.result.rank()),
                        fmt::format("{}: {} of places and {} of slices", text.places() + slice, text.places(), slice)};
  return std::nullopt;
}

/// Reads what is known of dimension `d` of the operand; `next` counts the offset dimensions.
Misfit read_along(const Text& text, int d, int& next, GatherNumbers& found) {
  GatherNumbers::Along& along = found.along[d];
  along.index = place_of(text.map, d);
  along.last = text.array.dims[d] - text.window[d];
  const int batch = place_of(text.batching, d);
  const bool collapsed = text.collapsed.contains(d);
  if (batch < 0 && !collapsed) {
    along.offset = static_cast<int>(text.offsets[next++]);
    if (const std::int64_t shown = text.result.dims[along.offset]; shown != text.window[d])
      return GatherMisfit{fmt::format("{} along dimension {} of the result", shown, along.offset),
                          fmt::format("{}, the slice along dimension {}", text.window[d], d)};
    return std::nullopt;
  }
  if (text.window[d] != 1)
    return GatherMisfit{fmt::format("a slice of {} along dimension {}", text.window[d], d),
                        "1, where the result does not show it"};
  if (batch < 0) return std::nullopt;
  if (collapsed || along.index >= 0)
    return GatherMisfit{fmt::format("batching dimension {} in another list", d),
                        fmt::format("it in {} alone", text.keys.batching)};
  const std::int64_t place = text.batching_places[batch];
  if (place == text.vector_dim || text.indices.dims[static_cast<int>(place)] != text.array.dims[d])
    return GatherMisfit{fmt::format("dimension {} of the indices for batching dimension {}", place, d),
                        fmt::format("one of places, {} long", text.array.dims[d])};
  along.place = static_cast<int>(found.places[static_cast<int>(place - (place > text.vector_dim ? 1 : 0))]);
  return std::nullopt;
}

Misfit misfit_of_places(const Text& text, const GatherNumbers& found) {
  for (int d = 0, next = 0; d < text.indices.rank(); ++d) {
    if (d == text.vector_dim) continue;
    const int of_result = static_cast<int>(found.places[next++]);
    if (text.result.dims[of_result] != text.indices.dims[d])
      return GatherMisfit{fmt::format("{} along dimension {} of the result", text.result.dims[of_result], of_result),
                          fmt::format("{}, dimension {} of the indices", text.indices.dims[d], d)};
  }
  return std::nullopt;
}

}  // namespace

int GatherNumbers::open(int operand_rank) const {
  int count = 0;
  for (int d = 0; d < operand_rank; ++d) count += along[d].index >= 0 && along[d].last > 0;
  return count;
}

namespace {

std::variant<GatherNumbers, GatherMisfit> read_numbers(const Text& text) {
  if (Misfit misfit = misfit_of_lists(text)) return *misfit;
  if (Misfit misfit = misfit_of_counts(text)) return *misfit;
  GatherNumbers found;
  found.vector_dim = static_cast<int>(text.vector_dim);
  for (int d = 0; d < text.result.rank(); ++d)
    if (!text.offsets.contains(d)) found.places.push_back(d);
  if (Misfit misfit = misfit_of_places(text, found)) return *misfit;
  int next = 0;
  for (int d = 0; d < text.array.rank(); ++d)
    if (Misfit misfit = read_along(text, d, next, found)) return *misfit;
  return found;
}

/// Whether the region hands on its second parameter as it is.
bool hands_on_update(const Graph& graph, const Node& scatter) {
  if (scatter.bodies.size() != 1) return false;
  const Graph& region = body(graph, scatter, 0);
  if (region.outputs.size() != 1) return false;
  const Node& root = region[region.outputs[0]];
  return root.op == Op::parameter && parameter_number(root) == 1;
}

}  // namespace

std::variant<GatherNumbers, GatherMisfit> read_gather(const Graph& graph, const Node& gather) {
  return read_numbers(text_of_gather(graph, gather));
}

std::variant<GatherNumbers, GatherMisfit> read_scatter(const Graph& graph, const Node& scatter) {
  return read_numbers(text_of_scatter(graph, scatter));
}

std::variant<ScatterForm, std::string> scatter_form(const Graph& graph, const Node& scatter) {
  if (scatter.operands.size() != 3) return std::string("writes several arrays at once");
  ScatterForm form;
  form.reducer = reducer(scatter);
  if (form.reducer == Reducer::none || form.reducer == Reducer::custom) {
    if (!hands_on_update(graph, scatter)) return std::string("combines by a function of its own");
    form.reducer = Reducer::none;
  }
  form.unique = attribute(hlo_text(scatter), "unique_indices") == "true";
  auto numbers = read_scatter(graph, scatter);
  if (const auto* misfit = std::get_if<GatherMisfit>(&numbers))
    return fmt::format("has {}, expected {}", misfit->found, misfit->expected);
  form.numbers = std::get<GatherNumbers>(numbers);
  for (int d = 0; d < graph[scatter.operands[0]].shape.rank(); ++d)
    if (form.numbers.along[d].last < 0) return fmt::format("writes windows longer than dimension {}", d);
  return form;
}

GatherNumbers gather_numbers(const Graph& graph, const Node& gather) {
  return std::get<GatherNumbers>(read_gather(graph, gather));
}

}  // namespace tailor::ir
