// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places of values. In: places of a node, a step to its operand. Out: the operand's places, how often it is computed.
// Called when facts of a graph are found, and whenever readers enter or leave a group.
//
// Method. The lowering computes a value once for each index at which it is asked for, and for each set of conditions
// under which (lower_build.h). What it asks is canonical: an index that was moved there and back is the same index.
// Here an index is a box that moves along dimensions. A slice moves it, a pad or a part of a concatenation moves it and
// cuts off what lies outside: what is left is the condition. So steps of a difference scheme meet again: of k steps
// with two neighbours each there are 2 k + 1 places, not 3 to the k. A transpose takes the dimensions in another order,
// and its way back restores it. What else happens to an index (strides, views that part or join dimensions, look-ups,
// windows) makes another one of it, which is equal only to itself: of which node, from which place.
#include "costmodel/places/places.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ir/graph/attribute_text.h"
#include "ir/graph/window_strips.h"

namespace tailor::costmodel {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpClass;

namespace {

constexpr std::int64_t vector_elements = 4;  ///< that a lane has next to one another in most plans
constexpr std::uint64_t the_rest = 1;        ///< way of those that are told apart no more

/// SplitMix64 of both: the same on every machine.
std::uint64_t mixed(std::uint64_t way, std::uint64_t more) {
  std::uint64_t x = way + 0x9e3779b97f4a7c15U * (more + 1);
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}
std::uint64_t mixed(std::uint64_t way, std::int64_t more) { return mixed(way, static_cast<std::uint64_t>(more)); }

double count(const ir::Dims& dims) {
  double all = 1;
  for (const std::int64_t extent : dims) all *= static_cast<double>(extent);
  return all;
}

/// The way with what became of the dimensions, for an index that is another from here on.
std::uint64_t with_moves(const AskedPlace& place) {
  std::uint64_t way = mixed(place.way, place.extents);
  for (const Along& one : place.along)
    way = mixed(mixed(mixed(mixed(way, std::int64_t{one.of}), one.shift), one.low), one.size);
  return way;
}

/// Of extents, but for those of 1.
std::uint64_t number_of(const ir::Dims& dims) {
  std::uint64_t number = 5;
  for (const std::int64_t extent : dims)
    if (extent != 1) number = mixed(number, extent);
  return number;
}

/// All elements, none of them moved. Dimensions of size 1 have no number.
std::vector<Along> whole(const ir::Dims& dims) {
  std::vector<Along> along;
  int number = 0;
  for (const std::int64_t extent : dims) along.push_back({extent == 1 ? -1 : number++, 0, 0, extent});
  return along;
}

/// Where dimensions of a view are those of its operand in their order, but for some of size 1: by the operand's.
std::vector<int> same_dimensions(const ir::Dims& result, const ir::Dims& operand) {
  std::vector<int> from(static_cast<std::size_t>(operand.size()), -1);
  int r = 0;
  for (int d = 0; d < operand.size(); ++d) {
    if (operand[d] == 1) continue;
    while (r < result.size() && result[r] == 1) ++r;
    if (r == result.size() || result[r] != operand[d]) return {};
    from[static_cast<std::size_t>(d)] = r++;
  }
  while (r < result.size() && result[r] == 1) ++r;
  if (r < result.size()) return {};
  return from;
}

PlaceStep moving(PlaceStep step) {
  step.kind = PlaceStep::Kind::moves;
  step.from.resize(static_cast<std::size_t>(step.operand.size()));
  std::iota(step.from.begin(), step.from.end(), 0);
  step.by.assign(step.from.size(), 0);
  return step;
}

/// Of dimensions in another order, or some of them.
PlaceStep reordered(PlaceStep step, std::vector<int> from) {
  step.by.assign(from.size(), 0);
  step.kind = PlaceStep::Kind::moves;
  step.from = std::move(from);
  return step;
}

PlaceStep anew(PlaceStep step, NodeId node, std::size_t k, double factor) {
  step.kind = PlaceStep::Kind::anew;
  step.way = mixed(mixed(std::uint64_t{3}, static_cast<std::int64_t>(ir::index(node))), static_cast<std::int64_t>(k));
  step.factor = factor;
  return step;
}

PlaceStep slice_step(PlaceStep step, const Node& node, NodeId id) {
  for (int d = 0; d < node.shape.rank(); ++d)
    if (slice_range(node, d).stride != 1) return anew(std::move(step), id, 0, 1);
  step = moving(std::move(step));
  for (int d = 0; d < node.shape.rank(); ++d) step.by[static_cast<std::size_t>(d)] = slice_range(node, d).start;
  return step;
}

PlaceStep pad_step(PlaceStep step, const Node& node, NodeId id) {
  const double part = count(step.operand) / std::max(1.0, count(step.result));
  for (int d = 0; d < node.shape.rank(); ++d)
    if (pad_range(node, d).interior != 0) return anew(std::move(step), id, 0, std::min(1.0, part));
  step = moving(std::move(step));
  step.clips = true;
  for (int d = 0; d < node.shape.rank(); ++d) step.by[static_cast<std::size_t>(d)] = -pad_range(node, d).low;
  return step;
}

PlaceStep concatenate_step(PlaceStep step, const Graph& graph, const Node& node, std::size_t k) {
  step = moving(std::move(step));
  step.clips = true;
  const int along = axis(node);
  for (std::size_t before = 0; before < k; ++before)
    step.by[static_cast<std::size_t>(along)] -= graph[node.operands[before]].shape.dims[along];
  return step;
}

PlaceStep view_step(PlaceStep step, const Node& node, const ir::Shape& source, NodeId id) {
  if (!is_row_major(node.shape) || !is_row_major(source)) return anew(std::move(step), id, 0, 1);
  if (std::vector<int> from = same_dimensions(step.result, step.operand); !from.empty() || step.operand.empty()) {
    return reordered(std::move(step), std::move(from));
  }
  const double factor = count(step.result) / std::max(1.0, count(step.operand));
  step = anew(std::move(step), id, 0, factor);
  step.kind = PlaceStep::Kind::folds;
  return step;
}

/// Elements of a broadcast that lie together and repeat one number: the lanes' vectors have it once.
PlaceStep broadcast_step(PlaceStep step, const Node& node) {
  std::vector<int> from;
  for (const std::int64_t dim : axes(node)) from.push_back(static_cast<int>(dim));
  step = reordered(std::move(step), std::move(from));
  std::int64_t together = 1;
  for (int i = 0; i < node.shape.rank(); ++i) {
    const int dim = node.shape.minor_to_major[i];
    if (axes(node).contains(dim) && step.result[dim] != 1) break;
    together *= step.result[dim];
  }
  step.at_once = static_cast<double>(std::gcd(together, vector_elements));
  return step;
}

}  // namespace

PlaceStep place_step(const Graph& graph, NodeId id, std::size_t k) {
  const Node& node = graph[id];
  const ir::Shape& source = graph[node.operands[k]].shape;
  PlaceStep step;
  step.result = node.shape.dims, step.operand = source.dims;
  const OpClass kind = class_of(node.op);
  const bool arrays = node.shape.dtype != ir::DType::tuple && source.dtype != ir::DType::tuple;
  if (!arrays || kind == OpClass::reduction || count(step.operand) <= 1) {
    step.kind = PlaceStep::Kind::once;
    return step;
  }
  if (node.op == Op::slice) return slice_step(std::move(step), node, id);
  if (node.op == Op::pad && k == 0) return pad_step(std::move(step), node, id);
  if (node.op == Op::concatenate) return concatenate_step(std::move(step), graph, node, k);
  if (node.op == Op::reshape || node.op == Op::bitcast) return view_step(std::move(step), node, source, id);
  if (node.op == Op::broadcast) return broadcast_step(std::move(step), node);
  if (node.op == Op::transpose) {
    std::vector<int> from(static_cast<std::size_t>(source.rank()));
    for (int d = 0; d < source.rank(); ++d) from[static_cast<std::size_t>(axes(node)[d])] = d;
    return reordered(std::move(step), std::move(from));
  }
  if (node.op == Op::reduce_window && k == 0)
    return anew(std::move(step), id, k, ir::cost_of(node.shape, ir::parse_window(hlo_text(node), source.rank())).reads);
  if (node.op == Op::reverse || ((node.op == Op::gather || node.op == Op::dynamic_slice) && k == 0))
    return anew(std::move(step), id, k, 1);
  step.kind = step.result == step.operand ? PlaceStep::Kind::stays : PlaceStep::Kind::once;
  return step;
}

AskedPlace own_place(double elements) { return {mixed(std::uint64_t{4}, static_cast<std::int64_t>(elements)), 1, {}}; }

double evaluations(const AskedPlace& place, double elements) {
  if (place.along.empty()) return place.times * elements;
  double all = place.times;
  for (const Along& one : place.along) all *= static_cast<double>(one.size);
  return all;
}

double evaluations(const AskedPlaces& places, double elements) {
  if (places.empty()) return elements;
  double all = 0;
  for (const AskedPlace& place : places) all += evaluations(place, elements);
  return all;
}

namespace {

/// A dimension of the result that the operand lacks: its elements ask for one each, those that are asked for
/// themselves.
void drop(const Along& one, AskedPlace& place) {
  place.times *= static_cast<double>(one.size);
  if (one.of >= 0) place.way = mixed(mixed(mixed(place.way, std::int64_t{one.of}), one.low - one.shift), one.size);
}

bool move(const PlaceStep& step, AskedPlace& place) {
  const bool is_own = place == own_place(count(step.result));  // vectors of what was moved part elsewhere
  if (place.along.empty()) place.extents = number_of(step.result);
  const std::vector<Along> before = place.along.empty() ? whole(step.result) : std::move(place.along);
  const std::vector<Along> all = whole(step.operand);
  std::vector<bool> kept(before.size(), false);
  place.along.assign(step.from.size(), {-1, 0, 0, 1});
  for (std::size_t d = 0; d < step.from.size(); ++d) {
    const std::int64_t extent = all[d].size;
    if (step.from[d] < 0 || (extent == 1 && !step.clips)) continue;  // one element, wherever it is asked for
    const auto r = static_cast<std::size_t>(step.from[d]);
    kept[r] = true;
    Along& one = place.along[d];
    one = {before[r].of, before[r].shift + step.by[d], before[r].low + step.by[d], before[r].size};
    if (!step.clips) continue;
    const std::int64_t low = std::max<std::int64_t>(0, one.low), high = std::min(extent, one.low + one.size);
    if (high <= low) return false;
    one.low = low, one.size = high - low;
  }
  for (std::size_t r = 0; r < before.size(); ++r)
    if (!kept[r]) drop(before[r], place);
  if (is_own) place.times /= step.at_once;
  if (place.along == all && place.extents == number_of(step.operand)) place.along.clear(), place.extents = 0;
  return true;
}

}  // namespace

bool go(const PlaceStep& step, AskedPlace& place) {
  using Kind = PlaceStep::Kind;
  if (step.kind == Kind::moves) return move(step, place);
  if (step.kind == Kind::once) place = own_place(count(step.operand));
  if (step.kind == Kind::anew || (step.kind == Kind::folds && !place.along.empty())) {
    const double asked = evaluations(place, count(step.result)) * step.factor;
    place = {mixed(with_moves(place), step.way), asked / std::max(1.0, count(step.operand)), {}};
  }
  return true;
}

namespace {

bool before(const AskedPlace& a, const AskedPlace& b) {
  return std::tie(a.way, a.extents, a.along, a.times) < std::tie(b.way, b.extents, b.along, b.times);
}

}  // namespace

void add_place(AskedPlaces& places, const AskedPlace& place) {
  const auto same = std::find_if(places.begin(), places.end(), [&](const AskedPlace& one) {
    return one.way == place.way && one.extents == place.extents && one.along == place.along;
  });
  if (same == places.end())
    places.push_back(place);
  else
    same->times = std::max(same->times, place.times);
}

void bound_places(AskedPlaces& places, double elements) {
  if (places.size() == 1 && places.front() == own_place(elements)) places.clear();
  if (places.size() > most_places) {
    std::stable_sort(places.begin(), places.end(), [&](const AskedPlace& a, const AskedPlace& b) {
      const double one = evaluations(a, elements), other = evaluations(b, elements);
      return one != other ? one > other : before(a, b);
    });
    double rest = 0;
    for (std::size_t i = most_places - 1; i < places.size(); ++i) rest += evaluations(places[i], elements);
    places.resize(most_places - 1);
    places.push_back({the_rest, rest / std::max(1.0, elements), {}});
  }
  std::sort(places.begin(), places.end(), before);
}

}  // namespace tailor::costmodel
