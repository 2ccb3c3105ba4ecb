// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeping the summaries of groups. In: nodes that enter and leave. Out: for each group what its price is made of.
// Called by the search for every move, and once per group that is priced alone.
//
// Method. All that a summary counts hangs on a node, on an edge or on the pair of a group and an array from outside.
// When a node enters, each of its edges turns: a read by a member of the group stops coming from memory, a result that
// has no reader outside any more stops being written. When it leaves they turn back. Whole numbers are added and taken
// away, so no order of moves leaves a trace, and a summary that was kept over a thousand moves equals one that is made
// at once; a test holds the two together.
//
// Phases. A kernel with grid barriers has phases; a node stands in the first phase in which all that it reads is there.
// Of each member it is known how far its result reaches: nothing waits for it, or its block has it (it depends on a row
// reduction of so many rows), or the whole grid must end first. An edge needs a barrier when its reader cannot use the
// value where it is: a result of the grid that is spread or moved, a row's value that is read at another place than its
// row (at another place of it the block goes through the row once more), a row reduction over rows that do not nest
// with those before. Rows in one piece nest by their numbers, rows in several pieces only with rows that lie alike. The
// phase of a node follows from its suppliers in the group alone, so when one changes its readers are looked at again,
// in the order of the graph, each at most once.
//
// Places. Where readers ask for a value at several places (slices of it, pads, parts of concatenations, taps of
// windows, look-ups, repeats), a kernel computes it for each, and so all that this is made of, down to the arrays that
// are loaded. So each node has the places at which its group asks for it (places/places.h): those of its readers there,
// taken on by a step. When they change, those are looked at again whose results it reads, once for all nodes that come
// or go together. Where a reader finds the value in memory behind a barrier, or with the block that has its row, it is
// computed once. What several readers want of an array at the same taps is loaded once; what none of them wants, as all
// but the rows that a look-up picks, is neither computed nor loaded.
//
// Reductions that arrive in steps (ir/graph/split_reduction.h) are one where a group holds the steps. The first of them
// then counts as the whole: its elements are those that are reduced, and its result reaches as far as the whole's. The
// later ones cost nothing and wait for nothing. Chains of steps are short; when a member enters or leaves a group, all
// that its chain has there are looked at again. Reductions of columns are a block's where a group has no others. Both
// stand in group_reductions.cpp.
#include "costmodel/group_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "costmodel/work.h"

namespace tailor::costmodel {

using ir::no_node;
using ir::NodeId;

namespace {

constexpr double of_the_grid = -1;    ///< rows of what is there only when all blocks are done
constexpr double most_times = 65536;  ///< that elements count: beyond, sums would be whole numbers no more

/// Whether tasks of one size are whole numbers of tasks of the other: rows of these numbers, and how they lie.
bool nest(double a, std::int32_t lie_a, double b, std::int32_t lie_b) {
  if (a <= 0 || b <= 0) return true;
  return lie_a == lie_b && (lie_a == 0 ? std::fmod(std::max(a, b), std::min(a, b)) == 0 : a == b);
}

/// Whether a block that has one of so many rows has all of each of `parts` rows that lie in one piece.
bool is_within(double parts, double own, std::int32_t lie) { return own > 0 && lie == 0 && std::fmod(parts, own) == 0; }

}  // namespace

std::int64_t barriers(const GroupSummary& summary) {
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(summary.phases.size()) - 1);
}

std::int64_t walks_again(const GroupSummary& summary) {
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(summary.walks.size()) - 1);
}

double across(const GroupSummary& summary) {
  double all = 0;
  for (std::size_t i = 0; i < summary.turns.size();) {
    double sum = 0, most = 0;
    const double size = summary.turns[i].elements;
    for (; i < summary.turns.size() && summary.turns[i].elements == size; ++i)
      sum += summary.turns[i].bytes, most = std::max(most, summary.turns[i].bytes);
    all += sum - most;
  }
  return all;
}

double GroupSummaries::External::once() const { return whole > 0 ? bytes : std::min(bytes, partial); }

