// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Facts of nodes for the price of groups. In: a graph with its def-use facts. Out: per node its reads, readers, bytes,
// instructions and reach. Called once per graph that is searched, once per group that is priced alone.
//
// Method. Free nodes (reshapes, broadcasts, constants) are no nodes of the price: a reader walks through them to the
// array that lies behind, and what they do to the order of elements becomes a property of the read. A reshape of a
// row-major array keeps the order; a broadcast that repeats numbers in their order spreads a row's number over the row,
// or a column's over the column, whatever stays between their parts (ir/graph/domain.h); every other broadcast or view
// moves elements. What a slice, a pad, a reverse or a concatenate moves stays within a row of all dimensions from the
// first one on that it changes. A slice or a look-up touches as many elements as it makes. Each array counts once per
// reader, with the wildest order and the sum of what is touched.
//
// A reduction that takes the fastest dimension in memory is a row reduction where there are several rows: a block has
// its result at once. So it has that of columns where a group has no other reductions. The result of any other
// reduction, of a sort and of a scatter is there only when the whole grid has done its part. Reductions that a group
// folds into one are chains: for the last one it is noted how far the whole reaches when it begins at each step.
#include "costmodel/group_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "base/indexed.h"
#include "costmodel/work.h"
#include "ir/graph/arithmetic.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/domain.h"
#include "ir/graph/region_reduction.h"
#include "ir/graph/split_reduction.h"
#include "ir/graph/window_strips.h"
#include "ir/kernel/kernel.h"
#include "ir/rewrite/integer_work.h"
#include "ir/rewrite/packed_pairs.h"

namespace tailor::costmodel {

namespace {

using ir::Graph;
using ir::no_node;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpClass;
using ir::Role;

double size_of(const Node& node) {
  return node.shape.dtype == ir::DType::tuple ? 0 : static_cast<double>(ir::elements(node.shape));
}

double result_bytes(const Node& node) {
  if (node.shape.dtype != ir::DType::tuple) return static_cast<double>(ir::bytes(node.shape));
  double sum = 0;
  for (const ir::Shape& shape : node.results)
    if (shape.dtype != ir::DType::tuple) sum += static_cast<double>(ir::bytes(shape));
  return sum;
}

bool touches_a_part(Op op) { return op == Op::slice || op == Op::dynamic_slice || op == Op::gather; }

class Facts {
 public:
  Facts(const Graph& graph, const ir::DefUse& def_use) : graph_(graph), def_use_(def_use) {
    result_.nodes.resize(graph.nodes.size());
    result_.value_bytes.resize(graph.nodes.size(), 0);
    result_.element_bytes.resize(graph.nodes.size(), 0);
  }

  GroupFacts find() {
    mark_alive();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      result_.value_bytes[i] = result_bytes(graph_.nodes[i]);
      if (const double size = size_of(graph_.nodes[i]); size > 0)
        result_.element_bytes[i] = ir::row(graph_.nodes[i].shape.dtype).bits / 8.0;
      if (result_.nodes[i].alive) fill(static_cast<NodeId>(i));
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GroupNode& node = result_.nodes[i];
      for (std::size_t r = 0; r < node.reads.size(); ++r)
        if (const NodeId maker = node.reads[r].maker; maker != no_node)
          result_.nodes[ir::index(maker)].readers.push_back({static_cast<NodeId>(i), static_cast<std::int32_t>(r)});
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (result_.nodes[i].alive && graph_.nodes[i].op == Op::reduce) find_steps(static_cast<NodeId>(i));
    for (std::vector<NodeId>& chain : result_.chains) std::sort(chain.begin(), chain.end());
    return std::move(result_);
  }

 private:
  bool runs(NodeId id) const {
    const Role role = def_use_.roles[ir::index(id)];
    return role == Role::work || role == Role::outside;
  }

