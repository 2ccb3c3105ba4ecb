// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What threads put together as they walk: scans along rows and columns (cumulative sums, products, extremes), and
// reductions of chunks of rows. In: a scan or such a reduction that the walk at hand passes, a section of it. Out:
// statements that make its elements or results of that section, where emission finds them. Called by the walk
// (lower_phases.cpp), before what reads them.
//
// A row's elements lie in the order of its trips, in a trip in that of its threads, in a thread in that of its vector.
// So what stands in front of an element is, from the inside out:
//
//   in its vector       each thread goes through the elements that it has; the last sum is the thread's total
//   in its warp         lanes exchange totals in pairs, at distances of 1, 2, 4 ...; a lane whose partner stands in
//                       front of it takes the partner's total to what stands before it, and both then have the total of
//                       twice as many lanes
//   in its block        a total of each warp goes to shared memory; a thread adds up those of the warps in front of it,
//                       and all of them for the total of the trip
//   in the row          a register has what all trips before have come to
//
// A section's trips do the first three side by side, so that their exchanges and their one meeting overlap, and take
// turns in the fourth. Sections meet in two places of shared memory in turns: who writes a place again has met all who
// read it. From the end it is the same with the order turned round, and the walk goes backward.
//
// Chunks. Neighbours of which a power of two are reduced into one result, as scales of quantised blocks are: a chunk is
// the vectors of so many neighbouring lanes. Each thread reduces its vector, and lanes exchange totals in pairs until
// all lanes of the chunk have its own. So it is complete within its section: it ends no phase, and who reads it follows
// at once. It is no number of the row, and whose element it is follows from the coordinates.
//
// Columns. A thread goes down its columns alone, with a running sum of each: no others have a part of them.
//
// All threads take part, whether their rows and elements exist or not: what does not exist is the neutral element.
// Elements outside of all vectors and blocks that share a row are refused (refuse.cpp). Everything is in the type that
// sums are computed in, and rounded once, for whoever reads it. A later phase that needs it goes through it again,
// unless its value, or what is made of it, waits.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/lower/lower_phases.h"

namespace tailor::codegen {

bool is_scan(const Prepared& prepared, ir::NodeId id) {
  return std::binary_search(prepared.scans.begin(), prepared.scans.end(), id);
}

namespace {

std::int64_t length_in(const std::vector<std::pair<ir::NodeId, std::int64_t>>& lengths, ir::NodeId id) {
  const auto found = std::ranges::find(lengths, id, &std::pair<ir::NodeId, std::int64_t>::first);
  return found == lengths.end() ? 0 : found->second;
}

}  // namespace

std::int64_t chunk_of(const Prepared& prepared, ir::NodeId id) { return length_in(prepared.chunks, id); }

bool passes_together(const Prepared& prepared) { return !prepared.scans.empty() || !prepared.chunks.empty(); }

bool ends_phase(const Prepared& prepared, const ir::Graph& graph, ir::NodeId id) {
  return graph[id].op == ir::Op::reduce && chunk_of(prepared, id) == 0;
}

Entry ProgramBuilder::emit_scan(ir::NodeId id, const Demand& wanted) {
  for (const Kept& scanned : s_.walked) {
    if (scanned.node != id || !(scanned.coordinates == wanted.coordinates)) continue;
    const ir::ExprId lane = segment_->vector > 1 ? s_.build.var(segment_->element) : ir::no_expr;
    Entry entry;
    entry.compute = element(row(node_at(id).shape.dtype).compute, kept_ref(scanned, lane), depth());
    return entry;
  }
  refuse("scan-place", fmt::format("%{} is needed at another place than the one at hand", node_at(id).name));
  return {};
}

namespace {

bool is_view(const ir::Node& node) { return node.op == ir::Op::reshape || node.op == ir::Op::bitcast; }

/// Whether making the value again takes more than an instruction.
bool takes_work(const Pass& pass, ir::NodeId id) {
  const ir::Graph& graph = pass.builder.graph();
  const ir::Node& node = graph[id];
  if (is_view(node) || widens(graph, node)) return takes_work(pass, node.operands[0]);
  if (!is_elementwise(node.op)) return false;
  const ir::Computed& row = ir::computed(node.op, node.shape.dtype, pass.plan.arithmetic);
  if (row.fma + row.alu + row.xu > 1) return true;
  return std::ranges::any_of(node.operands, [&](ir::NodeId operand) {
    while (is_view(graph[operand]) || widens(graph, graph[operand])) operand = graph[operand].operands[0];
    return pass.prepared.full[operand] != 0 && is_elementwise(graph[operand].op);
  });
}

/// What one section has of a scan, or of a reduction of chunks.
class WalkedSection {
 public:
  WalkedSection(Pass& pass, const Pass::Walked& walked, const Segment& segment)
      : pass_(pass),
        builder_(pass.builder),
        build_(pass.builder.build()),
        walked_(walked),
        segment_(segment),
        node_(pass.builder.graph()[walked.node]),
        dtype_(row(node_.shape.dtype).compute),
        op_(ir::op_of(reducer(node_))),
        backward_(pass.prepared.scans_backward),
        trips_(segment.section_trips),
        lanes_(pass.extent(Side::along, Level::lane)) {}