GroupSummaries::GroupSummaries(const GroupFacts& facts) : facts_(facts), states_(facts.nodes.size()) {}

std::int32_t GroupSummaries::create() {
  groups_.emplace_back();
  return static_cast<std::int32_t>(groups_.size() - 1);
}

/// Whether the update happens in the array's own memory: that array comes from outside, what else reads it stands here,
/// and nobody inside reads on.
bool GroupSummaries::is_placed(NodeId node) const {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const State& state = states_[ir::index(node)];
  if (fact.placed < 0 || state.inside > 0) return false;
  const NodeId maker = fact.reads[static_cast<std::size_t>(fact.placed)].maker;
  const bool is_read_here = std::all_of(fact.windows.begin(), fact.windows.end(),
                                        [&](NodeId window) { return states_[ir::index(window)].group == state.group; });
  return is_read_here && (maker == no_node || states_[ir::index(maker)].group != state.group);
}

bool GroupSummaries::escapes(NodeId node) const {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  return fact.stored || fact.readers.empty() ||
         states_[ir::index(node)].inside < static_cast<std::int64_t>(fact.readers.size());
}

double GroupSummaries::written(NodeId node) const {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  return is_placed(node) ? fact.placed_bytes : fact.bytes;
}

/// What the node's result adds to its group: bytes written, bytes that cross a barrier.
void GroupSummaries::count_result(NodeId node, int sign) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const State& state = states_[ir::index(node)];
  GroupSummary& summary = groups_[static_cast<std::size_t>(state.group)].summary;
  if (escapes(node)) {
    summary.written += sign * written(node);
    summary.arguments += sign;
  }
  if (state.later > 0) summary.crossing += sign * fact.bytes;
  if (fact.scattered == 0) return;
  summary.scattered += sign * fact.scattered;
  if (!is_placed(node)) summary.fills += sign;
}

/// Its result, and the array that it may update in place: whether it does depends on who reads it inside.
void GroupSummaries::count_update(NodeId node, int sign) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  if (fact.placed >= 0) {
    const NodeId maker = fact.reads[static_cast<std::size_t>(fact.placed)].maker;
    if (maker == no_node || states_[ir::index(maker)].group != states_[ir::index(node)].group)
      count_read(node, static_cast<std::size_t>(fact.placed), sign);
  }
  count_result(node, sign);
}

/// What one read adds to the reader's group: from memory, or from a member.
void GroupSummaries::count_read(NodeId node, std::size_t which, int sign) {
  const GroupRead& read = facts_.nodes[ir::index(node)].reads[which];
  const State& state = states_[ir::index(node)];
  OneGroup& group = groups_[static_cast<std::size_t>(state.group)];
  if (read.maker != no_node && states_[ir::index(read.maker)].group == state.group) {
    State& maker = states_[ir::index(read.maker)];
    count_update(read.maker, -1);
    maker.inside += sign;
    if (state.phase > maker.phase) maker.later += sign;
    count_update(read.maker, 1);
    return;
  }
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  if (static_cast<std::int32_t>(which) == fact.placed && is_placed(node)) return;
  const auto [at, fresh] = group.externals.try_emplace(read.value);
  External& external = at->second;
  if (fresh) {
    external.bytes = facts_.value_bytes[ir::index(read.value)];
    ++group.summary.arguments;
  }
  const auto share = [&](int by) {
    const double once = external.once();
    group.summary.read += by * once;
    group.summary.read_again += by * once * std::max(0.0, static_cast<double>(external.phases.size()) - 1);
    double loads = 0;
    for (const auto& [whose, asked] : external.loads) loads += asked.rbegin()->first;
    group.summary.loads += by * loads;
    group.summary.near += by * loads * facts_.element_bytes[ir::index(read.value)];
  };
  share(-1);
  const double part = state.times * read.spread;
  if (read.whole && part >= 1)
    external.whole += sign;
  else
    external.partial += sign * std::round(read.bytes * std::min(1.0, part));
  const auto phase = std::find_if(external.phases.begin(), external.phases.end(),
                                  [&](const auto& one) { return one.first == state.phase; });
  if (phase == external.phases.end())
    external.phases.emplace_back(state.phase, sign);
  else if ((phase->second += sign) == 0)
    external.phases.erase(phase);
  const double element = facts_.element_bytes[ir::index(read.value)];
  if (const double times = state.times * std::max(1.0, read.taps); times > 1 && element > 0) {
    const NodeId whose = read.is_part ? node : no_node;
    std::map<double, std::int64_t>& asked = external.loads[whose];
    const auto loads = asked.try_emplace(std::round(times * read.bytes / element)).first;
    if ((loads->second += sign) == 0) asked.erase(loads);
    if (asked.empty()) external.loads.erase(whose);
  }
  share(1);
  if (external.phases.empty()) {
    group.externals.erase(at);
    --group.summary.arguments;
  }
}