  /// What runs, and what the graph gives: outputs may be views of what is stored.
  void mark_alive() {
    std::vector<bool>& needed = needed_;
    needed.assign(graph_.nodes.size(), false);
    std::vector<bool> array(graph_.nodes.size(), false);
    for (const NodeId id : graph_.outputs) needed[ir::index(id)] = array[ir::index(id)] = true;
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const auto id = static_cast<NodeId>(i);
      const Role role = def_use_.roles[i];
      if (runs(id)) needed[i] = true;  // work that nobody reads still runs
      if (!needed[i]) continue;
      result_.nodes[i].alive = runs(id);
      result_.nodes[i].stored = array[i] && runs(id);
      for (const NodeId operand : graph_.nodes[i].operands) {
        needed[ir::index(operand)] = true;
        if (role == Role::free && array[i]) array[ir::index(operand)] = true;
      }
    }
  }

  void fill(NodeId id) {
    const Node& node = graph_[id];
    GroupNode& fact = result_.nodes[ir::index(id)];
    fact.bytes = result_.value_bytes[ir::index(id)];
    fact.elements = size_of(node.op == Op::reduce ? ir::seen_as_array(node) : node);
    find_reach(node, fact);
    find_reads(id, node, fact);
    if (def_use_.roles[ir::index(id)] == Role::work) {
      find_instructions(node, fact);
      find_pieces(node, fact);
    }
    const bool scatters = node.op == Op::scatter && node.operands.size() == 3;
    if (scatters) fact.scattered = result_bytes(graph_[node.operands[2]]);
    if (node.op == Op::dynamic_update_slice || scatters) find_place(id, node, fact);
    if (node.op == Op::transpose || node.op == Op::copy) find_turn(node, fact);
  }

  /// Runs of an array, the fastest first, and where each stands in the other array.
  struct Runs {
    std::vector<std::int64_t> extents;
    std::vector<std::size_t> places;
    std::string text() const { return fmt::format("{} {}", fmt::join(extents, ","), fmt::join(places, ",")); }
    /// As seen from the other array.
    Runs back() const {
      Runs other{extents, places};
      for (std::size_t i = 0; i < places.size(); ++i)
        other.extents[places[i]] = extents[i], other.places[places[i]] = i;
      return other;
    }
  };

  /// A loop along the result goes across the operand where the fastest run of the one is not that of the other. The way
  /// back is the same turn: one tile serves both.
  void find_turn(const Node& node, GroupNode& fact) {
    const ir::Shape& source = graph_[node.operands[0]].shape;
    if (source.dtype == ir::DType::tuple) return;
    const std::vector<int> from = ir::wide_dimensions(source);
    std::vector<int> to = ir::wide_dimensions(node.shape);
    if (node.op == Op::transpose)
      for (int& dim : to) dim = static_cast<int>(axes(node)[dim]);
    Runs runs;
    std::vector<std::size_t> at;  // in the result, of the last dimension of each run
    for (const int dim : from) {
      const auto place = static_cast<std::size_t>(std::find(to.begin(), to.end(), dim) - to.begin());
      if (!at.empty() && place == at.back() + 1) {
        runs.extents.back() *= source.dims[dim];
        at.back() = place;
        continue;
      }
      runs.extents.push_back(source.dims[dim]);
      at.push_back(place);
    }
    for (const std::size_t place : at)
      runs.places.push_back(
          static_cast<std::size_t>(std::count_if(at.begin(), at.end(), [&](std::size_t p) { return p < place; })));
    if (runs.places.size() < 2 || runs.places[0] == 0) return;
    const std::string key = std::min(runs.text(), runs.back().text());
    fact.turn = turns_.try_emplace(key, static_cast<std::int32_t>(turns_.size()) + 1).first->second;
  }

  void find_reach(const Node& node, GroupNode& fact) {
    const OpClass kind = class_of(node.op);
    if (kind == OpClass::reduction) {
      fact.reduces = true;
      fact.reduced = size_of(graph_[node.operands[0]]);
      fact.reach = ResultReach::grid;
      if (node.shape.dtype == ir::DType::tuple && node.op != Op::reduce) return;
      const Rows found = rows_of(graph_[node.operands[0]].shape, axes(node));
      if (found.count == 0) return find_columns(graph_[node.operands[0]].shape, axes(node), fact);
      fact.reach = ResultReach::row;
      fact.rows = found.count, fact.domain = found.domain;
    } else if (kind == OpClass::window || node.op == Op::scatter ||
               def_use_.roles[ir::index(id_of(node))] == Role::outside) {
      fact.reach = node.op == Op::reduce_window ? ResultReach::element : ResultReach::grid;
    }
  }