 protected:
  /// Of the array that it goes over, at the place at hand.
  Coordinates coordinates() { return read_coordinates(pass_, walked_.node, segment_.along); }

  /// Declared here, of `trips` times `vector` elements.
  ir::ArrayId register_array(std::string_view what, int vector, ir::ValueId start = ir::no_value,
                             std::int64_t trips = 0) {
    const std::string name = builder_.name_of(walked_.node) + std::string(what);
    const ir::ArrayId id = builder_.add_array({name, ir::Space::registers, dtype_, {trips, 0}, vector});
    builder_.declare(builder_.depth(), id, start);
    return id;
  }
  /// In an array that has an element, or a vector of them, for each trip of the section.
  ir::Ref place_in(ir::ArrayId array, ir::ExprId trip, ir::ExprId lane = ir::no_expr) const {
    ir::Ref ref;
    ref.array = array;
    if (trips_ > 1) ref.subs[0] = trip;
    ref.lane = lane;
    return ref;
  }
  ir::ValueId neutral() { return builder_.start_of_sum(node_); }
  ir::ValueId value(const ir::Ref& ref) { return builder_.element(dtype_, ref, builder_.depth()).id; }
  /// `to` becomes `first` combined with `second`.
  void combine(const ir::Ref& to, ir::ValueId first, ir::ValueId second) {
    ir::Value value;
    value.kind = ir::ValueKind::op;
    value.op = op_;
    value.dtype = dtype_;
    value.operands = {first, second, ir::no_value};
    set(builder_, to, builder_.add_value(value));
  }
  /// What the lane at this distance has.
  ir::ValueId of_other_lane(const ir::Ref& own, std::int64_t stride) {
    return builder_.exchange(builder_.name_of(walked_.node) + "_other", value(own), stride, lanes_).id;
  }

  /// In the order of the scan: of `count` things the number of the one that comes as number `turn`.
  ir::ExprId in_order(ir::ExprId turn, std::int64_t count) {
    return backward_ ? build_.add_constant(build_.scale(turn, -1), count - 1) : turn;
  }
  /// A loop that is written out; `body` gets its number, or 0 where it has one turn.
  template <class Body>
  void unrolled(std::string_view name, std::int64_t count, Body&& body) {
    if (count == 1) return body(build_.constant(0));
    const ir::VarId var = builder_.loop_var(name, count);
    builder_.open_loop(var, true);
    body(build_.var(var));
    builder_.close();
  }
  template <class Body>
  void each_trip(Body&& body) {
    unrolled("s", trips_, [&](ir::ExprId turn) { body(in_order(turn, trips_)); });
  }

  /// Hands `take` each value that it goes over, at its place in the section.
  template <class Take>
  void go_over(Take&& take) {
    const int outside = builder_.depth();
    open_existing(builder_, pass_.loops);
    open_section(builder_, segment_);
    if (!pass_.plan.value_cache) builder_.forget_values();
    const Entry entry = builder_.emit_value(node_.operands[0], coordinates());
    if (!builder_.refusal()) take(entry.compute.id);
    for (const ir::NodeId id : walked_.again) keep_here(id, outside);
    close_section(builder_, segment_);
    close_existing(builder_, pass_.loops);
  }