/// Whether a reader has to wait for all blocks before it can use a value that lies as `rows` says.
bool GroupSummaries::waits(NodeId node, const GroupRead& read, const State& maker) const {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const State& state = states_[ir::index(node)];
  const GroupNode& made = facts_.nodes[ir::index(read.maker)];
  if (maker.rows == 0) return false;
  if (state.folded.follows && made.chain == fact.chain) return false;
  if (maker.rows <
      0)  // the block that ends last goes on with the same elements; it spreads nothing and reduces nothing
    return read.order != ReadOrder::same || state.folded.seen.reach != ResultReach::element ||
           made.elements != fact.elements;
  if (read.order == ReadOrder::moved) return true;
  if (read.order == ReadOrder::within && !is_within(read.rows, maker.rows, maker.domain)) return true;
  if (read.order == ReadOrder::spread && read.domain != maker.domain) return true;
  return state.folded.seen.reach == ResultReach::row &&
         !nest(maker.rows, maker.domain, state.folded.seen.rows, state.folded.seen.domain);
}

/// The phase of a node, and how its result lies, by what it reads inside its group.
GroupSummaries::Standing GroupSummaries::standing_of(NodeId node) const {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const State& state = states_[ir::index(node)];
  std::int32_t phase = 0, steps = 0, walks = 0;
  const auto inside = [&](const GroupRead& read) {
    return read.maker != no_node && states_[ir::index(read.maker)].group == state.group;
  };
  for (const GroupRead& read : fact.reads)
    if (inside(read)) {
      const State& maker = states_[ir::index(read.maker)];
      phase = std::max(phase, maker.phase + (waits(node, read, maker) ? 1 : 0));
      steps = std::max(steps, maker.steps);
      const bool over_others = read.domain < 0 && read.domain != maker.domain;  // columns, of a number of rows
      const bool again = (read.order == ReadOrder::spread && !over_others) || read.order == ReadOrder::within;
      walks = std::max(walks, maker.walks + (maker.rows > 0 && again ? 1 : 0));
    }
  if (state.folded.seen.reach == ResultReach::row && !state.folded.follows) ++steps;
  double rows = 0;
  std::int32_t disagree = 0, domain = 0;
  for (const GroupRead& read : fact.reads) {
    if (!inside(read)) continue;
    const State& maker = states_[ir::index(read.maker)];
    if (maker.phase != phase || maker.rows == 0) continue;  // behind a barrier everything is in memory
    if (maker.rows < 0) {
      rows = of_the_grid;
    } else if (rows >= 0) {
      if (!nest(rows, domain, maker.rows, maker.domain)) disagree = 1;
      rows = rows == 0 ? maker.rows : std::min(rows, maker.rows);
      domain = maker.domain;
    }
  }
  if (disagree != 0) phase += 1, rows = 0;
  if (state.folded.seen.reach == ResultReach::grid) rows = of_the_grid;
  if (state.folded.seen.reach == ResultReach::row && rows >= 0) {
    rows = rows > 0 ? std::min(rows, state.folded.seen.rows) : state.folded.seen.rows;
    domain = state.folded.seen.domain;
  }
  return {phase, rows, rows > 0 ? domain : 0, steps, walks};
}

