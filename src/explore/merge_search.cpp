// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Greedy merging by price. In: a partition to start from. Out: a cheaper one. Called by strategy "tailor" for each
// start.
//
// Method. Pairs of groups are offered: producer and consumer, neighbouring readers of one array, neighbours in
// topological order that share nothing (packing), behind the others or beside them. Each offer is priced by moving the
// smaller group into the larger and back; summaries change by what moved, so over a whole search a node moves about as
// often as the logarithm of the size of its group. Offers wait in a heap, the greatest gain first, ties by the nodes'
// order. An offer whose groups have changed meanwhile is priced again when it is popped and not before: pricing all
// neighbours after each merge would take many times longer. A pair that was priced is not priced again until one of its
// groups has changed. Merges that would close a circle (contraction.h), that pass a limit, or that the lowering cannot
// write are refused.
//
// Groups with grid barriers are offered a cut between two phases: values flow from earlier to later phases only, so the
// two parts wait for each other in no circle when their group did not wait for itself before.
#include "explore/merge_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "codegen/structure/structure.h"

namespace tailor::explore {

using namespace ir;

namespace {

constexpr double least_gain = 1e-12;            ///< seconds: below it two prices are equal but for rounding
constexpr double picoseconds = 1e12;            ///< in a second
constexpr std::size_t packed_ahead = 6;         ///< next groups that one is offered to when they share nothing
constexpr std::size_t mixed_ahead = 4;          ///< the same where kernels of today have another structure for each
constexpr std::size_t packed_pairs = 512;       ///< where groups are few each is offered to more than that
constexpr std::size_t most_written_by_few = 2;  ///< arrays that blocks write who share columns or one long row
constexpr double most_work_of_stages = 1.5;     ///< over that of a group whose stages compute nothing again
constexpr std::size_t most_cuts = 8;            ///< places between phases at which a group is offered to be cut

/// Why stages would compute too much of their work again: what stands before several of them and waits nowhere. The
/// price of a group takes each node for computed once.
std::optional<std::string> works_again(const Boundary& border, const codegen::Stages& cut, const DefUse& def_use) {
  const auto work = [&](const std::vector<NodeId>& nodes) {
    return std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return def_use.roles[id] == Role::work; });
  };
  std::ptrdiff_t all = 0;
  for (const codegen::BodyBorder& body : cut.bodies) all += work(body.border.inside);
  const std::ptrdiff_t once = work(border.inside);
  if (static_cast<double>(all) <= most_work_of_stages * static_cast<double>(once)) return std::nullopt;
  return fmt::format("{} stages would compute {} operations where the group has {}", cut.bodies.size(), all, once);
}

/// Bodies of a pack whose blocks would share rows or columns and meet.
std::vector<codegen::BodyBorder> bodies_that_meet(const Graph& graph, const Boundary& border) {
  const auto reduces = [&](NodeId id) { return graph[id].op == Op::reduce; };
  if (std::none_of(border.inside.begin(), border.inside.end(), reduces)) return {};
  auto found = codegen::find_bodies(graph, border);
  auto* bodies = std::get_if<std::vector<codegen::BodyBorder>>(&found);
  if (bodies == nullptr) return {};
  std::erase_if(*bodies, [&](const codegen::BodyBorder& body) { return !codegen::doubt_alone(graph, body); });
  return std::move(*bodies);
}

/// Which array of full size only the few blocks of a loop would write that share columns or one long row.
std::optional<std::string> written_by_few(const Graph& graph, const Boundary& border, const codegen::Layout& layout,
                                          const MergeLimits& limits) {
  const bool columns = layout.skeleton == Skeleton::column;
  const bool long_row = layout.skeleton == Skeleton::row && layout.rows < 2 && layout.columns > limits.one_row_columns;
  if (!columns && !long_row) return std::nullopt;
  std::vector<NodeId> full = border.writes;
  std::erase_if(full, [&](NodeId id) { return elements(graph[id].shape) == layout.rows; });
  const std::unordered_set<NodeId> behind = codegen::behind_reductions(codegen::Region(graph, border));
  // Columns are shared by as many blocks as there are SMs for, which write beside their sums what they read for them.
  // Of one row that is worth a meeting of its blocks alone.
  for (const NodeId id : full)
    if (full.size() > most_written_by_few || ((long_row || !limits.beside_columns) && !behind.contains(id)))
      return fmt::format("%{} of full size would be written by the few blocks of {}", graph[id].name,
                         codegen::text(layout));
  return std::nullopt;
}

