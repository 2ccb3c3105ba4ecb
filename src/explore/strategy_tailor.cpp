// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategies "tailor" and "tailor-any": search by one price. In: a graph, a device, the price, a budget. Out: the
// cheapest fusion found, with what each cut edge would cost inside a kernel. Called through their rows of strategy.cpp.
//
// Method. Searches start from several partitions: every node alone, the groups of the file, those of stitch-v1, and
// (tailor-any) one group per library level, which has the fewest kernels possible. What XLA's rules make of the graph,
// of 2020, of 2022 and of today, is priced behind these, and is one more start where it is cheaper than all of them.
// "tailor" starts from single nodes a second time with packing offered from the beginning: what fills a kernel with
// values that are shared cannot take along what shares nothing any more. And a third time with no array beside sums of
// columns that needs none of them: whom such sums write cannot join a flat loop any more. Where it put blocks that meet
// side by side with others it starts without such packs too, for plans to choose from. "tailor-any" starts once more
// from groups without barriers, for who merges over a barrier takes neighbours away from those that need none. From
// each, groups are merged while the price falls (merge_search.h), and cut between phases where that is cheaper, in
// turns. Then work is done again where that is cheaper than to write and read its results (recompute.h). The fusions of
// the other strategies themselves are priced too, overlaps included, and the cheapest of all is the answer: it is never
// worse than one of them, whatever the search does. Of small graphs "tailor" asks "tailor-any" too and takes those of
// its groups that can be written; "tailor-any" asks "tailor", for a search among more groups may end at a dearer place.
// The file's groups are taken without the arrays that are there anyway, which a kernel reads; of these "tailor" takes
// those that can be written (writable.h), the others fall apart.
//
// "tailor" forms only groups that the lowering can write today, so that what it decides is a kernel; what stitch-v1
// puts together without a plan it may keep. "tailor-any" may use grid barriers and any mixture of shapes: the
// difference between the two is what the lowering has left to gain.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/stop.h"
#include "explore/borders.h"
#include "explore/by_plans.h"
#include "explore/edge_notes.h"
#include "explore/merge_search.h"
#include "explore/price.h"
#include "explore/recompute.h"
#include "explore/repair.h"
#include "explore/runnable.h"
#include "explore/spending.h"
#include "explore/strategy.h"
#include "explore/writable.h"

