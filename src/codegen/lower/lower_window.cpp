// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over windows of few elements: pooling, box filters, small stencils. In: a demand for an element of one; a
// group prepared for a flat loop. Out: demands for what its taps read, then the combined value; the group prepared for
// loops in strips. Called by emission (lower_emit.cpp) as for any other operation, and by prepare().
//
// A tap is demanded at its own place, under the condition that it lies inside of the array; what is computed there is
// computed for each tap, as for each piece of a concatenation. Taps that are never inside are left out, those that
// always are need no condition. Others count for nothing where they are outside: what a guard does not load is the
// neutral element of the windows over it, and zero after operations that keep zero; else a select takes them. Taps of
// one array that other elements of the thread read too are loaded once, since a load is known by where it reads.
//
// Lines. The taps that read at one place of the outermost dimension in memory are put together first, in the order of
// the window, then the lines, from the initial value on: results do not depend on the plan. What a line makes is
// remembered by where it lies, as values are.
//
// Strips. Windows of neighbouring results overlap: a box of 7 x 7 reads each element 49 times. In a loop in strips a
// thread makes several results one below the other, along the dimension that tells lines apart. It loads what these
// read once, and puts each line together once: of 8 results 14 lines of 7 in place of 56, 12 loads for a result in
// place of 49, and 14 and 7 operations in place of 49. Threads still lie side by side along what is contiguous, so
// accesses are as wide as ever. Nothing is rewritten: as in a loop over pieces (pieces.cpp) a position has several
// stores, here at neighbouring rows, and values that are equal are found in the cache because their places are.
//
// So it is with windows that a model writes as sums of slices, pads or rolls: what neighbours share is then found by
// walking down to what they load (shared_reads.h).
#include <algorithm>
#include <iterator>
#include <map>

#include "codegen/lower/lower_build.h"
#include "codegen/structure/shared_reads.h"
#include "codegen/structure/strip.h"
#include "codegen/structure/window_taps.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/reducer.h"
#include "ir/graph/window_strips.h"