  /// The value of the node that was made last is found until the section was walked, in the narrow type where it was
  /// only widened. One that is no number of its own type is not kept, which would round it.
  bool keep_here(ir::NodeId id, int outside) {
    const ir::Node& node = builder_.graph()[id];
    if ((is_view(node) || widens(builder_.graph(), node)) && keep_here(node.operands[0], outside)) return true;
    const auto& state = builder_.state();
    const auto is_alive = [&](const Entry& entry) {
      const int depth = entry.compute.depth;
      return depth <= builder_.depth() && state.frames[depth].serial == entry.scope && entry.predicate == 0;
    };
    const auto found = std::ranges::find_if(state.entries[id], is_alive);
    const ir::DType dtype = node.shape.dtype;
    if (pass_.prepared.full[id] == 0 || !takes_work(pass_, id) || builder_.refusal()) return false;
    if (found == state.entries[id].end() || (found->raw.id == ir::no_value && row(dtype).compute != dtype))
      return false;
    const auto is_same = [&](const Kept& kept) {
      return !kept.in_shared && kept.segment == segment_.number && kept.coordinates == found->coordinates;
    };
    if (std::ranges::any_of(state.kept[id], is_same)) return true;  // it waits for a later phase anyway
    Kept kept{id, found->coordinates, 0, segment_.number, Stay::section};
    kept.by_trip = trips_ > 1;
    const ir::ValueId value = found->raw.id != ir::no_value ? found->raw.id : found->compute.id;
    const Kept* made = builder_.keep_in_registers(kept, outside, ir::no_value, "_again");
    const ir::ExprId lane = segment_.vector > 1 ? build_.var(segment_.element) : ir::no_expr;
    set(builder_, builder_.kept_ref(*made, lane), value);
    return true;
  }

  /// What was made is found until the section was walked.
  void leave(Kept kept) {
    builder_.kept_bytes += kept.bytes;
    builder_.most_kept = std::max(builder_.most_kept, builder_.kept_bytes);
    builder_.state().walked.push_back(std::move(kept));
  }

  Pass& pass_;
  ProgramBuilder& builder_;
  IndexBuilder& build_;
  const Pass::Walked& walked_;
  const Segment& segment_;
  const ir::Node& node_;
  ir::DType dtype_;
  ir::Op op_;
  bool backward_;
  std::int64_t trips_, lanes_;
};

class ChunkSection : WalkedSection {
 public:
  using WalkedSection::WalkedSection;

  void make() {
    totals_ = register_array("_chunk", 1, neutral(), trips_ > 1 ? trips_ : 0);
    go_over([&](ir::ValueId value) {
      const ir::Ref total = place_in(totals_, segment_.section_trip);
      combine(total, this->value(total), value);
    });
    if (builder_.refusal()) return;
    each_trip([&](ir::ExprId trip) {
      const ir::Ref total = place_in(totals_, trip);
      for (std::int64_t stride = 1; stride * segment_.vector < walked_.chunk; stride *= 2) {
        const ir::ValueId other = of_other_lane(total, stride);
        combine(total, value(total), other);
      }
    });
    Kept kept{walked_.node, kept_coordinates(coordinates(), axes(node_)), 0, segment_.number, Stay::section};
    kept.array = totals_;
    kept.by_trip = trips_ > 1;
    kept.by_element = false;
    kept.depth = builder_.depth();
    kept.bytes = trips_ * std::max(row(dtype_).bits / 8, 1);
    leave(std::move(kept));
  }

 private:
  ir::ArrayId totals_ = ir::no_id;
};

class ScanSection : WalkedSection {
 public:
  ScanSection(Pass& pass, const Pass::Walked& walked, const Segment& segment)
      : WalkedSection(pass, walked, segment), groups_(pass.extent(Side::along, Level::group)) {}

  void make() {
    const bool starts = segment_.guard_count > 0 || pass_.loops.ragged;
    elements_ = register_array("_here", segment_.vector, starts ? neutral() : ir::no_value, trips_ > 1 ? trips_ : 0);
    fill();
    if (builder_.refusal()) return;
    if (goes_down()) {
      each_trip([&](ir::ExprId trip) { go_down(trip); });
    } else if (groups_ > 1) {
      add_sums(true);
      each_trip([&](ir::ExprId trip) { sum_up(trip); });
      meet_groups();
      each_trip([&](ir::ExprId trip) { put_in_front(trip); });
    } else {
      each_trip([&](ir::ExprId trip) {
        add_sums(false);
        sum_up(trip);
        if (has_before() || takes_over()) put_in_front(trip);
      });
    }
    Kept kept{walked_.node, coordinates(), 0, segment_.number, Stay::section};
    kept.array = elements_;
    kept.by_trip = trips_ > 1;
    kept.bytes = bytes();
    leave(std::move(kept));
  }

