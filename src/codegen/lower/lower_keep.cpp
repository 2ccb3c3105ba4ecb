// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that outlive their phase: which can have a home, the lists that words name, what each phase keeps under a
// list, and how a kernel keeps it; and accumulators of finished reductions. In: a prepared group and homes, values as
// they are emitted. Out: kept values with their levels or a rejection; arrays that hold them and, in later phases, the
// values again. Called by prepare once per group, by lower per plan, by emission, told by the skeletons.
//
// The walk. What a phase must keep under a list is found by walking back from all that later phases reduce, add up
// across rows or store, through operands, to the first values on each way that have a home and exist by then: that were
// computed for what this phase or an earlier one reduces or stores. Behind such a value nothing is needed. A value
// without a home is passed, so it is computed again of what stands behind it; an input without one is read again.
// Numbers of rows are no part of it: they stay anyway.
//
// The frontier is what the walk finds if every full value has a home: the most computed form of what later phases need.
// With the inputs alone it finds the inputs behind that. Values of these two kinds, of any phase, can have a home, and
// no others, so that a kept value of 16 bits is known beforehand: it is rounded to its own type for all who read it,
// under every plan, and results do not depend on homes. A value that only widens another is passed by, since the narrow
// one costs half the registers.
//
// Every home of a legal list keeps its value in some phase. That of a value which nobody needs beside the others is
// refused, so that one kernel has one list.
//
// A later phase walks the row with the same loop variables, so a kept value is found again by node, segment and
// coordinates; one that it needs at another place of the row, in shared memory, by that place (lower_elsewhere.cpp). In
// registers it is an array indexed by row in flight, trip and element, with all loops over it unrolled; where the row
// waits in registers only partly it is gone through in parts, and what does not stay there is loaded part by part, for
// the rest would take the registers that were to be saved. In shared memory a thread has slots of its own, and
// neighbouring threads have neighbouring vectors. What it wrote it reads without a barrier.
//
// A parameter that is loaded ahead of its use (lower_access.cpp) stands in an array too; kept in registers, it stays
// there. What does not vary with the element of the vector is not kept: it is cheap to hold as a single value.
//
// An accumulator of an earlier phase is a single number per row. It is fetched by its coordinates too; a demand for
// another row's number cannot be met and is refused, which is what makes a structure with values across rows illegal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/indexed.h"
#include "codegen/lower/lower_build.h"
#include "ir/graph/reducer.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

// ---- which values wait

bool widens(const ir::Graph& graph, const ir::Node& node) {
  return node.op == ir::Op::convert && row(node.shape.dtype).bits > row(graph[node.operands[0]].shape.dtype).bits;
}

