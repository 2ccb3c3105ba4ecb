// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The lowering of tiles that are turned. In: a group whose turn is known (structure/turn.h), a plan, limits. Out: the
// kernel's statements. Called by lower_phases() for plans of the skeleton `transpose`.
//
// A tile is W x R elements: W along what is written together, R along what is read together, at one value of the other
// dimensions. A block goes over it twice. First it computes the values that have to change order, each thread vectors
// along R, and puts them into shared memory; then, behind a barrier, it computes the outputs, each thread vectors along
// W, and finds those values there. Everything else, straight inputs among it, is read and computed the second time. All
// that both walks read is asked for in front of the first.
//
// Who has what. Both walks number the vectors of a tile and deal them out to threads, a block's threads apart from one
// turn to the next. The second walk counts along W first: plan.threads_per_row lanes side by side, so W is that times
// the vector, and R is how far the other threads and the turns (plan.unroll) reach. The first walk counts along R
// first, but only so far that a warp's lanes have as many rows as a vector has elements: then both walks meet different
// banks. Numbers of vectors are in mixed radix with powers of two for digits; each digit is a part of the thread's
// number or a loop, so every position is a sum.
//
// Shared memory. Elements that lie together along W lie together there too, so the second walk reads its vectors in
// pieces; a step along R is a row of the array, which has an odd number of pieces. A piece is what a bank holds, 4
// bytes: of narrower types several elements. The first walk has vectors along R, so a thread takes as many rows as a
// piece has elements and puts pieces together in registers. With `v` elements to a vector, a lane's step in the first
// walk is v rows of the array and its neighbour's in the second v elements: with an odd row length a warp of 32 / v by
// v meets each bank once either way.
//
// Runs that are no multiple of the tile are cut off by guards on vectors and pieces; vectors divide both runs.
#include "codegen/lower/lower_turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tailor::codegen {

namespace {

/// What a bank of shared memory serves at once, and a register holds.
constexpr int piece_bytes = 4;

/// A value that goes through the tile, and where it stands in both walks.
struct Turned {
  ir::NodeId node = ir::no_node;
  Coordinates first, second;
  ir::ArrayId array = ir::no_id;
  std::int64_t pitch = 1;  ///< elements from one row of the array to the next
};

/// A number of vectors in mixed radix: digits of the thread and of a walk's loops, ascending.
struct Digit {
  std::int64_t place = 1, extent = 1;
  ir::VarId var = 0;
};

/// One of the two walks.
struct Walk {
  std::vector<Digit> digits;
  Segment segment;
  std::int64_t rows = 1;  ///< elements of a piece, one after the other
  ir::VarId row = 0;      ///< the loop over them, where there are several
};

int bytes_of(const ir::Graph& graph, ir::NodeId id) { return std::max(row(graph[id].shape.dtype).bits / 8, 1); }

class TileLowering {
 public:
  TileLowering(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits)
      : builder_(builder),
        build_(builder.build()),
        graph_(builder.graph()),
        prepared_(prepared),
        turn_(*prepared.turn),
        plan_(plan),
        tile_(tile_of(turn_, plan)) {
    piece_ = std::min(plan.vector, plan.unroll);
    for (const ir::NodeId id : turn_.values)
      piece_ = std::min<std::int64_t>(piece_, std::max(piece_bytes / bytes_of(graph_, id), 1));
    std::int64_t pieces = 1;  // that the widest element takes
    for (const ir::NodeId id : turn_.values)
      pieces = std::max<std::int64_t>(pieces, bytes_of(graph_, id) / piece_bytes);
    const std::int64_t vectors = tile_.read / plan.vector;
    lanes_ = std::min<std::int64_t>(vectors, std::max<std::int64_t>(limits.warp_size / (plan.vector * pieces), 1));
  }

  void lower() {
    add_variables();
    find_turned();
    for (Turned& one : turned_) add_array(one);
    load_first();
    load_second();
    builder_.issue(0);
    fill_tiles();
    builder_.put_barrier();
    write();
    if (plan_.grid == ir::GridShape::persistent) builder_.put_barrier();  // the next tile is filled again
  }

 private:
  // ---- variables and positions