  /// The number of a domain; 0 where rows are in one piece each, below where it is one of columns.
  std::int32_t number_of(const ir::Domain& domain) {
    if (domain.is_contiguous()) return 0;
    const auto [at, fresh] = domains_.try_emplace(text(domain), static_cast<std::int32_t>(domains_.size()) + 1);
    if (fresh) pieces_.push_back(domain.fastest());
    return domain.reduces_fastest ? at->second : -at->second;
  }

  /// Lanes of a block ask for a line of columns that lie side by side, or for all there are; fewer than fill a sector
  /// are read for nothing.
  void find_columns(const ir::Shape& source, const ir::Dims& gone, GroupNode& fact) {
    constexpr std::int64_t line = 128;
    const ir::Domain domain = domain_of(source, gone);
    const std::int64_t bits = ir::row(source.dtype).bits;
    if (domain.reduces_fastest || domain.kept() <= 1 || domain.reduced() <= 1) return;
    if (domain.fastest() * bits < 8 * sector_bytes) return;
    const std::int64_t beside = std::min(domain.fastest(), std::max<std::int64_t>(8 * line / bits, 1));
    fact.bands = static_cast<double>(domain.kept()) / static_cast<double>(beside);
    fact.columns = number_of(domain);
  }

  struct Rows {
    double count = 0;  ///< 0: no rows, or the whole grid's
    std::int32_t domain = 0;
  };
  Rows rows_of(const ir::Shape& source, const ir::Dims& gone) {
    const ir::Domain domain = domain_of(source, gone);
    if (!domain.reduces_fastest || domain.kept() <= 1) return {};
    return {static_cast<double>(domain.kept()), number_of(domain)};
  }

  /// At which index the reader of a free node takes what it is made of.
  struct Order {
    ReadOrder order = ReadOrder::same;
    std::int32_t domain = 0;
    double rows = 1;
  };
  Order order_of(const Node& node) {
    if (node.op == Op::broadcast) {
      const Node& source = graph_[node.operands[0]];
      const std::optional<ir::Domain> domain = spread_domain(node, source.shape);
      if (!domain) return {ReadOrder::moved};
      if (size_of(source) == size_of(node)) return {};
      return domain->reduced() > 1 ? Order{ReadOrder::spread, number_of(*domain)} : Order{ReadOrder::moved};
    }
    if (node.op == Op::reshape || node.op == Op::bitcast) {
      const Node& source = graph_[node.operands[0]];
      const bool kept =
          source.shape.dtype != ir::DType::tuple && is_row_major(node.shape) && is_row_major(source.shape);
      return {kept || size_of(node) == 1 ? ReadOrder::same : ReadOrder::moved};
    }
    return {};
  }

  /// How many rows keep their elements where a node takes parts of its operands.
  static double rows_that_keep(const Node& node, const ir::Shape& source) {
    if (!is_row_major(node.shape) || !is_row_major(source)) return 0;
    const auto changes = [&](int d) {
      switch (node.op) {
        case Op::slice:
          return node.shape.dims[d] != source.dims[d];  // what keeps its length is all of it
        case Op::pad:
          return pad_range(node, d).low != 0 || node.shape.dims[d] != source.dims[d];
        case Op::reverse:
          return axes(node).contains(d);
        default:
          return d == axis(node);
      }
    };
    double kept = 1;
    for (int d = 0; d < node.shape.rank() && !changes(d); ++d) kept *= static_cast<double>(node.shape.dims[d]);
    return kept;
  }

  /// At which index a node takes the elements of an operand.
  Order own_order(const Node& node, std::size_t operand) const {
    if (is_elementwise(node.op) || class_of(node.op) == OpClass::reduction) return {};
    const bool moves = node.op == Op::slice || node.op == Op::reverse || node.op == Op::concatenate ||
                       (node.op == Op::pad && operand == 0);
    const double kept = moves ? rows_that_keep(node, graph_[node.operands[operand]].shape) : 0;
    return kept > 1 ? Order{ReadOrder::within, 0, kept} : Order{ReadOrder::moved};
  }