namespace tailor::codegen {

namespace {

/// Bytes that all windows read which have results of this shape, so many of them one below the other.
std::int64_t bytes_of_windows(const ir::Graph& graph, const Prepared& prepared, const ir::Shape& result, int rows) {
  std::map<ir::NodeId, std::int64_t> bytes;  // by what is read
  for (const auto& [id, taps] : prepared.taps) {
    if (graph[id].shape.dims != result.dims) continue;
    const ir::Shape& source = graph[graph[id].operands[0]].shape;
    std::int64_t lines = 0;
    for (const ir::WindowStrip& one : ir::strips_of(result, ir::parse_window(hlo_text(graph[id]), result.rank())))
      if (one.results == rows) lines = one.lines;
    const std::int64_t own = std::ssize(taps.lines);
    const std::int64_t taps_read = std::ssize(taps.offsets) / own * (lines > 0 ? lines : own * rows);
    std::int64_t& most = bytes[graph[id].operands[0]];
    most = std::max(most, taps_read * element_bytes(source.dtype));
  }
  std::int64_t sum = 0;
  for (const auto& [source, own] : bytes) sum += own;
  return sum;
}

/// Results that lie in strips: so many of them along a dimension, and what an element of a strip loads.
struct StripChoice {
  std::int32_t rows = 0;
  std::int64_t loaded = 0;  ///< bytes
};

/// Loops over strips of a node's elements, where all that is stored either has them or is small enough to be stored
/// beside.
void add_loops(const ir::Graph& graph, ir::NodeId dominant, int dim, std::span<const StripChoice> choices,
               Prepared& out) {
  const ir::Shape& result = graph[dominant].shape;
  std::vector<Route> routes = find_routes(graph, out, dominant, std::span(out.stored.begin(), out.stored.end()));
  std::int64_t beside = 0;  // elements of the largest that is stored beside
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const ir::Shape& stored = graph[out.stored[i]].shape;
    routes[i].found = routes[i].found || stored.dims == result.dims;  // whatever it is computed of
    if (routes[i].found) continue;
    if (elements(stored) == out.columns) return;
    beside = std::max(beside, elements(stored));
  }
  for (const auto& [rows, loaded] : choices) {
    Prepared loop = out;
    loop.in_strips.clear();
    loop.in_pieces = nullptr;
    loop.strip = {rows, dim, result.dims[dim], strip_shape(result, dim, rows), loaded};
    loop.columns = elements(loop.strip.piece);
    if (beside > loop.columns) return;
    for (Windows& windows : loop.windows) windows.count = rows;
    loop.dominants = {dominant};
    loop.dominant_domains.assign(1, Domain{});
    loop.routes.assign(1, IndexedVector<Route>(routes));
    loop.element_code = code_of_element(graph, loop);
    out.in_strips.push_back(std::make_shared<const Prepared>(std::move(loop)));
  }
}

void add_window_loops(const ir::Graph& graph, ir::NodeId window, int dim, Prepared& out) {
  const ir::Shape& result = graph[window].shape;
  std::vector<StripChoice> choices;
  for (const auto& [rows, lines] : ir::strips_of(result, ir::parse_window(hlo_text(graph[window]), result.rank())))
    choices.push_back({rows, bytes_of_windows(graph, out, result, rows)});
  add_loops(graph, window, dim, choices, out);
}

/// Of what is stored, the nodes with as many elements as the loop goes over; none where their dimensions differ, or it
/// goes over nothing.
std::vector<ir::NodeId> results_alike(const ir::Graph& graph, const Prepared& out) {
  std::vector<ir::NodeId> results;
  if (out.columns == 0) return results;
  for (const ir::NodeId id : out.stored)
    if (elements(graph[id].shape) == out.columns) results.push_back(id);
  for (const ir::NodeId id : results)
    if (graph[id].shape.dims != graph[results.front()].shape.dims) return {};
  return results;
}

/// Where results read arrays at shifted places: along the dimension in which neighbours share most.
void add_shifted_loops(const ir::Graph& graph, Prepared& out) {
  const auto shifts = [](const ir::Node& node) {
    return node.op == ir::Op::slice || node.op == ir::Op::pad || node.op == ir::Op::concatenate;
  };
  const std::vector<ir::NodeId> results = results_alike(graph, out);
  if (results.empty() || std::none_of(graph.nodes.begin(), graph.nodes.end(), shifts)) return;
  const IndexedVector<int> side_by_side = places_side_by_side(graph, results);
  for (ir::NodeId id = 0; ir::index(id) < side_by_side.size(); ++id)
    out.slices_of[id] = std::max(out.slices_of[id], side_by_side[id]);
  const ir::Shape& shape = graph[results.front()].shape;
  std::vector<StripChoice> best;
  int best_dim = -1;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    std::vector<StripChoice> choices;
    for (const std::int32_t rows : ir::strip_lengths(shape, dim)) {
      const std::optional<SharedReads> shared = shared_reads(graph, results, dim, rows);
      if (shared && shared->overlaps) choices.push_back({rows, shared->together});
    }
    const auto each = [](const StripChoice& choice) { return static_cast<double>(choice.loaded) / choice.rows; };
    if (choices.empty() || (best_dim >= 0 && each(choices.back()) >= each(best.back()))) continue;
    best = std::move(choices);
    best_dim = dim;
  }
  if (best_dim >= 0) add_loops(graph, results.front(), best_dim, best, out);
}

}  // namespace

void prepare_strips(const ir::Graph& graph, Prepared& out) {
  if (out.skeleton != ir::Skeleton::map) return;
  for (const auto& [id, taps] : out.taps)
    if (out.in_strips.empty() && elements(graph[id].shape) == out.columns)
      add_window_loops(graph, id, taps.line_dim, out);
  if (out.in_strips.empty()) add_shifted_loops(graph, out);
}

std::optional<Demand> ProgramBuilder::in_strip(const Strip& strip, ir::ExprId position, std::int32_t number) {
  Demand result{strip_coordinates(s_.build, strip.piece, position, strip.dim, strip.rows, number)};
  ir::ExprId& at = result.coordinates[strip.dim];
  if (s_.build.pool()[at].range.high < strip.all) return result;
  if (s_.build.pool()[at].range.low >= strip.all) return std::nullopt;
  StripPlace place{s_.build.narrow(at, {0, strip.all - 1}), at, 0};
  place.exists = inside_predicate({at, 0, strip.all, ir::no_expr}, 0);
  at = place.narrow;
  result.predicate = place.exists;
  const auto same = [&](const StripPlace& known) { return known.narrow == place.narrow; };
  if (std::none_of(s_.strip_places.begin(), s_.strip_places.end(), same)) s_.strip_places.push_back(place);
  return result;
}