/// How a kernel of today would hold what the border holds, or why none does. Its arguments are not counted.
std::variant<codegen::Layout, std::string> one_kernel(const Graph& graph, const DefUse& def_use, const Boundary& border,
                                                      const MergeLimits& limits) {
  codegen::Stages cut;
  const codegen::JudgedStructure judged =
      limits.stages ? codegen::judge_stages(graph, border, &cut) : codegen::judge(graph, border);
  const auto* rejection = std::get_if<Rejection>(&judged.structure);
  if (rejection == nullptr && judged.doubt && !limits.doubted) rejection = &*judged.doubt;
  if (rejection != nullptr) return fmt::format("{}: {}", rejection->rule, rejection->reason);
  const auto& layout = std::get<codegen::Layout>(judged.structure);
  if (layout.skeleton == Skeleton::stages)
    if (std::optional<std::string> again = works_again(border, cut, def_use)) return *std::move(again);
  if (auto few = written_by_few(graph, border, layout, limits)) return *std::move(few);
  if (!limits.sums_across && sums_across(graph, border, layout))
    return fmt::format("rows of %{} would be added up beside", graph[border.writes.front()].name);
  if (layout.skeleton == Skeleton::pack)
    // Of a body only what makes its blocks meet: else they are as many as it has rows or columns.
    for (const codegen::BodyBorder& body : bodies_that_meet(graph, border)) {
      if (!limits.meets_beside) return fmt::format("blocks of %{} would meet", graph[body.border.writes.front()].name);
      if (auto few = written_by_few(graph, body.border, body.layout, limits)) return *std::move(few);
    }
  return layout;
}

std::optional<std::string> too_many_arguments(const Boundary& border, const MergeLimits& limits,
                                              std::int64_t own_arguments) {
  const auto arguments = static_cast<std::int64_t>(border.reads.size() + border.writes.size());
  if (arguments <= limits.arguments || arguments <= own_arguments) return std::nullopt;
  return fmt::format("{} arguments, at most {}", arguments, limits.arguments);
}

}  // namespace

std::optional<std::string> not_one_kernel(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes,
                                          const MergeLimits& limits, std::int64_t own_arguments) {
  const Boundary border = boundary(graph, def_use, nodes);
  const auto kernel = one_kernel(graph, def_use, border, limits);
  if (const auto* why_not = std::get_if<std::string>(&kernel)) return *why_not;
  return too_many_arguments(border, limits, own_arguments);
}

bool meets_beside(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes) {
  const auto reduces = [&](NodeId id) { return graph[id].op == Op::reduce; };
  if (std::none_of(nodes.begin(), nodes.end(), reduces)) return false;
  const Boundary border = boundary(graph, def_use, nodes);
  const codegen::JudgedStructure judged = codegen::judge(graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&judged.structure);
  return layout != nullptr && layout->skeleton == Skeleton::pack && !bodies_that_meet(graph, border).empty();
}

bool sums_across(const Graph& graph, const Boundary& border, const codegen::Layout& layout) {
  return layout.skeleton == Skeleton::row && !codegen::late_values(codegen::Region(graph, border), layout).empty();
}

bool sums_across(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes) {
  const auto reduces = [&](NodeId id) { return graph[id].op == Op::reduce; };
  if (std::ranges::count_if(nodes, reduces) < 2) return false;
  const Boundary border = boundary(graph, def_use, nodes);
  const codegen::JudgedStructure judged = codegen::judge(graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&judged.structure);
  return layout != nullptr && sums_across(graph, border, *layout);
}

