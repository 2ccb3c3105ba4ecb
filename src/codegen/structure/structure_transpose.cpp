// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the transpose skeleton recognises: groups that write in one order of memory and read, partly, in another. In: a
// group with its border. Out: the turn (turn.h), or why there is none. Called by prepare(), which asks beside the flat
// loop that such a group always has; through the table of skeletons too.
//
// Method. Each dimension of an output becomes a variable, and its coordinates are followed through operations to
// everything that is read (index_map.h). Where an output has dimensions in one that a reshape below it parts, those of
// what is reshaped become variables instead, and the output's coordinates follow from them. An address is then a sum of
// variables times strides, and the strides tell all: the variable with the smallest is the one along which neighbours
// lie together. It is the output's own for what is read straight, and another one for what is turned. Addresses that
// are no such sum, because a reshape parts dimensions otherwise, have no strides; a group that reads a large array so
// is left to the flat loop. The same output stands for all: others have its dimensions and its order.
//
// Windows. A dynamic slice reads its array wherever data says, and an update in place writes one so: the place where a
// window begins is one number for all of it, so its strides are those of the array.
//
// Runs. A tile is cut out of two runs of dimensions: written together, read together. Each begins with the fastest
// dimension of its order and takes in the next one where all accesses go on from the one to the other as if they were
// one dimension; and, while it is too short for a tile, any next one that the other run has not taken. What no run has
// is the third number, one value of which a block is at.
//
// Values. What is turned must wait in shared memory; how far it is computed before is free. A value may wait when all
// large arrays below it are turned. Of the ways to cut all turned arrays off from the outputs the one with the fewest
// bytes an element is taken, from the outputs down: a value waits itself unless what is below it is narrower. So the
// operations in front of a transpose are done as they are read, and a widening behind it is done as it is written.
//
// Runs of less than a sector of memory gain nothing from a tile: the flat loop reads sectors that it hardly uses, but
// so would the tile write them. Arrays much smaller than the output are in a cache whichever way they are read.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/indexed.h"
#include "codegen/structure/recognise.h"
#include "codegen/structure/turn.h"

namespace tailor::codegen {

using namespace ir;

namespace {

/// Strides of an address in the variables, a variable for each dimension of the dominant.
using Strides = std::vector<std::int64_t>;

/// A node at coordinates, and what it is made of.
struct Item {
  NodeId node = no_node;
  Coordinates coordinates;
  std::vector<std::size_t> operands = {};
  bool turned = false, straight = false;  ///< some large array below is read so
};

struct Reading {
  std::size_t item = 0;
  Strides strides;
};

/// From the dominant's coordinates to those of the outputs.
Coordinates upwards(IndexBuilder& build, const Graph& graph, const Turn& turn, Coordinates coordinates) {
  NodeId below = turn.dominant;
  for (const NodeId user : turn.upwards) {
    coordinates = *user_coordinates(build, graph, graph[user], below, coordinates);
    below = user;
  }
  return coordinates;
}

/// Ways from a node up to the first output over operations that keep elements one to one: the output itself, then what
/// is reshaped on its way there, for dimensions may be apart below that are one above.
std::vector<std::vector<NodeId>> candidates(const Graph& graph, const Boundary& border) {
  constexpr std::size_t most = 8;
  struct Step {
    NodeId node = no_node;
    std::size_t above = 0;  ///< the step before, up to the output's own
  };
  IndexedVector<std::uint8_t> is_inside(graph.nodes.size(), 0), seen(graph.nodes.size(), 0);
  for (const NodeId id : border.inside) is_inside[id] = 1;
  std::vector<Step> steps{{stored_node(graph, border, 0), 0}};
  seen[steps.front().node] = 1;
  const auto way_from = [&](std::size_t at) {
    std::vector<NodeId> way{steps[at].node};
    for (; at != 0; way.push_back(steps[at].node)) at = steps[at].above;
    return way;
  };
  std::vector<std::vector<NodeId>> all{way_from(0)};
  for (std::size_t i = 0; i < steps.size() && all.size() < most; ++i) {
    const Node& user = graph[steps[i].node];
    const bool reshapes = user.op == Op::reshape || user.op == Op::bitcast;
    const bool keeps = reshapes || user.op == Op::transpose || is_elementwise(user.op);
    if (is_inside[steps[i].node] == 0 || !keeps) continue;
    for (const NodeId operand : user.operands) {
      if (seen[operand] != 0 || elements(graph[operand].shape) != elements(user.shape)) continue;
      seen[operand] = 1;
      steps.push_back({operand, i});
      if (reshapes) all.push_back(way_from(steps.size() - 1));
    }
  }
  return all;
}

class TurnFinder {
 public:
  TurnFinder(const Graph& graph, const Boundary& border, const std::vector<NodeId>& upwards)
      : graph_(graph), border_(border), shape_(graph[upwards.front()].shape) {
    turn_.dominant = upwards.front();
    turn_.upwards = {upwards.begin() + 1, upwards.end()};
    is_inside_.resize(graph.nodes.size(), false);
    for (const NodeId id : border.inside) is_inside_[id] = true;
    last_.resize(graph.nodes.size());
  }