// A tap asks itself whether it lies inside, so it needs no result to be there; and without that it is the same tap as
// that of the result before.
Demand ProgramBuilder::of_taps(const Demand& wanted) const {
  Demand taps = wanted;
  if (wanted.predicate == 0) return taps;
  for (const StripPlace& place : s_.strip_places)
    for (int dim = 0; dim < taps.coordinates.rank; ++dim)
      if (wanted.predicate == place.exists && taps.coordinates[dim] == place.narrow) {
        taps.coordinates[dim] = place.loose;
        taps.predicate = 0;
      }
  return taps;
}

std::optional<PredicateId> ProgramBuilder::tap_predicate(ir::NodeId id, std::size_t tap, const Demand& wanted) {
  const ir::Shape& source = node_at(node_at(id).operands[0]).shape;
  const WindowTaps& taps = *taps_of(prepared_, id);
  PredicateId predicate = wanted.predicate;
  for (int dim = 0; dim < source.rank(); ++dim) {
    const Inside inside = tap_inside(s_.build, source, taps, tap, dim, wanted.coordinates);
    if (!may_hold(s_.build, inside)) return std::nullopt;
    predicate = inside_predicate(inside, predicate, true);
  }
  return predicate;
}

std::optional<Entry> ProgramBuilder::line_key(ir::NodeId id, const WindowLine& line, const Demand& wanted) {
  const ir::Shape& source = node_at(node_at(id).operands[0]).shape;
  const WindowTaps& taps = *taps_of(prepared_, id);
  const int dim = taps.line_dim;
  Entry key;
  key.coordinates = wanted.coordinates;
  key.predicate = wanted.predicate;
  if (dim < 0) return key;
  const Inside inside = tap_inside(s_.build, source, taps, line.taps[0], dim, wanted.coordinates);
  key.coordinates[dim] = guarded_place(s_.build, inside.value, source.dims[dim]);
  if (!may_hold(s_.build, inside)) return std::nullopt;
  key.predicate = inside_predicate(inside, key.predicate, true);
  return key;
}

const Entry* ProgramBuilder::find_line(ir::NodeId id, const Entry& key) const {
  for (const auto& [node, line] : s_.lines)
    if (node == id && line.predicate == key.predicate && line.coordinates == key.coordinates &&
        is_alive(line.compute, line.scope))
      return &line;
  return nullptr;
}

bool ProgramBuilder::is_first_ahead(ir::NodeId id, const Entry& key) {
  for (const auto& [node, line] : s_.lines_ahead)
    if (node == id && line.predicate == key.predicate && line.coordinates == key.coordinates) return false;
  s_.lines_ahead.emplace_back(id, key);
  return true;
}

void ProgramBuilder::demand_taps(ir::NodeId id, const Demand& of_result, bool ahead) {
  const Demand wanted = of_taps(of_result);
  const ir::Node& node = node_at(id);
  const WindowTaps& taps = *taps_of(prepared_, id);
  const ir::Shape& source = node_at(node.operands[0]).shape;
  demand(node.operands[1], {}, 0);  // one number, right under any predicate
  for (const WindowLine& line : taps.lines) {
    const std::optional<Entry> key = line_key(id, line, wanted);
    if (!key || find_line(id, *key) != nullptr) continue;
    if (ahead && !is_first_ahead(id, *key)) continue;
    for (const std::size_t tap : line.taps)
      if (const auto predicate = tap_predicate(id, tap, wanted))
        demand(node.operands[0], tap_coordinates(s_.build, source, taps, tap, wanted.coordinates), *predicate);
  }
}