 private:
  /// A thread has columns side by side, and all of each.
  bool goes_down() const { return pass_.mapping.fast == Side::kept; }
  bool has_before() const { return before_ != ir::no_id; }
  /// Whether other sections of the row come before or behind.
  bool takes_over() const { return segment_.trip_count > 1; }
  /// Registers of a thread; none where those of what the scan goes over are free by then.
  std::int64_t bytes() const {
    const ir::NodeId source = node_.operands[0];
    if (builder_.is_loaded(source) && pass_.prepared.users[source].size() == 1) return 0;
    return trips_ * segment_.vector * std::max(row(dtype_).bits / 8, 1);
  }

  /// The totals, and what stands before the vectors: of each trip, which wait for one another, or of the one at hand.
  void add_sums(bool of_each) {
    each_has_sums_ = of_each && trips_ > 1;
    totals_ = register_array("_total", 1, ir::no_value, each_has_sums_ ? trips_ : 0);
    if (lanes_ * groups_ > 1) before_ = register_array("_before", 1, neutral(), each_has_sums_ ? trips_ : 0);
  }

  ir::Ref element_at(ir::ExprId trip, ir::ExprId lane) const {
    return place_in(elements_, trip, segment_.vector > 1 ? lane : ir::no_expr);
  }
  /// Of the totals or what stands before.
  ir::Ref sum_at(ir::ArrayId array, ir::ExprId trip) const {
    ir::Ref ref;
    ref.array = array;
    if (each_has_sums_) ref.subs[0] = trip;
    return ref;
  }
  /// Under the condition that the number is odd (forward), so that its partner stands in front; or even.
  template <class Body>
  void where_partner_is_in_front(ir::ExprId number, Body&& body) {
    const ir::Condition in_front{build_.mod(number, 2), build_.constant(backward_ ? 0 : 1), true};
    builder_.open_guard({&in_front, 1});
    body();
    builder_.close();
  }

  /// What the scan goes over.
  void fill() {
    const ir::ExprId lane = segment_.vector > 1 ? build_.var(segment_.element) : ir::no_expr;
    go_over([&](ir::ValueId value) { set(builder_, element_at(segment_.section_trip, lane), value); });
  }

  /// The next row of the columns.
  void go_down(ir::ExprId trip) {
    unrolled("i", segment_.vector, [&](ir::ExprId column) {
      const ir::Ref element = element_at(trip, column);
      ir::Ref carried = walked_.carried;
      if (segment_.vector > 1) carried.lane = column;
      combine(carried, value(carried), value(element));
      set(builder_, element, value(carried));
    });
  }

  /// What stands before each element in its vector, and before the vector in its warp.
  void sum_up(ir::ExprId trip) {
    const std::int64_t count = segment_.vector;
    const auto element = [&](ir::ExprId turn) { return element_at(trip, in_order(turn, count)); };
    if (count > 1)
      unrolled("i", count - 1, [&](ir::ExprId turn) {
        const ir::Ref next = element(build_.add_constant(turn, 1));
        combine(next, value(element(turn)), value(next));
      });
    set(builder_, sum_at(totals_, trip), value(element(build_.constant(count - 1))));
    exchange_lanes(trip);
  }

  void exchange_lanes(ir::ExprId trip) {
    const ir::ExprId lane = pass_.loops.digits[Side::along][Level::lane];
    const ir::Ref total = sum_at(totals_, trip);
    for (std::int64_t stride = 1; stride < lanes_; stride *= 2) {
      const ir::ValueId other = of_other_lane(total, stride);
      where_partner_is_in_front(build_.div(lane, stride),
                                [&] { combine(sum_at(before_, trip), other, value(sum_at(before_, trip))); });
      combine(total, value(total), other);
    }
  }

  /// Where a warp's total of a trip waits in shared memory.
  ir::ExprId slot(ir::ExprId trip, ir::ExprId group) {
    ir::ExprId number =
        build_.add_scaled(builder_.row_in_flight, thread_on(pass_, Side::kept), builder_.in_flight_rows);
    if (sections() > 1) number = build_.add_scaled(build_.mod(section(), 2), number, 2);
    number = build_.add_scaled(trip, number, trips_);
    return build_.expand(build_.add_scaled(group, number, groups_));
  }
  std::int64_t sections() const { return segment_.trip_count / trips_; }
  ir::ExprId section() { return pass_.loops.digits[Side::along][Level::loop]; }