  std::variant<Turn, Rejection> find() {
    if (auto refused = walk()) return *refused;
    if (auto refused = read_strides()) return *refused;
    if (auto refused = find_runs()) return *refused;
    find_values();
    return turn_;
  }

 private:
  const Node& node(NodeId id) const { return graph_[id]; }
  std::int64_t extent(int dim) const { return shape_.dims[dim]; }

  std::size_t item_at(NodeId id, const Coordinates& coordinates) {
    for (const std::size_t known : last_[id])
      if (items_[known].coordinates == coordinates) return known;
    items_.push_back({id, coordinates});
    last_[id].push_back(items_.size() - 1);
    return items_.size() - 1;
  }

  /// From the outputs down to all that is read; operands have lower numbers than their users.
  std::optional<Rejection> walk() {
    Coordinates own;
    own.rank = shape_.rank();
    for (int d = 0; d < own.rank; ++d) own[d] = build_.var(build_.add_var({"d", VarKind::loop, extent(d), 1}));
    const Coordinates out = upwards(build_, graph_, turn_, own);
    const Shape& first = node(stored_node(graph_, border_, 0)).shape;
    for (std::size_t i = 0; i < border_.writes.size(); ++i) {
      const NodeId id = stored_node(graph_, border_, i);
      if (id != border_.writes[i] && node(border_.writes[i]).op != Op::dynamic_update_slice)
        return refuse("turn-place", fmt::format("%{} is written in place", node(border_.writes[i]).name));
      if (node(id).shape.dims != first.dims)
        return refuse("turn-outputs",
                      fmt::format("%{} {} beside {}", node(id).name, text(node(id).shape), text(first)));
      outputs_.push_back(item_at(id, out));
    }
    for (auto id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;)
      for (std::size_t k = 0; k < last_[id].size(); ++k)
        if (auto refused = step(last_[id][k])) return refused;
    return std::nullopt;
  }

  std::optional<Rejection> step(std::size_t at) {
    const NodeId id = items_[at].node;
    const Node& of = node(id);
    if (!is_inside_[id]) {
      read_.push_back(at);
      return std::nullopt;
    }
    if (of.op == Op::constant || of.op == Op::iota) return std::nullopt;
    // Wherever it begins, its neighbours lie as those of the array do. It waits in a tile as soon as the array would.
    const bool is_window = of.op == Op::dynamic_slice;
    if (!is_window && !is_passed(of))
      return refuse("turn-operation",
                    fmt::format("{} %{} reads at more than one place for an element", row(of.op).hlo, of.name));
    for (int k = 0; k < (is_window ? 1 : static_cast<int>(of.operands.size())); ++k) {
      const Coordinates own = items_[at].coordinates;
      const std::size_t operand =
          item_at(of.operands[k], is_window ? own : operand_coordinates(build_, graph_, of, k, own));
      items_[at].operands.push_back(operand);
    }
    return std::nullopt;
  }