namespace tailor::explore {

using namespace ir;

namespace {

constexpr std::size_t most_operations = 8192;  ///< of a group of tailor-any: bounds what one move can cost
constexpr std::int64_t most_mended = 100;      ///< places that are taken apart and searched again
constexpr std::int64_t mended_nodes = 6000;    ///< the same times nodes: large graphs are mended in fewer places
constexpr std::int64_t mended_prices = 1024;   ///< that are asked for on the way: some milliseconds
constexpr std::size_t packed_nodes = 16384;    ///< of a graph that is searched once more with packing offered early
constexpr int most_rounds = 4;                 ///< of cutting and merging again

/// Among which groups a rival searches, as long as this one: asked where nothing limits a search, and by none that is
/// asked. Who searches among all asks who searches among those that can be written, and is asked where plans decide.
enum class Search : std::uint8_t { none, all, writable };

/// Other strategies that are asked when the searches have ended.
struct Rival {
  std::string_view name;
  Fusion (*fuse)(const FusionTask&);
  bool as_xla;             ///< asks XLA's description of the device
  std::size_t most_nodes;  ///< of a graph: so that what it takes stays below what a search takes
  Search search = Search::none;
};
constexpr auto rivals = std::to_array<Rival>({{"xla-2022", fuse_xla_2022, false, 50'000},
                                              {"xla-2020", fuse_xla_2020, false, 50'000},
                                              {"xla-priority", fuse_xla_priority, true, 8'000},
                                              {"tailor-any", fuse_tailor_any, false, 512, Search::all},
                                              {"tailor", fuse_tailor, false, 2'048, Search::writable}});

/// Of a search, about equally long: those of run(), of which each rival is one.
constexpr std::int64_t steps = 14 + std::ssize(rivals);

/// What today's rules of XLA ask for: with each operand that goes into a node they ask about all its others anew.
std::size_t asked_operands(const Graph& graph) {
  std::size_t pairs = 0;
  for (const Node& node : graph.nodes) pairs += node.operands.size() * node.operands.size();
  return pairs;
}
constexpr std::size_t most_asked_operands = std::size_t{1} << 17;

/// Nodes of each library level: how many library calls must come before.
NodeSets level_groups(const FusionTask& task) {
  std::vector<std::size_t> level(task.graph.nodes.size(), 0);
  NodeSets result;
  for (std::size_t i = 0; i < task.graph.nodes.size(); ++i) {
    const Role role = task.def_use.roles[i];
    if (role != Role::work && role != Role::outside) continue;
    for (const NodeId producer : suppliers(task.graph, task.def_use, static_cast<NodeId>(i))) {
      const bool crosses = task.def_use.roles[index(producer)] == Role::outside && role == Role::work;
      level[i] = std::max(level[i], level[index(producer)] + (crosses ? 1 : 0));
    }
    if (role != Role::work) continue;
    if (result.size() <= level[i]) result.resize(level[i] + 1);
    result[level[i]].push_back(static_cast<NodeId>(i));
  }
  NodeSets cut;  // no group above the limit; earlier nodes never wait for later ones
  for (const std::vector<NodeId>& group : result)
    for (std::size_t at = 0; at < group.size(); at += most_operations)
      cut.emplace_back(group.begin() + static_cast<std::ptrdiff_t>(at),
                       group.begin() + static_cast<std::ptrdiff_t>(std::min(group.size(), at + most_operations)));
  return cut;
}

class Tailor {
 public:
  Tailor(const FusionTask& task, const MergeLimits& limits)
      : task_(task), limits_(limits), spending_(task), facts_(costmodel::group_facts(task.graph, task.def_use)) {}

  Fusion run() {
    const NodeSets alone = single_nodes();
    take(alone, "unfused");
    NodeSets stitched, given;
    if (goes_on()) {
      FusionTask rules = task_;
      rules.budget.seconds = spending_.left();
      stitched = fuse_stitch_v1(rules).groups;
      take(stitched, "stitch-v1");
    }
    if (goes_on() && !task_.graph.given.empty()) {
      given = without_sources(fuse_imported(task_).groups);
      if (limits_.lowerable) given = writable(task_.graph, task_.def_use, given, task_.stop);
      take(given, "imported");
    }
    if (goes_on()) search(alone, limits_);
    const bool twice = limits_.lowerable && task_.graph.nodes.size() <= packed_nodes;
    if (goes_on() && twice) search(alone, limits_, true);
    if (goes_on() && twice) search(alone, without_arrays_beside_columns(), true);
    // The price knows neither what rows and sums across them leave each other of the registers, nor whether the blocks
    // of bodies that meet find room together; plans may want them apart.
    if (goes_on() && twice && asks_plans() && has_sums_across()) search(alone, without_sums_across());
    if (goes_on() && twice && asks_plans() && has_meetings_beside())
      for (const bool pack_early : {false, true}) search(alone, without_meetings_beside(), pack_early);
    if (goes_on()) search(apart(stitched), limits_);
    if (goes_on() && !given.empty()) search(apart(given), limits_);
    if (goes_on() && !limits_.lowerable) search(level_groups(task_), limits_);
    if (goes_on() && waits_) search(without_barriers(alone), limits_);
    for (const Rival& rival : rivals)
      if (goes_on()) ask(rival);
    if (goes_on()) mend();
    const NodeSets mended = found_;
    const double cost = found_cost_;
    if (goes_on()) put_in_stages();
    if (goes_on()) mend_on(mended, cost);
    (void)goes_on();
    hold_against_plans();
    return result();
  }

 private:
  NodeSets single_nodes() const {
    NodeSets result;
    for (std::size_t i = 0; i < task_.graph.nodes.size(); ++i)
      if (task_.def_use.roles[i] == Role::work) result.push_back({static_cast<NodeId>(i)});
    return result;
  }

  /// The groups without constant arrays, which a kernel cannot hold and reads as well.
  NodeSets without_sources(NodeSets groups) const {
    for (std::vector<NodeId>& group : groups)
      std::erase_if(group, [&](NodeId id) { return task_.def_use.roles[index(id)] == Role::source; });
    return groups;
  }

  /// The groups without the nodes that several of them compute: whoever gets such a node may lose its plan. A group of
  /// kernels of today that has no plan without them falls apart.
  NodeSets apart(const NodeSets& groups) const {
    if (!limits_.lowerable) return groups;
    std::vector<int> times(task_.graph.nodes.size(), 0);
    for (const std::vector<NodeId>& group : groups)
      for (const NodeId id : group) ++times[index(id)];
    NodeSets kept;
    for (const std::vector<NodeId>& group : groups) {
      std::vector<NodeId> own;
      std::copy_if(group.begin(), group.end(), std::back_inserter(own),
                   [&](NodeId id) { return times[index(id)] < 2; });
      if (own.size() == group.size() || planned_layout(task_.graph, boundary(task_.graph, task_.def_use, own)))
        kept.push_back(std::move(own));
    }
    return kept;
  }

  /// Asked before each step, of which it tells.
  bool goes_on() {
    if (task_.progress) task_.progress({"searching for groups", step_++, steps});
    return !spending_.over();
  }

  bool asks_plans() const { return limits_.lowerable && task_.plans != nullptr; }

  void take(const NodeSets& groups, std::string_view from) {
    if (task_.stop.stop_requested() && !best_.empty()) return;
    double cost = 0;
    const bool priced =
        done_unless_stopped([&] { cost = price_of(task_.graph, task_.def_use, groups, *task_.device, task_.stop); });
    if (asks_plans() && priced) met_.push_back({groups, !from.empty(), cost});
    if (!best_.empty() && (!priced || cost >= cost_)) return;
    best_ = groups;
    cost_ = cost;
    from_ = from;
  }

  /// A rival that is dearer than what was found is not taken apart into what can be written: nothing is worse than it.
  void ask(const Rival& rival) {
    const bool unknown = rival.as_xla && task_.device->xla == nullptr;
    if (spending_.over() || unknown || task_.graph.nodes.size() > rival.most_nodes) return;
    if (rival.as_xla && asked_operands(task_.graph) > most_asked_operands) return;
    const bool limited = task_.budget.seconds > 0 || task_.budget.evaluations > 0;
    const Search other = !limits_.lowerable ? Search::writable : asks_plans() ? Search::all : Search::none;
    if (rival.search != Search::none && (rival.search != other || limited || task_.is_rival)) return;
    FusionTask quiet = task_;
    quiet.progress = {};
    quiet.is_rival = true;
    if (!limits_.lowerable) quiet.plans = nullptr;  // one price for both
    NodeSets groups = rival.fuse(quiet).groups;
    if (task_.stop.stop_requested()) return;
    if (limits_.lowerable) {
      double asked = cost_;
      done_unless_stopped([&] { asked = price_of(task_.graph, task_.def_use, groups, *task_.device, task_.stop); });
      if (asked >= cost_ && !asks_plans()) return;
      // Parts may read of other groups what the whole computed for itself, and then wait for each other.
      groups = writable(task_.graph, task_.def_use, groups, task_.stop, {asks_plans(), rival.search == Search::none});
      if (!find_circle(task_.graph, task_.def_use, groups).empty()) return;
    }
    const double before = cost_;
    take(groups, rival.name);
    if (cost_ < before && !spending_.over()) search(apart(groups), limits_);
  }

  void search(const NodeSets& start, const MergeLimits& limits, bool pack_early = false) {
    MergeSearch first(task_, facts_, limits, start, spending_);
    first.run(pack_early);
    waits_ = waits_ || first.has_barriers();
    NodeSets groups = first.groups();
    double cost = first.total();
    NodeSets cut = first.split();
    for (int round = 0; round < most_rounds && !cut.empty() && !spending_.over(); ++round) {
      MergeSearch again(task_, facts_, limits, cut, spending_);
      again.run();
      if (again.total() >= cost) break;
      cost = again.total();
      groups = again.groups();
      cut = again.split();
    }
    if (found_.empty() || cost < found_cost_) {
      found_ = groups;
      found_cost_ = cost;
    }
    MergeLimits behind = limits_;  // what a search has kept apart is not put together again by computing it twice
    behind.sums_across = limits.sums_across;
    take(recompute(task_, facts_, behind, std::move(groups), spending_), "");
  }

  /// The price sees no plan: what was met on the way may have better ones, or parts of it.
  void hold_against_plans() {
    if (!asks_plans() || spending_.late() || task_.stop.stop_requested()) return;
    HeldAgainstPlans held = explore::hold_against_plans(task_, std::move(best_), met_, spending_);
    best_ = std::move(held.groups);
    by_plans_ = std::move(held.changed);
  }

  bool has_meetings_beside() const {
    return std::any_of(found_.begin(), found_.end(), [&](const std::vector<NodeId>& group) {
      return meets_beside(task_.graph, task_.def_use, group);
    });
  }

  bool has_sums_across() const {
    return std::ranges::any_of(
        found_, [&](const std::vector<NodeId>& group) { return sums_across(task_.graph, task_.def_use, group); });
  }

  MergeLimits without_sums_across() const {
    MergeLimits apart = limits_;
    apart.sums_across = false;
    return apart;
  }

  MergeLimits without_meetings_beside() const {
    MergeLimits apart = limits_;
    apart.meets_beside = false;
    return apart;
  }

  MergeLimits without_arrays_beside_columns() const {
    MergeLimits few = limits_;
    few.beside_columns = false;
    return few;
  }

  /// Groups of one phase each: who merges over a barrier is decided when all that needs none is together.
  NodeSets without_barriers(const NodeSets& start) {
    MergeLimits one_phase = limits_;
    one_phase.barriers = 0;
    MergeSearch first(task_, facts_, one_phase, start, spending_);
    first.run();
    return first.groups();
  }

  /// What the best search found, taken apart in places and put together again.
  void mend() {
    const auto nodes = static_cast<std::int64_t>(task_.graph.nodes.size());
    mend(std::min(most_mended, mended_nodes / std::max<std::int64_t>(1, nodes)), mended_prices);
  }

  /// For what is left of a budget when all is done that a search always does: so a longer search is never dearer. Goes
  /// on with what was found before it was put in stages.
  void mend_on(const NodeSets& mended, double cost) {
    const bool limited = task_.budget.seconds > 0 || task_.budget.evaluations > 0;
    if (!task_.budget.until_spent || !limited) return;
    constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
    found_ = mended;
    found_cost_ = cost;
    mend(no_end, no_end);
    if (!spending_.over()) put_in_stages();
  }

  /// Kernels that wait for one another may be one launch. Asked last, of what is settled: most merges that no loop
  /// holds can be cut into stages, and few of them pay.
  void put_in_stages() {
    if (!limits_.lowerable || found_.empty() || spending_.over()) return;
    MergeLimits in_stages = limits_;
    in_stages.stages = true;
    MergeSearch search(task_, facts_, in_stages, found_, spending_);
    search.run();
    if (search.total() >= found_cost_) return;
    found_ = search.groups();
    found_cost_ = search.total();
    take(recompute(task_, facts_, in_stages, found_, spending_), "");
  }

  void mend(std::int64_t rounds, std::int64_t prices) {
    if (found_.empty() || spending_.over()) return;
    Repaired mended = repair(task_, facts_, limits_, found_, {rounds, prices}, spending_);
    if (mended.cost >= found_cost_) return;
    found_ = mended.groups;
    found_cost_ = mended.cost;
    take(recompute(task_, facts_, limits_, std::move(mended.groups), spending_, task_.budget.until_spent), "");
  }

  Fusion result() {
    Fusion fusion;
    fusion.groups = std::move(best_);
    if (task_.stop.stop_requested()) return fusion;
    fusion.edges = edge_notes(task_.graph, task_.def_use, fusion.groups);
    Spending words = spending_.for_words();
    MergeSearch found(task_, facts_, limits_, fusion.groups, words);
    std::map<std::pair<std::int32_t, NodeId>, std::pair<double, std::string>> known;
    for (EdgeNote& note : fusion.edges) {
      if (task_.stop.stop_requested()) break;
      if (note.decision == EdgeDecision::stitched)
        note.reason =
            fmt::format("one kernel is cheapest; the value is handed on at {} level at most", name(*note.level));
      if (note.decision == EdgeDecision::recomputed) note.reason = "cheaper to compute again than to write and read";
      if (note.decision != EdgeDecision::cut) continue;
      if (words.late()) {
        note.reason = "not asked: the seconds were spent";
        continue;
      }
      const auto [at, fresh] = known.try_emplace({note.group, note.producer});
      if (fresh) {
        const double saved = found.gain(note.producer, note.consumer);
        const std::optional<std::string> refused = found.refusal(note.producer, note.consumer);
        constexpr double least_shown = 0.005e-6;  // seconds: half of the last digit
        const bool by_plans = !by_plans_.empty() && by_plans_[index(note.producer)] && by_plans_[index(note.consumer)];
        at->second = {saved,
                      refused ? "refused: " + *refused
                      : saved > 0 && by_plans
                          ? fmt::format("plans: one kernel for both would take {:.2f} us less by the price, and "
                                        "more by its best plan",
                                        1e6 * saved)
                      : std::abs(saved) < least_shown ? std::string("price: one kernel for both would take as long")
                      : saved > 0 ? fmt::format("kept from {}: one kernel for both would take {:.2f} us less alone, "
                                                "the whole is cheaper so",
                                                from_.empty() ? "the search" : from_, 1e6 * saved)
                                  : fmt::format("price: one kernel for both would take {:.2f} us more", -1e6 * saved)};
      }
      note.seconds = at->second.first;
      note.reason = at->second.second;
    }
    return fusion;
  }

  const FusionTask& task_;
  MergeLimits limits_;
  Spending spending_;
  costmodel::GroupFacts facts_;
  NodeSets found_;  ///< the cheapest that a search ended with, before anything is computed again
  double found_cost_ = 0;
  bool waits_ = false;  ///< a search has put phases together that wait for each other
  NodeSets best_;
  std::int64_t step_ = 0;
  std::vector<MetPartition> met_;  ///< whole partitions on the way
  std::vector<bool> by_plans_;     ///< by node: its group is not what the price decided
  double cost_ = 0;
  std::string from_;
};

Fusion by_price(const FusionTask& task, const MergeLimits& limits) {
  if (task.price->name != "group")
    throw Error(Fault::usage, fmt::format("strategy 'tailor' prices groups, found cost model '{}'", task.price->name),
                "expected: group");
  return Tailor(task, limits).run();
}

}  // namespace

Fusion fuse_tailor(const FusionTask& task) { return by_price(task, MergeLimits{}); }

Fusion fuse_tailor_any(const FusionTask& task) {
  MergeLimits limits;
  limits.lowerable = false;
  limits.operations = most_operations;
  return by_price(task, limits);
}

}  // namespace tailor::explore