  void meet_groups() {
    const std::int64_t places =
        std::min<std::int64_t>(sections(), 2) * builder_.in_flight_rows * pass_.threads_on(Side::kept);
    const ir::ArrayId shared =
        builder_.add_shared(builder_.name_of(walked_.node) + "_warps", dtype_, places * trips_ * groups_);
    const ir::ExprId group = pass_.loops.digits[Side::along][Level::group];
    const ir::Condition first_lane{pass_.loops.digits[Side::along][Level::lane], build_.constant(0), true};
    builder_.open_guard({&first_lane, 1});
    each_trip([&](ir::ExprId trip) {
      put_store(builder_, ir::Space::shared, shared, slot(trip, group), value(sum_at(totals_, trip)));
    });
    builder_.close();
    builder_.put_barrier();
    pass_.combined = true;
    each_trip([&](ir::ExprId trip) { add_groups(trip, shared, group); });
  }

  /// Of this thread's group what stands before it; of the trip the total.
  void add_groups(ir::ExprId trip, ir::ArrayId shared, ir::ExprId own) {
    const auto piece = static_cast<int>(std::gcd(groups_, std::int64_t{widest_access(dtype_)}));
    ir::Ref ahead, all;
    ahead.array = register_array("_ahead", 1, neutral());
    all = sum_at(totals_, trip);
    set(builder_, all, neutral());
    unrolled("p", groups_ / piece, [&](ir::ExprId number) {
      const ir::ExprId first = build_.scale(in_order(number, groups_ / piece), piece);
      ir::Ref part;
      part.array = register_array("_part", piece);
      builder_.load_pieces(builder_.depth(), part, ir::Space::shared, shared, slot(trip, first), piece, piece,
                           ir::Policy::once);
      unrolled("w", piece, [&](ir::ExprId turn) {
        const ir::ExprId lane = in_order(turn, piece), group = build_.expand(build_.add(first, lane));
        if (piece > 1) part.lane = lane;
        const ir::Condition in_front{backward_ ? own : group, backward_ ? group : own, false};
        builder_.open_guard({&in_front, 1});
        combine(ahead, value(ahead), value(part));
        builder_.close();
        combine(all, value(all), value(part));
      });
    });
    combine(sum_at(before_, trip), value(ahead), value(sum_at(before_, trip)));
  }

  /// Each element gets what stands before its vector; the row's register gets the trip's total.
  void put_in_front(ir::ExprId trip) {
    ir::Ref front = sum_at(before_, trip);
    if (takes_over()) {
      if (has_before())
        combine(front, value(walked_.carried), value(front));
      else
        front = walked_.carried;
    }
    unrolled("i", segment_.vector, [&](ir::ExprId turn) {
      const ir::Ref element = element_at(trip, turn);
      combine(element, value(front), value(element));
    });
    if (takes_over()) combine(walked_.carried, value(walked_.carried), value(sum_at(totals_, trip)));
  }

  bool each_has_sums_ = false;
  std::int64_t groups_;
  ir::ArrayId elements_ = ir::no_id, totals_ = ir::no_id, before_ = ir::no_id;
};

/// All that values are made of, up to what is there: results of rows, what waits, what the section has put together.
std::vector<std::uint8_t> made_of(const Pass& pass, std::span<const ir::NodeId> values,
                                  std::span<const Pass::Walked> walked, std::span<const ir::Home> kept_before) {
  const ir::Graph& graph = pass.builder.graph();
  std::vector<std::uint8_t> needed(graph.nodes.size(), 0);
  const auto need = [&](ir::NodeId id) { needed[ir::index(id)] = 1; };
  std::ranges::for_each(values, need);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const auto id = static_cast<ir::NodeId>(i);
    const bool is_there = ends_phase(pass.prepared, graph, id) || find_home(kept_before, id) != nullptr ||
                          std::ranges::find(walked, id, &Pass::Walked::node) != walked.end();
    if (needed[i] != 0 && !is_there) std::ranges::for_each(graph[id].operands, need);
  }
  return needed;
}

/// Fills Walked::again: of what one of them goes over the values that who comes after it reads.
void find_again(const Pass& pass, const Phase& phase, std::vector<Pass::Walked>& walked,
                std::span<const ir::Home> kept_before) {
  const ir::Graph& graph = pass.builder.graph();
  std::vector<ir::NodeId> behind;
  add_computed(graph, pass.prepared, phase, behind);
  for (std::size_t k = walked.size(); k-- > 0;) {
    const ir::NodeId source = graph[walked[k].node].operands[0];
    const std::vector<std::uint8_t> own = made_of(pass, {&source, 1}, walked, kept_before);
    const std::vector<std::uint8_t> others = made_of(pass, behind, walked, kept_before);
    std::vector<std::uint8_t> asked(graph.nodes.size(), 0);  // by those alone, or by what only views it for them
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
      const auto id = static_cast<ir::NodeId>(i);
      if (own[i] == 0 || others[i] == 0) continue;
      asked[i] = std::ranges::find(behind, id) != behind.end() ||
                 std::ranges::any_of(pass.prepared.users[id], [&](ir::NodeId user) {
                   const bool views = pass.prepared.full[user] == 0 && asked[ir::index(user)] != 0;
                   return others[ir::index(user)] != 0 && (own[ir::index(user)] == 0 || views);
                 });
      if (asked[i] == 0 || pass.prepared.full[id] == 0) continue;
      if (takes_work(pass, id)) walked[k].again.push_back(id);
    }
    behind.push_back(source);
  }
}

}  // namespace