  /// Nothing where the address is no sum of variables.
  std::optional<Strides> strides_of(std::size_t item) { return strides_in(node(items_[item].node).shape, item); }
  /// The same of a window of an array, wherever in it that lies.
  std::optional<Strides> strides_in(const Shape& array, std::size_t item) {
    const ExprId address = build_.expand(memory_index(build_, array, items_[item].coordinates));
    Strides strides(static_cast<std::size_t>(shape_.rank()), 0);
    for (const Linear& part : build_.pool().linear(address)) {
      const Term& term = build_.pool().terms[part.term];
      if (term.kind != TermKind::var) return std::nullopt;
      strides[term.var] = part.coefficient;
    }
    return strides;
  }

  std::int64_t touched(const Strides& strides) const {
    std::int64_t count = 1;
    for (int d = 0; d < shape_.rank(); ++d)
      if (strides[static_cast<std::size_t>(d)] != 0) count *= extent(d);
    return count;
  }

  /// Dimensions that the address depends on, the one with the smallest stride first.
  Dims order_of(const Strides& strides) const {
    const auto step_of = [&](std::int64_t dim) { return std::abs(strides[static_cast<std::size_t>(dim)]); };
    std::vector<std::int64_t> dims;
    for (int d = 0; d < shape_.rank(); ++d)
      if (extent(d) > 1 && step_of(d) != 0) dims.push_back(d);
    std::stable_sort(dims.begin(), dims.end(), [&](std::int64_t a, std::int64_t b) { return step_of(a) < step_of(b); });
    Dims order;
    for (const std::int64_t dim : dims) order.push_back(dim);
    return order;
  }

  Rejection refuse_reshape(std::size_t item, std::string_view what) const {
    const Node& of = node(items_[item].node);
    return refuse("turn-reshape",
                  fmt::format("%{} {} is {} in parts of its dimensions", of.name, text(of.shape), what));
  }

  std::optional<Rejection> read_strides() {
    constexpr std::int64_t large = 8;  // an eighth of the output
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const std::size_t output = outputs_[i];
      const std::optional<Strides> strides = strides_in(node(border_.writes[i]).shape, output);
      if (!strides) return refuse_reshape(output, "written");
      written_.push_back(*strides);
    }
    const std::int64_t all = elements(shape_);
    for (const Strides& strides : written_) {
      const Dims order = order_of(strides);
      if (order.size() < 2) return refuse("turn-short", "there is one dimension alone");
      if (order[0] != order_of(written_.front())[0])
        return refuse("turn-outputs", "the outputs have their neighbours along several dimensions");
    }
    const std::int64_t own = order_of(written_.front())[0];
    std::int64_t most_bits = 0;
    for (const std::size_t item : read_) {
      const Node& of = node(items_[item].node);
      if (large * elements(of.shape) < all) continue;
      const std::optional<Strides> strides = strides_of(item);
      if (!strides) return refuse_reshape(item, "read");
      const Dims order = order_of(*strides);
      const bool is_large = large * touched(*strides) >= all;
      const bool varies = (*strides)[static_cast<std::size_t>(own)] != 0;
      if (!is_large || order.size() == 0) continue;
      items_[item].turned = varies && order[0] != own;
      items_[item].straight = !items_[item].turned;
      readings_.push_back({item, *strides});
      if (!items_[item].turned) continue;
      if (from_ && order[0] != order_of(*from_)[0])
        return refuse("turn-two-ways", fmt::format("%{} {} has its neighbours along another dimension than what else "
                                                   "is turned",
                                                   of.name, text(of.shape)));
      if (!from_) from_ = *strides;
      most_bits = std::max<std::int64_t>(most_bits, row(of.shape.dtype).bits);
    }
    if (!from_) return refuse("turn-none", "what is read lies as what is written");
    read_bits_ = most_bits;
    return std::nullopt;
  }