void GroupSummaries::count_phase(NodeId node, int sign) {
  const State& state = states_[ir::index(node)];
  GroupSummary& summary = groups_[static_cast<std::size_t>(state.group)].summary;
  count_at(summary.phases, static_cast<std::size_t>(state.phase), sign);
  std::vector<RowWalk>& walks = summary.walks;
  const auto at = static_cast<std::size_t>(state.walks);
  if (walks.size() <= at) walks.resize(at + 1);
  const double pieces = facts_.nodes[ir::index(node)].pieces;
  walks[at].nodes += sign;
  walks[at].in_pieces += pieces > 0 ? sign : 0;
  walks[at].pieces += sign * pieces;
  while (!walks.empty() && walks.back().nodes == 0) walks.pop_back();
}

/// Places a node anew, and those that follow from it. Readers stand behind what they read, so each is met once.
void GroupSummaries::settle(NodeId first) {
  std::set<NodeId> pending{first};
  while (!pending.empty()) {
    const NodeId id = *pending.begin();
    pending.erase(pending.begin());
    const GroupNode& fact = facts_.nodes[ir::index(id)];
    State& state = states_[ir::index(id)];
    const auto [phase, rows, domain, steps, walks] = standing_of(id);
    if (Standing{state.phase, state.rows, state.domain, state.steps, state.walks} ==
        Standing{phase, rows, domain, steps, walks})
      continue;
    changed_.push_back(id);
    if (steps != state.steps) {
      count_steps(id, -1);
      state.steps = steps;
      count_steps(id, 1);
    }
    if (walks != state.walks) {
      count_phase(id, -1);
      state.walks = walks;
      count_phase(id, 1);
    }
    if (phase != state.phase) {
      count_phase(id, -1);
      for (std::size_t r = 0; r < fact.reads.size(); ++r) count_read(id, r, -1);
      count_result(id, -1);
      state.phase = phase;
      state.later = 0;
      for (const GroupReader& reader : fact.readers) {
        const State& other = states_[ir::index(reader.node)];
        if (other.group == state.group && other.phase > phase) ++state.later;
      }
      count_result(id, 1);
      for (std::size_t r = 0; r < fact.reads.size(); ++r) count_read(id, r, 1);
      count_phase(id, 1);
    }
    state.rows = rows;
    state.domain = domain;
    for (const GroupReader& reader : fact.readers)
      if (states_[ir::index(reader.node)].group == state.group) pending.insert(reader.node);
  }
}

/// Instructions, and whether the whole grid must end: of a reduction that is folded once for all its steps.
void GroupSummaries::count_work(NodeId node, int sign) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const State& state = states_[ir::index(node)];
  GroupSummary& summary = groups_[static_cast<std::size_t>(state.group)].summary;
  if (state.folded.seen.reach == ResultReach::grid) summary.tails += sign;
  if (fact.turn != 0) count_turn(node, sign);
  if (state.folded.follows) return;
  if (state.folded.seen.reach == ResultReach::grid && fact.reduces) {
    summary.carried += sign * state.folded.results;
    summary.reduced += sign * fact.reduced;
  }
  summary.fma += sign * fact.fma;
  summary.alu += sign * fact.alu;
  summary.xu += sign * fact.xu;
  summary.f64 += sign * fact.f64;
  summary.chosen += sign * fact.chosen;
  summary.choices += sign * fact.choices;
  summary.others += sign * fact.others;
}

/// Whether the reader finds the value where an earlier phase left it: in memory, or with the block that has its row.
bool GroupSummaries::is_kept(const State& maker, const State& reader, const GroupRead& read) const {
  return maker.phase != reader.phase ||
         (maker.rows > 0 && (read.order == ReadOrder::spread || read.order == ReadOrder::within));
}