  void add_variables() {
    builder_.kernel().virtual_blocks = tile_.all;
    const auto block = [&](const char* name, std::int64_t extent, std::int64_t place) {
      return build_.var(build_.add_var({name, ir::VarKind::block, extent, place}));
    };
    const ir::ExprId across = block("ta", tile_.across, 1), down = block("tb", tile_.down, tile_.across),
                     others = block("to", turn_.others.size, tile_.across * tile_.down);
    const std::int64_t pieces = tile_.written / piece_, vector = plan_.vector;
    // Digits of the thread end where either walk needs them to.
    std::vector<std::int64_t> ends{plan_.threads_per_row, lanes_, lanes_ * pieces, plan_.threads};
    std::sort(ends.begin(), ends.end());
    std::vector<Digit> threads;
    for (std::int64_t place = 1; const std::int64_t end : ends) {
      if (end <= place || end > plan_.threads) continue;
      const std::string name = fmt::format("t{}", threads.size());
      threads.push_back({place, end / place, build_.add_var({name, ir::VarKind::thread, end / place, place})});
      place = end;
    }
    first_.rows = piece_;
    if (piece_ > 1) first_.row = build_.add_var({"q", ir::VarKind::loop, piece_, 1});
    make_walk(first_, threads, "u", plan_.unroll / piece_, lanes_ * pieces);
    make_walk(second_, threads, "w", plan_.unroll, plan_.unroll * plan_.threads);
    first_.segment.number = 1;

    // The first walk: vectors along what is read, then pieces along what is written, then vectors further on.
    const ir::ExprId low = part(first_, 1, lanes_), high = part(first_, lanes_ * pieces, plan_.threads * plan_.unroll);
    ir::ExprId number = build_.add_scaled(low, high, lanes_);
    number = build_.add_scaled(number, down, tile_.read / vector);
    ir::ExprId piece = build_.add_scaled(part(first_, lanes_, lanes_ * pieces), across, pieces);
    slot_read_ = build_.scale(build_.add_scaled(low, high, lanes_), vector);
    slot_piece_ = build_.scale(part(first_, lanes_, lanes_ * pieces), piece_);
    exists(first_.segment, number, turn_.read.size / vector, tile_.read / vector * tile_.down);
    exists(first_.segment, piece, turn_.written.size / piece_, pieces * tile_.across);
    const ir::ExprId row = piece_ > 1 ? build_.var(first_.row) : build_.constant(0);
    at_first_ = written_coordinates(build_, graph_, turn_, build_.add(build_.scale(piece, piece_), row),
                                    in_elements(first_, number), others);

    // The second: vectors along what is written, then along what is read.
    const ir::ExprId lane = part(second_, 1, plan_.threads_per_row),
                     rest = part(second_, plan_.threads_per_row, plan_.threads * plan_.unroll);
    number = build_.add_scaled(lane, across, plan_.threads_per_row);
    ir::ExprId along = build_.add_scaled(rest, down, tile_.read);
    slot_lane_ = build_.scale(lane, vector);
    slot_rest_ = rest;
    exists(second_.segment, number, turn_.written.size / vector, plan_.threads_per_row * tile_.across);
    exists(second_.segment, along, turn_.read.size, tile_.read * tile_.down);
    at_second_ = written_coordinates(build_, graph_, turn_, in_elements(second_, number), along, others);
  }

  /// The loops of a walk over so many turns, parted where a digit ends, and the variable of a vector's elements.
  void make_walk(Walk& walk, const std::vector<Digit>& threads, const char* name, std::int64_t turns,
                 std::int64_t end) {
    walk.digits = threads;
    const std::int64_t low = std::clamp<std::int64_t>(end / plan_.threads, 1, turns);
    walk.segment.section_trips = walk.segment.trip_count = turns;
    std::int64_t place = 1;
    for (const std::int64_t extent : {low, turns / low}) {
      if (extent == 1) continue;
      const ir::VarId var =
          build_.add_var({fmt::format("{}{}", name, place == 1 ? "" : "h"), ir::VarKind::loop, extent, 1});
      walk.digits.push_back({plan_.threads * place, extent, var});
      walk.segment.section_trip = build_.add_scaled(walk.segment.section_trip, build_.var(var), place);
      walk.segment.trips[walk.segment.trip_loops] = var;
      walk.segment.unrolled[walk.segment.trip_loops++] = true;
      place *= extent;
    }
    walk.segment.trip = walk.segment.section_trip;
    walk.segment.vector = plan_.vector;
    if (plan_.vector > 1)
      walk.segment.element = build_.add_var({fmt::format("{}e", name), ir::VarKind::loop, plan_.vector, 1});
  }

  /// (number / from) % (to / from).
  ir::ExprId part(const Walk& walk, std::int64_t from, std::int64_t to) {
    ir::ExprId sum = build_.constant(0);
    for (const Digit& digit : walk.digits)
      if (digit.place >= from && digit.place < to)
        sum = build_.add_scaled(sum, build_.var(digit.var), digit.place / from);
    return sum;
  }