  /// One after the other. What is spread twice lies in rows where both are in one piece.
  static Order joined(const Order& a, const Order& b) {
    if (a.order == ReadOrder::spread && b.order == ReadOrder::spread && (a.domain != 0 || b.domain != 0))
      return {ReadOrder::moved};
    const Order& wilder = a.order >= b.order ? a : b;
    const Order& other = a.order >= b.order ? b : a;
    if (wilder.order != ReadOrder::within || other.order == ReadOrder::same) return wilder;
    return other.domain != 0 ? Order{ReadOrder::moved} : wilder;
  }

  /// Whether what is alive reads the node in one place only, and the graph does not give it.
  bool has_one_use(NodeId id) const {
    int uses = 0;
    for (const NodeId user : def_use_.users[ir::index(id)])
      if (needed_[ir::index(user)])
        uses += static_cast<int>(std::count(graph_[user].operands.begin(), graph_[user].operands.end(), id));
    return uses == 1 && !def_use_.stored[ir::index(id)];
  }

  void find_steps(NodeId last) {
    for (const ir::EarlierStep& step : ir::earlier_steps(graph_, last)) {
      if (def_use_.roles[ir::index(step.reduce)] != Role::work || !has_one_use(step.reduce)) return;
      for (const NodeId view : step.views)
        if (def_use_.roles[ir::index(view)] != Role::free || !has_one_use(view)) return;
      GroupStep found{step.reduce};
      if (const Rows whole = rows_of(graph_[step.source].shape, step.axes); whole.count > 0) {
        found.reach = ResultReach::row;
        found.rows = whole.count, found.domain = whole.domain;
      }
      result_.nodes[ir::index(last)].steps.push_back(found);
      join_chains(step.reduce, last);
    }
  }

  /// The members of a node's chain, a new one of itself where it has none.
  std::vector<NodeId>& chain_of(NodeId id) {
    std::int32_t& chain = result_.nodes[ir::index(id)].chain;
    if (chain < 0) {
      chain = static_cast<std::int32_t>(result_.chains.size());
      result_.chains.push_back({id});
    }
    return result_.chains[static_cast<std::size_t>(chain)];
  }

  void join_chains(NodeId earlier, NodeId later) {
    chain_of(earlier), chain_of(later);
    const std::int32_t from = result_.nodes[ir::index(earlier)].chain, into = result_.nodes[ir::index(later)].chain;
    if (from == into) return;
    std::vector<NodeId> members = std::move(result_.chains[static_cast<std::size_t>(from)]);
    result_.chains[static_cast<std::size_t>(from)].clear();
    for (const NodeId id : members) {
      result_.nodes[ir::index(id)].chain = into;
      result_.chains[static_cast<std::size_t>(into)].push_back(id);
    }
  }

  NodeId id_of(const Node& node) const { return static_cast<NodeId>(&node - graph_.nodes.data()); }

  /// The wildest of both.
  static void read_another_way(GroupRead& read, const Order& other) {
    if (read.order == ReadOrder::spread && other.order == ReadOrder::spread && read.domain != other.domain)
      read.order = ReadOrder::moved;
    else if (read.order == ReadOrder::within && other.order == ReadOrder::within)
      read.rows =
          static_cast<double>(std::gcd(static_cast<std::int64_t>(read.rows), static_cast<std::int64_t>(other.rows)));
    else if (other.order > read.order)
      read.order = other.order, read.domain = other.domain, read.rows = other.rows;
  }

  struct Step {
    NodeId id;
    Order order;
    double factor;  ///< elements of the read over those of the array, by broadcasts on the way
    std::vector<std::int32_t> way{};
  };

  /// Appends the step to an operand, where it changes an index.
  void go_on(std::vector<std::int32_t>& way, NodeId node, std::size_t operand) {
    const auto [at, fresh] = steps_.try_emplace({node, operand}, no_step);
    if (fresh)
      if (PlaceStep step = place_step(graph_, node, operand); step.kind != PlaceStep::Kind::stays) {
        at->second = static_cast<std::int32_t>(result_.steps.size());
        result_.steps.push_back(std::move(step));
      }
    if (at->second != no_step) way.push_back(at->second);
  }