/// At which places the group asks for a node: at its own where it is written, waits, or is read as it stands.
AskedPlaces GroupSummaries::places_of(NodeId node) const {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const State& state = states_[ir::index(node)];
  AskedPlaces places;
  if (fact.reach != ResultReach::element) return places;
  const AskedPlace own = own_place(fact.elements);
  bool is_own = fact.stored || fact.readers.empty();
  for (const GroupReader& reader : fact.readers) {
    const State& other = states_[ir::index(reader.node)];
    const GroupNode& reads = facts_.nodes[ir::index(reader.node)];
    const GroupRead& read = reads.reads[static_cast<std::size_t>(reader.read)];
    const bool stays = read.ways.empty() && reads.elements == fact.elements;
    if (other.group != state.group || is_kept(state, other, read) || (other.places.empty() && stays)) {
      is_own = true;
      continue;
    }
    const AskedPlaces& asked = other.places.empty() ? AskedPlaces{own_place(reads.elements)} : other.places;
    for (const AskedPlace& place : asked) {
      if (read.ways.empty()) add_place(places, place);
      for (const std::vector<std::int32_t>& way : read.ways) {
        AskedPlace at = place;
        if (std::all_of(way.begin(), way.end(),
                        [&](std::int32_t step) { return go(facts_.steps[static_cast<std::size_t>(step)], at); }))
          add_place(places, at);
      }
    }
  }
  if (is_own && !places.empty()) add_place(places, own);
  bound_places(places, fact.elements);
  return places;
}

/// Instructions of all times but the first.
void GroupSummaries::count_again(NodeId node, int sign) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const State& state = states_[ir::index(node)];
  GroupSummary& summary = groups_[static_cast<std::size_t>(state.group)].summary;
  const double again = state.times - 1;
  if (again == 0) return;
  summary.fma += sign * std::round(again * fact.fma);
  summary.alu += sign * std::round(again * fact.alu);
  summary.xu += sign * std::round(again * fact.xu);
  summary.f64 += sign * std::round(again * fact.f64);
}

/// After nodes have entered or left a group, or stand in another phase: they, and who makes what they read there.
/// Makers stand before their readers, so each is met once.
void GroupSummaries::settle_places(std::int32_t group) {
  std::set<NodeId, std::greater<>> pending;
  const auto add_makers = [&](NodeId of) {
    for (const GroupRead& read : facts_.nodes[ir::index(of)].reads)
      if (read.maker != no_node && states_[ir::index(read.maker)].group == group) pending.insert(read.maker);
  };
  for (const NodeId changed : changed_) {
    if (states_[ir::index(changed)].group == group) pending.insert(changed);
    add_makers(changed);
  }
  changed_.clear();
  while (!pending.empty()) {
    const NodeId id = *pending.begin();
    pending.erase(pending.begin());
    State& state = states_[ir::index(id)];
    AskedPlaces places = places_of(id);
    if (places == state.places) continue;
    const GroupNode& fact = facts_.nodes[ir::index(id)];
    const double times = std::min(evaluations(places, fact.elements) / std::max(1.0, fact.elements), most_times);
    state.places = std::move(places);
    add_makers(id);
    if (times == state.times) continue;
    for (std::size_t r = 0; r < fact.reads.size(); ++r) count_read(id, r, -1);
    count_again(id, -1);
    state.times = times;
    count_again(id, 1);
    for (std::size_t r = 0; r < fact.reads.size(); ++r) count_read(id, r, 1);
  }
}

void GroupSummaries::count_turn(NodeId node, int sign) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  std::vector<TurnedArrays>& turns = groups_[static_cast<std::size_t>(states_[ir::index(node)].group)].summary.turns;
  const auto at = std::lower_bound(turns.begin(), turns.end(), std::pair{fact.elements, fact.turn},
                                   [](const TurnedArrays& one, const std::pair<double, std::int32_t>& key) {
                                     return std::pair{one.elements, one.turn} < key;
                                   });
  const bool known = at != turns.end() && at->elements == fact.elements && at->turn == fact.turn;
  const auto counted = known ? at : turns.insert(at, TurnedArrays{fact.elements, fact.turn, 0, 0});
  counted->nodes += sign;
  counted->bytes += sign * std::max(0.0, fact.elements * sector_bytes - fact.bytes);
  if (counted->nodes == 0) turns.erase(counted);
}