std::vector<Pass::Walked> walked_for(const Pass& pass, const Phase& phase, std::span<const ir::Home> kept_before) {
  std::vector<Pass::Walked> found;
  if (!passes_together(pass.prepared)) return found;
  std::vector<ir::NodeId> computed;
  add_computed(pass.builder.graph(), pass.prepared, phase, computed);
  const std::vector<std::uint8_t> needed = made_of(pass, computed, {}, kept_before);
  for (ir::NodeId id = 0; id < std::ssize(needed); ++id) {
    const std::int64_t chunk = chunk_of(pass.prepared, id);
    const bool is_walked = chunk > 0 || is_scan(pass.prepared, id);
    if (is_walked && needed[ir::index(id)] != 0 && find_home(kept_before, id) == nullptr)
      found.push_back({id, chunk, {}});
  }
  return found;
}

void find_walked(Pass& pass, const Phase& phase, std::span<const ir::Home> kept_before) {
  pass.walked = walked_for(pass, phase, kept_before);
  find_again(pass, phase, pass.walked, kept_before);
}

std::int64_t chunk_read_by(const Pass& pass, ir::NodeId reduction) {
  return length_in(pass.prepared.results, reduction);
}

std::vector<ir::NodeId> chunks_of(const Pass& pass, const Phase& phase) {
  std::vector<ir::NodeId> found;
  if (pass.prepared.chunks.empty()) return found;
  const std::size_t number = static_cast<std::size_t>(&phase - pass.prepared.phases.data());
  const std::span<const ir::Home> before =
      number == 0 || pass.kept.phases.empty() ? std::span<const ir::Home>() : pass.kept.phases[number - 1];
  for (const Pass::Walked& walked : walked_for(pass, phase, before))
    if (walked.chunk > 0) found.push_back(walked.node);
  return found;
}

Coordinates chunk_coordinates(Pass& pass, std::int32_t output, ir::ExprId along) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  for (const auto& [reduce, routes] : pass.prepared.result_routes)
    if (chunk_of(pass.prepared, reduce) > 0 && routes[output].found)
      return follow(build, graph, routes[output],
                    kept_coordinates(read_coordinates(pass, reduce, along), axes(graph[reduce])));
  const std::int64_t chunk = chunk_of_output(pass.prepared, output);
  return delinearize_memory(build, graph[pass.prepared.stored[output]].shape,
                            build.add_scaled(build.div(along, chunk), pass.loops.kept, pass.prepared.columns / chunk));
}

void begin_scans(Pass& pass) {
  ProgramBuilder& builder = pass.builder;
  for (Pass::Walked& scan : pass.walked) {
    if (scan.chunk > 0) continue;
    const ir::Node& node = builder.graph()[scan.node];
    const ir::DType dtype = row(node.shape.dtype).compute;
    scan.carried.array = builder.add_array(
        {builder.name_of(scan.node) + "_carried", ir::Space::registers, dtype, {0, 0}, pass.loops.results.vector});
    builder.declare(builder.depth(), scan.carried.array, builder.start_of_sum(node));
  }
}

void put_section_together(Pass& pass, const Segment& segment) {
  for (const Pass::Walked& walked : pass.walked)
    if (pass.builder.refusal())
      return;
    else if (walked.chunk > 0)
      ChunkSection(pass, walked, segment).make();
    else
      ScanSection(pass, walked, segment).make();
}

void leave_section(Pass& pass) {
  for (const Kept& walked : pass.builder.state().walked) pass.builder.kept_bytes -= walked.bytes;
  pass.builder.state().walked.clear();
}

}  // namespace tailor::codegen