  /// Each way once; those that all stay are not told.
  static void add_way(GroupRead& read, bool fresh, std::vector<std::int32_t> way) {
    if (way.empty() && (fresh || read.ways.empty())) return;
    if (read.ways.empty() && !fresh) read.ways.emplace_back();
    if (std::find(read.ways.begin(), read.ways.end(), way) == read.ways.end()) read.ways.push_back(std::move(way));
  }

  void find_reads(NodeId id, const Node& node, GroupNode& fact) {
    std::map<NodeId, std::size_t> known;
    for (std::size_t o = 0; o < node.operands.size(); ++o) {
      const bool part = touches_a_part(node.op) && o == 0;
      const double taps = node.op == Op::reduce_window && o == 0 ? window_cost(node).reads : 0;
      const double whole = taps > 0 ? size_of(graph_[node.operands[0]]) : 0;
      std::vector<Step> pending{
          {node.operands[o], own_order(node, o), whole > 0 ? std::max(1.0, size_of(node) * taps / whole) : 1, {}}};
      go_on(pending.front().way, id, o);
      for (std::size_t p = 0; p < pending.size(); ++p) {
        const Step step = std::move(pending[p]);
        const Node& from = graph_[step.id];
        const Role role = def_use_.roles[ir::index(step.id)];
        const bool element = from.op == Op::get_tuple_element && role == Role::free;
        if (role == Role::free && !element) {
          const Order order = joined(step.order, order_of(from));
          for (std::size_t k = 0; k < from.operands.size() && pending.size() < most_pending; ++k) {
            const double source = size_of(graph_[from.operands[k]]);
            const double factor = from.op == Op::broadcast && source > 0 ? size_of(from) / source : 1;
            pending.push_back({from.operands[k], order, step.factor * factor, step.way});
            go_on(pending.back().way, step.id, k);
          }
          continue;
        }
        NodeId maker = step.id;
        while (def_use_.roles[ir::index(maker)] == Role::free && !graph_[maker].operands.empty())
          maker = graph_[maker].operands[0];
        if (!runs(maker)) maker = no_node;
        if (maker == id) continue;
        const double all = result_bytes(from);
        if (all == 0 && maker == no_node) continue;
        const auto [at, fresh] = known.try_emplace(step.id, fact.reads.size());
        if (fresh) fact.reads.push_back({step.id, maker});
        GroupRead& read = fact.reads[at->second];
        const double touched = part ? std::min(all, size_of(node) * (all / std::max(1.0, size_of(from)))) : all;
        read.bytes = std::min(all, read.bytes + touched);
        read.whole = read.whole || touched >= all;
        read.is_part = read.is_part || part;
        if (fresh)
          read.order = step.order.order, read.domain = step.order.domain, read.rows = step.order.rows;
        else
          read_another_way(read, step.order);
        if (maker != no_node) add_way(read, fresh, step.way);
        if (taps > 0) read.spread = spread_of(id);
        if (taps > 0 && step.order.order == ReadOrder::moved && size_of(from) > 1)
          read.taps = std::max(read.taps, step.factor);
      }
    }
  }

  /// What slices of a reduction over windows ask for, over what they would if each result asked for as large a part of
  /// the array; 1 where somebody takes all.
  double spread_of(NodeId id) const {
    const Node& node = graph_[id];
    const ir::Shape& array = graph_[node.operands[0]].shape;
    const auto window = ir::parse_window(hlo_text(node), array.rank());
    double least = 0;
    for (const NodeId user : def_use_.users[ir::index(id)]) {
      double spread = 1;
      if (const auto* slice = std::get_if<ir::SliceRanges>(&graph_[user].attributes))
        for (int d = 0; d < array.rank(); ++d) {
          const std::int64_t taken = std::max<std::int64_t>(graph_[user].shape.dims[d], 1);
          const std::int64_t apart = std::min(slice->ranges[d].stride * window[d].stride, window[d].size);
          const std::int64_t asked = std::min(array.dims[d], (taken - 1) * apart + window[d].size);
          spread *= static_cast<double>(asked) / static_cast<double>(std::max<std::int64_t>(array.dims[d], 1)) *
                    static_cast<double>(node.shape.dims[d]) / static_cast<double>(taken);
        }
      least = least == 0 ? spread : std::min(least, spread);
    }
    return least == 0 ? 1 : least;
  }