namespace {

constexpr std::int32_t no_phase = std::numeric_limits<std::int32_t>::max();

/// Per node: the first phase after whose walk over a row it has been computed.
IndexedVector<std::int32_t> first_phases(const ir::Graph& graph, const Prepared& prepared) {
  IndexedVector<std::int32_t> first(graph.nodes.size(), no_phase);
  std::vector<ir::NodeId> computed;
  for (std::size_t number = prepared.phases.size(); number-- > 0;) {
    computed.clear();
    add_computed(graph, prepared, prepared.phases[number], computed);
    for (const ir::NodeId id : computed) first[id] = static_cast<std::int32_t>(number);
  }
  for (std::size_t id = graph.nodes.size(); id-- > 0;)
    if (!ends_phase(prepared, graph, static_cast<ir::NodeId>(id)))
      for (const ir::NodeId operand : graph.nodes[id].operands) first[operand] = std::min(first[operand], first[id]);
  return first;
}

/// Whether a value can wait at all, once it is there.
bool can_wait(const ir::Graph& graph, const Prepared& prepared, ir::NodeId id) {
  const ir::Node& node = graph[id];
  if (prepared.full[id] == 0 || node.op == ir::Op::iota) return false;
  return !(widens(graph, node) && prepared.full[node.operands[0]] != 0);
}

/// The values for which `stops` holds that stand first on the ways back from what phases after `number` compute.
template <class Stops>
std::vector<ir::NodeId> walk_back(const ir::Graph& graph, const Prepared& prepared, std::size_t number, Stops stops) {
  std::vector<ir::NodeId> work, found;
  for (std::size_t later = number + 1; later < prepared.phases.size(); ++later)
    add_computed(graph, prepared, prepared.phases[later], work);
  IndexedVector<std::uint8_t> seen(graph.nodes.size(), 0);
  while (!work.empty()) {
    const ir::NodeId id = work.back();
    work.pop_back();
    if (std::exchange(seen[id], 1) != 0) continue;
    if (prepared.first_phase[id] <= static_cast<std::int32_t>(number) && can_wait(graph, prepared, id) && stops(id)) {
      found.push_back(id);
      continue;
    }
    if (ends_phase(prepared, graph, id)) continue;  // its result is a number of the row, which stays anyway
    for (const ir::NodeId operand : graph[id].operands) work.push_back(operand);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The values that the walks of all phases find, each at the level.
template <class Stops>
std::vector<ir::Home> all_at(const ir::Graph& graph, const Prepared& prepared, ir::StitchLevel level, Stops stops) {
  std::vector<ir::NodeId> nodes;
  for (std::size_t number = 0; number < prepared.phases.size(); ++number) {
    const std::vector<ir::NodeId> found = walk_back(graph, prepared, number, stops);
    nodes.insert(nodes.end(), found.begin(), found.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<ir::Home> homes;
  for (const ir::NodeId node : nodes) homes.push_back({node, level});
  return homes;
}

/// Which values with a home a phase reads behind an operation that moves elements, of those that were there before it.
std::vector<ir::NodeId> read_elsewhere(const ir::Graph& graph, const Prepared& prepared,
                                       const std::vector<ir::Home>& homes, std::size_t number) {
  std::vector<ir::NodeId> work, found;
  add_computed(graph, prepared, prepared.phases[number], work);
  IndexedVector<std::array<bool, 2>> seen(graph.nodes.size());  // not moved, moved
  std::vector<std::pair<ir::NodeId, bool>> ways;
  for (const ir::NodeId id : work) ways.emplace_back(id, false);
  while (!ways.empty()) {
    const auto [id, moved] = ways.back();
    ways.pop_back();
    if (std::exchange(seen[id][moved ? 1 : 0], true)) continue;
    if (find_home(homes, id) != nullptr && prepared.first_phase[id] < static_cast<std::int32_t>(number)) {
      if (moved) found.push_back(id);
      continue;
    }
    if (ends_phase(prepared, graph, id)) continue;
    const bool starts_again = chunk_of(prepared, id) > 0;  // it goes over the elements at hand, whoever reads it
    for (const ir::NodeId operand : graph[id].operands)
      ways.emplace_back(operand, !starts_again && (moved || moves_elements(graph, graph[id])));
  }
  std::sort(found.begin(), found.end());
  return found;
}

KeptHomes kept_under(const ir::Graph& graph, const Prepared& prepared, std::vector<ir::Home> homes) {
  KeptHomes kept{std::move(homes), {}, {}};
  kept.phases.resize(prepared.phases.size());
  kept.elsewhere.resize(prepared.phases.size());
  if (kept.homes.empty()) return kept;
  const auto has_home = [&](ir::NodeId id) { return find_home(kept.homes, id) != nullptr; };
  for (std::size_t number = 0; number < prepared.phases.size(); ++number)
    for (const ir::NodeId id : walk_back(graph, prepared, number, has_home))
      kept.phases[number].push_back(*find_home(kept.homes, id));
  for (std::size_t number = 1; number < prepared.phases.size(); ++number)
    kept.elsewhere[number] = read_elsewhere(graph, prepared, kept.homes, number);
  return kept;
}

/// The place of the widest element among those for which `counts` holds, the latest of equals; the end without any.
template <class Counts>
std::vector<ir::Home>::iterator widest(const ir::Graph& graph, std::vector<ir::Home>& homes, Counts counts) {
  auto best = homes.end();
  const auto bits = [&](const ir::Home& home) { return row(graph[home.node].shape.dtype).bits; };
  for (auto it = homes.begin(); it != homes.end(); ++it)
    if (counts(it->node) && (best == homes.end() || bits(*it) >= bits(*best))) best = it;
  return best;
}

ir::Rejection no_homes(std::string reason) { return {"homes", std::move(reason), true}; }

/// The values that some list keeps, or why there are none.
std::string possible_homes(const Prepared& prepared) {
  std::vector<ir::NodeId> nodes;
  for (const KeptHomes& one : prepared.homes)
    for (const ir::Home& home : one.homes) nodes.push_back(home.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.empty()) return "no value of this group can, because no later phase needs elements of an earlier one";
  return node_list(nodes) + " can, because they have an element for each of a row and a later phase needs them";
}

bool is_possible(const Prepared& prepared, ir::NodeId node) {
  return std::any_of(prepared.homes.begin(), prepared.homes.end(),
                     [&](const KeptHomes& one) { return find_home(one.homes, node) != nullptr; });
}

/// Whether a value is rounded where it is computed, whoever reads it: a type of 8 bits ends so soon that what is beyond
/// its end matters. What only hands numbers of the type on has nothing to round.
bool rounds_at_once(const ir::Node& node) {
  const bool hands_on = node.op == ir::Op::convert || node.op == ir::Op::copy || node.op == ir::Op::select ||
                        node.op == ir::Op::clamp || node.op == ir::Op::maximum || node.op == ir::Op::minimum ||
                        node.op == ir::Op::abs || node.op == ir::Op::negate || ir::works_on_bits(node.op);
  return class_of(node.op) == ir::OpClass::elementwise && !hands_on && is_held_as_bits(node.shape.dtype) &&
         row(node.shape.dtype).bits <= 8;
}

}  // namespace

void add_computed(const ir::Graph& graph, const Prepared& prepared, const Phase& phase,
                  std::vector<ir::NodeId>& values) {
  for (const ir::NodeId id : phase.reductions)
    for (const ir::NodeId array : ir::reduced_arrays(graph[id])) values.push_back(array);
  for (const ir::NodeId id : phase.across) values.push_back(graph[id].operands[0]);
  values.insert(values.end(), phase.left.begin(), phase.left.end());
  for (const std::int32_t i : phase.outputs) values.push_back(prepared.stored[i]);
}

bool moves_elements(const ir::Graph& graph, const ir::Node& node) {
  if (node.op == ir::Op::reshape || node.op == ir::Op::bitcast || ir::scan_of(node)) return false;
  if (node.op != ir::Op::transpose && node.op != ir::Op::broadcast) return reads_elsewhere(class_of(node.op));
  const ir::Shape& source = graph[node.operands[0]].shape;
  return elements(source) != elements(node.shape) || !keeps_order(node, source);
}

void find_homes(const ir::Graph& graph, Prepared& prepared) {
  prepared.first_phase = first_phases(graph, prepared);
  const auto any = [](ir::NodeId) { return true; };
  const auto is_input = [&](ir::NodeId id) { return graph[id].op == ir::Op::parameter; };
  const std::vector<ir::Home> frontier = all_at(graph, prepared, ir::StitchLevel::registers, any);
  prepared.rounded.assign(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) prepared.rounded[i] = rounds_at_once(graph.nodes[i]);
  for (const ir::Home& home : frontier) {
    const ir::DType dtype = graph[home.node].shape.dtype;
    prepared.rounded[home.node] = !is_input(home.node) && row(dtype).compute != dtype;
  }
  if (!row(prepared.skeleton).has(ir::PlanField::homes)) return;
  using enum ir::HomesWord;
  const auto offer = [&](ir::HomesWord word, std::vector<ir::Home> homes) {
    row_for(prepared.homes, word) = kept_under(graph, prepared, std::move(homes));
  };
  offer(registers, frontier);
  offer(shared, all_at(graph, prepared, ir::StitchLevel::block, any));
  offer(recompute, all_at(graph, prepared, ir::StitchLevel::registers, is_input));
  offer(reload, {});
  offer(recompute_shared, all_at(graph, prepared, ir::StitchLevel::block, is_input));
  std::vector<ir::Home> mixed = homes_of(prepared, recompute);
  if (const auto it = widest(graph, mixed, any); it != mixed.end()) it->level = ir::StitchLevel::block;
  offer(recompute_mixed, std::move(mixed));
  std::vector<ir::Home> partly_shared = frontier, partly_reloaded = frontier;
  if (const auto it = widest(graph, partly_shared, any); it != partly_shared.end()) it->level = ir::StitchLevel::block;
  offer(widest_shared, std::move(partly_shared));
  if (const auto it = widest(graph, partly_reloaded, is_input); it != partly_reloaded.end()) partly_reloaded.erase(it);
  offer(widest_reload, std::move(partly_reloaded));
  for (const auto& [word, level] :
       {std::pair(moved_shared, ir::StitchLevel::block), std::pair(moved_cluster, ir::StitchLevel::cluster)}) {
    std::vector<ir::Home> moved = frontier;
    for (ir::Home& home : moved)
      if (is_read_elsewhere(prepared.homes[registers], home.node)) home.level = level;
    offer(word, std::move(moved));
  }
}

bool is_read_elsewhere(const KeptHomes& kept, ir::NodeId node) {
  return std::any_of(kept.elsewhere.begin(), kept.elsewhere.end(), [&](const std::vector<ir::NodeId>& phase) {
    return std::binary_search(phase.begin(), phase.end(), node);
  });
}

std::optional<ir::HomesWord> word_for(const Prepared& prepared, const std::vector<ir::Home>& homes) {
  for (std::size_t i = 0; i < prepared.homes.size(); ++i)
    if (prepared.homes[i].homes == homes) return static_cast<ir::HomesWord>(i);
  return std::nullopt;
}

std::string homes_text(const Prepared& prepared, const ir::Plan& plan) {
  if (const std::optional<ir::HomesWord> word = word_for(prepared, plan.homes)) return std::string(name(*word));
  constexpr std::size_t told_one_by_one = 4;
  if (plan.homes.size() <= told_one_by_one) return field_text(plan, ir::PlanField::homes);
  ir::Plan first;
  first.homes = {plan.homes.front()};
  return fmt::format("{} and {} more", field_text(first, ir::PlanField::homes), plan.homes.size() - 1);
}

const KeptHomes& kept_by(const Prepared& prepared, const std::vector<ir::Home>& homes, KeptHomes& own) {
  if (const std::optional<ir::HomesWord> word = word_for(prepared, homes)) return row_for(prepared.homes, *word);
  own = kept_under(*prepared.graph, prepared, homes);
  return own;
}

std::optional<ir::Rejection> refuse_homes(const Prepared& prepared, const ir::Plan& plan) {
  if (plan.homes.empty() || word_for(prepared, plan.homes)) return std::nullopt;
  for (std::size_t i = 0; i < plan.homes.size(); ++i) {
    const ir::Home& home = plan.homes[i];
    if (home.level != ir::StitchLevel::registers && !is_in_shared(home.level))
      return no_homes(
          fmt::format("%{}@{}: a value waits in its thread's registers or in shared memory of its block or of its "
                      "cluster's blocks, so a home is %{}@register, %{}@block or %{}@cluster",
                      home.node, name(home.level), home.node, home.node, home.node));
    if (i > 0 && plan.homes[i - 1].node >= home.node)
      return no_homes(
          fmt::format("%{} stands behind %{}: homes ascend, each node once", home.node, plan.homes[i - 1].node));
    if (home.node >= std::ssize(prepared.graph->nodes))
      return no_homes(
          fmt::format("%{} is no node of the group, which has %0 to %{}", home.node, prepared.graph->nodes.size() - 1));
    if (!is_possible(prepared, home.node))
      return no_homes(fmt::format("%{} cannot have a home: {}", home.node, possible_homes(prepared)));
  }
  const KeptHomes kept = kept_under(*prepared.graph, prepared, plan.homes);
  for (const ir::Home& home : plan.homes)
    if (std::none_of(kept.phases.begin(), kept.phases.end(),
                     [&](const std::vector<ir::Home>& phase) { return find_home(phase, home.node) != nullptr; }))
      return no_homes(fmt::format("no phase needs %{} beside the other homes, so it cannot have one", home.node));
    else if (home.level == ir::StitchLevel::cluster && !is_read_elsewhere(kept, home.node))
      return no_homes(
          fmt::format("%{}@cluster: no phase reads %{} at another place of its row, so no other block of a "
                      "cluster asks for it",
                      home.node, home.node));
  return std::nullopt;
}

std::size_t most_in_registers(const KeptHomes& kept) {
  std::size_t most = 0;
  for (const std::vector<ir::Home>& phase : kept.phases)
    most = std::max(most, static_cast<std::size_t>(std::count_if(phase.begin(), phase.end(), [](const ir::Home& home) {
                      return home.level == ir::StitchLevel::registers;
                    })));
  return most;
}

std::int64_t bytes_waiting(const Prepared& prepared) {
  std::int64_t most = 0;
  for (const std::vector<ir::Home>& phase : row_for(prepared.homes, ir::HomesWord::registers).phases) {
    std::int64_t bytes = 0;
    for (const ir::Home& home : phase) bytes += row((*prepared.graph)[home.node].shape.dtype).bits / 8;
    most = std::max(most, bytes);
  }
  return most * prepared.columns;
}

const ir::Home* find_home(std::span<const ir::Home> homes, ir::NodeId node) {
  const auto it = std::lower_bound(homes.begin(), homes.end(), node,
                                   [](const ir::Home& home, ir::NodeId id) { return home.node < id; });
  return it != homes.end() && it->node == node ? &*it : nullptr;
}

bool waits_partly(const Prepared& prepared, std::span<const ir::Home> homes) {
  if (!has_level(homes, ir::StitchLevel::registers)) return false;
  const std::vector<ir::Home>& all = homes_of(prepared, ir::HomesWord::registers);
  return std::any_of(homes.begin(), homes.end(), [](const ir::Home& home) { return is_in_shared(home.level); }) ||
         std::any_of(all.begin(), all.end(), [&](const ir::Home& home) {
           return (*prepared.graph)[home.node].op == ir::Op::parameter && find_home(homes, home.node) == nullptr;
         });
}

bool has_level(std::span<const ir::Home> homes, ir::StitchLevel level) {
  return std::any_of(homes.begin(), homes.end(), [&](const ir::Home& home) { return home.level == level; });
}

// ---- how a kernel keeps them

void ProgramBuilder::keep(std::span<const ir::Home> homes) { keeping_ = homes; }

const Kept* ProgramBuilder::find_kept(ir::NodeId id, const Demand& wanted, bool in_shared) const {
  for (const Kept& kept : s_.kept[id])
    if (kept.segment == segment_->number && kept.in_shared == in_shared && kept.predicate == wanted.predicate &&
        kept.coordinates == wanted.coordinates)
      return &kept;
  return nullptr;
}

const Kept* ProgramBuilder::keep_in_registers(const Kept& kept, int depth, ir::ValueId initial,
                                              std::string_view ending) {
  const ir::DType dtype = node_at(kept.node).shape.dtype;
  ir::Array array{name_of(kept.node) + std::string(ending), ir::Space::registers, dtype, {0, 0}, 1};
  std::size_t dim = 0;
  if (kept.by_row) array.dims[dim++] = in_flight_rows;
  if (kept.by_trip) array.dims[dim] = spans_row(kept.stay) ? segment_->trip_count : segment_->section_trips;
  if (kept.by_element) array.vector = lanes_of(kept.lanes);
  Kept& made = add_kept(kept);
  made.bytes = std::max<std::int64_t>(array.dims[0], 1) * std::max<std::int64_t>(array.dims[1], 1) * array.vector *
               std::max(row(dtype).bits / 8, 1);
  kept_bytes += made.bytes;
  most_kept = std::max(most_kept, kept_bytes);
  made.array = add_array(std::move(array));
  declare(depth, made.array, initial);
  made.depth = depth;
  return &made;
}

const Kept* ProgramBuilder::find_or_keep(const ir::Home& home, const Coordinates& coordinates) {
  const ir::NodeId id = home.node;
  const bool in_shared = is_in_shared(home.level);
  if (const Kept* kept = find_kept(id, {coordinates}, in_shared)) return kept;
  Kept kept{id, coordinates, 0, segment_->number};
  kept.by_row = in_flight_rows > 1;
  kept.by_trip = (spans_row(kept.stay) ? segment_->trip_count : segment_->section_trips) > 1;
  if (!in_shared) return keep_in_registers(kept, row_depth, ir::no_value, "_row");
  kept.in_shared = true;
  const ir::DType dtype = node_at(id).shape.dtype;
  const std::int64_t trips = segment_->trip_count;
  ir::Array array{name_of(id) + "_shared", ir::Space::shared, dtype, {0, 0}, 1};
  array.dims[0] = in_flight_rows * trips * segment_->slots * segment_->vector;
  kernel_.shared_bytes +=
      (array.dims[0] * row(dtype).bits / 8 + ir::access_bytes - 1) / ir::access_bytes * ir::access_bytes;
  const ir::ExprId trip = s_.build.add_scaled(segment_->trip, row_in_flight, trips);
  kept.slot = s_.build.scale(s_.build.add_scaled(segment_->thread_slot, trip, segment_->slots), segment_->vector);
  kept.array = add_array(std::move(array));
  declare(0, kept.array);
  return &add_kept(kept);
}

Kept& ProgramBuilder::add_kept(const Kept& kept) {
  std::vector<Kept>& of_node = s_.kept[kept.node];
  if (of_node.empty()) s_.kept_nodes.push_back(kept.node);
  return of_node.emplace_back(kept);
}

void ProgramBuilder::land(Stay stay) {
  for (const ir::NodeId id : s_.kept_nodes)
    std::erase_if(s_.kept[id], [&](const Kept& kept) {
      if (kept.stay > stay) return false;
      kept_bytes -= kept.bytes;
      return true;
    });
  std::erase_if(s_.kept_nodes, [&](ir::NodeId id) { return s_.kept[id].empty(); });
}

bool ProgramBuilder::is_loaded(ir::NodeId id) const {
  const std::vector<Kept>& of_node = s_.kept[id];
  return std::any_of(of_node.begin(), of_node.end(), [](const Kept& kept) { return !kept.in_shared; });
}

ir::Ref ProgramBuilder::kept_ref(const Kept& kept, ir::ExprId element) {
  ir::Ref ref;
  ref.array = kept.array;
  std::size_t dim = 0;
  if (kept.by_row) ref.subs[dim++] = row_in_flight;
  if (kept.by_trip) ref.subs[dim] = spans_row(kept.stay) ? segment_->trip : segment_->section_trip;
  ref.lane = element;
  return ref;
}

Entry ProgramBuilder::kept_entry(ir::NodeId id, const Kept& kept, const Demand& wanted) {
  const ir::DType dtype = node_at(id).shape.dtype;
  const bool each = kept.by_element && segment_->vector > 1;
  const ir::IndexPool& pool = s_.build.pool();
  ir::VarSet vars;
  for (int i = 0; i < wanted.coordinates.rank; ++i) vars |= pool[wanted.coordinates[i]].vars;
  // What is loaded under a condition is there inside the guards that name the condition's variables, not outside.
  for (const ir::Condition& one : conditions_of(wanted.predicate)) vars |= pool[one.a].vars | pool[one.b].vars;
  if (kept.by_row) vars |= pool[row_in_flight].vars;
  if (kept.by_trip) vars |= pool[spans_row(kept.stay) ? segment_->trip : segment_->section_trip].vars;
  if (passes_together(prepared_)) vars |= guard_vars();  // threads whose rows do not exist walk too, and have nothing
  Entry entry;
  entry.coordinates = wanted.coordinates;
  entry.predicate = wanted.predicate;
  entry.outside = kept.outside;
  const ir::ExprId lane = each && kept.lane == ir::no_expr ? s_.build.var(segment_->element) : kept.lane;
  // A lane that is the same for all elements is read in front of the loop over them.
  const bool is_own = kept.by_element && (!each || pool[lane].vars.has(segment_->element));
  entry.raw = element(dtype, kept_ref(kept, lane), is_own ? depth() : std::max(depth_for(vars), kept.depth));
  entry.compute = widen(entry.raw, dtype, id);
  return entry;
}

void ProgramBuilder::keep_value(const ir::Home& home, const Entry& entry) {
  const ir::NodeId id = home.node;
  const ir::IndexPool& pool = s_.build.pool();
  ir::VarSet vars;
  for (int i = 0; i < entry.coordinates.rank; ++i) vars |= pool[entry.coordinates[i]].vars;
  const bool varies = segment_ && (segment_->vector == 1 || vars.has(segment_->element));
  if (!varies) return;
  // An input that a part of the row has loaded stands in its array.
  const bool is_loaded = segment_->unrolls_all && node_at(id).op == ir::Op::parameter;
  if (is_loaded && home.level == ir::StitchLevel::registers && find_kept(id, {entry.coordinates}, false)) return;
  const Kept* kept = find_or_keep(home, entry.coordinates);
  const ir::DType dtype = node_at(id).shape.dtype;
  const Val raw = to_raw(entry, dtype);
  const ir::ExprId e = segment_->vector > 1 ? s_.build.var(segment_->element) : ir::no_expr;
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.value = raw.id;
  if (!kept->in_shared) {
    assign.target = kept_ref(*kept, e);
    put(depth(), assign);
    return;
  }
  const int outside = segment_->vector > 1 ? depth() - 1 : depth();
  ir::Ref ref;
  ref.array = add_array({name_of(id), ir::Space::registers, dtype, {0, 0}, segment_->vector});
  declare(outside, ref.array);
  ref.lane = e;
  assign.target = ref;
  put(depth(), assign);
  const int width = widest_access(dtype);
  store_pieces(outside, segment_->vector > 1, ref, ir::Space::shared, kept->array, kept->slot, width, segment_->vector);
}

bool ProgramBuilder::fetch_kept(ir::NodeId id, const Demand& wanted) {
  if (!segment_) return false;
  if (find_home(keeping_, id) != nullptr) return false;  // this phase fills it
  if (const Kept* kept = find_kept(id, wanted, false)) {
    remember(id, kept_entry(id, *kept, wanted));
    return true;
  }
  const Kept* kept = find_kept(id, wanted, true);
  if (kept == nullptr) return false;
  const ir::DType dtype = node_at(id).shape.dtype;
  const int outside = segment_->vector > 1 ? depth() - 1 : depth();
  ir::Ref ref;
  ref.array = add_array({name_of(id), ir::Space::registers, dtype, {0, 0}, segment_->vector});
  declare(outside, ref.array);
  const int width = kept->width > 0 ? kept->width : widest_access(dtype);
  load_pieces(outside, ref, ir::Space::shared, kept->array, kept->slot, width, segment_->vector, ir::Policy::once);
  ref.lane = segment_->vector > 1 ? s_.build.var(segment_->element) : ir::no_expr;
  Entry entry;
  entry.coordinates = wanted.coordinates;
  entry.raw = element(dtype, ref, depth());
  entry.compute = widen(entry.raw, dtype, id);
  remember(id, entry);
  return true;
}

Val ProgramBuilder::reduce_init(const ir::ReducedValue& of, ir::Reducer reducer, Val accumulated, int depth) {
  const ir::Node& reduce = node_at(of.reduce);
  const ir::NodeId start = reduce.operands[ir::reduced_count(reduce) + of.number];
  const ir::Node& init = node_at(start);
  const ir::DType compute = row(init.shape.dtype).compute;
  const ir::Neutral zero = neutral(reducer, init.shape.dtype);
  const Entry entry = find_entry(start, {}, 0);
  if (init.op == ir::Op::constant) {
    const ir::Value& value = kernel_.values[entry.compute.id];
    if (is_floating(compute) ? value.real == zero.real : value.integer == zero.integer) return accumulated;
  }
  ir::Value value;
  value.kind = ir::ValueKind::op;
  value.op = op_of(reducer);
  value.dtype = compute;
  value.operands = {accumulated.id, entry.compute.id, ir::no_value};
  return let(std::max(depth, entry.compute.depth), reduce.name, compute, add_value(value));
}

bool ProgramBuilder::fetch_accumulator(ir::NodeId id, const Demand& wanted) {
  const std::optional<ir::ReducedValue> of = ir::reduced_value(graph_, id);
  const auto found = [&](const ir::Ref& ref, int depth) {
    Entry entry;
    entry.coordinates = wanted.coordinates;
    entry.predicate = wanted.predicate;
    entry.compute = element(row(node_at(id).shape.dtype).compute, ref, depth);
    const std::vector<ir::Reducer> known = ir::known_reducers(graph_, node_at(of->reduce));
    if (!known.empty()) entry.compute = reduce_init(*of, known[of->number], entry.compute, depth);
    remember(id, entry);
    return true;
  };
  for (const Kept& chunk : s_.walked) {
    if (chunk.node != of->reduce || !(chunk.coordinates == wanted.coordinates)) continue;
    const ir::VarSet vars = chunk.by_trip ? s_.build.pool()[segment_->section_trip].vars : ir::VarSet{};
    return found(kept_ref(chunk, ir::no_expr), std::max(depth_for(vars), chunk.depth));
  }
  for (const Accumulator& accumulator : s_.accumulators) {
    if (accumulator.node != of->reduce || accumulator.number != of->number ||
        !(accumulator.coordinates == wanted.coordinates))
      continue;
    ir::Ref ref;
    ref.array = accumulator.array;
    ir::VarSet vars;
    if (in_flight_rows > 1) {
      ref.subs[0] = row_in_flight;
      vars = s_.build.pool()[row_in_flight].vars;
    }
    ref.lane = accumulator.lane;
    if (ref.lane != ir::no_expr) vars |= s_.build.pool()[ref.lane].vars;
    return found(ref, std::max(depth_for(vars), accumulator.depth));
  }
  return false;
}

}  // namespace tailor::codegen