/// After a node has entered or left a group: those that follow from it there.
void GroupSummaries::settle_around(std::int32_t group, NodeId node) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  if (fact.chain >= 0)
    for (const NodeId changed : refold(group, fact.chain)) settle(changed);
  if (fact.reach != ResultReach::element)
    for (const NodeId changed : see_columns(group)) settle(changed);
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group) settle(reader.node);
  changed_.push_back(node);
}

/// Whether the reader would write over what it reads here.
bool GroupSummaries::may_update(const GroupReader& reader) const {
  return facts_.nodes[ir::index(reader.node)].placed == reader.read;
}

void GroupSummaries::enter(std::int32_t group, NodeId node) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  State& state = states_[ir::index(node)];
  // Readers of the group find the value in memory no more.
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group) {
      count_read(reader.node, static_cast<std::size_t>(reader.read), -1);
      if (may_update(reader)) count_result(reader.node, -1);
    }
  // An update in place hangs on whether the slices of what it updates are here.
  const bool has_update = fact.updates != no_node && states_[ir::index(fact.updates)].group == group;
  if (has_update) count_update(fact.updates, -1);
  state = {};
  state.group = group;
  if (has_update) count_update(fact.updates, 1);
  count_reach(group, node, 1);
  state.folded = {reach_in(group, node), fact.elements, false};
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group && may_update(reader)) count_result(reader.node, 1);
  const auto [phase, rows, domain, steps, walks] = standing_of(node);
  state.phase = phase;
  state.rows = rows, state.domain = domain;
  state.steps = steps;
  state.walks = walks;
  groups_[static_cast<std::size_t>(group)].summary.nodes += 1;
  count_work(node, 1);
  count_again(node, 1);
  count_phase(node, 1);
  count_steps(node, 1);
  count_result(node, 1);
  for (std::size_t r = 0; r < fact.reads.size(); ++r) count_read(node, r, 1);
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group)
      count_read(reader.node, static_cast<std::size_t>(reader.read), 1);
  settle_around(group, node);
}

void GroupSummaries::leave(NodeId node) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  State& state = states_[ir::index(node)];
  const std::int32_t group = state.group;
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group)
      count_read(reader.node, static_cast<std::size_t>(reader.read), -1);
  for (std::size_t r = 0; r < fact.reads.size(); ++r) count_read(node, r, -1);
  count_result(node, -1);
  count_phase(node, -1);
  count_steps(node, -1);
  groups_[static_cast<std::size_t>(group)].summary.nodes -= 1;
  count_work(node, -1);
  count_reach(group, node, -1);
  count_again(node, -1);
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group && may_update(reader)) count_result(reader.node, -1);
  const bool has_update = fact.updates != no_node && states_[ir::index(fact.updates)].group == group;
  if (has_update) count_update(fact.updates, -1);
  state = {};
  if (has_update) count_update(fact.updates, 1);
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group && may_update(reader)) count_result(reader.node, 1);
  for (const GroupReader& reader : fact.readers)
    if (states_[ir::index(reader.node)].group == group)
      count_read(reader.node, static_cast<std::size_t>(reader.read), 1);
  settle_around(group, node);
}

void GroupSummaries::add(std::int32_t group, std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) enter(group, node);
  settle_places(group);
}

void GroupSummaries::remove(std::span<const NodeId> nodes) {
  if (nodes.empty()) return;
  const std::int32_t group = group_of(nodes.front());
  for (const NodeId node : nodes) leave(node);
  settle_places(group);
}

GroupSummary summarise(const ir::Graph& group) {
  const ir::DefUse def_use = ir::def_use(group);
  const GroupFacts facts = group_facts(group, def_use);
  GroupSummaries summaries(facts);
  const std::int32_t only = summaries.create();
  std::vector<NodeId> members;
  for (std::size_t i = 0; i < facts.nodes.size(); ++i)
    if (facts.nodes[i].alive) members.push_back(static_cast<NodeId>(i));
  summaries.add(only, members);
  return summaries.summary(only);
}

}  // namespace tailor::costmodel