  ir::WindowCost window_cost(const Node& node) const {
    return ir::cost_of(node.shape, ir::parse_window(hlo_text(node), graph_[node.operands[0]].shape.rank()));
  }

  /// Of a reduction that kernels do on pairs as integers (ir/rewrite/packed_pairs.h).
  std::optional<int> packed_instructions(const Node& node) const {
    if (ir::reduced_count(node) != 2 || node.bodies.empty()) return std::nullopt;
    const std::optional<ir::FirstOfPairs> order = ir::first_of_pairs(body(graph_, node, 0));
    const std::optional<ir::DType> packed =
        order ? ir::packed_type(graph_[node.operands[0]].shape.dtype, *order) : std::nullopt;
    return packed ? std::optional(ir::packed_instructions(*packed)) : std::nullopt;
  }

  void find_instructions(const Node& node, GroupNode& fact) const {
    const auto add = [&](Op op, ir::DType dtype, double times) {
      const ir::Computed& row = ir::computed(op, dtype, ir::Arithmetic::xla);  // as plans compute it
      if (dtype == ir::DType::f64) {
        fact.f64 += times * (row.fma + row.alu + row.xu);
        return;
      }
      fact.fma += times * row.fma;
      fact.alu += times * row.alu;
      fact.xu += times * row.xu;
    };
    if (class_of(node.op) == OpClass::elementwise && node.op != Op::convert) {
      const std::optional<ir::IntegerWork> each = ir::integer_work(graph_, node);
      // Elements that one number divides share its reciprocal, which two products take.
      const bool shares =
          node.op == Op::divide && graph_[node.operands[1]].op == Op::broadcast && ir::has_classes(node.shape.dtype);
      if (!each) add(shares ? Op::multiply : node.op, node.shape.dtype, size_of(node) * (shares ? 2 : 1));
      fact.fma += each ? each->fma * size_of(node) : 0;
      fact.alu += each ? each->alu * size_of(node) : 0;
    }
    if (node.op == Op::reduce_window && node.operands.size() == 2 && ir::reducer(node) != ir::Reducer::none &&
        ir::reducer(node) != ir::Reducer::custom)
      add(ir::op_of(ir::reducer(node)), node.shape.dtype, size_of(node) * window_cost(node).operations);
    // Whether an element lies inside, or in which array, and the choice that follows.
    if (node.op == Op::pad) fact.alu += 2 * size_of(node);
    if (node.op == Op::concatenate)
      fact.alu += 2 * size_of(node) * std::ceil(std::log2(static_cast<double>(node.operands.size())));
    const auto add_lines = [&](double times) {
      if (node.bodies.empty()) return;
      for (const Node& line : body(graph_, node, 0).nodes)
        if (class_of(line.op) == OpClass::elementwise && line.op != Op::convert) add(line.op, line.shape.dtype, times);
    };
    if (node.op == Op::map) add_lines(size_of(node));
    if (node.op != Op::reduce || node.operands.empty()) return;
    const ir::Reducer reducer = ir::reducer(node);
    const Node& operand = graph_[node.operands[0]];
    if (!ir::runs_region(node))
      add(ir::op_of(reducer), operand.shape.dtype, size_of(operand));
    else if (const std::optional<int> packed = packed_instructions(node))
      fact.alu += size_of(operand) * *packed;
    else
      add_lines(size_of(operand));
  }

  /// Times that lanes ask for elements in pieces so long: a whole number of vectors fills each.
  static double accesses(const ir::Shape& shape, std::int64_t piece) {
    const std::int64_t widest = std::max<std::int64_t>(1, 8 * ir::access_bytes / ir::row(shape.dtype).bits);
    return static_cast<double>(ir::elements(shape)) / static_cast<double>(std::gcd(piece, widest));
  }