Val ProgramBuilder::tap_test(ir::NodeId id, std::size_t tap, int dim, const Demand& wanted) {
  const ir::Shape& source = node_at(node_at(id).operands[0]).shape;
  const Inside inside = tap_inside(s_.build, source, *taps_of(prepared_, id), tap, dim, wanted.coordinates);
  for (const PlaceTest& known : s_.tests)
    if (known.place == inside.value && known.size == source.dims[dim] && is_alive(known.holds, known.scope))
      return known.holds;
  Val test = inside_value(inside);
  if (test.id == ir::no_value) return test;
  test = let(test.depth, name_of(id) + "_inside", ir::DType::pred, test.id);
  s_.tests.push_back({inside.value, source.dims[dim], test, s_.frames[test.depth].serial});
  return test;
}

Val ProgramBuilder::combined(ir::NodeId id, const Val& a, const Val& b) {
  ir::Value both;
  both.kind = ir::ValueKind::op;
  both.op = op_of(reducer(node_at(id)));
  both.dtype = row(node_at(id).shape.dtype).compute;
  both.operands = {a.id, b.id, ir::no_value};
  return let(std::max(a.depth, b.depth), name_of(id), both.dtype, add_value(both));
}

bool ProgramBuilder::counts_for_nothing(ir::NodeId window, Outside outside) const {
  const ir::Node& node = node_at(window);
  const ir::Neutral nothing = ir::neutral(reducer(node), node.shape.dtype);
  if (outside == Outside::zero) return nothing.real == 0 && nothing.integer == 0;
  return outside == Outside::neutral && prepared_.window_of[node.operands[0]] == reducer(node);
}

std::optional<Entry> ProgramBuilder::emit_line(ir::NodeId id, const WindowLine& line, const Demand& wanted) {
  const std::optional<Entry> key = line_key(id, line, wanted);
  if (!key) return std::nullopt;
  if (const Entry* known = find_line(id, *key)) return *known;
  Entry all = *key;
  const ir::Node& node = node_at(id);
  const WindowTaps& taps = *taps_of(prepared_, id);
  const ir::Shape& source = node_at(node.operands[0]).shape;
  const ir::DType dtype = row(node.shape.dtype).compute;
  bool are_nothing = true;
  for (const std::size_t tap : line.taps) {
    const auto predicate = tap_predicate(id, tap, wanted);
    if (!predicate) continue;
    const Coordinates at = tap_coordinates(s_.build, source, taps, tap, wanted.coordinates);
    const Entry value = find_entry(node.operands[0], at, *predicate);
    const bool is_nothing = counts_for_nothing(id, value.outside);
    are_nothing = are_nothing && is_nothing;
    if (all.compute.id == ir::no_value) all.outside = value.outside;
    Val test{ir::no_value, 0};
    for (int dim = 0; dim < source.rank() && !is_nothing; ++dim)
      if (dim != taps.line_dim) test = both_of(test, tap_test(id, tap, dim, wanted));
    if (all.compute.id == ir::no_value && test.id == ir::no_value) {
      all.compute = value.compute;
    } else if (all.compute.id == ir::no_value) {
      const ir::Neutral nothing = ir::neutral(reducer(node), node.shape.dtype);
      all.compute = choose(id, test, value.compute, number(dtype, nothing.real, nothing.integer));
    } else {
      all.compute = choose(id, test, combined(id, all.compute, value.compute), all.compute);
    }
  }
  if (all.compute.id == ir::no_value) return std::nullopt;
  if (!are_nothing) all.outside = Outside::unknown;
  all.scope = s_.frames[all.compute.depth].serial;
  if (line.taps.size() > 1) s_.lines.emplace_back(id, all);
  return all;
}

Entry ProgramBuilder::emit_window(ir::NodeId id, const Demand& of_result) {
  const Demand wanted = of_taps(of_result);
  const ir::Node& node = node_at(id);
  const WindowTaps& taps = *taps_of(prepared_, id);
  Entry all;
  all.compute = find_entry(node.operands[1], {}, 0).compute;
  for (const WindowLine& line : taps.lines)
    if (const std::optional<Entry> part = emit_line(id, line, wanted)) {
      const bool asks = taps.line_dim >= 0 && !counts_for_nothing(id, part->outside);
      const Val test = asks ? tap_test(id, line.taps[0], taps.line_dim, wanted) : Val{ir::no_value, 0};
      all.compute = choose(id, test, combined(id, all.compute, part->compute), all.compute);
    }
  return all;
}

}  // namespace tailor::codegen