MergeSearch::MergeSearch(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits,
                         const NodeSets& start, Spending& spending, const MendingPart* part)
    : task_(task),
      facts_(facts),
      limits_(limits),
      spending_(spending),
      units_(task.graph, task.def_use),
      summaries_(facts),
      part_(part),
      alone_(task.graph.nodes.size(), false) {
  for (std::size_t i = 0; i < task.graph.nodes.size(); ++i)
    if (task.def_use.roles[i] == Role::work) {
      const auto id = static_cast<NodeId>(i);
      summaries_.add(summaries_.create(), id);
      if (limits.lowerable) alone_[i] = codegen::refused_alone(task.graph, id).has_value();
    }
  if (part != nullptr) open_ = part->nodes;
  std::vector<bool> taken(task.graph.nodes.size(), false);
  for (const std::vector<NodeId>& group : start) {
    NodeId unit = no_node;
    for (const NodeId id : group) {
      if (task.def_use.roles[index(id)] != Role::work || taken[index(id)]) continue;
      taken[index(id)] = true;
      if (unit == no_node) {
        unit = units_.unit(id);
      } else if (units_.blocker(units_.unit(unit), units_.unit(id)) == no_node) {
        join(units_.unit(unit), units_.unit(id));
      }
    }
    if (task.stop.stop_requested() || spending.late()) return;
  }
}

double MergeSearch::price(std::int32_t group) const {
  costmodel::ModelInputs inputs;
  inputs.summary = &summaries_.summary(group);
  inputs.device = task_.device;
  return task_.price->estimate(inputs).total.value;
}

/// Last ones first out, first ones first in: then hardly any phase changes on the way.
void MergeSearch::move(const std::vector<NodeId>& nodes, std::int32_t to) {
  const std::vector<NodeId> last_first(nodes.rbegin(), nodes.rend());
  summaries_.remove(last_first);
  summaries_.add(to, nodes);
}

void MergeSearch::join(NodeId a, NodeId b) {
  if (units_.nodes(a).size() < units_.nodes(b).size())
    move(units_.nodes(a), group_of(b));
  else
    move(units_.nodes(b), group_of(a));
  const bool open = part_ != nullptr && (open_[index(a)] || open_[index(b)]);
  const NodeId merged = units_.merge(a, b);
  if (part_ != nullptr) open_[index(merged)] = open;
}

double MergeSearch::gain(NodeId a, NodeId b) {
  a = units_.unit(a), b = units_.unit(b);
  if (a == b) return 0;
  if (units_.nodes(a).size() < units_.nodes(b).size()) std::swap(a, b);
  ++spending_.evaluations;
  const std::int32_t into = group_of(a), from = group_of(b);
  const double before = price(into) + price(from);
  move(units_.nodes(b), into);
  const bool fits = costmodel::barriers(summaries_.summary(into)) <= limits_.barriers;
  const double after = price(into);
  move(units_.nodes(b), from);
  return fits ? before - after : -after;
}

void MergeSearch::offer(NodeId a, NodeId b, bool fills) {
  a = units_.unit(a), b = units_.unit(b);
  if (a == b || (part_ != nullptr && !open_[index(a)] && !open_[index(b)]) || spent()) return;
  if (a > b) std::swap(a, b);
  if (units_.nodes(a).size() + units_.nodes(b).size() > limits_.operations) return;
  const std::pair versions{units_.version(a), units_.version(b)};
  const auto [at, fresh] = asked_.try_emplace({a, b}, versions);
  if (!fresh && at->second == versions) return;
  at->second = versions;
  const double saved = gain(a, b);
  if (saved <= least_gain) return;
  const double drawn =
      part_ == nullptr ? 0
                       : part_->noise * static_cast<double>(part_->random() >> 11) / static_cast<double>(1ULL << 53);
  offers_.push({std::llround(saved * (1 + drawn) * picoseconds), a, b, versions.first, versions.second, fills});
}

bool MergeSearch::drain() {
  bool changed = false;
  while (!offers_.empty() && !spent()) {
    const Offer best = offers_.top();
    offers_.pop();
    const NodeId a = units_.unit(best.a), b = units_.unit(best.b);
    if (a == b) continue;
    if (a != best.a || b != best.b || units_.version(a) != best.version_a || units_.version(b) != best.version_b) {
      offer(a, b, best.fills);
      continue;
    }
    if (refused(a, b, false)) continue;
    join(a, b);
    changed = true;
  }
  return changed;
}