  /// The position is cut to what exists, where tiles reach further.
  void exists(Segment& segment, ir::ExprId& position, std::int64_t count, std::int64_t covered) {
    if (count == covered) return;
    segment.guards[segment.guard_count++] = {position, build_.constant(count), false};
    position = build_.narrow(position, {0, count - 1});
  }

  ir::ExprId in_elements(const Walk& walk, ir::ExprId number) {
    if (plan_.vector == 1) return number;
    return build_.add(build_.scale(number, plan_.vector), build_.var(walk.segment.element));
  }

  // ---- values

  /// From the outputs down to the values that go through tiles, at the places of both walks together.
  void find_turned() {
    std::vector<std::vector<Turned>> asked(graph_.nodes.size());
    const auto ask = [&](ir::NodeId id, const Coordinates& first, const Coordinates& second) {
      std::vector<Turned>& list = asked[static_cast<std::size_t>(id)];
      const bool known = std::any_of(list.begin(), list.end(), [&](const Turned& other) {
        return other.first == first && other.second == second;
      });
      if (!known) list.push_back({id, first, second});
    };
    for (const ir::NodeId id : prepared_.stored) ask(id, at_first_, at_second_);
    for (auto id = static_cast<ir::NodeId>(graph_.nodes.size()); id-- > 0;) {
      const ir::Node& node = graph_[id];
      const std::vector<Turned> list = asked[static_cast<std::size_t>(id)];
      if (std::binary_search(turn_.values.begin(), turn_.values.end(), id)) {
        turned_.insert(turned_.end(), list.begin(), list.end());
        continue;
      }
      if (!is_passed(node)) continue;
      for (const Turned& one : list)
        for (int k = 0; k < static_cast<int>(node.operands.size()); ++k)
          ask(node.operands[static_cast<std::size_t>(k)], operand_coordinates(build_, graph_, node, k, one.first),
              operand_coordinates(build_, graph_, node, k, one.second));
    }
  }

  void add_array(Turned& one) {
    one.pitch = piece_ * (tile_.written / piece_ | 1);
    one.array =
        builder_.add_shared(builder_.name_of(one.node) + "_tile", graph_[one.node].shape.dtype, one.pitch * tile_.read);
    Kept kept{one.node, one.second, 0, second_.segment.number};
    kept.array = one.array;
    kept.in_shared = true;
    kept.width = static_cast<int>(piece_);
    kept.slot = build_.add_scaled(slot_lane_, slot_rest_, one.pitch);
    builder_.add_kept(kept);
  }

  // ---- statements

  void enter(const Walk& walk) {
    builder_.in_flight_rows = static_cast<int>(walk.rows);
    builder_.row_in_flight = walk.rows > 1 ? build_.var(walk.row) : build_.constant(0);
    builder_.enter_segment(&walk.segment);
  }
  void leave() {
    builder_.in_flight_rows = 1;
    builder_.row_in_flight = build_.constant(0);
    builder_.enter_segment(nullptr);
  }

  /// The loops over turns and the guards of what exists: those that ask the same in all turns stand outside.
  void open_turns(const Walk& walk) {
    const auto [same, each] = guards_of(walk);
    if (!same.empty()) builder_.open_guard(same);
    for (int i = walk.segment.trip_loops; i-- > 0;) builder_.open_loop(walk.segment.trips[i], true);
    if (!each.empty()) builder_.open_guard(each);
  }
  void close_turns(const Walk& walk) {
    const auto [same, each] = guards_of(walk);
    if (!each.empty()) builder_.close();
    for (int i = 0; i < walk.segment.trip_loops; ++i) builder_.close();
    if (!same.empty()) builder_.close();
  }
  std::pair<std::vector<ir::Condition>, std::vector<ir::Condition>> guards_of(const Walk& walk) {
    std::pair<std::vector<ir::Condition>, std::vector<ir::Condition>> guards;
    const ir::VarSet turns = build_.pool()[walk.segment.section_trip].vars;
    for (const ir::Condition& one : prefix(walk.segment.guards, walk.segment.guard_count))
      (build_.pool()[one.a].vars.overlaps(turns) ? guards.second : guards.first).push_back(one);
    return guards;
  }
  /// Those over the rows of a piece and the elements of a vector.
  void open_elements(const Walk& walk) {
    if (walk.rows > 1) builder_.open_loop(walk.row, true);
    if (plan_.vector > 1) builder_.open_loop(walk.segment.element, true);
  }
  void close_elements(const Walk& walk) {
    if (plan_.vector > 1) builder_.close();
    if (walk.rows > 1) builder_.close();
  }