  /// Whether all accesses go on from the one dimension to the next as if they were one.
  bool are_one(std::int64_t dim, std::int64_t next) const {
    const auto goes_on = [&](const Strides& strides) {
      return strides[static_cast<std::size_t>(next)] ==
             strides[static_cast<std::size_t>(dim)] * extent(static_cast<int>(dim));
    };
    return std::all_of(written_.begin(), written_.end(), goes_on) &&
           std::all_of(readings_.begin(), readings_.end(), [&](const Reading& one) { return goes_on(one.strides); });
  }

  /// Takes the next dimension of the order into the run; false where there is none for it.
  bool extend(TileRun& run, const TileRun& other, const Dims& order) const {
    constexpr std::int64_t tile = 64;  // elements; a longer edge gains nothing
    const int taken = run.dims.size();
    if (taken == order.size()) return false;
    const std::int64_t next = order[taken];
    if (other.dims.contains(next)) return false;
    if (!are_one(run.dims[taken - 1], next) && run.size >= tile) return false;
    run.dims.push_back(next);
    run.size *= extent(static_cast<int>(next));
    return true;
  }

  std::optional<Rejection> find_runs() {
    constexpr std::int64_t sector = 256;  // bits that memory moves at least
    const Dims out = order_of(written_.front()), in = order_of(*from_);
    turn_.written = {{out[0]}, extent(static_cast<int>(out[0]))};
    turn_.read = {{in[0]}, extent(static_cast<int>(in[0]))};
    bool grows = true;
    while (grows) {
      const bool read_first = turn_.read.size < turn_.written.size;
      grows = read_first ? extend(turn_.read, turn_.written, in) || extend(turn_.written, turn_.read, out)
                         : extend(turn_.written, turn_.read, out) || extend(turn_.read, turn_.written, in);
    }
    for (int i = 0; i < shape_.rank(); ++i) {
      const std::int64_t dim = shape_.minor_to_major[i];
      if (extent(static_cast<int>(dim)) == 1 || turn_.written.dims.contains(dim) || turn_.read.dims.contains(dim))
        continue;
      turn_.others.dims.push_back(dim);
      turn_.others.size *= extent(static_cast<int>(dim));
    }
    std::int64_t written_bits = 0;
    for (const std::size_t output : outputs_)
      written_bits = std::max<std::int64_t>(written_bits, row(node(items_[output].node).shape.dtype).bits);
    if (turn_.written.size * written_bits < sector || turn_.read.size * read_bits_ < sector)
      return refuse("turn-short", fmt::format("{} neighbours are written and {} read, less than memory moves at once",
                                              turn_.written.size, turn_.read.size));
    return std::nullopt;
  }

  std::int64_t bytes_of(const std::vector<std::size_t>& cut) const {
    std::int64_t sum = 0;
    for (const std::size_t item : cut) sum += std::max(row(node(items_[item].node).shape.dtype).bits / 8, 1);
    return sum;
  }

  void find_values() {
    std::vector<std::size_t> upwards(items_.size());  // operands before users
    for (std::size_t i = 0; i < upwards.size(); ++i) upwards[i] = i;
    std::stable_sort(upwards.begin(), upwards.end(),
                     [&](std::size_t a, std::size_t b) { return items_[a].node < items_[b].node; });
    std::vector<std::vector<std::size_t>> cuts(items_.size());
    for (const std::size_t at : upwards) {
      Item& item = items_[at];
      std::vector<std::size_t>& cut = cuts[at];
      for (const std::size_t operand : item.operands) {
        item.turned = item.turned || items_[operand].turned;
        item.straight = item.straight || items_[operand].straight;
        cut.insert(cut.end(), cuts[operand].begin(), cuts[operand].end());
      }
      std::sort(cut.begin(), cut.end());
      cut.erase(std::unique(cut.begin(), cut.end()), cut.end());
      if (!item.turned || item.straight) continue;
      const std::vector<std::size_t> alone{at};
      if (cut.empty() || bytes_of(alone) <= bytes_of(cut)) cut = alone;
    }
    for (const std::size_t output : outputs_)
      for (const std::size_t item : cuts[output]) turn_.values.push_back(items_[item].node);
    std::sort(turn_.values.begin(), turn_.values.end());
    turn_.values.erase(std::unique(turn_.values.begin(), turn_.values.end()), turn_.values.end());
  }