std::optional<std::string> MergeSearch::refusal(NodeId a, NodeId b) { return refused(a, b, true); }

std::optional<std::string> MergeSearch::refused(NodeId a, NodeId b, bool in_words) {
  a = units_.unit(a), b = units_.unit(b);
  const std::size_t operations = units_.nodes(a).size() + units_.nodes(b).size();
  if (operations > limits_.operations) return fmt::format("{} operations, at most {}", operations, limits_.operations);
  const NodeId blocker = units_.blocker(a, b);
  if (blocker != no_node) return fmt::format("would make a cycle through %{}", task_.graph[blocker].name);
  if (limits_.lowerable) return not_lowerable(a, b, in_words);
  return std::nullopt;
}

std::optional<std::string> MergeSearch::not_lowerable(NodeId a, NodeId b, bool in_words) {
  const Graph& graph = task_.graph;
  const std::size_t reductions = reductions_of(graph, units_.nodes(a)) + reductions_of(graph, units_.nodes(b));
  if (reductions > limits_.reductions) return fmt::format("{} reductions, at most {}", reductions, limits_.reductions);
  for (const NodeId unit : {a, b})
    for (const NodeId id : units_.nodes(unit))
      if (alone_[index(id)]) return fmt::format("{} %{} stays alone", name(graph[id].op), graph[id].name);
  std::vector<NodeId> merged;
  std::merge(units_.nodes(a).begin(), units_.nodes(a).end(), units_.nodes(b).begin(), units_.nodes(b).end(),
             std::back_inserter(merged));
  const std::int64_t own =
      std::max(summaries_.summary(group_of(a)).arguments, summaries_.summary(group_of(b)).arguments);
  const Boundary border = boundary(graph, task_.def_use, merged);
  const std::optional<std::string> crowded = too_many_arguments(border, limits_, own);
  if (crowded && !in_words) return crowded;
  spending_.asked_nodes += std::ssize(merged);
  const auto kernel = one_kernel(graph, task_.def_use, border, limits_);
  if (const auto* why_not = std::get_if<std::string>(&kernel)) return *why_not;
  if (crowded) return crowded;
  const Skeleton skeleton = std::get<codegen::Layout>(kernel).skeleton;
  if (row(skeleton).unit != WorkUnit::bodies) return std::nullopt;
  const bool waits = skeleton == Skeleton::stages;
  const double both = price(group_of(a)) + price(group_of(b)), saved = gain(a, b);
  const double least = waits ? limits_.stages_save : limits_.pack_saves;
  if (saved >= least * both) return std::nullopt;
  return fmt::format("{} they save {:.1f} %, at least {:.1f} asked", waits ? "in stages" : "side by side",
                     100 * saved / both, 100 * least);
}

void MergeSearch::offer_neighbours() {
  std::map<NodeId, NodeId> last_reader;  // of each array
  for (std::size_t i = 0; i < facts_.nodes.size() && !spent(); ++i) {
    if (task_.def_use.roles[i] != Role::work) continue;
    const auto id = static_cast<NodeId>(i);
    for (const costmodel::GroupRead& read : facts_.nodes[i].reads) {
      if (read.maker != no_node && task_.def_use.roles[index(read.maker)] == Role::work) offer(read.maker, id);
      if (facts_.value_bytes[index(read.value)] <= 8) continue;  // one number read by many brings nobody together
      const auto [last, first] = last_reader.try_emplace(read.value, id);
      if (!first) offer(last->second, id), last->second = id;
    }
  }
}

/// First nodes of the groups, ascending.
std::vector<NodeId> MergeSearch::firsts() const {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < facts_.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (task_.def_use.roles[i] == Role::work && units_.nodes(units_.unit(id)).front() == id) found.push_back(id);
  }
  return found;
}