  ProgramBuilder::Flight flight(Stay stay) const {
    ProgramBuilder::Flight flight;
    flight.all = true;
    flight.stay = stay;
    return flight;
  }

  void load_first() {
    enter(first_);
    open_turns(first_);
    open_elements(first_);
    for (const Turned& one : turned_) builder_.load_ahead(one.node, one.first, flight(Stay::section));
    close_elements(first_);
    close_turns(first_);
    leave();
  }

  void load_second() {
    enter(second_);
    open_turns(second_);
    open_elements(second_);
    for (const ir::NodeId id : prepared_.stored) builder_.load_ahead(id, at_second_, flight(Stay::phase));
    close_elements(second_);
    close_turns(second_);
    leave();
  }

  void fill_tiles() {
    enter(first_);
    open_turns(first_);
    const int outside = builder_.depth();
    std::vector<ir::Ref> pieces;
    for (const Turned& one : turned_) {
      ir::Array array{builder_.name_of(one.node) + "_pieces",
                      ir::Space::registers,
                      graph_[one.node].shape.dtype,
                      {0, 0},
                      static_cast<int>(piece_)};
      if (plan_.vector > 1) array.dims[0] = plan_.vector;
      ir::Ref& ref = pieces.emplace_back();
      ref.array = builder_.add_array(std::move(array));
      builder_.declare(outside, ref.array);
    }
    open_elements(first_);
    for (std::size_t i = 0; i < turned_.size() && !builder_.refusal(); ++i) {
      if (!plan_.value_cache) builder_.forget_values();
      ir::Ref target = pieces[i];
      if (plan_.vector > 1) target.subs[0] = build_.var(first_.segment.element);
      if (piece_ > 1) target.lane = build_.var(first_.row);
      builder_.put_value(turned_[i].node, turned_[i].first, target);
    }
    close_elements(first_);
    for (std::size_t i = 0; i < turned_.size(); ++i)
      for (int e = 0; e < plan_.vector; ++e) {
        ir::Ref source = pieces[i];
        if (plan_.vector > 1) source.subs[0] = build_.constant(e);
        const ir::ExprId slot = build_.add_scaled(slot_piece_, build_.add_constant(slot_read_, e), turned_[i].pitch);
        builder_.store_pieces(outside, false, source, ir::Space::shared, turned_[i].array, slot,
                              static_cast<int>(piece_), static_cast<int>(piece_));
      }
    close_turns(first_);
    builder_.land(Stay::section);
    leave();
  }

  void write() {
    enter(second_);
    open_turns(second_);
    open_elements(second_);
    for (std::size_t i = 0; i < prepared_.stored.size() && !builder_.refusal(); ++i) {
      if (!plan_.value_cache) builder_.forget_values();
      builder_.store_output(static_cast<std::int32_t>(i), at_second_);
    }
    close_elements(second_);
    close_turns(second_);
    builder_.land(Stay::phase);
    leave();
  }

  ProgramBuilder& builder_;
  IndexBuilder& build_;
  const ir::Graph& graph_;
  const Prepared& prepared_;
  const Turn& turn_;
  const ir::Plan& plan_;
  const Tile tile_;
  std::int64_t piece_ = 1;  ///< elements of a piece
  std::int64_t lanes_ = 1;  ///< vectors side by side in the first walk, before its next row
  Walk first_, second_;
  Coordinates at_first_, at_second_;           ///< in the outputs
  ir::ExprId slot_read_ = 0, slot_piece_ = 0;  ///< in the tile, in elements: of the first walk
  ir::ExprId slot_lane_ = 0, slot_rest_ = 0;   ///< of the second
  std::vector<Turned> turned_;
};

}  // namespace

Tile tile_of(const Turn& turn, const ir::Plan& plan) {
  Tile tile;
  tile.written = std::max<std::int64_t>(std::int64_t{plan.threads_per_row} * plan.vector, 1);
  tile.read = std::max<std::int64_t>(std::int64_t{plan.threads} / std::max(plan.threads_per_row, 1) * plan.unroll, 1);
  tile.across = (turn.written.size + tile.written - 1) / tile.written;
  tile.down = (turn.read.size + tile.read - 1) / tile.read;
  tile.all = tile.across * tile.down * turn.others.size;
  return tile;
}

std::optional<ir::Rejection> lower_turn(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                        const ir::Limits& limits) {
  TileLowering(builder, prepared, plan, limits).lower();
  return builder.refusal();
}

}  // namespace tailor::codegen