  /// What lanes ask for piece by piece: rows that do not lie in one, and arrays that follow one another.
  void find_pieces(const Node& node, GroupNode& fact) const {
    if (node.op == Op::concatenate) {
      find_choices(node, fact);
    } else if (fact.reach == ResultReach::row && fact.domain != 0) {
      fact.pieces = accesses(graph_[node.operands[0]].shape, piece_of(fact.domain));
    } else if (is_elementwise(node.op)) {
      for (const GroupRead& read : fact.reads)
        if (read.order == ReadOrder::spread && read.domain > 0)
          fact.pieces = std::max(fact.pieces, accesses(node.shape, piece_of(read.domain)));
    }
  }

  void find_choices(const Node& node, GroupNode& fact) const {
    constexpr double warp = 32;  // lanes that CUDA runs together on every GPU so far
    if (!is_row_major(node.shape) || fact.elements == 0) return;
    const int along = axis(node);
    const std::int64_t inner = strides(node.shape)[along];
    std::int64_t piece = 0;
    for (const NodeId operand : node.operands) piece = std::gcd(piece, graph_[operand].shape.dims[along] * inner);
    const auto arrays = static_cast<double>(node.operands.size());
    const double mean = static_cast<double>(node.shape.dims[along] * inner) / arrays;
    fact.chosen = accesses(node.shape, piece);
    fact.choices = fact.chosen * std::ceil(std::log2(arrays));
    fact.others = fact.chosen * std::min(arrays - 1, warp * fact.elements / fact.chosen / mean);
  }
  std::int64_t piece_of(std::int32_t domain) const { return pieces_[static_cast<std::size_t>(domain) - 1]; }

  /// Whether an update may be written over the array that it changes: nobody else reads that array but for what is
  /// updated there, and it is nobody's input, or one that the graph gives up for this output.
  void find_place(NodeId id, const Node& node, GroupNode& fact) {
    const NodeId from = node.operands[0];
    const Node& array = graph_[from];
    std::vector<NodeId> windows;
    for (const NodeId user : def_use_.users[ir::index(from)])
      if (user != id) windows.push_back(user);
    const bool is_alone = std::all_of(windows.begin(), windows.end(),
                                      [&](NodeId user) { return ir::is_updated_itself(graph_, def_use_, user, id); });
    if (!is_alone || def_use_.stored[ir::index(from)] || array.shape != node.shape ||
        std::count(node.operands.begin(), node.operands.end(), from) != 1 || array.op == Op::constant)
      return;
    if (array.op == Op::parameter) {
      if (std::none_of(graph_.in_place.begin(), graph_.in_place.end(), [&](const ir::InPlace& pair) {
            return pair.parameter == parameter_number(array) && graph_.outputs[ir::index(pair.output)] == id;
          }))
        return;
    } else if (array.op == Op::get_tuple_element) {
      for (const NodeId other : def_use_.users[ir::index(array.operands[0])])
        if (other != from &&
            (graph_[other].op != Op::get_tuple_element || tuple_index(graph_[other]) == tuple_index(array)))
          return;
    } else if (class_of(array.op) == OpClass::structure || def_use_.roles[ir::index(from)] == Role::free) {
      return;
    }
    for (std::size_t r = 0; r < fact.reads.size(); ++r)
      if (fact.reads[r].value == from) fact.placed = static_cast<std::int32_t>(r);
    fact.placed_bytes = result_bytes(graph_[node.operands[node.op == Op::scatter ? 2 : 1]]);
    for (const NodeId window : windows) result_.nodes[ir::index(window)].updates = id;
    fact.windows = std::move(windows);
  }

  static constexpr std::size_t most_pending = 4096;  ///< free nodes behind one operand that are looked through

  const Graph& graph_;
  const ir::DefUse& def_use_;
  std::map<std::string, std::int32_t> turns_;    ///< numbers of ways to turn, by text
  std::map<std::string, std::int32_t> domains_;  ///< numbers of columns and of rows in several pieces, by text
  std::vector<std::int64_t> pieces_;             ///< of these, elements of a piece; that of number 1 first
  std::map<std::pair<NodeId, std::size_t>, std::int32_t> steps_;  ///< by node and operand
  static constexpr std::int32_t no_step = -1;
  std::vector<bool> needed_;
  GroupFacts result_;
};

}  // namespace

GroupFacts group_facts(const ir::Graph& graph, const ir::DefUse& def_use) { return Facts(graph, def_use).find(); }

}  // namespace tailor::costmodel