/// How a kernel of today would go through a unit; empty where there is none.
std::string MergeSearch::structure(NodeId unit) const {
  const Boundary border = boundary(task_.graph, task_.def_use, units_.nodes(unit));
  const codegen::Classified classified = codegen::analyse(task_.graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&classified);
  return layout == nullptr ? "" : codegen::text(*layout);
}

/// Groups that share nothing: the next ones; for kernels of today the next ones of the same structure, and a few
/// of any.
void MergeSearch::offer_packing() {
  std::map<std::string, std::vector<NodeId>> alike;
  std::vector<NodeId> planned;  // a loop over columns may write beside a reduction of as many
  for (const NodeId id : firsts()) {
    if (spent()) return;
    std::string key;
    if (limits_.lowerable) {
      const std::vector<NodeId>& nodes = units_.nodes(units_.unit(id));
      if (part_ == nullptr) {
        key = structure(units_.unit(id));
      } else {
        const auto [at, fresh] = part_->structures.try_emplace({nodes.front(), nodes.back(), nodes.size()});
        if (fresh) at->second = structure(units_.unit(id));
        key = at->second;
      }
      if (key.empty()) continue;
      planned.push_back(id);
    }
    alike[key].push_back(id);
  }
  const auto offer_next = [this](const std::vector<NodeId>& ids, std::size_t ahead) {
    ahead = std::max(ahead, packed_pairs / std::max<std::size_t>(1, ids.size()));
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (std::size_t j = i + 1; j < std::min(ids.size(), i + 1 + ahead); ++j)
        offer(ids[i], ids[j], limits_.lowerable);
  };
  for (const auto& [key, ids] : alike) offer_next(ids, packed_ahead);
  offer_next(planned, mixed_ahead);
}

void MergeSearch::run(bool pack_early) {
  bool changed = true;
  while (changed && !spent()) {
    offer_neighbours();
    if (pack_early) offer_packing();
    changed = drain();
    if (changed) continue;
    offer_packing();
    changed = drain();
  }
}

NodeSets MergeSearch::groups() const {
  NodeSets result;
  for (const NodeId id : firsts()) result.push_back(units_.nodes(units_.unit(id)));
  return result;
}

double MergeSearch::total() const {
  double sum = 0;
  for (const NodeId id : firsts()) sum += price(group_of(units_.unit(id)));
  return sum;
}

bool MergeSearch::has_barriers() const {
  const std::vector<NodeId> ids = firsts();
  return std::any_of(ids.begin(), ids.end(), [this](NodeId id) {
    return costmodel::barriers(summaries_.summary(summaries_.group_of(id))) > 0;
  });
}

NodeSets MergeSearch::split() {
  NodeSets result;
  bool changed = false;
  for (const NodeId id : firsts()) {
    const std::vector<NodeId>& nodes = units_.nodes(units_.unit(id));
    const std::int32_t group = summaries_.group_of(id);
    const std::int64_t phases = costmodel::barriers(summaries_.summary(group));
    if (phases == 0 || spent()) {
      result.push_back(nodes);
      continue;
    }
    const double whole = price(group);
    double least = whole - least_gain;
    std::vector<NodeId> best;
    std::vector<std::int32_t> phase_of;
    for (const NodeId node : nodes) phase_of.push_back(summaries_.phase_of(node));
    const std::int32_t other = summaries_.create();
    const std::int64_t step = 1 + (phases - 1) / static_cast<std::int64_t>(most_cuts);
    for (std::int64_t cut = 1; cut <= phases && !spent(); cut += step) {
      std::vector<NodeId> later;
      for (std::size_t i = 0; i < nodes.size(); ++i)
        if (phase_of[i] >= cut) later.push_back(nodes[i]);
      move(later, other);
      ++spending_.evaluations;
      const double both = price(group) + price(other);
      move(later, group);
      if (both < least) least = both, best = std::move(later);
    }
    if (best.empty()) {
      result.push_back(nodes);
      continue;
    }
    changed = true;
    std::vector<NodeId> first;
    std::set_difference(nodes.begin(), nodes.end(), best.begin(), best.end(), std::back_inserter(first));
    result.push_back(std::move(first));
    result.push_back(std::move(best));
  }
  return changed ? result : NodeSets{};
}

}  // namespace tailor::explore