  const Graph& graph_;
  const Boundary& border_;
  const Shape& shape_;
  Turn turn_;
  IndexBuilder build_;
  IndexedVector<std::uint8_t> is_inside_;
  std::vector<Item> items_;
  IndexedVector<std::vector<std::size_t>> last_;  ///< items of each node
  std::vector<std::size_t> outputs_, read_;
  std::vector<Strides> written_;
  std::vector<Reading> readings_;
  std::optional<Strides> from_;  ///< of the first array that is turned
  std::int64_t read_bits_ = 0;
};

}  // namespace

bool is_passed(const Node& node) {
  if (is_elementwise(node.op)) return true;
  return node.op == Op::broadcast || node.op == Op::reshape || node.op == Op::bitcast || node.op == Op::transpose ||
         node.op == Op::slice || node.op == Op::reverse;
}

Coordinates turned_coordinates(IndexBuilder& build, const Shape& shape, const Turn& turn, ExprId written, ExprId read,
                               ExprId others) {
  Coordinates coordinates;
  coordinates.rank = shape.rank();
  for (int d = 0; d < coordinates.rank; ++d) coordinates[d] = build.constant(0);
  const auto part = [&](const TileRun& run, ExprId number) {
    for (int i = 0; i < run.dims.size(); ++i) {
      const int dim = static_cast<int>(run.dims[i]);
      const auto [rest, index] = build.divide(number, shape.dims[dim]);
      coordinates[dim] = index;
      number = rest;
    }
  };
  part(turn.written, written);
  part(turn.read, read);
  part(turn.others, others);
  return coordinates;
}

Coordinates written_coordinates(IndexBuilder& build, const Graph& graph, const Turn& turn, ExprId written, ExprId read,
                                ExprId others) {
  return upwards(build, graph, turn,
                 turned_coordinates(build, graph[turn.dominant].shape, turn, written, read, others));
}

std::variant<Turn, Rejection> find_turn(const Graph& graph, const Boundary& border) {
  for (const NodeId id : border.inside)
    if (walks_along(graph[id]) || graph[id].op == Op::scatter)
      return refuse("turn-sums", fmt::format("%{} adds up", graph[id].name));
  std::optional<Rejection> first;
  for (const std::vector<NodeId>& upwards : candidates(graph, border)) {
    auto found = TurnFinder(graph, border, upwards).find();
    const auto* refused = std::get_if<Rejection>(&found);
    if (refused == nullptr || refused->rule != "turn-reshape") {
      if (refused == nullptr || !first) return found;
      continue;
    }
    if (!first) first = *refused;
  }
  return *first;
}

std::optional<Classified> recognise_transpose(const Region& region) {
  const auto found = find_turn(region.graph, region.border);
  if (const auto* refused = std::get_if<Rejection>(&found)) {
    if (refused->rule == "turn-sums") return std::nullopt;
    return *refused;
  }
  Layout layout{Skeleton::transpose, 1, 1, {}};
  layout.columns = elements(region.graph[std::get<Turn>(found).dominant].shape);
  return layout;
}

/// A flat loop serves the group too, and a cost model tells which of both is better: nothing is doubted.
std::optional<Rejection> doubt_transpose(const Region&, const Layout&) { return std::nullopt; }

}  // namespace tailor::codegen
